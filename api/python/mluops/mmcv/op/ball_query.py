"""ball_query."""

from ...torch._tensors import floats
from ...torch.op.ball_query import forward


def ball_query_forward(new_xyz_tensor, xyz_tensor, idx_tensor, b, n, m, min_radius, max_radius, nsample):
    xyz, centers = floats(xyz=xyz_tensor, center_xyz=new_xyz_tensor)
    idx_tensor.copy_(forward(xyz, centers, float(min_radius), float(max_radius), nsample))


ENTRY_POINTS = (ball_query_forward,)
