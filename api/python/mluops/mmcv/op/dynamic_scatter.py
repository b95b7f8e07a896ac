"""dynamic_scatter, whose forward function returns its results."""

import torch

from ...torch._integers import index32, int32
from ...torch.op import dynamic_scatter as _ours
from ...torch._tensors import floats


def dynamic_point_to_voxel_forward(feats, coors, reduce_type="max"):
    return list(_ours.reduced(feats, coors, reduce_type))


def dynamic_point_to_voxel_backward(grad_feats, grad_reduced_feats, feats, reduced_feats, coors_idx, reduce_count,
                                    reduce_type="max"):
    voxels = torch.tensor([reduced_feats.shape[0]], dtype=torch.int32)
    inputs = floats(grad=grad_reduced_feats, feats=feats, voxel_feats=reduced_feats)
    grad_feats.copy_(_ours.gradient(*inputs, index32("coors_idx", coors_idx), int32("reduce_count", reduce_count), voxels,
                                    _ours.reduction(reduce_type)))


ENTRY_POINTS = (dynamic_point_to_voxel_forward, dynamic_point_to_voxel_backward)
