"""ball_query."""

from ...torch._integers import int32
from ...torch._tensors import floats
from ...torch.op.ball_query import forward, stacked


def ball_query_forward(new_xyz_tensor, xyz_tensor, idx_tensor, b, n, m, min_radius, max_radius, nsample):
    xyz, centers = floats(xyz=xyz_tensor, center_xyz=new_xyz_tensor)
    idx_tensor.copy_(forward(xyz, centers, float(min_radius), float(max_radius), nsample))


def stack_ball_query_forward(new_xyz_tensor, new_xyz_batch_cnt, xyz_tensor, xyz_batch_cnt, idx_tensor, max_radius,
                             nsample):
    xyz, centers = floats(xyz=xyz_tensor, center_xyz=new_xyz_tensor)
    counts = int32("xyz_batch_cnt", xyz_batch_cnt), int32("center_xyz_batch_cnt", new_xyz_batch_cnt)
    idx_tensor.copy_(stacked(xyz, centers, *counts, 0.0, float(max_radius), nsample))


ENTRY_POINTS = (ball_query_forward, stack_ball_query_forward)
