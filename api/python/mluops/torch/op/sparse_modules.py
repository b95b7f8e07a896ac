"""Sparse convolutions and pooling as modules, with mmcv's names, arguments and parameters: checkpoints fit."""

import math
from collections import OrderedDict
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn

from .. import _eager
from .._blocks import bad_param
from .sparse_conv import (Sizes, get_conv_output_size, get_deconv_output_size, get_indice_pairs, indice_conv,
                          indice_maxpool, many)

__all__ = ["SparseConv2d", "SparseConv3d", "SparseConv4d", "SparseConvTensor", "SparseConvTranspose2d",
           "SparseConvTranspose3d", "SparseConvolution", "SparseInverseConv2d", "SparseInverseConv3d",
           "SparseMaxPool2d", "SparseMaxPool3d", "SparseModule", "SparseSequential", "SubMConv2d", "SubMConv3d",
           "SubMConv4d", "ToDense"]


class KnownPairs(NamedTuple):
    """The pairs of a convolution or pooling, kept under its indice_key. (The first five are mmcv's and spconv 1's.)"""

    outputs: Tensor
    inputs: Tensor
    pairs: Tensor
    num: Tensor
    space: Sequence[int]  # the inputs' grid
    output_space: Sequence[int]
    geometry: Tuple[str, Dict[str, list]]  # the kind of operator, and the numbers that decide its pairs


def _same_places(one: Tensor, other: Tensor) -> bool:
    """A graph cannot look at numbers: there only one tensor is surely the same."""
    if one is other:
        return True
    return not _eager.recording() and one.shape == other.shape and bool((one == other).all())


class SparseConvTensor:
    """Features at some places of a grid.

    Args:
        features: T [L, C].
        indices: int32 [L, 1 + axes]; batch and coordinates, slowest first.
        spatial_shape: sizes of the grid.
        batch_size: clouds in the batch.
        grid: without effect; mmcv's room to work in.
    """

    def __init__(self, features: Tensor, indices: Tensor, spatial_shape: Sequence[int], batch_size: int,
                 grid: Optional[Tensor] = None) -> None:
        self.features, self.indices = features, indices
        self.spatial_shape, self.batch_size, self.grid = spatial_shape, batch_size, grid
        self.indice_dict: Dict[Optional[str], tuple] = {}

    @property
    def spatial_size(self) -> int:
        return math.prod(self.spatial_shape)

    @property
    def sparity(self) -> float:
        return self.indices.shape[0] / self.spatial_size / self.batch_size

    def find_indice_pair(self, key: Optional[str]) -> Optional[tuple]:
        return None if key is None else self.indice_dict.get(key)

    def dense(self, channels_first: bool = True) -> Tensor:
        """The whole grid, zeros where there is no place: T [batch, C, ...] or [batch, ..., C]."""
        shape = self.batch_size, *self.spatial_shape, self.features.shape[1]
        full = self.features.new_zeros(shape).index_put(tuple(self.indices.long().unbind(1)), self.features)
        return full.movedim(-1, 1).contiguous() if channels_first else full

    def moved(self, features: Tensor, indices: Tensor, spatial_shape: Sequence[int]) -> "SparseConvTensor":
        """Behind an operator; the pairs found so far stay known. What is found from here on, this tensor does not know."""
        made = type(self)(features, indices, spatial_shape, self.batch_size, self.grid)
        made.indice_dict = dict(self.indice_dict)
        return made


def expect_sparse(x: Any, module: str, axes: int) -> SparseConvTensor:
    """The input of a module, refused if it is none, as a dense tensor is (of mmcv's class it may be)."""
    if not all(hasattr(x, name) for name in ("features", "indices", "spatial_shape", "batch_size", "indice_dict")):
        got = f"a tensor {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"{module}: wanted a SparseConvTensor, got {got}")
    if len(x.spatial_shape) != axes or x.indices.dim() != 2 or x.indices.shape[1] != axes + 1:
        raise bad_param(f"{module}: x", f"{axes} axes in spatial_shape and a batch before them in indices",
                        (list(x.spatial_shape), tuple(x.indices.shape)))
    return x


class SparseModule(nn.Module):
    """A module that SparseSequential calls with the SparseConvTensor; other modules get its features."""


class SparseSequential(SparseModule):
    """Modules one after the other, given as those of torch.nn.Sequential or by name."""

    def __init__(self, *modules: Any, **named: nn.Module) -> None:
        super().__init__()
        given = modules[0] if len(modules) == 1 and isinstance(modules[0], OrderedDict) else {
            str(i): module for i, module in enumerate(modules)}
        for name, module in (*given.items(), *named.items()):
            self.add_module(name, module)

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: int) -> nn.Module:
        return list(self._modules.values())[index]

    def add(self, module: nn.Module, name: Optional[str] = None) -> None:
        self.add_module(str(len(self)) if name is None else name, module)

    def _takes_features(self, module: nn.Module) -> bool:
        return not isinstance(module, SparseModule)

    def _replaced(self, x: SparseConvTensor, features: Tensor) -> SparseConvTensor:
        x.features = features
        return x

    def forward(self, x: Any) -> Any:
        for module in self._modules.values():
            if isinstance(x, SparseConvTensor) and self._takes_features(module):
                if _eager.recording() or x.indices.shape[0] != 0:
                    x = self._replaced(x, module(x.features))
            else:
                x = module(x)
        return x


