"""torch.onnx.export of operators to ONNX: standard operators where they are enough, else mmdeploy's.

Importing this module teaches torch's exporter what the forwards are made of:

    import mluops.torch.onnx
    torch.onnx.export(model, inputs, "model.onnx", dynamo=True)

Needs a torch whose exporter is made of torch.export (2.6 and later), with onnx and onnxscript.

To standard operators: carafe, psa_mask, three_interpolate, border_align, deform_roi_pool, knn, three_nn, ball_query,
gather_points, grouping_operation, dynamic voxelization, and (torch 2.8) the mean of roi_align, furthest_point_sample,
hard voxelization, dynamic_scatter. Indices and moves are exact. The exported graphs of the others take the same samples and add up the same terms, in another order; sums of float16 and
bfloat16 are float32 in both. Not exact, and so refused: deform_roi_pool with sampling_ratio <= 0, whose samples are
counted from the data. Values must be finite: next to the edge of the map, zero times infinity is a term here. Batch
indices of RoIs are not checked.

To custom operators (torch 2.8): deform_conv2d and modulated_deform_conv2d (mmdeploy::MMCVDeformConv2d,
MMCVModulatedDeformConv2d), multi_scale_deformable_attn (mmdeploy::MMCVMultiScaleDeformableAttention), roi_align with
pool_mode="max" (mmcv::MMCVRoiAlign), roi_align_rotated (mmdeploy::MMCVRoIAlignRotated), roi_pool (mluops::roi_pool:
ONNX's MaxRoiPool rounds corners to whole pixels first), nms, soft_nms and nms_rotated (mluops::nms, mluops::soft_nms,
mluops::nms_rotated), also of labels and in batched_nms, whose groups the graph moves apart in float64.
mluops.onnxruntime.library() has them for onnxruntime. standard() has nms, multi_scale_deformable_attn and the
deformable convolutions as standard operators instead, standard_nms() only the first.
"""

from typing import Any, Callable, Optional, Sequence, Tuple

import torch
from torch import Tensor
from torch.nn import functional as F

from . import _onnx_points as points
from . import _onnx_voxels as voxels
from ._onnx_points import wide as _wide
from ._onnx_standard import standard, standard_nms
from ._operator import HAS_LIBRARY_API
from .op import dcn, ms_deform_attn, nms, roi_align, roi_align_rotated, roi_pool, rotated

__all__ = ["standard", "standard_nms"]  # for the rest, importing it is all


