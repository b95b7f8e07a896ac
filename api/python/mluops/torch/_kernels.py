"""CPU kernels: torch tensors in, C API call, torch tensors out. No autograd here.

4-D tensors are [N, C, H, W] in torch's sense; the library wants them channels_last, so such tensors are passed as they
are and others are converted. All tensors of a call have one dtype (the public functions promote first). The 4-D
results are channels_last. Empty tensors never reach the library: their results are zeros.
"""

from typing import Optional, Tuple

import torch
from torch import Tensor

from .. import _calls
from .._context import (ATOMICS_ALLOWED, ATOMICS_NOT_ALLOWED, BFLOAT16, DOUBLE, FLOAT, HALF, INT32, Context,
                        torch_door)
from .._context import Tensor as Ref
from ._memory import empty_channels_last, prefer_huge_pages

_NHWC = torch.channels_last

_CODES = {torch.float16: HALF, torch.float32: FLOAT, torch.float64: DOUBLE, torch.bfloat16: BFLOAT16,
          torch.int32: INT32}


def _context() -> Context:
    """This thread's context with torch's thread count and determinism."""
    context = torch_door.context()
    context.set_threads(torch.get_num_threads())
    deterministic = torch.are_deterministic_algorithms_enabled()
    context.set_atomics(ATOMICS_NOT_ALLOWED if deterministic else ATOMICS_ALLOWED)
    return context


def _code(tensor: Tensor) -> int:
    code = _CODES.get(tensor.dtype)
    if code is None:
        raise TypeError(f"mluops: wanted a tensor of float16, bfloat16, float32 or float64, got {tensor.dtype}")
    return code


def _ref(tensor: Tensor) -> Ref:
    """A dense row-major tensor."""
    return _code(tensor), tuple(tensor.shape), tensor.data_ptr()


def _nhwc_ref(tensor: Tensor) -> Ref:
    """A channels_last tensor as the NHWC tensor it is in memory."""
    n, c, h, w = tensor.shape
    return _code(tensor), (n, h, w, c), tensor.data_ptr()


def _nhwc(tensor: Tensor) -> Tensor:
    return tensor.contiguous(memory_format=_NHWC)


def _new(like: Tensor, shape: Tuple[int, ...], dtype: Optional[torch.dtype] = None) -> Tensor:
    """A channels_last tensor, not filled."""
    return prefer_huge_pages(empty_channels_last(like, shape, dtype))


def _new_dense(like: Tensor, shape: Tuple[int, ...]) -> Tensor:
    return prefer_huge_pages(like.new_empty(shape))


def _any_empty(*tensors: Optional[Tensor]) -> bool:
    for tensor in tensors:
        if tensor is not None and tensor.numel() == 0:
            return True
    return False


def carafe(features: Tensor, masks: Tensor, kernel_size: int, group_size: int, scale_factor: int) -> Tensor:
    n, c, h, w = features.shape
    output = _new(features, (n, c, h * scale_factor, w * scale_factor))
    if _any_empty(features, masks):
        return output.zero_()
    x, m = _nhwc(features), _nhwc(masks)
    _calls.carafe_forward(_context(), kernel_size, group_size, scale_factor, _nhwc_ref(x), _nhwc_ref(m),
                          _nhwc_ref(output))
    return output


def carafe_backward(grad: Tensor, features: Tensor, masks: Tensor, kernel_size: int, group_size: int,
                    scale_factor: int) -> Tuple[Tensor, Tensor]:
    grad_features, grad_masks = _new(features, features.shape), _new(masks, masks.shape)
    if _any_empty(features, masks):
        return grad_features.zero_(), grad_masks.zero_()
    x, m, g = _nhwc(features), _nhwc(masks), _nhwc(grad)
    _calls.carafe_backward(_context(), kernel_size, group_size, scale_factor, _nhwc_ref(x), _nhwc_ref(m),
                           _nhwc_ref(g), _nhwc_ref(grad_features), _nhwc_ref(grad_masks))
    return grad_features, grad_masks


def psa_mask(input: Tensor, psa_type: int, h_mask: int, w_mask: int) -> Tensor:
    n, _, h, w = input.shape
    output = _new(input, (n, h * w, h, w))
    if _any_empty(input):
        return output.zero_()
    x = _nhwc(input)
    _calls.psa_mask_forward(_context(), psa_type, h_mask, w_mask, _nhwc_ref(x), _nhwc_ref(output))
    return output


