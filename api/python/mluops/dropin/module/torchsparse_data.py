"""torchsparse.utils.quantize and torchsparse.utils.collate: points to voxels, samples to batches."""

import numpy as np
import torch

from .._torchsparse import SparseTensor

__all__ = ["sparse_collate", "sparse_collate_fn", "sparse_quantize"]

PACKAGE = "torchsparse"
NAMES = ("torchsparse.utils.quantize", "torchsparse.utils.collate")
OF_OUR_PACKAGE = True


def sparse_quantize(coords, voxel_size=1, *, return_index=False, return_inverse=False):
    """Voxels int32 [M, 3] of points [N, 3] in increasing order, the first point of each, and the voxel of each point."""
    size = np.array(voxel_size if isinstance(voxel_size, tuple) else (voxel_size,) * 3)
    voxels, first, inverse = np.unique(np.floor(coords / size).astype(np.int32), axis=0, return_index=True, return_inverse=True)
    found = [voxels] + [first] * return_index + [inverse.reshape(-1)] * return_inverse
    return found[0] if len(found) == 1 else found


def sparse_collate(inputs):
    """One tensor of several, whose coordinates get the sample's number in front."""
    stride = inputs[0].stride
    for each in inputs:
        each.coords, each.feats = torch.as_tensor(each.coords), torch.as_tensor(each.feats)
        assert each.stride == stride, (each.stride, stride)
    coords = [torch.nn.functional.pad(each.coords, (1, 0), value=sample) for sample, each in enumerate(inputs)]
    return SparseTensor(torch.cat([each.feats for each in inputs]), torch.cat(coords).int(), stride)


def _together(values):
    first = values[0]
    if isinstance(first, dict):
        return sparse_collate_fn(values)
    if isinstance(first, SparseTensor):
        return sparse_collate(values)
    return torch.stack([torch.as_tensor(each) for each in values]) if isinstance(first, (np.ndarray, torch.Tensor)) else values


def sparse_collate_fn(inputs):
    """Of dictionaries one, whose values are batches."""
    if not isinstance(inputs[0], dict):
        return inputs
    return {name: _together([each[name] for each in inputs]) for name in inputs[0]}
