"""ball_query."""

from .._buffers import fill
from .._integers import int32
from .._tensors import floats
from ..op.ball_query import forward, stacked


def ball_query_forward(new_xyz_tensor, xyz_tensor, idx_tensor, b, n, m, min_radius, max_radius, nsample):
    xyz, centers = floats(xyz=xyz_tensor, center_xyz=new_xyz_tensor)
    fill("idx_tensor", idx_tensor, forward(xyz, centers, float(min_radius), float(max_radius), nsample))


def stack_ball_query_forward(new_xyz_tensor, new_xyz_batch_cnt, xyz_tensor, xyz_batch_cnt, idx_tensor, max_radius,
                             nsample):
    xyz, centers = floats(xyz=xyz_tensor, center_xyz=new_xyz_tensor)
    counts = int32("xyz_batch_cnt", xyz_batch_cnt), int32("center_xyz_batch_cnt", new_xyz_batch_cnt)
    fill("idx_tensor", idx_tensor, stacked(xyz, centers, *counts, 0.0, float(max_radius), nsample))