def psa_mask_backward(grad: Tensor, psa_type: int, h_mask: int, w_mask: int) -> Tensor:
    n, _, h, w = grad.shape
    grad_input = _new(grad, (n, h_mask * w_mask, h, w))
    if _any_empty(grad, grad_input):
        return grad_input
    g = _nhwc(grad)
    _calls.psa_mask_backward(_context(), psa_type, h_mask, w_mask, _nhwc_ref(g), _nhwc_ref(grad_input))
    return grad_input


def deform_roi_pool(input: Tensor, rois: Tensor, offset: Optional[Tensor], pooled_height: int, pooled_width: int,
                    spatial_scale: float, sampling_ratio: int, gamma: float) -> Tensor:
    output = _new(input, (rois.shape[0], input.shape[1], pooled_height, pooled_width))
    if _any_empty(input, rois, offset):
        return output.zero_()
    x, r, o = _nhwc(input), rois.contiguous(), None if offset is None else offset.contiguous()
    _calls.deform_roi_pool_forward(
        _context(), (pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma), _nhwc_ref(x), _ref(r),
        None if o is None else _ref(o), _nhwc_ref(output))
    return output


def deform_roi_pool_backward(grad: Tensor, input: Tensor, rois: Tensor, offset: Optional[Tensor],
                             pooled_height: int, pooled_width: int, spatial_scale: float, sampling_ratio: int,
                             gamma: float) -> Tuple[Tensor, Tensor]:
    """The second result is empty without offset."""
    grad_input = _new(input, input.shape)
    grad_offset = input.new_empty(0 if offset is None else offset.shape)
    if _any_empty(input, rois, offset):
        return grad_input.zero_(), grad_offset.zero_()
    g, x, r = _nhwc(grad), _nhwc(input), rois.contiguous()
    o = None if offset is None else offset.contiguous()
    _calls.deform_roi_pool_backward(
        _context(), (pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma), _nhwc_ref(g), _nhwc_ref(x),
        _ref(r), None if o is None else _ref(o), _nhwc_ref(grad_input), None if o is None else _ref(grad_offset))
    return grad_input, grad_offset


def three_interpolate(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    output = _new_dense(features, (features.shape[0], features.shape[1], indices.shape[1]))
    if _any_empty(features, indices):
        return output.zero_()
    f, i, w = features.contiguous(), indices.contiguous(), weight.contiguous()
    _calls.three_interpolate_forward(_context(), _ref(f), _ref(i), _ref(w), _ref(output))
    return output


def three_interpolate_backward(grad: Tensor, indices: Tensor, weight: Tensor, points: int) -> Tensor:
    grad_features = _new_dense(grad, (grad.shape[0], grad.shape[1], points))
    if _any_empty(grad, grad_features):
        return grad_features.zero_()
    g, i, w = grad.contiguous(), indices.contiguous(), weight.contiguous()
    _calls.three_interpolate_backward(_context(), _ref(g), _ref(i), _ref(w), _ref(grad_features))
    return grad_features


def border_align(input: Tensor, boxes: Tensor, pool_size: int) -> Tuple[Tensor, Tensor]:
    """output [N, C, K, 4] and the number of the winning sample, int32 of the same shape."""
    shape = (input.shape[0], input.shape[1] // 4, boxes.shape[1], 4)
    output, argmax = _new(input, shape), _new(input, shape, torch.int32)
    if _any_empty(input, boxes):
        return output.zero_(), argmax.zero_()
    x, b = _nhwc(input), boxes.contiguous()
    _calls.border_align_forward(_context(), pool_size, _nhwc_ref(x), _ref(b), _nhwc_ref(output), _nhwc_ref(argmax))
    return output, argmax


def border_align_backward(grad: Tensor, boxes: Tensor, argmax: Tensor, pool_size: int, height: int,
                          width: int) -> Tensor:
    n, c, _, _ = grad.shape
    grad_input = _new(grad, (n, 4 * c, height, width))
    if _any_empty(grad, boxes, grad_input):
        return grad_input.zero_()
    g, b, a = _nhwc(grad), boxes.contiguous(), _nhwc(argmax)
    _calls.border_align_backward(_context(), pool_size, _nhwc_ref(g), _ref(b), _nhwc_ref(a), _nhwc_ref(grad_input))
    return grad_input
