"""spconv 2's tensor, containers and convolutions over those of mluops.torch, which are mmcv's and spconv 1's."""

import math
from enum import Enum
from typing import Any, List, Optional, Sequence

import torch
from torch import Tensor, nn

from .._errors import bad_param
from ..torch.op import sparse_modules as _ours
from ..torch.op.sparse_conv import Sizes


class ConvAlgo(Enum):
    """Selects one of spconv's kernels; without effect."""

    Native = 0
    MaskImplicitGemm = 1
    MaskSplitImplicitGemm = 2


class AlgoHint(Enum):
    """For what a kernel is tuned; without effect."""

    NoHint = 0
    Fowrard = 1  # spconv's spelling
    BackwardInput = 2
    BackwardWeight = 4


class SparseConvTensor(_ours.SparseConvTensor):
    """Features at some places of a grid. Timers, benchmarks and allocators are without effect."""

    def __init__(self, features: Tensor, indices: Tensor, spatial_shape: Sequence[int], batch_size: int,
                 grid: Optional[Tensor] = None, voxel_num: Optional[Tensor] = None, indice_dict: Optional[dict] = None,
                 benchmark: bool = False, permanent_thrust_allocator: bool = False, enable_timer: bool = False,
                 force_algo: Optional[ConvAlgo] = None) -> None:
        super().__init__(features, indices, [int(size) for size in spatial_shape], batch_size, grid)
        self.voxel_num, self.benchmark, self.benchmark_record, self.force_algo = voxel_num, benchmark, {}, force_algo
        self.indice_dict = {} if indice_dict is None else indice_dict

    def __repr__(self) -> str:
        return f"SparseConvTensor[shape={self.features.shape}]"

    def shadow_copy(self) -> "SparseConvTensor":
        return self.replace_feature(self.features)

    def replace_feature(self, feature: Tensor) -> "SparseConvTensor":
        """Other features at the same places."""
        made = type(self)(feature, self.indices, self.spatial_shape, self.batch_size, self.grid, self.voxel_num,
                          self.indice_dict, self.benchmark, force_algo=self.force_algo)
        made.benchmark_record = self.benchmark_record
        return made

    def moved(self, features: Tensor, indices: Tensor, spatial_shape: Sequence[int]) -> "SparseConvTensor":
        made = self.replace_feature(features)
        made.indices, made.spatial_shape, made.indice_dict = indices, list(spatial_shape), dict(self.indice_dict)
        return made

    def select_by_index(self, valid_indices: Tensor) -> "SparseConvTensor":
        """Some of the places; pairs have to be found anew."""
        return type(self)(self.features[valid_indices], self.indices[valid_indices], self.spatial_shape,
                          self.batch_size, self.grid, self.voxel_num)

    @classmethod
    def from_dense(cls, x: Tensor) -> "SparseConvTensor":
        """T [batch, ..., C]: the places where a channel is not 0."""
        sparse = x.to_sparse(x.dim() - 1)
        return cls(sparse.values(), sparse.indices().t().contiguous().int(), x.shape[1:-1], x.shape[0])

    def minus(self) -> "SparseConvTensor":
        return self.replace_feature(-self.features)

    @property
    def is_quantized(self) -> bool:
        return False

    def __add__(self, other: Any) -> "SparseConvTensor":
        return self.replace_feature(self.features + (other.features if isinstance(other, SparseConvTensor) else other))

    __radd__ = __add__


class SparseModule(_ours.SparseModule):
    """A module that SparseSequential calls with the SparseConvTensor; other modules get its features."""

    def __init__(self, name: Optional[str] = None) -> None:
        super().__init__()
        self.name = name
        self._sparse_unique_name = ""


def is_sparse_conv(module: nn.Module) -> bool:
    return isinstance(module, SparseConvolution)


def is_spconv_module(module: nn.Module) -> bool:
    return isinstance(module, (SparseModule, _OnFeatures))


class SparseSequential(SparseModule, _ours.SparseSequential):
    """Modules one after the other, given as those of torch.nn.Sequential or by name."""

    def __init__(self, *modules: Any, **named: nn.Module) -> None:
        _ours.SparseSequential.__init__(self, *modules, **named)

    def _takes_features(self, module: nn.Module) -> bool:
        return not is_spconv_module(module)

    def _replaced(self, x: SparseConvTensor, features: Tensor) -> SparseConvTensor:
        """A tensor of its own: a residual branch still has x."""
        return x.replace_feature(features)

    def forward(self, input: Any) -> Any:
        return super().forward(input)


