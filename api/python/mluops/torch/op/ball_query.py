"""ball_query: the first points in a ball round each centre; QueryAndGroup and GroupAll, which gather their features."""

from typing import Optional, Tuple, Union

import torch
from torch import Tensor, nn

from ..._functions.ball_query import BALL_QUERY as FORWARD
from .._blocks import (at_least, bad_param, described, floats, int32, integer, no_derivative, no_tangents, operator,
                       rank, run)
from .._stacks import check_stack, pairs_of_samples
from .gather_points import grouping_operation
from .knn import knn

__all__ = ["GroupAll", "QueryAndGroup", "ball_query"]


forward = described("ball_query(xyz, center_xyz, min_radius, max_radius, sample_num)", FORWARD)


# ---- stacked

def _stacked_fake(xyz, center_xyz, xyz_batch_cnt, center_xyz_batch_cnt, min_radius, max_radius, sample_num):
    count, = rank("xyz_batch_cnt", xyz_batch_cnt.shape, 1)
    check_stack("xyz", xyz, 3, "x, y, z", xyz_batch_cnt, count)
    check_stack("center_xyz", center_xyz, 3, "x, y, z", center_xyz_batch_cnt, count)
    at_least(0, min_radius=min_radius, max_radius=max_radius, sample_num=sample_num)
    return xyz.new_empty((center_xyz.shape[0], sample_num), dtype=torch.int32)


def _stacked_call(indices, xyz, center_xyz, xyz_batch_cnt, center_xyz_batch_cnt, min_radius, max_radius, sample_num):
    of_samples = pairs_of_samples(("xyz_batch_cnt", xyz_batch_cnt, xyz.shape[0]),
                                  ("center_xyz_batch_cnt", center_xyz_batch_cnt, center_xyz.shape[0]))
    # Index 0 is that of a point in no ball, so that empty balls can be told from those with the first point.
    nowhere = xyz.new_full((1, 3), float("nan"))
    for points, rows in of_samples:
        if rows.start < rows.stop:
            run(FORWARD, center_xyz[None, rows], torch.cat([nowhere, xyz[points]])[None], min_radius, max_radius,
                sample_num, indices[None, rows])
    _number_from_the_second(indices)


def _number_from_the_second(indices):
    indices.sub_(1)
    indices[:, 1:].clamp_(min=0)


def _no_points(indices):
    indices.zero_()
    _number_from_the_second(indices)


stacked = operator(
    "stack_ball_query(Tensor xyz, Tensor center_xyz, Tensor xyz_batch_cnt, Tensor center_xyz_batch_cnt, float min_radius,"
    " float max_radius, int sample_num) -> Tensor", _stacked_fake, _stacked_call, setup=no_derivative, jvp=no_tangents,
    empty=_no_points)


def ball_query(min_radius: float, max_radius: float, sample_num: int, xyz: Tensor, center_xyz: Tensor,
               xyz_batch_cnt: Optional[Tensor] = None, center_xyz_batch_cnt: Optional[Tensor] = None) -> Tensor:
    """The first sample_num points, in the order of their index, in the ball round each centre.

    Args:
        min_radius, max_radius: a point is in the ball when its distance d is 0 or min_radius <= d < max_radius.
        sample_num: S; a ball with fewer points is filled up with its first, an empty one with index 0.
        xyz: T [B, N, 3], the points; stacked, T [N1 + N2 + ..., 3].
        center_xyz: T [B, M, 3], the centres; stacked, T [M1 + M2 + ..., 3].
        xyz_batch_cnt, center_xyz_batch_cnt: int32 or int64 [B], N1, N2, ... and M1, M2, ...; None: not stacked.
    Returns: indices int32 [B, M, S]; stacked, [M1 + M2 + ..., S], counted from the first point of the sample, the first
    one -1 where the ball is empty.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    Source: Qi et al., "PointNet++", 2017; mmcv's ball_query.
    """
    low, high = float(min_radius), float(max_radius)
    if not low < high:
        raise bad_param("max_radius", f"more than min_radius {low}", high)
    points, numbers = floats(xyz=xyz, center_xyz=center_xyz), (low, high, integer("sample_num", sample_num))
    if xyz_batch_cnt is None and center_xyz_batch_cnt is None:
        return forward(*points, *numbers)
    return stacked(*points, int32("xyz_batch_cnt", xyz_batch_cnt),
                   int32("center_xyz_batch_cnt", center_xyz_batch_cnt), *numbers)