class ToDense(SparseModule):
    """SparseConvTensor.dense as a module."""

    def forward(self, x: SparseConvTensor) -> Tensor:
        return expect_sparse(x, "ToDense", len(getattr(x, "spatial_shape", ()))).dense()


class SparseConvolution(SparseModule):
    """A convolution of features at some places of a grid.

    Args:
        ndim: axes of space.
        in_channels, out_channels: channels.
        kernel_size, stride, padding, dilation, output_padding: one number or one for each axis. Where a stride is not
            1, the dilation is.
        groups: 1.
        bias: whether to add one.
        subm: outputs where the inputs are.
        transposed: transposed convolution.
        inverse: back to the inputs of the convolution with the same indice_key.
        indice_key: the tensor behind the module keeps the pairs under it, and modules behind it use them instead of
            searching, where they would find the same. Where they would not, the key is refused: another kernel,
            stride, padding, dilation or kind, another grid or other places.
    """

    def __init__(self, ndim: int, in_channels: int, out_channels: int, kernel_size: Sizes = 3, stride: Sizes = 1,
                 padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True, subm: bool = False,
                 output_padding: Sizes = 0, transposed: bool = False, inverse: bool = False,
                 indice_key: Optional[str] = None) -> None:
        super().__init__()
        if groups != 1:
            raise bad_param("groups", "1", groups)
        if inverse and indice_key is None:
            raise bad_param("indice_key", "that of the convolution to go back through", indice_key)
        self.ndim, self.in_channels, self.out_channels = ndim, in_channels, out_channels
        self.kernel_size, self.stride = many("kernel_size", kernel_size, ndim), many("stride", stride, ndim)
        self.padding, self.dilation = many("padding", padding, ndim), many("dilation", dilation, ndim)
        self.output_padding = many("output_padding", output_padding, ndim)
        self.subm, self.transposed, self.inverse, self.indice_key = subm, transposed, inverse, indice_key
        self.weight = nn.Parameter(torch.empty(*self.kernel_size, in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Like mmcv's: the fans of the weight are torch's, of its first two dimensions; those of the bias the right ones."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_channels * math.prod(self.kernel_size))
            nn.init.uniform_(self.bias, -bound, bound)

    def filters(self) -> Tensor:
        """T [k, ..., C_in, C_out]."""
        return self.weight

    def _filters_for(self, found: KnownPairs) -> Tensor:
        """Those of the pairs' places."""
        return self.filters()

    def _output_shape(self, space: Sequence[int]) -> Sequence[int]:
        if self.subm:
            return space
        numbers = space, self.kernel_size, self.stride, self.padding, self.dilation
        return get_deconv_output_size(*numbers, self.output_padding) if self.transposed else get_conv_output_size(
            *numbers)

    def _geometry(self) -> Tuple[str, Dict[str, list]]:
        numbers = {"kernel_size": self.kernel_size, "dilation": self.dilation}
        if self.subm:  # which reads no stride and no padding
            return "submanifold", numbers
        numbers.update(stride=self.stride, padding=self.padding)
        return ("transposed", {**numbers, "output_padding": self.output_padding}) if self.transposed else ("", numbers)

    def _wanted(self, name: str, what: str, got: Any) -> Exception:
        return bad_param(name, f"{what} with indice_key {self.indice_key!r}", got)

    def _check_source(self, x: SparseConvTensor, known: KnownPairs) -> None:
        """The convolution to go back through."""
        kernel = known.geometry[1]["kernel_size"]
        if kernel != self.kernel_size:
            raise self._wanted("kernel_size", f"{kernel}, that of the convolution", self.kernel_size)
        if list(known.output_space) != list(x.spatial_shape):
            raise self._wanted("spatial_shape", f"{list(known.output_space)}, that behind the convolution",
                               list(x.spatial_shape))
        if not _eager.recording() and not _same_places(known.outputs, x.indices):
            raise self._wanted("indices", f"the {len(known.outputs)} places behind the convolution",
                               f"{len(x.indices)} others")

    def _serves(self, x: SparseConvTensor, known: KnownPairs) -> bool:
        """Whether known pairs are those of x. A graph, which cannot tell, searches anew."""
        kind, numbers = known.geometry
        own_kind, own = self._geometry()
        if kind != own_kind:
            raise self._wanted("indice_key", f"a {own_kind or 'strided'} convolution", kind or "strided")
        for name, number in own.items():
            if number != numbers[name]:
                raise self._wanted(name, f"{numbers[name]}, that of the other convolution", number)
        if list(known.space) != list(x.spatial_shape):
            raise self._wanted("spatial_shape", f"{list(known.space)}, that of the other convolution",
                               list(x.spatial_shape))
        if _same_places(known.inputs, x.indices):
            return True
        if not _eager.recording():
            raise self._wanted("indices", f"the {len(known.inputs)} places of the other convolution",
                               f"{len(x.indices)} others")
        return False

    def _find(self, x: SparseConvTensor) -> KnownPairs:
        """The pairs this convolution uses; an inverse one uses them the other way round."""
        known = x.find_indice_pair(self.indice_key)
        if self.inverse:
            if known is None:
                raise bad_param("indice_key", "that of a convolution before", self.indice_key)
            self._check_source(x, known)
            return known
        if known is not None and self._serves(x, known):
            return known
        outputs, pairs, num = self._search(x)
        return KnownPairs(outputs, x.indices, pairs, num, x.spatial_shape, self._output_shape(x.spatial_shape),
                          self._geometry())

    def _search(self, x: SparseConvTensor) -> tuple:
        return get_indice_pairs(x.indices, x.batch_size, x.spatial_shape, self.kernel_size, self.stride, self.padding,
                                self.dilation, self.output_padding, self.subm, self.transposed)

    def _at_the_same_places(self) -> bool:
        """One output for each input. (mmcv takes any filter of one place for such a one, whatever its stride.)"""
        return math.prod(self.kernel_size) == 1 and (self.subm or not self.inverse and (
            set(self.stride), set(self.padding), set(self.output_padding)) == ({1}, {0}, {0}))

    def forward(self, x: SparseConvTensor) -> SparseConvTensor:
        expect_sparse(x, type(self).__name__, self.ndim)
        if self._at_the_same_places():
            features = x.features @ self.filters().flatten(0, -3).squeeze(0)
            return x.moved(self._with_bias(features), x.indices, x.spatial_shape)
        found = self._find(x)
        indices, space = (found.inputs, found.space) if self.inverse else (found.outputs, found.output_space)
        features = indice_conv(x.features, self._filters_for(found), found.pairs, found.num, indices.shape[0], self.inverse)
        made = x.moved(self._with_bias(features), indices, space)
        if self.indice_key is not None:
            made.indice_dict[self.indice_key] = found
        return made

    def _with_bias(self, features: Tensor) -> Tensor:
        return features if self.bias is None else features + self.bias

    def extra_repr(self) -> str:
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"padding={self.padding}, dilation={self.dilation}, indice_key={self.indice_key!r}")


def _convolution(name: str, ndim: int, **fixed: bool) -> type:
    """A subclass whose constructor lacks ndim, and what is `fixed`."""
    if fixed.get("inverse"):
        def make(self, in_channels: int, out_channels: int, kernel_size: Sizes, indice_key: Optional[str] = None,
                 bias: bool = True) -> None:
            SparseConvolution.__init__(self, ndim, in_channels, out_channels, kernel_size, bias=bias,
                                       indice_key=indice_key, **fixed)
    else:
        def make(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes = 0,
                 dilation: Sizes = 1, groups: int = 1, bias: bool = True, indice_key: Optional[str] = None) -> None:
            SparseConvolution.__init__(self, ndim, in_channels, out_channels, kernel_size, stride, padding, dilation,
                                       groups, bias, indice_key=indice_key, **fixed)
    kind = {"subm": "submanifold ", "transposed": "transposed ", "inverse": "inverse "}.get(next(iter(fixed), ""), "")
    text = f"SparseConvolution, {kind}with {ndim} axes."
    return type(name, (SparseConvolution,), {"__init__": make, "__doc__": text, "__module__": __name__})


SparseConv2d, SparseConv3d, SparseConv4d = (_convolution(f"SparseConv{n}d", n) for n in (2, 3, 4))
SubMConv2d, SubMConv3d, SubMConv4d = (_convolution(f"SubMConv{n}d", n, subm=True) for n in (2, 3, 4))
SparseConvTranspose2d, SparseConvTranspose3d = (_convolution(f"SparseConvTranspose{n}d", n, transposed=True)
                                                for n in (2, 3))
SparseInverseConv2d, SparseInverseConv3d = (_convolution(f"SparseInverseConv{n}d", n, inverse=True) for n in (2, 3))


class _SparseMaxPool(SparseModule):
    _ndim = 0

    def __init__(self, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1) -> None:
        super().__init__()
        names = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
        numbers: List[List[int]] = [many(name, value, self._ndim) for name, value in names.items()]
        self.kernel_size, self.stride, self.padding, self.dilation = numbers

    def forward(self, x: SparseConvTensor) -> SparseConvTensor:
        expect_sparse(x, type(self).__name__, self._ndim)
        numbers = self.kernel_size, self.stride, self.padding, self.dilation
        indices, pairs, num = get_indice_pairs(x.indices, x.batch_size, x.spatial_shape, *numbers)
        features = indice_maxpool(x.features, pairs, num, indices.shape[0])
        return x.moved(features, indices, get_conv_output_size(x.spatial_shape, *numbers))


class SparseMaxPool2d(_SparseMaxPool):
    """indice_maxpool as a module, 2 axes."""

    _ndim = 2


class SparseMaxPool3d(_SparseMaxPool):
    """indice_maxpool as a module, 3 axes."""

    _ndim = 3