class _OnFeatures:
    """A module of torch that takes a SparseConvTensor as well."""

    def forward(self, input: Any) -> Any:
        if isinstance(input, SparseConvTensor):
            return input.replace_feature(super().forward(input.features))
        return super().forward(input)


class SparseBatchNorm(_OnFeatures, nn.BatchNorm1d):
    """BatchNorm1d of the features."""


class SparseSyncBatchNorm(_OnFeatures, nn.SyncBatchNorm):
    """SyncBatchNorm of the features."""


class SparseReLU(_OnFeatures, nn.ReLU):
    """ReLU of the features."""


class SparseIdentity(_OnFeatures, nn.Identity):
    """The features as they are."""


class Identity(nn.Identity):
    """Anything as it is."""


class ToDense(SparseModule):
    """SparseConvTensor.dense as a module."""

    def forward(self, x: SparseConvTensor) -> Tensor:
        return x.dense()


class RemoveGrid(SparseModule):
    """Lets go of the grid, which has no effect here."""

    def forward(self, x: SparseConvTensor) -> SparseConvTensor:
        x.grid = None
        return x


def assign_name_for_sparse_modules(module: nn.Module) -> None:
    for name, each in module.named_modules():
        if isinstance(each, SparseModule):
            each._sparse_unique_name = name


class JoinTable(SparseModule):
    """The channels of several tensors at the same places."""

    def forward(self, input: List[SparseConvTensor]) -> SparseConvTensor:
        return input[0].replace_feature(torch.cat([each.features for each in input], 1))


class AddTable(SparseModule):
    """The sum of several tensors at the same places."""

    def forward(self, input: List[SparseConvTensor]) -> SparseConvTensor:
        return input[0].replace_feature(sum(each.features for each in input))


def sparse_add(*tensors: SparseConvTensor) -> SparseConvTensor:
    """The sum of tensors at places of their own, in one grid; pairs have to be found anew."""
    places, which = torch.cat([each.indices for each in tensors]).unique(dim=0, return_inverse=True)
    features = torch.cat([each.features for each in tensors])
    wide = features.to(torch.promote_types(features.dtype, torch.float32))
    total = wide.new_zeros(len(places), features.shape[1]).index_add(0, which, wide).to(features.dtype)
    return type(tensors[0])(total, places, tensors[0].spatial_shape, tensors[0].batch_size, tensors[0].grid)


class AddTableMisaligned(SparseModule):
    """sparse_add as a module."""

    def forward(self, input: List[SparseConvTensor]) -> SparseConvTensor:
        return sparse_add(*input)


class ConcatTable(SparseModule):
    """The results of several modules of one input."""

    def forward(self, input: Any) -> List[Any]:
        return [module(input) for module in self._modules.values()]

    def add(self, module: nn.Module) -> "ConcatTable":
        self._modules[str(len(self._modules))] = module
        return self