class QueryAndGroup(nn.Module):
    """Groups the points round each centre with ball_query or knn and gathers their coordinates and features.

    Args:
        max_radius, sample_num, min_radius: of ball_query; max_radius None: the sample_num nearest points instead (knn).
        use_xyz: coordinates relative to the centre are the first three channels.
        return_grouped_xyz: also return the coordinates [B, 3, M, S].
        normalize_xyz: divide the relative coordinates by max_radius.
        uniform_sample: where ball_query finds fewer than sample_num points, fill up with points drawn evenly from those found,
            by torch's generator, instead of repeating the first.
        return_unique_cnt: with uniform_sample, also return how many different points each group has, [B, M].
        return_grouped_idx: also return the indices [B, M, S].
    forward(points_xyz [B, N, 3], center_xyz [B, M, 3], features [B, C, N] or None) -> [B, 3 + C, M, S], or a tuple.
    """

    def __init__(self, max_radius: Optional[float], sample_num: int, min_radius: float = 0.0, use_xyz: bool = True,
                 return_grouped_xyz: bool = False, normalize_xyz: bool = False, uniform_sample: bool = False,
                 return_unique_cnt: bool = False, return_grouped_idx: bool = False) -> None:
        super().__init__()
        if max_radius is None and normalize_xyz:
            raise bad_param("max_radius", "a number where normalize_xyz is True", max_radius)
        if return_unique_cnt and not uniform_sample:
            raise bad_param("uniform_sample", "True where return_unique_cnt is True", uniform_sample)
        self.max_radius, self.sample_num, self.min_radius = max_radius, sample_num, min_radius
        self.use_xyz, self.normalize_xyz = use_xyz, normalize_xyz
        self.return_grouped_xyz, self.return_grouped_idx = return_grouped_xyz, return_grouped_idx
        self.uniform_sample, self.return_unique_cnt = uniform_sample, return_unique_cnt

    def forward(self, points_xyz: Tensor, center_xyz: Tensor,
                features: Optional[Tensor] = None) -> Union[Tensor, Tuple[Tensor, ...]]:
        if features is None and not self.use_xyz:
            raise bad_param("features", "a tensor where use_xyz is False", features)
        indices = self._neighbours(points_xyz, center_xyz)
        if self.uniform_sample:
            indices, unique_cnt = _drawn_evenly(indices)
        grouped_xyz = grouping_operation(points_xyz.transpose(1, 2), indices)
        parts = []
        if self.use_xyz:
            relative = grouped_xyz - center_xyz.transpose(1, 2).unsqueeze(-1)
            parts.append(relative / self.max_radius if self.normalize_xyz else relative)
        if features is not None:
            parts.append(grouping_operation(features, indices))
        grouped = torch.cat(parts, 1)
        extra = [grouped_xyz] if self.return_grouped_xyz else []
        extra += [unique_cnt] if self.return_unique_cnt else []
        extra += [indices] if self.return_grouped_idx else []
        return (grouped, *extra) if extra else grouped

    def _neighbours(self, points_xyz: Tensor, center_xyz: Tensor) -> Tensor:
        if self.max_radius is None:
            return knn(self.sample_num, points_xyz, center_xyz).transpose(1, 2).contiguous()
        return ball_query(self.min_radius, self.max_radius, self.sample_num, points_xyz, center_xyz)


def _drawn_evenly(indices: Tensor) -> Tuple[Tensor, Tensor]:
    """Indices [B, M, S] with repetitions replaced by draws from the different ones of their group, and how many those are."""
    ordered = indices.sort(-1).values
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    place = first.cumsum(-1) - 1
    different = torch.zeros_like(ordered).scatter_(-1, place, ordered)
    count = place[..., -1:] + 1
    drawn = (torch.rand(ordered.shape, device=ordered.device) * count).long().minimum(count - 1)
    places = torch.arange(ordered.shape[-1], device=ordered.device)
    return different.gather(-1, torch.where(places < count, places, drawn)), count[..., 0].to(torch.float32)


class GroupAll(nn.Module):
    """One group of all points; forward(xyz [B, N, 3], new_xyz (not used), features [B, C, N] or None) ->
    [B, 3 + C, 1, N], without the 3 if not use_xyz."""

    def __init__(self, use_xyz: bool = True) -> None:
        super().__init__()
        self.use_xyz = use_xyz

    def forward(self, xyz: Tensor, new_xyz: Optional[Tensor], features: Optional[Tensor] = None) -> Tensor:
        coordinates = xyz.transpose(1, 2).unsqueeze(2)
        if features is None:
            return coordinates
        grouped = features.unsqueeze(2)
        return torch.cat([coordinates, grouped], 1) if self.use_xyz else grouped


SMALLEST = {"stack_ball_query": lambda ones, zeros: ball_query(0, 1, 1, ones(1, 3), ones(1, 3), zeros(1) + 1,
                                                               zeros(1) + 1)}
