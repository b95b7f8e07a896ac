"""furthest_point_sample: points each the furthest from those picked before it."""

import torch
from torch import Tensor

from ..._arguments import at_least, integer
from ..._errors import bad_param
from ..._functions.furthest_point_sample import (FURTHEST_POINT_SAMPLE as FORWARD, FURTHEST_POINT_SAMPLE_WITH_DIST as
                                                 FORWARD_WITH_DIST)
from ..._shapes import expect, rank
from .._operator import no_derivative, no_tangents, operator
from .._tensors import floats, run

__all__ = ["furthest_point_sample", "furthest_point_sample_with_dist"]


def _indices(name, points, num_points):
    at_least(0, num_points=num_points)
    if num_points > 0 and points.shape[1] == 0:
        raise bad_param(name, "at least one point", tuple(points.shape))
    return points.new_empty((points.shape[0], num_points), dtype=torch.int32)


def _fake(points_xyz, num_points):
    b, n, _ = rank("points_xyz", points_xyz.shape, 3)
    expect("points_xyz", points_xyz.shape, (b, n, 3), ("", "", "x, y, z"))
    return _indices("points_xyz", points_xyz, num_points)


def _with_dist_fake(points_dist, num_points):
    b, n, _ = rank("points_dist", points_dist.shape, 3)
    expect("points_dist", points_dist.shape, (b, n, n), ("", "", "the number of points"))
    return _indices("points_dist", points_dist, num_points)


forward = operator("furthest_point_sample(Tensor points_xyz, int num_points) -> Tensor", _fake,
                   lambda indices, points_xyz, num_points: run(FORWARD, points_xyz, indices),
                   setup=no_derivative, jvp=no_tangents)
forward_with_dist = operator("furthest_point_sample_with_dist(Tensor points_dist, int num_points) -> Tensor",
                             _with_dist_fake,
                             lambda indices, points_dist, num_points: run(FORWARD_WITH_DIST, points_dist, indices),
                             setup=no_derivative, jvp=no_tangents)


def furthest_point_sample(points_xyz: Tensor, num_points: int) -> Tensor:
    """Picks points, each the furthest from those picked before it, the first being point 0.

    Args:
        points_xyz: T [B, N, 3]; x, y, z.
        num_points: M; more than N repeats points.
    Returns: indices int32 [B, M]. Of equally far points the one mmcv's CUDA reduction would take.

    T: float16, bfloat16, float32, float64. Source: Qi et al., "PointNet++", 2017; mmcv's furthest_point_sample.
    """
    return forward(*floats(points_xyz=points_xyz), integer("num_points", num_points))


def furthest_point_sample_with_dist(points_dist: Tensor, num_points: int) -> Tensor:
    """furthest_point_sample with the distances given.

    Args:
        points_dist: T [B, N, N].
        num_points: M.
    Returns: indices int32 [B, M].

    T: float16, bfloat16, float32, float64. Source: Yang et al., "3DSSD", 2020; mmcv's
    furthest_point_sample_with_dist.
    """
    return forward_with_dist(*floats(points_dist=points_dist), integer("num_points", num_points))


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {
    "furthest_point_sample": lambda ones, zeros: furthest_point_sample(ones(1, 1, 3), 1),
    "furthest_point_sample_with_dist": lambda ones, zeros: furthest_point_sample_with_dist(ones(1, 1, 1), 1)}
