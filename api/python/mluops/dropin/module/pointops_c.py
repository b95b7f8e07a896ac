"""pointops._C of Pointcept: operators on clouds of points one behind the other."""

import torch

from ...torch._buffers import add, adding, adding_rows, write
from .. import _stacked
from .pointops_cuda import (aggregation_backward_cuda, aggregation_forward_cuda, furthestsampling_cuda,
                            grouping_backward_cuda, grouping_forward_cuda, interpolation_backward_cuda,
                            interpolation_forward_cuda, subtraction_backward_cuda, subtraction_forward_cuda)

__all__ = ["aggregation_backward_cuda", "aggregation_forward_cuda", "attention_fusion_step_backward_cuda",
           "attention_fusion_step_forward_cuda", "attention_relation_step_backward_cuda",
           "attention_relation_step_forward_cuda", "ball_query_cuda", "farthest_point_sampling_cuda",
           "grouping_backward_cuda", "grouping_forward_cuda", "interpolation_backward_cuda",
           "interpolation_forward_cuda", "knn_query_cuda", "random_ball_query_cuda", "subtraction_backward_cuda",
           "subtraction_forward_cuda"]

PACKAGE = "pointops"
NAMES = ("pointops._C", "*.pointops._C")

_SAME_PLACE = 1e-5  # squared distance that is within every min_radius

farthest_point_sampling_cuda = furthestsampling_cuda


def knn_query_cuda(m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2):
    """A neighbour that is missing has index -1."""
    idx, dist2 = _stacked.neighbour_buffers(m, nsample, idx, dist2)
    for rows, _, found, squares, missing in _stacked.nearest(nsample, xyz, new_xyz, offset, new_offset):
        idx[rows].copy_(found.masked_fill(missing, -1))
        dist2[rows].copy_(squares)


def _in_balls(min_radius, max_radius, points, centers):
    """Squared distances of blocks of centres to all points, and which points are in the ball."""
    for rows in _stacked.blocks(len(centers), 3 * len(points)):
        squares = ((centers[rows, None] - points) ** 2).sum(2)
        between = (squares >= min_radius ** 2) & (squares < max_radius ** 2)
        yield rows, squares, between | (squares <= _SAME_PLACE)


def random_ball_query_cuda(m, nsample, min_radius, max_radius, order, xyz, new_xyz, offset, new_offset, idx, dist2):
    """The first points in the ball in a given order; -1 for those that are missing."""
    idx, dist2 = _stacked.neighbour_buffers(m, nsample, idx, dist2)
    for centers, cloud in _stacked.clouds(xyz, offset, m, new_offset):
        points = order[cloud].long()
        for rows, squares, inside in _in_balls(min_radius, max_radius, xyz[points], new_xyz[centers]):
            row, column = _stacked.first_of_each_row(inside, nsample)
            place = _stacked.place_in_row(row, len(squares))
            at = row + centers.start + rows.start
            idx[centers][rows], dist2[centers][rows] = -1, _stacked.FAR
            idx[at, place] = points[column].to(idx.dtype)
            dist2[at, place] = squares[row, column].to(dist2.dtype)


def ball_query_cuda(m, nsample, min_radius, max_radius, xyz, new_xyz, offset, new_offset, idx, dist2):
    """The points in the ball, nearest first; where there are more than nsample, evenly many of them left out. -1 for
    those that are missing. (The CUDA kernel's order is that of a sort that does not sort.)"""
    idx, dist2 = _stacked.neighbour_buffers(m, nsample, idx, dist2)
    for centers, cloud in _stacked.clouds(xyz, offset, m, new_offset):
        for rows, squares, inside in _in_balls(min_radius, max_radius, xyz[cloud], new_xyz[centers]):
            far = squares.masked_fill(~inside, _stacked.FAR)
            sorted_squares, points = far.sort(stable=True, dim=1)
            count = inside.sum(1, keepdim=True)
            step = (count.to(squares.dtype) / nsample).clamp(min=1)
            place = (torch.arange(nsample) * step).long()
            there = place < count
            place = place.clamp(max=len(far[0]) - 1)
            idx[centers][rows].copy_(torch.where(there, points.gather(1, place) + cloud.start,
                                                  torch.full_like(place, -1)))
            dist2[centers][rows].copy_(sorted_squares.gather(1, place).masked_fill(~there, _stacked.FAR))


def attention_relation_step_forward_cuda(m, g, c, query, key, weight, index_target, index_refer, output):
    """output[m, g] += sum over c of query[index_target[m], g, c] * key[index_refer[m], g, c] * weight[c]."""
    q, k = query[index_target.long()], key[index_refer.long()]
    add("output", output, (q * k * weight).sum(2))


def attention_relation_step_backward_cuda(m, g, c, query, grad_query, key, grad_key, weight, grad_weight, index_target,
                                          index_refer, grad_output):
    target, refer = index_target.long(), index_refer.long()
    grad = grad_output[..., None]
    write(adding_rows("grad_query", grad_query, target, grad * key[refer] * weight),
          adding_rows("grad_key", grad_key, refer, grad * query[target] * weight),
          adding("grad_weight", grad_weight, (grad * query[target] * key[refer]).sum((0, 1))))


def attention_fusion_step_forward_cuda(m, g, c, weight, value, index_target, index_refer, output):
    """output[index_target[m], g, c] += weight[m, g] * value[index_refer[m], g, c]."""
    write(adding_rows("output", output, index_target.long(), weight[..., None] * value[index_refer.long()]))


def attention_fusion_step_backward_cuda(m, g, c, weight, grad_weight, value, grad_value, index_target, index_refer,
                                        grad_output):
    grad, refer = grad_output[index_target.long()], index_refer.long()
    write(adding("grad_weight", grad_weight, (grad * value[refer]).sum(2)),
          adding_rows("grad_value", grad_value, refer, grad * weight[..., None]))
