"""The ten operators as calls of the C API: tensors as (dtype, shape, address), NHWC unless said otherwise.

No checks here: the library makes them once and says what is wrong.
"""

from typing import Optional, Sequence

from ._context import ARRAY, NHWC, Context, Tensor
from ._library import check, lib


def _pair(context: Context, layout: int, tensor: Optional[Tensor]) -> tuple:
    if tensor is None:
        return None, None
    dtype, shape, address = tensor
    return context.tensor_desc(layout, dtype, shape), address


def _pairs(context: Context, layout: int, tensors: Sequence[Optional[Tensor]]) -> list:
    return [part for tensor in tensors for part in _pair(context, layout, tensor)]


def carafe_forward(context: Context, kernel: int, group: int, scale: int, *tensors: Tensor) -> None:
    """tensors: input, mask, output."""
    desc = context.carafe_desc(kernel, group, scale)
    check(lib.mluOpCarafeForward(context.handle, desc, *_pairs(context, NHWC, tensors)))


def carafe_backward(context: Context, kernel: int, group: int, scale: int, *tensors: Tensor) -> None:
    """tensors: input, mask, grad_output, grad_input, grad_mask."""
    desc = context.carafe_desc(kernel, group, scale)
    check(lib.mluOpCarafeBackward(context.handle, desc, *_pairs(context, NHWC, tensors)))


def deform_roi_pool_forward(context: Context, pooling: tuple, input: Tensor, rois: Tensor, offset: Optional[Tensor],
                            output: Tensor) -> None:
    """pooling: pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma. offset is an ARRAY."""
    check(lib.mluOpDeformRoiPoolForward(
        context.handle, *_pair(context, NHWC, input), *_pair(context, ARRAY, rois), *_pair(context, ARRAY, offset),
        *pooling, *_pair(context, NHWC, output)))


def deform_roi_pool_backward(context: Context, pooling: tuple, grad_output: Tensor, input: Tensor, rois: Tensor,
                             offset: Optional[Tensor], grad_input: Tensor, grad_offset: Optional[Tensor]) -> None:
    """As deform_roi_pool_forward."""
    check(lib.mluOpDeformRoiPoolBackward(
        context.handle, *_pair(context, NHWC, grad_output), *_pair(context, NHWC, input),
        *_pair(context, ARRAY, rois), *_pair(context, ARRAY, offset), *pooling, *_pair(context, NHWC, grad_input),
        *_pair(context, ARRAY, grad_offset)))


def psa_mask_forward(context: Context, psa_type: int, h_mask: int, w_mask: int, x: Tensor, y: Tensor) -> None:
    check(lib.mluOpPsamaskForward(context.handle, psa_type, *_pair(context, NHWC, x), h_mask, w_mask,
                                  *_pair(context, NHWC, y)))


def psa_mask_backward(context: Context, psa_type: int, h_mask: int, w_mask: int, dy: Tensor, dx: Tensor) -> None:
    check(lib.mluOpPsamaskBackward(context.handle, psa_type, *_pair(context, NHWC, dy), h_mask, w_mask,
                                   *_pair(context, NHWC, dx)))


def three_interpolate_forward(context: Context, *tensors: Tensor) -> None:
    """tensors, all ARRAY: features, indices, weights, output."""
    check(lib.mluOpThreeInterpolateForward(context.handle, *_pairs(context, ARRAY, tensors)))


def three_interpolate_backward(context: Context, *tensors: Tensor) -> None:
    """tensors, all ARRAY: grad_output, indices, weights, grad_features."""
    check(lib.mluOpThreeInterpolateBackward(context.handle, *_pairs(context, ARRAY, tensors)))


def border_align_forward(context: Context, pool_size: int, input: Tensor, boxes: Tensor, output: Tensor,
                         argmax: Tensor) -> None:
    check(lib.mluOpBorderAlignForward(
        context.handle, *_pair(context, NHWC, input), *_pair(context, ARRAY, boxes), pool_size,
        *_pair(context, NHWC, output), *_pair(context, NHWC, argmax)))


def border_align_backward(context: Context, pool_size: int, grad_output: Tensor, boxes: Tensor, argmax: Tensor,
                          grad_input: Tensor) -> None:
    check(lib.mluOpBorderAlignBackward(
        context.handle, *_pair(context, NHWC, grad_output), *_pair(context, ARRAY, boxes),
        *_pair(context, NHWC, argmax), pool_size, *_pair(context, NHWC, grad_input)))
