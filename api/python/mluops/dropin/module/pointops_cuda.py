"""pointops_cuda of Point Transformer and its descendants: operators on clouds of points one behind the other. An earlier
generation (PointWeb, PAConv) calls some by the same names for batches [B, N, 3], and has more: those are _pointops_batch."""

import torch

from ...torch._buffers import add, adding, adding_rows, fill, filling, room, write
from .. import _pointops_batch, _stacked
from .._pointops_batch import *  # noqa: F403

_STACKED = ["aggregation_backward_cuda", "aggregation_forward_cuda", "furthestsampling_cuda", "grouping_backward_cuda",
           "grouping_forward_cuda", "interpolation_backward_cuda", "interpolation_forward_cuda", "knnquery_cuda",
           "subtraction_backward_cuda", "subtraction_forward_cuda"]
__all__ = sorted({*_STACKED, *_pointops_batch.__all__})

PACKAGE = "pointops"
NAMES = ("pointops_cuda", "*.pointops_cuda")


@_pointops_batch.or_of_batches("knnquery_cuda")
def knnquery_cuda(m, nsample, xyz, new_xyz, offset, new_offset, idx, dist2):
    """A neighbour that is missing is the cloud's first point, far away."""
    idx, dist2 = _stacked.neighbour_buffers(m, nsample, idx, dist2)
    for rows, first, found, squares, missing in _stacked.nearest(nsample, xyz, new_xyz, offset, new_offset):
        idx[rows].copy_(found.masked_fill(missing, first))
        dist2[rows].copy_(squares)


@_pointops_batch.or_of_batches("furthestsampling_cuda")
def furthestsampling_cuda(b, n, xyz, offset, new_offset, tmp, idx):
    idx = room("idx", idx, [int(new_offset[-1]) if len(new_offset) else 0], torch.int32)
    for rows, found in _stacked.furthest(xyz, _stacked.clouds(xyz, offset, len(idx), new_offset)):
        idx[rows].copy_(found)


def _rows(input, idx):
    """T [..., C]: the rows of T [N, C] that idx means."""
    return input.index_select(0, idx.long().flatten()).view(*idx.shape, input.shape[1])


@_pointops_batch.or_of_batches("grouping_forward_cuda")
def grouping_forward_cuda(m, nsample, c, input, idx, output):
    fill("output", output, _rows(input, idx))


@_pointops_batch.or_of_batches("grouping_backward_cuda")
def grouping_backward_cuda(m, nsample, c, grad_output, idx, grad_input):
    write(adding_rows("grad_input", grad_input, idx.long().flatten(), grad_output.reshape(-1, c)))


@_pointops_batch.or_of_batches("interpolation_forward_cuda")
def interpolation_forward_cuda(n, c, k, input, idx, weight, output):
    add("output", output, _stacked.weighted_rows(input, idx, weight))


@_pointops_batch.or_of_batches("interpolation_backward_cuda")
def interpolation_backward_cuda(n, c, k, grad_output, idx, weight, grad_input):
    _stacked.add_weighted_rows("grad_input", grad_input, grad_output, idx, weight)


def subtraction_forward_cuda(n, nsample, c, input1, input2, idx, output):
    fill("output", output, input1[:, None] - _rows(input2, idx))


def subtraction_backward_cuda(n, nsample, c, idx, grad_output, grad_input1, grad_input2):
    write(adding("grad_input1", grad_input1, grad_output.sum(1)),
          adding_rows("grad_input2", grad_input2, idx.long().flatten(), -grad_output.reshape(-1, c)))


def _shared(weight, c):
    """T [N, S, W] for the channels it is shared by: T [N, S, C / W, W]."""
    return weight[:, :, None].expand(-1, -1, c // weight.shape[2], -1)


def aggregation_forward_cuda(n, nsample, c, w_c, input, position, weight, idx, output):
    """output[n, c] += sum over s of (input[idx[n, s], c] + position[n, s, c]) * weight[n, s, c % w_c]."""
    terms = (_rows(input, idx) + position).view(n, nsample, c // w_c, w_c) * _shared(weight, c)
    add("output", output, terms.sum(1).view(n, c))


def aggregation_backward_cuda(n, nsample, c, w_c, input, position, weight, idx, grad_output, grad_input, grad_position,
                              grad_weight):
    along = (grad_output.view(n, 1, c // w_c, w_c) * _shared(weight, c)).reshape(n, nsample, c)
    values = (_rows(input, idx) + position) * grad_output[:, None]
    write(adding_rows("grad_input", grad_input, idx.long().flatten(), along.view(-1, c)),
          filling("grad_position", grad_position, along),
          adding("grad_weight", grad_weight, values.view(n, nsample, c // w_c, w_c).sum(2)))
