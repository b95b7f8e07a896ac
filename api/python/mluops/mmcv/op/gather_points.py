"""gather_points and grouping_operation."""

from ...torch._tensors import int32
from ...torch.op.gather_points import gather, gather_gradient, group, group_gradient


def gather_points_forward(points_tensor, idx_tensor, out_tensor, b, c, n, npoints):
    out_tensor.copy_(gather(points_tensor, int32("indices", idx_tensor)))


def gather_points_backward(grad_out_tensor, idx_tensor, grad_points_tensor, b, c, n, npoints):
    grad_points_tensor.copy_(gather_gradient(grad_out_tensor, int32("indices", idx_tensor), n))


def group_points_forward(points_tensor, idx_tensor, out_tensor, b, c, n, npoints, nsample):
    out_tensor.copy_(group(points_tensor, int32("indices", idx_tensor)))


def group_points_backward(grad_out_tensor, idx_tensor, grad_points_tensor, b, c, n, npoints, nsample):
    grad_points_tensor.copy_(group_gradient(grad_out_tensor, int32("indices", idx_tensor), n))


ENTRY_POINTS = (gather_points_forward, gather_points_backward, group_points_forward, group_points_backward)
