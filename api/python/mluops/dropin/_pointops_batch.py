"""The first generation of pointops_cuda: operators on batches of clouds, [B, N, 3], with their sizes as ints before them."""

import functools
from typing import Any, Callable

import torch

from ..torch._buffers import fill, fill_all
from ..torch._tensors import floats
from ..torch.filling import ball_query as _ball
from ..torch.filling import furthest_point_sample as _fps
from ..torch.filling import gather_points as _gather
from ..torch.filling import three_interpolate as _interpolate
from ..torch.filling import three_nn as _three_nn
from ..torch.op.knn import forward as _knn

__all__ = ["ballquery_cuda", "featuredistribute_cuda", "featuregather_backward_cuda", "featuregather_forward_cuda",
           "gathering_backward_cuda", "gathering_forward_cuda", "grouping_int_forward_cuda", "knnquery_heap_cuda",
           "labelstat_and_ballquery_cuda", "labelstat_ballrange_cuda", "labelstat_idx_cuda", "nearestneighbor_cuda"]

_of_batches = {}


def or_of_batches(name: str) -> Callable:
    """A function of stacked clouds, which calls that of batches where its first tensor has a batch. (Gradients of stacked
    clouds' groups have three axes, too.)"""
    axes = 4 if name == "grouping_backward_cuda" else 3

    def wrap(stacked: Callable) -> Callable:
        @functools.wraps(stacked)
        def call(*args: Any) -> None:
            first = next((each for each in args if isinstance(each, torch.Tensor)), None)
            if first is not None and first.dim() >= axes:
                return _of_batches[name](*args)
            return stacked(*args)

        return call

    return wrap


def _batch(function: Callable) -> Callable:
    _of_batches[function.__name__] = function
    return function


@_batch
def furthestsampling_cuda(b, n, m, xyz, temp, idx):
    _fps.furthest_point_sampling_forward(xyz, temp, idx, b, n, m)


@_batch
def knnquery_cuda(b, n, m, nsample, xyz, new_xyz, idx, dist2):
    """Neighbours in order of their distance."""
    indices, squares = _knn(*floats(xyz=xyz, new_xyz=new_xyz), nsample)
    fill_all((indices, squares), idx=idx, dist2=dist2)


knnquery_heap_cuda = knnquery_cuda


def gathering_forward_cuda(b, c, n, m, points, idx, out):
    _gather.gather_points_forward(points, idx, out, b, c, n, m)


def gathering_backward_cuda(b, c, n, m, grad_out, idx, grad_points):
    _gather.gather_points_backward(grad_out, idx, grad_points, b, c, n, m)


@_batch
def grouping_forward_cuda(b, c, n, m, nsample, points, idx, out):
    _gather.group_points_forward(points, idx, out, b, c, n, m, nsample)


@_batch
def grouping_backward_cuda(b, c, n, m, nsample, grad_out, idx, grad_points):
    _gather.group_points_backward(grad_out, idx, grad_points, b, c, n, m, nsample)


def grouping_int_forward_cuda(b, c, n, m, nsample, points, idx, out):
    """Groups integer values."""
    at = idx.long().flatten(1)[:, None].expand(-1, points.shape[1], -1)
    fill("out", out, points.gather(2, at).reshape(*points.shape[:2], *idx.shape[1:]))


def nearestneighbor_cuda(b, n, m, unknown, known, dist2, idx):
    _three_nn.three_nn_forward(unknown, known, dist2, idx, b, n, m)


@_batch
def interpolation_forward_cuda(b, c, m, n, points, idx, weight, out):
    _interpolate.three_interpolate_forward(points, idx, weight, out, b, c, m, n)


@_batch
def interpolation_backward_cuda(b, c, n, m, grad_out, idx, weight, grad_points):
    _interpolate.three_interpolate_backward(grad_out, idx, weight, grad_points, b, c, n, m)


def ballquery_cuda(b, n, m, radius, nsample, new_xyz, xyz, idx):
    _ball.ball_query_forward(new_xyz, xyz, idx, b, n, m, 0.0, radius, nsample)


def featuredistribute_cuda(b, n, m, max_xyz, xyz, distribute_idx):
    """The nearest of max_xyz [B, N, 3] for each of xyz [B, M, 3]."""
    fill("distribute_idx", distribute_idx, _knn(*floats(max_xyz=max_xyz, xyz=xyz), 1)[0][..., 0])


def featuregather_forward_cuda(b, n, m, c, max_feature, distribute_idx, distribute_feature):
    _gather.gather_points_forward(max_feature, distribute_idx, distribute_feature, b, c, n, m)


def featuregather_backward_cuda(b, n, m, c, grad_distribute_feature, distribute_idx, grad_max_feature):
    _gather.gather_points_backward(grad_distribute_feature, distribute_idx, grad_max_feature, b, c, n, m)


def _in_balls(radius, new_xyz, xyz):
    return ((new_xyz[:, :, None] - xyz[:, None]).square().sum(3) < float(radius) ** 2)


def labelstat_ballrange_cuda(b, n, m, radius, nclass, new_xyz, xyz, label_stat, new_label_stat):
    """Sums of the counts [B, N, K] of all points in each ball."""
    inside = _in_balls(radius, new_xyz, xyz).double()
    fill("new_label_stat", new_label_stat, (inside @ label_stat.double()).round().int())


def labelstat_idx_cuda(b, n, m, nsample, nclass, label_stat, idx, new_label_stat):
    """Sums of the counts of the points that idx [B, M, S] means."""
    rows = label_stat.gather(1, idx.long().flatten(1)[..., None].expand(-1, -1, label_stat.shape[2]))
    fill("new_label_stat", new_label_stat, rows.reshape(*idx.shape, -1).sum(2).int())


def labelstat_and_ballquery_cuda(b, n, m, radius, nsample, nclass, new_xyz, xyz, label_stat, idx, new_label_stat):
    """The points in each ball, and the sums of the counts of the first nsample of them."""
    ballquery_cuda(b, n, m, radius, nsample, new_xyz, xyz, idx)
    inside = _in_balls(radius, new_xyz, xyz)
    first = (inside & (inside.cumsum(2) <= nsample)).double()
    fill("new_label_stat", new_label_stat, (first @ label_stat.double()).round().int())
