"""roipoint_pool3d."""

from ...torch._tensors import floats
from ...torch.op.roipoint_pool3d import forward


def roipoint_pool3d_forward(xyz, boxes3d, pts_feature, pooled_features, pooled_empty_flag):
    inputs = floats(points=xyz, point_features=pts_feature, boxes3d=boxes3d)
    features, empty = forward(*inputs, pooled_features.shape[2])
    pooled_features.copy_(features)
    pooled_empty_flag.copy_(empty)


ENTRY_POINTS = (roipoint_pool3d_forward,)
