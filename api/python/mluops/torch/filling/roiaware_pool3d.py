"""roiaware_pool3d."""

from .._buffers import fill, fill_all
from .._integers import index32, int32
from .._tensors import floats
from ..op.roiaware_pool3d import forward, gradient


def roiaware_pool3d_forward(rois, pts, pts_feature, argmax, pts_idx_of_voxels, pooled_features, pool_method):
    sizes = pts_idx_of_voxels.shape[1:]
    results = forward(*floats(rois=rois, pts=pts, pts_feature=pts_feature), *sizes, pool_method)
    fill_all(results, pooled_features=pooled_features, argmax=argmax, pts_idx_of_voxels=pts_idx_of_voxels)


def roiaware_pool3d_backward(pts_idx_of_voxels, argmax, grad_out, grad_in, pool_method):
    indices = index32("argmax", argmax), int32("pts_idx_of_voxels", pts_idx_of_voxels)
    fill("grad_in", grad_in, gradient(grad_out, *indices, grad_in.shape[0], pool_method))
