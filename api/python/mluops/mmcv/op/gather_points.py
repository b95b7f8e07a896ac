"""gather_points and grouping_operation."""

from ...torch._integers import index32
from ...torch.op.gather_points import (gather, gather_gradient, group, group_gradient, grouping_operation, stack,
                                       stacked_gradient)


def gather_points_forward(points_tensor, idx_tensor, out_tensor, b, c, n, npoints):
    out_tensor.copy_(gather(points_tensor, index32("indices", idx_tensor)))


def gather_points_backward(grad_out_tensor, idx_tensor, grad_points_tensor, b, c, n, npoints):
    grad_points_tensor.copy_(gather_gradient(grad_out_tensor, index32("indices", idx_tensor), n))


def group_points_forward(points_tensor, idx_tensor, out_tensor, b, c, n, npoints, nsample):
    out_tensor.copy_(group(points_tensor, index32("indices", idx_tensor)))


def group_points_backward(grad_out_tensor, idx_tensor, grad_points_tensor, b, c, n, npoints, nsample):
    grad_points_tensor.copy_(group_gradient(grad_out_tensor, index32("indices", idx_tensor), n))


def stack_group_points_forward(features_tensor, features_batch_cnt_tensor, idx_tensor, idx_batch_cnt_tensor,
                               out_tensor, b, c, m, nsample):
    out_tensor.copy_(grouping_operation(features_tensor, idx_tensor, features_batch_cnt_tensor, idx_batch_cnt_tensor))


def stack_group_points_backward(grad_out_tensor, idx_tensor, idx_batch_cnt_tensor, features_batch_cnt_tensor,
                                grad_features_tensor, b, c, m, n, nsample):
    where = stack(idx_tensor, features_batch_cnt_tensor, idx_batch_cnt_tensor)
    grad_features_tensor.copy_(stacked_gradient(grad_out_tensor.transpose(1, 2), grad_features_tensor, *where))


ENTRY_POINTS = (gather_points_forward, gather_points_backward, group_points_forward, group_points_backward,
                stack_group_points_forward, stack_group_points_backward)
