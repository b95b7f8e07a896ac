"""Deformable RoI pooling. mmcv's autograd function clears its results before the kernel writes them; ours does not."""

from ..._arguments import integer, pair
from ...torch._tensors import floats
from ...torch.op.deform_roi_pool import deform_roi_pool, forward, gradients


def _optional(offset):
    """mmcv passes an empty tensor for no offset."""
    return offset if offset is not None and offset.numel() > 0 else None


def deform_roi_pool_forward(input, rois, offset, output, pooled_height, pooled_width, spatial_scale, sampling_ratio,
                            gamma):
    x, r, o = floats(optional="offset", input=input, rois=rois, offset=_optional(offset))
    output.copy_(forward(x, r, o, pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma))


def deform_roi_pool_backward(grad_output, input, rois, offset, grad_input, grad_offset, pooled_height, pooled_width,
                             spatial_scale, sampling_ratio, gamma):
    g, x, r, o = floats(optional="offset", grad_output=grad_output, input=input, rois=rois, offset=_optional(offset))
    grads = gradients(g, x, r, o, pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma)
    grad_input.copy_(grads[0])
    if o is not None:
        grad_offset.copy_(grads[1])


ENTRY_POINTS = (deform_roi_pool_forward, deform_roi_pool_backward)


def _function_forward(ctx, input, rois, offset, output_size, spatial_scale=1.0, sampling_ratio=0, gamma=0.1):
    offset = _optional(offset)
    ctx.pooling = (*pair("output_size", output_size), float(spatial_scale),
                   integer("sampling_ratio", sampling_ratio), float(gamma))
    ctx.save_for_backward(input, rois, offset)
    return deform_roi_pool(input, rois, offset, output_size, *ctx.pooling[2:]).to(input.dtype)


def _function_backward(ctx, grad_output):
    input, rois, offset = ctx.saved_tensors
    g, x, r, o = floats(optional="offset", grad_output=grad_output, input=input, rois=rois, offset=offset)
    grad_input, grad_offset = gradients(g, x, r, o, *ctx.pooling)
    grad_offset = None if offset is None else grad_offset.to(offset.dtype)
    return grad_input.to(input.dtype), None, grad_offset, None, None, None, None


METHODS = {("mmcv.ops.deform_roi_pool", "DeformRoIPoolFunction", "forward"): _function_forward,
           ("mmcv.ops.deform_roi_pool", "DeformRoIPoolFunction", "backward"): _function_backward}
