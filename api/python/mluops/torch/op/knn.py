"""knn: the k nearest points of each centre."""

from typing import Optional

import torch
from torch import Tensor

from ..._functions.knn import KNN as FORWARD
from .._blocks import described, floats, integer, is_tensor

__all__ = ["knn"]


def _nothing_known(outputs):
    """Missing neighbours have index 0 and are as far as mmcv starts."""
    outputs[0].zero_()
    outputs[1].fill_(1e10 if outputs[1].dtype != torch.float16 else float("inf"))


forward = described("knn(xyz, center_xyz, k)", FORWARD, empty=_nothing_known)


def knn(k: int, xyz: Tensor, center_xyz: Optional[Tensor] = None, transposed: bool = False) -> Tensor:
    """The k nearest points of each centre, nearest first, of equally near ones the lower index first.

    Args:
        k: neighbours wanted, at least 1; those that are missing have index 0.
        xyz: T [B, N, 3], the points; [B, 3, N] if transposed.
        center_xyz: T [B, M, 3], the centres, or [B, 3, M]; None: the points themselves.
        transposed: see above.
    Returns: indices int32 [B, k, M].

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's knn.
    """
    centers = center_xyz
    if center_xyz is None:
        centers = is_tensor("xyz", xyz).detach()  # a tensor of its own: a plan has to tell its inputs apart
    if transposed:
        xyz, centers = xyz.transpose(1, 2), centers.transpose(1, 2)
    indices, _ = forward(*floats(xyz=xyz, center_xyz=centers), integer("k", k))
    return indices.transpose(1, 2).contiguous()
