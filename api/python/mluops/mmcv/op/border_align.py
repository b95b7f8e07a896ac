"""BorderAlign. mmcv's autograd function clears its results before the kernel writes them; ours does not."""

from ..._arguments import integer
from ...torch._tensors import floats
from ...torch.op.border_align import forward, gradient


def border_align_forward(input, boxes, output, argmax_idx, pool_size):
    pooled, argmax = forward(*floats(input=input, boxes=boxes), pool_size)
    output.copy_(pooled)
    argmax_idx.copy_(argmax)


def border_align_backward(grad_output, boxes, argmax_idx, grad_input, pool_size):
    g, b = floats(grad_output=grad_output, boxes=boxes)
    grad_input.copy_(gradient(g, b, argmax_idx, pool_size, *grad_input.shape[2:]))


ENTRY_POINTS = (border_align_forward, border_align_backward)


def _function_forward(ctx, input, boxes, pool_size):
    ctx.pool_size, ctx.size = integer("pool_size", pool_size), input.shape[2:]
    pooled, argmax = forward(*floats(input=input, boxes=boxes), ctx.pool_size)
    ctx.save_for_backward(boxes, argmax)
    return pooled.to(input.dtype)


def _function_backward(ctx, grad_output):
    boxes, argmax = ctx.saved_tensors
    g, b = floats(grad_output=grad_output, boxes=boxes)
    return gradient(g, b, argmax, ctx.pool_size, *ctx.size).to(grad_output.dtype), None, None


METHODS = {("mmcv.ops.border_align", "BorderAlignFunction", "forward"): _function_forward,
           ("mmcv.ops.border_align", "BorderAlignFunction", "backward"): _function_backward}
