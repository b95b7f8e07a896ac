"""gather_points and grouping_operation."""

from .._buffers import fill
from .._integers import index32
from ..op.gather_points import (gather, gather_gradient, group, group_gradient, grouping_operation, stack,
                                       stacked_gradient)


def gather_points_forward(points_tensor, idx_tensor, out_tensor, b, c, n, npoints):
    fill("out_tensor", out_tensor, gather(points_tensor, index32("indices", idx_tensor)))


def gather_points_backward(grad_out_tensor, idx_tensor, grad_points_tensor, b, c, n, npoints):
    fill("grad_points_tensor", grad_points_tensor, gather_gradient(grad_out_tensor, index32("indices", idx_tensor), n))


def group_points_forward(points_tensor, idx_tensor, out_tensor, b, c, n, npoints, nsample):
    fill("out_tensor", out_tensor, group(points_tensor, index32("indices", idx_tensor)))


def group_points_backward(grad_out_tensor, idx_tensor, grad_points_tensor, b, c, n, npoints, nsample):
    fill("grad_points_tensor", grad_points_tensor, group_gradient(grad_out_tensor, index32("indices", idx_tensor), n))


def stack_group_points_forward(features_tensor, features_batch_cnt_tensor, idx_tensor, idx_batch_cnt_tensor,
                               out_tensor, b, c, m, nsample):
    fill("out_tensor", out_tensor, grouping_operation(features_tensor, idx_tensor, features_batch_cnt_tensor,
                                                      idx_batch_cnt_tensor))


def stack_group_points_backward(grad_out_tensor, idx_tensor, idx_batch_cnt_tensor, features_batch_cnt_tensor,
                                grad_features_tensor, b, c, m, n, nsample):
    where = stack(idx_tensor, features_batch_cnt_tensor, idx_batch_cnt_tensor)
    found = stacked_gradient(grad_out_tensor.transpose(1, 2), grad_features_tensor, *where)
    fill("grad_features_tensor", grad_features_tensor, found)
