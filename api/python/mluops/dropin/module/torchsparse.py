"""torchsparse 2.1 (SPVNAS): tensors, cat, and a table of places for its programs."""

import torch

from .._minkowski import Places
from .._torchsparse import SparseTensor, TensorCache

__all__ = ["SparseTensor", "TensorCache", "__version__", "cat", "generative_add"]

PACKAGE = "torchsparse"
NAMES = ("torchsparse", "torchsparse.tensor", "torchsparse.operators", "torchsparse.utils.tensor_cache")
UNSERVED = ("torchsparse.backbones", "torchsparse.backends", "torchsparse.utils.tune")

__version__ = "2.1.0"  # whose names these are


def cat(inputs):
    """Tensors at the same places, their channels one after the other."""
    return inputs[0].like(torch.cat([each.feats for each in inputs], 1))


def generative_add(a, b):
    """Sums over the union of the places, in increasing order."""
    first, second = (a, b) if len(a.feats) >= len(b.feats) else (b, a)
    places, row = torch.cat([first.coords, second.coords]).unique(dim=0, return_inverse=True)
    feats = torch.cat([first.feats, second.feats])
    made = SparseTensor(feats.new_zeros(len(places), feats.shape[1]).index_add(0, row, feats), places, first.stride,
                        first.spatial_range)
    made._caches = first._caches
    return made


class GPUHashTable:
    """Rows by their coordinates x, y, z, batch; the table's own tensors are not used."""

    def __init__(self, *tables):
        self._places = None

    def insert_coords(self, coords):
        self._places = Places(coords)

    def lookup_coords(self, coords, kernel_sizes, strides, kernel_volume):
        """The number of the row at each place of each kernel, from 1, or 0: int32 [N, K]."""
        sizes = torch.as_tensor(kernel_sizes).tolist()
        axes = [torch.arange(size) - (size - 1) // 2 for size in sizes]
        steps = torch.cartesian_prod(*(axes if kernel_volume % 2 == 0 else axes[::-1])).reshape(-1, 3)
        steps = torch.nn.functional.pad(steps if kernel_volume % 2 == 0 else steps.flip(1), (0, 1))
        wide = torch.cat([torch.as_tensor(strides).long(), torch.ones(1, dtype=torch.int64)])
        return (self._places.find((coords.long() * wide)[:, None] + steps) + 1).int()
