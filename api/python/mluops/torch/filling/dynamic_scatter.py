"""dynamic_scatter, whose forward function returns its results."""

import torch

from ..._arguments import named
from .._buffers import fill
from .._integers import index32, int32
from ..op import dynamic_scatter as _ours
from .._tensors import floats


def dynamic_point_to_voxel_forward(feats, coors, reduce_type="max"):
    return list(_ours.reduced(feats, coors, reduce_type))


def dynamic_point_to_voxel_backward(grad_feats, grad_reduced_feats, feats, reduced_feats, coors_idx, reduce_count,
                                    reduce_type="max"):
    voxels = torch.tensor([reduced_feats.shape[0]], dtype=torch.int32)
    inputs = floats(grad=grad_reduced_feats, feats=feats, voxel_feats=reduced_feats)
    fill("grad_feats", grad_feats, _ours.gradient(*inputs, index32("coors_idx", coors_idx),
                                                  int32("reduce_count", reduce_count), voxels,
                                                  named("reduce_type", reduce_type, *_ours.REDUCTIONS)))
