"""batched_nms: non-maximum suppression within each of several groups of boxes."""

from numbers import Real
from typing import Any, Dict, Tuple, Union

import torch
from torch import Tensor

from .._blocks import bad_param, expect, floats, renamed
from .._groups import group_tensor
from .nms import kept, kept_of_groups, soft_nms, soft_nms_of_groups
from .rotated import nms_rotated

__all__ = ["batched_nms"]


@renamed(iou_threshold="nms_cfg")
def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, nms_cfg: Union[Dict[str, Any], float, None],
                class_agnostic: bool = False) -> Union[Tensor, Tuple[Tensor, Tensor]]:
    """Non-maximum suppression in which boxes suppress those of their own group alone.

    Args:
        boxes: T [N, 4], or [N, 5] for nms_rotated.
        scores: T [N].
        idxs: [N], the group of each box: any integers or real numbers.
        nms_cfg: type: "nms" (default), "soft_nms" or "nms_rotated"; the rest are arguments of that function;
            class_agnostic: see below; split_thr: without effect. None: nothing is suppressed. A number, also as
            iou_threshold: torchvision's call, which returns the indices alone.
        class_agnostic: all boxes are one group.
    Returns: boxes and scores T [K, 5] (or 6), best score first, of equal scores the lowest index, and indices int64 [K].

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. IoUs within groups are those of the boxes as they are,
    for "nms" computed in float64. K is read from the data (docs/python.md). Source: mmcv's batched_nms.
    """
    boxes, scores = floats(boxes=boxes, scores=scores)
    expect("scores", scores.shape, boxes.shape[:1], ("the number of boxes",))
    if isinstance(nms_cfg, Real) and not isinstance(nms_cfg, bool):
        return kept_of_groups(boxes, scores, idxs, float(nms_cfg))
    if nms_cfg is None:
        group_tensor("idxs", idxs, boxes)
        indices = scores.sort(stable=True, descending=True)[1]
        return torch.cat([boxes[indices], scores[indices].unsqueeze(1)], 1), indices
    if not isinstance(nms_cfg, dict):
        raise TypeError(f"nms_cfg: wanted a dict, None, or the IoU threshold of torchvision's batched_nms, got {nms_cfg!r}")
    config = {"iou_threshold" if name == "iou_thr" else name: value for name, value in nms_cfg.items() if name not in ("type", "split_thr", "class_agnostic")}
    kind, one_group = nms_cfg.get("type", "nms"), nms_cfg.get("class_agnostic", class_agnostic)
    if kind != "nms" or one_group:  # else it is checked below
        idxs = group_tensor("idxs", idxs, boxes)
    if kind == "nms_rotated":
        return nms_rotated(boxes, scores, labels=None if one_group else idxs, **config)
    if kind == "nms":
        indices = kept(boxes, scores, **config) if one_group else kept_of_groups(boxes, scores, idxs, **config)
        return torch.cat([boxes, scores.unsqueeze(1)], 1).index_select(0, indices), indices
    if kind != "soft_nms":
        raise bad_param("nms_cfg: type", "nms, soft_nms or nms_rotated", kind)
    return soft_nms(boxes, scores, **config) if one_group else soft_nms_of_groups(boxes, scores, idxs, **config)
