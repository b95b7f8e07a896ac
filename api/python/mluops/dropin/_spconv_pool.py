"""spconv 2's pooling."""

from typing import Any, Optional

import torch
from torch import Tensor

from .._errors import bad_param
from ..torch._tensors import floats
from ..torch.op.sparse_conv import Sizes, get_conv_output_size, get_indice_pairs, indice_maxpool, many
from ..torch.op.sparse_modules import KnownPairs, expect_sparse
from ._spconv import ConvAlgo, SparseConvTensor, SparseModule


def _mean_over_pairs(features: Tensor, pairs: Tensor, num: Tensor, outputs: int) -> Tensor:
    """The mean of the places that meet an output, however many there are; sums at least in float32."""
    inputs, targets = pairs.long().unbind(1)
    known = inputs >= 0
    inputs, targets = inputs[known], targets[known]
    wide = features.to(torch.promote_types(features.dtype, torch.float32))
    total = wide.new_zeros(outputs, features.shape[1]).index_add(0, targets, wide[inputs])
    return (total / torch.bincount(targets, minlength=outputs).clamp(min=1)[:, None]).to(features.dtype)


_NUMBERS = "kernel_size", "stride", "padding", "dilation"


class _Pool(SparseModule):
    _over_pairs: Any = None

    def __init__(self, ndim: int, kernel_size: Sizes = 3, stride: Optional[Sizes] = 1, padding: Sizes = 0,
                 dilation: Sizes = 1, indice_key: Optional[str] = None, subm: bool = False,
                 algo: Optional[ConvAlgo] = None, record_voxel_count: bool = False, name: Optional[str] = None) -> None:
        super().__init__(name)
        self.ndim, self.subm, self.indice_key, self.algo = ndim, subm, indice_key, algo or ConvAlgo.Native
        self.kernel_size = many("kernel_size", kernel_size, ndim)
        self.stride = list(self.kernel_size) if stride is None else many("stride", stride, ndim)
        self.padding, self.dilation = many("padding", padding, ndim), many("dilation", dilation, ndim)

    def forward(self, input: SparseConvTensor) -> SparseConvTensor:
        expect_sparse(input, type(self).__name__, self.ndim)
        if input.find_indice_pair(self.indice_key) is not None:
            raise bad_param("indice_key", "one that nothing before has", self.indice_key)
        numbers = self.kernel_size, self.stride, self.padding, self.dilation
        indices, pairs, num = get_indice_pairs(input.indices, input.batch_size, input.spatial_shape, *numbers,
                                               subm=self.subm)
        space = input.spatial_shape if self.subm else get_conv_output_size(input.spatial_shape, *numbers)
        features, = floats(features=input.features)
        made = input.moved(type(self)._over_pairs(features, pairs, num, len(indices)), indices, space)
        if self.indice_key is not None:
            geometry = "submanifold" if self.subm else "pooling", dict(zip(_NUMBERS, numbers))
            made.indice_dict[self.indice_key] = KnownPairs(indices, input.indices, pairs, num, input.spatial_shape, space,
                                                           geometry)
        return made

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class SparseMaxPool(_Pool):
    """The greatest feature of each window's places."""

    _over_pairs = staticmethod(indice_maxpool)


class SparseAvgPool(_Pool):
    """The mean feature of each window's places."""

    _over_pairs = staticmethod(_mean_over_pairs)


def _pool(name: str, ndim: int, base: type) -> type:
    def make(self, kernel_size: Sizes, stride: Optional[Sizes] = None, padding: Sizes = 0, dilation: Sizes = 1,
             indice_key: Optional[str] = None, algo: Optional[ConvAlgo] = None, record_voxel_count: bool = False,
             name: Optional[str] = None) -> None:
        base.__init__(self, ndim, kernel_size, stride, padding, dilation, indice_key, algo=algo, name=name)

    return type(name, (base,), {"__init__": make, "__module__": __name__, "__doc__":
                                f"{base.__name__} with {ndim} axes."})


SparseMaxPool2d, SparseMaxPool3d, SparseMaxPool4d = (_pool(f"SparseMaxPool{n}d", n, SparseMaxPool) for n in (2, 3, 4))
SparseAvgPool2d, SparseAvgPool3d, SparseAvgPool4d = (_pool(f"SparseAvgPool{n}d", n, SparseAvgPool) for n in (2, 3, 4))


class _GlobalPool(SparseModule):
    """One row of features for each cloud of the batch: zeros for one without places, where spconv raises or has NaN."""

    def _of_one(self, features: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, input: SparseConvTensor) -> Tensor:
        batch = input.indices[:, 0]
        clouds = [input.features[batch == i] for i in range(input.batch_size)]
        return torch.stack([self._of_one(cloud) if len(cloud) else cloud.sum(0) for cloud in clouds])


class SparseGlobalMaxPool(_GlobalPool):
    """The greatest feature of each cloud."""

    def _of_one(self, features: Tensor) -> Tensor:
        return features.max(0)[0]


class SparseGlobalAvgPool(_GlobalPool):
    """The mean feature of each cloud."""

    def _of_one(self, features: Tensor) -> Tensor:
        return features.mean(0)
