"""roipoint_pool3d."""

from .._buffers import fill_all
from .._tensors import floats
from ..op.roipoint_pool3d import forward


def roipoint_pool3d_forward(xyz, boxes3d, pts_feature, pooled_features, pooled_empty_flag):
    inputs = floats(points=xyz, point_features=pts_feature, boxes3d=boxes3d)
    features, empty = forward(*inputs, pooled_features.shape[2])
    fill_all((features, empty), pooled_features=pooled_features, pooled_empty_flag=pooled_empty_flag)
