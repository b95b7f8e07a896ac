"""The functions of mmcv's compiled extension for CPU tensors, with mmcv's names and argument orders.

mmcv allocates the outputs (NCHW, zeroed) and passes them; results are copied into them, which is also their conversion
from channels_last. Mixed dtypes are promoted for the computation.
"""

from torch import Tensor

from ..torch import _kernels
from ..torch._functions import _promote


def _channels_last_in(buffer: Tensor, shape) -> Tensor:
    """An NCHW view of a dense buffer whose memory is in NHWC order."""
    n, c, h, w = shape
    return buffer.view(n, h, w, c).permute(0, 3, 1, 2)


def _optional(offset: Tensor):
    """mmcv passes an empty tensor for no offset."""
    return offset if offset is not None and offset.numel() > 0 else None


def carafe_forward(features, masks, rfeatures, routput, rmasks, output, kernel_size, group_size, scale_factor):
    # rfeatures comes back in carafe_backward: it keeps the channels_last features, so they are converted once.
    x = _channels_last_in(rfeatures, features.shape).copy_(features)
    m = _channels_last_in(rmasks, masks.shape).copy_(masks)
    output.copy_(_kernels.carafe(*_promote(x, m), kernel_size, group_size, scale_factor))


def carafe_backward(grad_output, rfeatures, masks, rgrad_output, rgrad_input_hs, rgrad_input, rgrad_masks, grad_input,
                    grad_masks, kernel_size, group_size, scale_factor):
    features = _channels_last_in(rfeatures, grad_input.shape)
    carafe_naive_backward(grad_output, features, masks, grad_input, grad_masks, kernel_size, group_size, scale_factor)


def carafe_naive_forward(features, masks, output, kernel_size, group_size, scale_factor):
    output.copy_(_kernels.carafe(*_promote(features, masks), kernel_size, group_size, scale_factor))


def carafe_naive_backward(top_grad, features, masks, bottom_grad, mask_grad, kernel_size, group_size, scale_factor):
    grads = _kernels.carafe_backward(*_promote(top_grad, features, masks), kernel_size, group_size, scale_factor)
    bottom_grad.copy_(grads[0])
    mask_grad.copy_(grads[1])


def psamask_forward(input, output, psa_type, num_, h_feature, w_feature, h_mask, w_mask, half_h_mask, half_w_mask):
    output.copy_(_kernels.psa_mask(input, psa_type, h_mask, w_mask))


def psamask_backward(grad_output, grad_input, psa_type, num_, h_feature, w_feature, h_mask, w_mask, half_h_mask,
                     half_w_mask):
    grad_input.copy_(_kernels.psa_mask_backward(grad_output, psa_type, h_mask, w_mask))


def deform_roi_pool_forward(input, rois, offset, output, pooled_height, pooled_width, spatial_scale, sampling_ratio,
                            gamma):
    x, r, o = _promote(input, rois, _optional(offset))
    output.copy_(_kernels.deform_roi_pool(x, r, o, pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma))


def deform_roi_pool_backward(grad_output, input, rois, offset, grad_input, grad_offset, pooled_height, pooled_width,
                             spatial_scale, sampling_ratio, gamma):
    g, x, r, o = _promote(grad_output, input, rois, _optional(offset))
    grads = _kernels.deform_roi_pool_backward(g, x, r, o, pooled_height, pooled_width, spatial_scale, sampling_ratio,
                                              gamma)
    grad_input.copy_(grads[0])
    if o is not None:
        grad_offset.copy_(grads[1])


def border_align_forward(input, boxes, output, argmax_idx, pool_size):
    pooled, argmax = _kernels.border_align(*_promote(input, boxes), pool_size)
    output.copy_(pooled)
    argmax_idx.copy_(argmax)


def border_align_backward(grad_output, boxes, argmax_idx, grad_input, pool_size):
    g, b = _promote(grad_output, boxes)
    grad_input.copy_(_kernels.border_align_backward(g, b, argmax_idx, pool_size, *grad_input.shape[2:]))


def three_interpolate_forward(points_tensor, idx_tensor, weight_tensor, out_tensor, b, c, m, n):
    f, w = _promote(points_tensor, weight_tensor)
    out_tensor.copy_(_kernels.three_interpolate(f, idx_tensor.int(), w))


def three_interpolate_backward(grad_out_tensor, idx_tensor, weight_tensor, grad_points_tensor, b, c, n, m):
    g, w = _promote(grad_out_tensor, weight_tensor)
    grad_points_tensor.copy_(_kernels.three_interpolate_backward(g, idx_tensor.int(), w, m))


ENTRY_POINTS = {
    function.__name__: function
    for function in (carafe_forward, carafe_backward, carafe_naive_forward, carafe_naive_backward, psamask_forward,
                     psamask_backward, deform_roi_pool_forward, deform_roi_pool_backward, border_align_forward,
                     border_align_backward, three_interpolate_forward, three_interpolate_backward)
}


# mmcv's autograd functions for CARAFE assert a CUDA gradient (both of them in older versions). These take their place
# for CPU gradients.


def carafe_naive_grads(ctx, grad_output):
    features, masks = ctx.saved_tensors
    return _carafe_grads(ctx, grad_output, features, masks)


def carafe_grads(ctx, grad_output):
    features, masks, rfeatures = ctx.saved_tensors
    return _carafe_grads(ctx, grad_output, _channels_last_in(rfeatures, features.shape), masks)


def _carafe_grads(ctx, grad_output, features, masks):
    grads = _kernels.carafe_backward(*_promote(grad_output, features, masks), ctx.kernel_size, ctx.group_size,
                                     ctx.scale_factor)
    return grads[0].to(features.dtype), grads[1].to(masks.dtype), None, None, None


BACKWARDS = {("mmcv.ops.carafe", "CARAFENaiveFunction"): carafe_naive_grads,
             ("mmcv.ops.carafe", "CARAFEFunction"): carafe_grads}
