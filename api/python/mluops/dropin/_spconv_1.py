"""spconv 1's tensor and convolutions, whose weights are (k, k, k, C_in, C_out)."""

import math
import warnings
from typing import Sequence

from torch import Tensor

from ..torch.op import sparse_modules as _ours


class SparseConvTensor(_ours.SparseConvTensor):
    __doc__ = _ours.SparseConvTensor.__doc__

    def moved(self, features: Tensor, indices: Tensor, spatial_shape: Sequence[int]) -> "SparseConvTensor":
        """Behind an operator; all tensors that come from one know the same pairs, as in spconv 1."""
        made = type(self)(features, indices, spatial_shape, self.batch_size, self.grid)
        made.indice_dict = self.indice_dict
        return made


class _SharesPairs:
    """Submanifold convolutions take the pairs of their indice_key whatever their own kernel is, each place's with the filter of
    that number, if there are enough: so do spconv 1 and the weights trained with it."""

    def _serves(self, x: _ours.SparseConvTensor, known: _ours.KnownPairs) -> bool:
        kind, numbers = known.geometry
        own_kind, own = self._geometry()
        if kind != "submanifold" or own_kind != kind or own == numbers or math.prod(self.kernel_size) < len(known.num):
            return super()._serves(x, known)
        if list(known.space) != list(x.spatial_shape) or not _ours._same_places(known.inputs, x.indices):
            return super()._serves(x, known)
        warnings.warn(f"mluops.dropin: spconv: indice_key {self.indice_key!r} has the pairs of a kernel "
                      f"{numbers['kernel_size']}; one of {self.kernel_size} uses them too, as in spconv 1", stacklevel=2)
        return True

    def _filters_for(self, found: _ours.KnownPairs) -> Tensor:
        weight, places = self.filters(), len(found.num)
        if places == math.prod(self.kernel_size):
            return weight
        return weight.flatten(0, -3)[:places].reshape(places, *[1] * (self.ndim - 1), *weight.shape[-2:])


class SparseConvolution(_SharesPairs, _ours.SparseConvolution):
    __doc__ = _ours.SparseConvolution.__doc__


def _convolution(name: str) -> type:
    base = getattr(_ours, name)
    return type(name, (_SharesPairs, base), {"__doc__": base.__doc__, "__module__": __name__})


CHANGED = {"SparseConvTensor": SparseConvTensor, "SparseConvolution": SparseConvolution,
           **{name: _convolution(name) for name in _ours.__all__ if "Conv" in name and name[-1] == "d"}}