class SparseConvolution(_ours.SparseConvolution, SparseModule):
    """mluops.torch.SparseConvolution with spconv 2's arguments and weight, T [C_out, k, ..., C_in]: checkpoints fit.

    algo, fp32_accum and large_kernel_fast_algo are without effect.
    """

    def __init__(self, ndim: int, in_channels: int, out_channels: int, kernel_size: Sizes = 3, stride: Sizes = 1,
                 padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True, subm: bool = False,
                 output_padding: Sizes = 0, transposed: bool = False, inverse: bool = False,
                 indice_key: Optional[str] = None, algo: Optional[ConvAlgo] = None, fp32_accum: Optional[bool] = None,
                 record_voxel_count: bool = False, large_kernel_fast_algo: bool = False, name: Optional[str] = None,
                 device: Any = None, dtype: Optional[torch.dtype] = None) -> None:
        super().__init__(ndim, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, subm,
                         output_padding, transposed, inverse, indice_key)
        self.groups, self.algo, self.name = groups, algo or ConvAlgo.Native, name
        self.weight = nn.Parameter(torch.empty(out_channels, *self.kernel_size, in_channels))
        self.reset_parameters()
        self.record_voxel_count = record_voxel_count and not (subm or inverse)
        if self.record_voxel_count:
            self.register_buffer("max_num_voxels_during_training", torch.zeros(1, dtype=torch.int32))
        if device is not None or dtype is not None:
            self.to(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in_channels * math.prod(self.kernel_size))
        for parameter in (self.weight, self.bias):
            if parameter is not None:
                nn.init.uniform_(parameter, -bound, bound)

    def filters(self) -> Tensor:
        if self._at_the_same_places():  # spconv reads these weights, of the same shape, the other way round
            return self.weight.reshape(*self.kernel_size, self.in_channels, self.out_channels)
        return self.weight.movedim(0, -1)

    def is_inverseable(self) -> bool:
        return self.indice_key is not None and not self.subm

    def get_max_num_voxels(self) -> Optional[Tensor]:
        return getattr(self, "max_num_voxels_during_training", None)

    def _at_the_same_places(self) -> bool:
        """Inverse convolutions of one place too: spconv asks no key of them."""
        return super()._at_the_same_places() or self.inverse and math.prod(self.kernel_size) == 1

    def _check_source(self, x: SparseConvTensor, known: _ours.KnownPairs) -> None:
        if known.geometry[0] == "submanifold":
            raise self._wanted("indice_key", "a convolution that is not submanifold, to go back through", "a submanifold one")
        super()._check_source(x, known)

    def _serves(self, x: SparseConvTensor, known: _ours.KnownPairs) -> bool:
        if not self.subm:
            raise bad_param("indice_key", "one that no other convolution has: only submanifold ones share theirs",
                            self.indice_key)
        return super()._serves(x, known)

    def forward(self, input: SparseConvTensor, add_input: Optional[SparseConvTensor] = None) -> SparseConvTensor:
        made = super().forward(input)
        if self.record_voxel_count:
            most = max(int(self.max_num_voxels_during_training), len(made.indices))
            self.max_num_voxels_during_training.fill_(most)
        return made if add_input is None else made + add_input


def _convolution(name: str, ndim: int, **fixed: bool) -> type:
    """A subclass whose constructor lacks ndim, and what is `fixed`."""
    if fixed.get("inverse"):
        def make(self, in_channels: int, out_channels: int, kernel_size: Sizes, indice_key: Optional[str],
                 bias: bool = True, algo: Optional[ConvAlgo] = None, fp32_accum: Optional[bool] = None,
                 large_kernel_fast_algo: bool = False, name: Optional[str] = None) -> None:
            SparseConvolution.__init__(self, ndim, in_channels, out_channels, kernel_size, bias=bias,
                                       indice_key=indice_key, algo=algo, name=name, **fixed)
    else:
        def make(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes = 0,
                 dilation: Sizes = 1, groups: int = 1, bias: bool = True, indice_key: Optional[str] = None,
                 algo: Optional[ConvAlgo] = None, fp32_accum: Optional[bool] = None, *rest: Any,
                 record_voxel_count: bool = False, large_kernel_fast_algo: bool = False,
                 name: Optional[str] = None) -> None:
            # `rest` by position: record_voxel_count, which submanifold convolutions lack, and what has no effect.
            counted = record_voxel_count or bool(rest and not fixed.get("subm") and rest[0])
            SparseConvolution.__init__(self, ndim, in_channels, out_channels, kernel_size, stride, padding, dilation,
                                       groups, bias, indice_key=indice_key, algo=algo, record_voxel_count=counted,
                                       name=name, **fixed)
    return type(name, (SparseConvolution,), {"__init__": make, "__module__": __name__, "__doc__":
                                             f"SparseConvolution with {ndim} axes."})


SparseConv2d, SparseConv3d, SparseConv4d = (_convolution(f"SparseConv{n}d", n) for n in (2, 3, 4))
SubMConv2d, SubMConv3d, SubMConv4d = (_convolution(f"SubMConv{n}d", n, subm=True) for n in (2, 3, 4))
SparseConvTranspose2d, SparseConvTranspose3d, SparseConvTranspose4d = (
    _convolution(f"SparseConvTranspose{n}d", n, transposed=True) for n in (2, 3, 4))
SparseInverseConv2d, SparseInverseConv3d, SparseInverseConv4d = (
    _convolution(f"SparseInverseConv{n}d", n, inverse=True) for n in (2, 3, 4))
