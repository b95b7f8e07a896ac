"""furthest_point_sample: points each the furthest from those picked before it."""

from torch import Tensor

from ..._functions.furthest_point_sample import (FURTHEST_POINT_SAMPLE as FORWARD, FURTHEST_POINT_SAMPLE_WITH_DIST as
                                                 FORWARD_WITH_DIST)
from .._blocks import bad_param, described, floats, integer

__all__ = ["furthest_point_sample", "furthest_point_sample_with_dist"]


def _some_points(name, n, m, shape):
    if m > 0 and n == 0:
        raise bad_param(name, "at least one point", shape)


forward = described("furthest_point_sample(points_xyz, num_points)", FORWARD, names={"num_points": "m"}, least={"m": 0},
                    rule=lambda b, n, m: _some_points("points_xyz", n, m, (b, n, 3)))
forward_with_dist = described("furthest_point_sample_with_dist(points_dist, num_points)", FORWARD_WITH_DIST,
                              names={"num_points": "m"}, least={"m": 0},
                              rule=lambda b, n, m: _some_points("points_dist", n, m, (b, n, n)))


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
