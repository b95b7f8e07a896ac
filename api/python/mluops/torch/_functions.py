"""The public functions: promote dtypes, bring 4-D tensors to channels_last, call the operator, restore the layout."""

from typing import Optional

import torch
from torch import Tensor

from .._arguments import PsaType, Size, pair, psa_type_number
from ._operators import ops


def _promote(*tensors: Optional[Tensor]) -> list:
    """Converts to the common dtype as torch's own operators do (half with float gives float)."""
    dtype = None
    for tensor in tensors:
        if tensor is not None:
            dtype = tensor.dtype if dtype is None else torch.promote_types(dtype, tensor.dtype)
    return [tensor if tensor is None or tensor.dtype == dtype else tensor.to(dtype) for tensor in tensors]


def _rank(tensor: Tensor, name: str, rank: int) -> None:
    if tensor.dim() != rank:
        raise RuntimeError(f"{name}: wanted {rank} dimensions, got {tensor.dim()} {tuple(tensor.shape)}")


def _to_nhwc(tensor: Tensor) -> Tensor:
    return tensor.contiguous(memory_format=torch.channels_last)


def _like(output: Tensor, given: Tensor) -> Tensor:
    """channels_last stays; a tensor given as NCHW gets its result as NCHW."""
    if given.is_contiguous(memory_format=torch.channels_last) and not given.is_contiguous():
        return output
    return output.contiguous()


def carafe(features: Tensor, masks: Tensor, kernel_size: int, group_size: int, scale_factor: int) -> Tensor:
    """Content-aware upsampling: each output pixel is a K x K neighbourhood of the input, weighted by its own mask.

    Args:
        features: T [N, C, H, W]; C divisible by group_size.
        masks: T [N, group_size*K*K, s*H, s*W].
        kernel_size, group_size, scale_factor: K (odd), number of groups, s.
    Returns: T [N, C, s*H, s*W], differentiable in features and masks.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. channels_last tensors are used as they are.
    Source: Wang et al., "CARAFE", ICCV 2019.
    """
    _rank(features, "features", 4)
    _rank(masks, "masks", 4)
    x, m = _promote(features, masks)
    return _like(ops.carafe(_to_nhwc(x), _to_nhwc(m), kernel_size, group_size, scale_factor), features)


def psa_mask(input: Tensor, psa_type: PsaType, mask_size: Size) -> Tensor:
    """Point-wise spatial attention: lays the mask of every pixel over the feature map.

    Args:
        input: T [N, hm*wm, H, W].
        psa_type: "collect" (0) or "distribute" (1).
        mask_size: hm, wm, or one number for both; even sizes allowed.
    Returns: T [N, H*W, H, W], differentiable in input.

    Source: Zhao et al., "PSANet", ECCV 2018.
    """
    _rank(input, "input", 4)
    h_mask, w_mask = pair(mask_size)
    return _like(ops.psa_mask(_to_nhwc(input), psa_type_number(psa_type), h_mask, w_mask), input)


def deform_roi_pool(input: Tensor, rois: Tensor, offset: Optional[Tensor], output_size: Size,
                    spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1) -> Tensor:
    """Deformable RoI pooling: the mean of bilinear samples in each bin, bins shifted by gamma * RoI size * offset.

    Args:
        input: T [B, C, H, W].
        rois: T [R, 5]: batch index, x1, y1, x2, y2.
        offset: T [R, 2, PH, PW] (plane 0 is x, plane 1 is y), or None (or empty) for none.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the RoIs; 0.5 is then subtracted.
        sampling_ratio: samples per axis and bin; <= 0 means ceil(RoI size / bins).
        gamma: scale of offset.
    Returns: T [R, C, PH, PW], differentiable in input and offset. The gradient of offset uses the unclamped sample
    coordinates, so for samples less than a pixel from the map's edge it is not the derivative of this function.

    Source: Dai et al., "Deformable Convolutional Networks", ICCV 2017.
    """
    _rank(input, "input", 4)
    _rank(rois, "rois", 2)
    if offset is not None and offset.dim() == 1 and offset.numel() == 0:
        offset = None
    x, r, o = _promote(input, rois, offset)
    ph, pw = pair(output_size)
    output = ops.deform_roi_pool(_to_nhwc(x), r, o, ph, pw, float(spatial_scale), int(sampling_ratio), float(gamma))
    return _like(output, input)


def three_interpolate(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Interpolates N points from three of M neighbours each.

    Args:
        features: T [B, C, M].
        indices: int32 or int64 [B, N, 3]; one outside [0, M-1] drops that neighbour only.
        weight: T [B, N, 3], not normalised.
    Returns: T [B, C, N], differentiable in features and weight.

    Source: Qi et al., "PointNet++", 2017.
    """
    for tensor, name in ((features, "features"), (indices, "indices"), (weight, "weight")):
        _rank(tensor, name, 3)
    f, w = _promote(features, weight)
    if indices.dtype != torch.int32:
        limits = torch.iinfo(torch.int32)
        indices = indices.clamp(limits.min, limits.max).to(torch.int32)
    return ops.three_interpolate(f, indices, w)


def border_align(input: Tensor, boxes: Tensor, pool_size: int) -> Tensor:
    """Maximum of pool_size+1 bilinear samples along each border of each box.

    Args:
        input: T [N, 4*C, H, W]; channels in four groups: top, left, bottom, right.
        boxes: T [N, K, 4]: x1, y1, x2, y2.
        pool_size: samples per border less one, >= 1.
    Returns: T [N, C, K, 4] (top, left, bottom, right), differentiable in input.

    Source: Qiu et al., "BorderDet", ECCV 2020.
    """
    _rank(input, "input", 4)
    _rank(boxes, "boxes", 3)
    x, b = _promote(input, boxes)
    return _like(ops.border_align(_to_nhwc(x), b, pool_size)[0], input)