def _carafe(features: Tensor, masks: Tensor, kernel_size: int, group_size: int, scale_factor: int) -> Tensor:
    n, c, h, w = features.shape
    k, g, s = kernel_size, group_size, scale_factor
    r = (k - 1) // 2
    padded = F.pad(_wide(features), (r, r, r, r)).reshape(n, g, c // g, h + 2 * r, w + 2 * r)
    weights = _wide(masks).reshape(n, g, k * k, h, s, w, s)
    total = 0
    for tap in range(k * k):
        y, x = divmod(tap, k)
        shifted = padded[:, :, :, y:y + h, x:x + w].reshape(n, g, c // g, h, 1, w, 1)
        total = total + shifted * weights[:, :, tap].unsqueeze(2)
    return total.reshape(n, c, h * s, w * s).to(features.dtype)


def _psa_mask(input: Tensor, psa_type: int, h_mask: int, w_mask: int) -> Tensor:
    n, _, h, w = input.shape
    # Mask rows and columns by which a pixel (second) sees a target (first).
    rows, columns = torch.arange(h), torch.arange(w)
    row = rows[:, None] - rows + (h_mask - 1) // 2
    column = columns[:, None] - columns + (w_mask - 1) // 2
    inside = ((row >= 0) & (row < h_mask))[:, None, :, None] & ((column >= 0) & (column < w_mask))[:, None]
    cell = (row.clamp(0, h_mask - 1) * w_mask)[:, None, :, None] + column.clamp(0, w_mask - 1)[:, None]
    size = (1, h * w, h * w)
    seen = input.reshape(n, h_mask * w_mask, h * w).gather(1, cell.reshape(size).expand(n, -1, -1))
    targets = torch.where(inside.reshape(size), seen, torch.zeros((), dtype=input.dtype))
    return (targets if psa_type == 0 else targets.transpose(1, 2)).reshape(n, h * w, h, w)


def _three_interpolate(features: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    b, c, points = features.shape
    n = indices.shape[1]
    inside = (indices >= 0) & (indices < points)
    safe = indices.clamp(0, points - 1).long().reshape(b, 1, 3 * n).expand(-1, c, -1)
    picked = _wide(features).gather(2, safe).reshape(b, c, n, 3)
    terms = torch.where(inside[:, None], picked * _wide(weight)[:, None], torch.zeros((), dtype=picked.dtype))
    return terms.sum(3).to(features.dtype)


def _neighbours(at: Tensor, size: int) -> Tuple[Tensor, Tensor, Tensor]:
    """Numbers of two pixels, last dimension, their weights, and whether samples are inside: up to a pixel outside an
    axis they take what is on its edge."""
    inside = (at >= -1) & (at <= size)
    at = torch.where(inside, at, torch.zeros((), dtype=at.dtype)).clamp(0, size - 1)
    low = at.floor()
    pixels = torch.stack([low, (low + 1).clamp(max=size - 1)], -1).long()
    return pixels, torch.stack([1 - (at - low), at - low], -1), inside


def _border_points(boxes: Tensor, pool_size: int) -> list:
    """x and y [N, 4, K] of the points in turn. Each is reached from the one before by adding the step, as the kernels
    do."""
    x1, y1, x2, y2 = boxes.unbind(2)
    across, down, still = (x2 - x1) / pool_size, (y2 - y1) / pool_size, torch.zeros_like(x1)
    x, y = torch.stack([x1, x1, x2, x2], 1), torch.stack([y1, y1, y2, y2], 1)
    step_x, step_y = torch.stack([across, still, -across, still], 1), torch.stack([still, down, still, -down], 1)
    points = [(x, y)]
    for _ in range(pool_size):
        x, y = x + step_x, y + step_y
        points.append((x, y))
    return points


def _border_align(input: Tensor, boxes: Tensor, pool_size: int) -> Tuple[Tensor, Tensor]:
    n, c4, h, w = input.shape
    c, k = c4 // 4, boxes.shape[1]
    planes = _wide(input).reshape(n, 4, c, h * w)

    def sample(x: Tensor, y: Tensor) -> Tensor:
        columns, column_weights, inside_x = _neighbours(x, w)
        rows, row_weights, inside_y = _neighbours(y, h)
        pixels = rows[..., None] * w + columns[..., None, :]
        index = pixels.reshape(n, 4, 1, k * 4).expand(-1, -1, c, -1)
        weights = row_weights[..., None] * column_weights[..., None, :]
        value = (planes.gather(3, index).reshape(n, 4, c, k, 4) * weights.reshape(n, 4, 1, k, 4)).sum(4)
        return torch.where((inside_x & inside_y)[:, :, None], value, torch.zeros((), dtype=value.dtype))

    values = [sample(x, y) for x, y in _border_points(_wide(boxes), pool_size)]
    greatest, where = values[0], torch.zeros_like(values[0], dtype=torch.int32)
    for i, value in enumerate(values[1:], 1):
        more = value > greatest
        greatest = torch.where(more, value, greatest)
        where = torch.where(more, torch.full((), i, dtype=torch.int32), where)
    return greatest.permute(0, 2, 3, 1).to(input.dtype), where.permute(0, 2, 3, 1)


def _roi_samples(low: Tensor, high: Tensor, moved: Tensor, bins: Tuple[int, int, int]) -> Tensor:
    """Coordinates [R, PH, PW, samples] along an axis, given the corners [R] on the map, how far bins are moved [R, PH,
    PW], and how many bins there are, along which dimension of moved, and samples of each."""
    count, dimension, grid = bins
    size = (high - low)[:, None, None, None] / count
    number = torch.arange(count, dtype=low.dtype).reshape([count if d == dimension else 1 for d in range(4)])
    along = (torch.arange(grid, dtype=low.dtype) + 0.5) * size / grid
    return (low[:, None, None, None] + moved[..., None]) + number * size + along


def _deform_roi_pool(input: Tensor, rois: Tensor, offset: Optional[Tensor], pooled_height: int, pooled_width: int,
                     spatial_scale: float, sampling_ratio: int, gamma: float) -> Tensor:
    if sampling_ratio <= 0:
        raise NotImplementedError("mluops: deform_roi_pool with sampling_ratio <= 0 has no ONNX form: how many samples "
                                  "a bin has is in the data. Give a positive sampling_ratio")
    b, c, h, w = input.shape
    r, ph, pw, grid = rois.shape[0], pooled_height, pooled_width, sampling_ratio
    x1, y1, x2, y2 = (_wide(rois)[:, 1:] * spatial_scale - 0.5).unbind(1)
    if offset is None:
        across = down = torch.zeros((r, ph, pw), dtype=x1.dtype)
    else:
        move_x, move_y = (_wide(offset) * gamma).unbind(1)
        across, down = move_x * (x2 - x1)[:, None, None], move_y * (y2 - y1)[:, None, None]
    columns, column_weights, inside_x = _neighbours(_roi_samples(x1, x2, across, (pw, 2, grid)), w)
    rows, row_weights, inside_y = _neighbours(_roi_samples(y1, y2, down, (ph, 1, grid)), h)
    column_weights, row_weights = column_weights * inside_x[..., None], row_weights * inside_y[..., None]
    # Samples make a grid, so a bin is a sum over pairs of its rows and its columns of pixels.
    images = rois[:, 0].long().reshape(r, 1, 1, 1, 1)
    pixels = (images * h + rows.flatten(3)[..., None]) * w + columns.flatten(3)[:, :, :, None]
    weights = row_weights.flatten(3)[..., None] * column_weights.flatten(3)[:, :, :, None]
    picked = _wide(input).permute(0, 2, 3, 1).reshape(b * h * w, c)[pixels.reshape(-1)]
    pooled = (picked.reshape(r, ph, pw, -1, c) * weights.reshape(r, ph, pw, -1, 1)).sum(3) / (grid * grid)
    return pooled.permute(0, 3, 1, 2).to(input.dtype)


# ---- Operators of other domains: not composed of anything, but named ----------------------


def _named(name: str, inputs: Sequence[Tensor], shape: Sequence[Any], **attributes: Any) -> Tensor:
    """A node of this name, with an output of the type of its first input."""
    version = 1 if "::" in name else None
    return torch.onnx.ops.symbolic(name, inputs, attributes, dtype=inputs[0].dtype, shape=shape, version=version)


def _deform_conv2d(input: Tensor, offset: Tensor, mask: Optional[Tensor], weight: Tensor, bias: Optional[Tensor],
                   *numbers: int) -> Tensor:
    shape = dcn.forward.form.shapes(input, offset, mask, weight, bias, *numbers)[0]
    form = dict(stride=numbers[0:2], padding=numbers[2:4], dilation=numbers[4:6], groups=numbers[6],
                deform_groups=numbers[7])
    if mask is None:
        output = _named("mmdeploy::MMCVDeformConv2d", (input, offset, weight), shape, **form)
        return output if bias is None else output + bias[:, None, None]
    inputs = (input, offset, mask, weight) + (() if bias is None else (bias,))
    return _named("mmdeploy::MMCVModulatedDeformConv2d", inputs, shape, **form)


def _multi_scale_deformable_attn(*inputs: Tensor) -> Tensor:
    batch, queries, heads, channels = ms_deform_attn.forward.form.shapes(*inputs)[0]
    inputs = (inputs[0], inputs[1].long(), inputs[2].long(), *inputs[3:])
    output = _named("mmdeploy::MMCVMultiScaleDeformableAttention", inputs, (batch, queries, heads * channels),
                    im2col_step=64)
    return output.reshape(batch, queries, heads, channels)


def _roi_align(input: Tensor, rois: Tensor, pooled_height: int, pooled_width: int, spatial_scale: float,
               sampling_ratio: int, pool_mode: int, aligned: bool) -> Tuple[Tensor, Tensor, Tensor]:
    shape = (rois.shape[0], input.shape[1], pooled_height, pooled_width)
    form = dict(output_height=pooled_height, output_width=pooled_width, spatial_scale=spatial_scale,
                sampling_ratio=max(sampling_ratio, 0))
    if pool_mode == roi_align._MAX:
        pooled = _named("mmcv::MMCVRoiAlign", (input, rois), shape, mode="max", aligned=int(aligned), **form)
        places = pooled  # of the greatest samples: only a gradient looks at them
    else:
        wide = _wide(input)
        pooled = _named("RoiAlign", (wide, rois[:, 1:].to(wide.dtype), rois[:, 0].long()), shape, mode="avg",
                        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
                        **form).to(input.dtype)
        places = input.new_empty(0)
    return pooled, places, places


def _roi_pool(input: Tensor, rois: Tensor, pooled_height: int, pooled_width: int,
              spatial_scale: float) -> Tuple[Tensor, Tensor]:
    shape = roi_pool.forward.form.shapes(input, rois, pooled_height, pooled_width, spatial_scale)[0]
    pooled = _named("mluops::roi_pool", (input, rois), shape, output_height=pooled_height, output_width=pooled_width,
                    spatial_scale=spatial_scale)
    return pooled, pooled  # the second: places of the greatest pixels, which only a gradient looks at


def _nms(boxes: Tensor, scores: Tensor, iou_threshold: float, offset: int, score_threshold: float,
         max_num: int) -> Tuple[Tensor, Tensor]:
    n = nms._check_boxes(boxes, scores, offset)
    form = dict(iou_threshold=iou_threshold, offset=offset, score_threshold=score_threshold, max_num=max_num)
    indices, count = torch.onnx.ops.symbolic_multi_out(
        "mluops::nms", (boxes, scores), form, dtypes=(torch.int64, torch.int32), shapes=((n,), (1,)), version=1)
    return indices, count


def _soft_nms(boxes: Tensor, scores: Tensor, iou_threshold: float, sigma: float, min_score: float, method: int,
              offset: int) -> Tuple[Tensor, Tensor, Tensor]:
    n = nms._check_boxes(boxes, scores, offset)
    form = dict(iou_threshold=iou_threshold, sigma=sigma, min_score=min_score, method=method, offset=offset)
    dets, indices, count = torch.onnx.ops.symbolic_multi_out(
        "mluops::soft_nms", (boxes, scores), form, dtypes=(boxes.dtype, torch.int64, torch.int32),
        shapes=((n, 5), (n,), (1,)), version=1)
    return dets, indices, count


def _nms_rotated(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tuple[Tensor, Tensor]:
    indices, count = torch.onnx.ops.symbolic_multi_out(
        "mluops::nms_rotated", (dets, scores), dict(iou_threshold=iou_threshold), dtypes=(torch.int32, torch.int32),
        shapes=(rotated._nms.form.shapes(dets, scores, iou_threshold)[0], (1,)), version=1)
    return indices, count


def _apart(coordinates: Tensor, groups: Tensor, reached: Tensor) -> Tensor:
    """Coordinates [N, any] in float64, each of the groups [N] moved by more than boxes that are finite reach, [N, any].
    (A graph of standard operators has no loop over as many groups as the data say.)"""
    ordered, order = groups.sort()
    changes = (ordered[1:] != ordered[:-1]).long().cumsum(0)
    number = torch.zeros_like(order).scatter(0, order, torch.cat([torch.zeros_like(order[:1]), changes]))
    finite = F.pad(torch.where(reached.isfinite(), reached, torch.zeros((), dtype=reached.dtype)), (0, 0, 0, 1))
    step = (finite.amax((0, 1)) - finite.amin((0, 1)) + 2).log2().ceil().exp2()
    return coordinates + (number.double() * step).unsqueeze(1)


def _nms_of_groups(boxes: Tensor, scores: Tensor, groups: Tensor, iou_threshold: float, offset: int,
                   score_threshold: float, max_num: int) -> Tuple[Tensor, Tensor]:
    wide = boxes.double()
    return torch.ops.mluops.nms(_apart(wide, groups, wide), scores.double(), iou_threshold, offset, score_threshold,
                                max_num)


def _soft_nms_of_groups(boxes: Tensor, scores: Tensor, groups: Tensor, iou_threshold: float, sigma: float,
                        min_score: float, method: int, offset: int) -> Tuple[Tensor, Tensor, Tensor]:
    if method == nms._METHODS.index("naive") and iou_threshold <= 0:
        raise NotImplementedError("mluops: soft_nms of groups with method=\"naive\" and iou_threshold <= 0 has no ONNX "
                                  "form: boxes of other groups, whose IoU is 0, would be dropped")
    wide = boxes.double()
    dets, indices, count = _soft_nms(_apart(wide, groups, wide), scores.double(), iou_threshold, sigma, min_score,
                                     method, offset)
    return torch.cat([boxes[indices], dets[:, 4:].to(boxes.dtype)], 1), indices, count


def _nms_rotated_of_groups(dets: Tensor, scores: Tensor, labels: Tensor, iou_threshold: float) -> Tuple[Tensor, Tensor]:
    wide = dets.double()
    centre, size = wide[:, :2], wide[:, 2:4].abs().sum(1, keepdim=True)
    moved = _apart(centre, labels, torch.cat([centre - size, centre + size], 1))
    keep, count = _nms_rotated(torch.cat([moved, wide[:, 2:]], 1), scores.double(), iou_threshold)
    return keep.long(), count


def _roi_align_rotated(input: Tensor, rois: Tensor, pooled_height: int, pooled_width: int, sampling_ratio: int,
                       spatial_scale: float, aligned: bool, clockwise: bool) -> Tensor:
    shape = roi_align_rotated.forward.form.shapes(input, rois, pooled_height, pooled_width, sampling_ratio, spatial_scale, aligned,
                                                  clockwise)[0]
    return _named("mmdeploy::MMCVRoIAlignRotated", (input, rois), shape, output_height=pooled_height,
                  output_width=pooled_width, sampling_ratio=sampling_ratio, spatial_scale=spatial_scale,
                  aligned=int(aligned), clockwise=int(clockwise))


def _int32(wide: Tensor, name: str) -> Tensor:
    return wide.to(torch.int32)  # whose numbers the graph does not look at


def _first_numbers(count: Tensor) -> Tensor:
    return torch.arange(count.item())


def _register(composed: Callable) -> None:
    """Makes it known to the exporter. Plain torch.export, torch.compile and eager calls keep the operator."""
    operator = getattr(torch.ops.mluops, composed.__name__.lstrip("_")).default
    if operator not in torch._decomp.decomposition_table:
        torch._decomp.register_decomposition(operator)(composed)
        # Else tensors of symbolic shape would go through it instead of through the operator's fake.
        torch._decomp.register_decomposition(operator, type="meta", unsafe=True)(operator)


if not HAS_LIBRARY_API:
    raise ImportError(f"mluops.torch.onnx: torch {torch.__version__} cannot export the operators; 2.6 or later can")
for _composed in (_carafe, _psa_mask, _three_interpolate, _border_align, _deform_roi_pool, points.knn, points.three_nn,
                  points.ball_query, points.gather_points, points.group_points, voxels.dynamic_voxelize):
    _register(_composed)
if hasattr(torch.onnx, "ops"):
    for _composed in (_deform_conv2d, _multi_scale_deformable_attn, _roi_align, _roi_align_rotated, _roi_pool, _nms, _soft_nms,
                      _nms_rotated, _nms_of_groups, _soft_nms_of_groups, _nms_rotated_of_groups, _int32,
                      _first_numbers, points.furthest_point_sample, points.furthest_point_sample_with_dist,
                      voxels.hard_voxelize, voxels.dynamic_point_to_voxel):
        _register(_composed)
