"""CARAFE. mmcv's autograd function allocates and clears three tensors for its kernel's layout and asserts a CUDA
gradient: ours stands for all of it. The entry points of the extension are for those who call them directly."""

from ...torch._tensors import floats
from ...torch.op.carafe import carafe, forward, gradients


def _channels_last_in(buffer, shape):
    """An NCHW view of a dense buffer whose memory is in NHWC order."""
    n, c, h, w = shape
    return buffer.view(n, h, w, c).permute(0, 3, 1, 2)


def carafe_forward(features, masks, rfeatures, routput, rmasks, output, kernel_size, group_size, scale_factor):
    # rfeatures comes back in carafe_backward, which gets no features.
    x = _channels_last_in(rfeatures, features.shape).copy_(features)
    carafe_naive_forward(x, masks, output, kernel_size, group_size, scale_factor)


def carafe_backward(grad_output, rfeatures, masks, rgrad_output, rgrad_input_hs, rgrad_input, rgrad_masks, grad_input,
                    grad_masks, kernel_size, group_size, scale_factor):
    features = _channels_last_in(rfeatures, grad_input.shape)
    carafe_naive_backward(grad_output, features, masks, grad_input, grad_masks, kernel_size, group_size, scale_factor)


def carafe_naive_forward(features, masks, output, kernel_size, group_size, scale_factor):
    output.copy_(forward(*floats(features=features, masks=masks), kernel_size, group_size, scale_factor))


def carafe_naive_backward(top_grad, features, masks, bottom_grad, mask_grad, kernel_size, group_size, scale_factor):
    tensors = floats(grad_output=top_grad, features=features, masks=masks)
    grads = gradients(*tensors, kernel_size, group_size, scale_factor)
    bottom_grad.copy_(grads[0])
    mask_grad.copy_(grads[1])


ENTRY_POINTS = (carafe_forward, carafe_backward, carafe_naive_forward, carafe_naive_backward)


def _function_forward(ctx, features, masks, kernel_size, group_size, scale_factor):
    ctx.kernel_size, ctx.group_size, ctx.scale_factor = kernel_size, group_size, scale_factor
    ctx.save_for_backward(features, masks)
    return carafe(features, masks, kernel_size, group_size, scale_factor).to(features.dtype)


def _function_backward(ctx, grad_output):
    features, masks = ctx.saved_tensors
    tensors = floats(grad_output=grad_output, features=features, masks=masks)
    grads = gradients(*tensors, ctx.kernel_size, ctx.group_size, ctx.scale_factor)
    return grads[0].to(features.dtype), grads[1].to(masks.dtype), None, None, None


METHODS = {("mmcv.ops.carafe", function, method): ours
           for function in ("CARAFEFunction", "CARAFENaiveFunction")
           for method, ours in (("forward", _function_forward), ("backward", _function_backward))}
