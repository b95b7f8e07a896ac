"""MinkowskiEngine's modules; parameters have its names and shapes, so that checkpoints fit."""

import math
from typing import Any, List, Optional

import torch
from torch import Tensor, nn

from .._errors import bad_param
from ..torch.op.sparse_conv import indice_conv
from . import _scatter
from ._minkowski import CoordinateMapKey, Kernel, RegionType, kernel_of
from ._minkowski_tensor import SparseTensor, TensorField, interpolated, union


class MinkowskiModuleBase(nn.Module):
    """What programs derive from, and ask modules for."""


class KernelGenerator:
    """The numbers of a kernel."""

    def __init__(self, kernel_size: Any = -1, stride: Any = 1, dilation: Any = 1, is_transpose: bool = False,
                 region_type: RegionType = RegionType.HYPER_CUBE, region_offsets: Any = None,
                 expand_coordinates: bool = False, axis_types: Any = None, dimension: int = -1) -> None:
        if region_type == RegionType.CUSTOM or region_offsets is not None:
            raise bad_param("region_type", "HYPER_CUBE or HYPER_CROSS", region_type)
        self.kernel = kernel_of(kernel_size, stride, dilation, dimension, region_type)
        self.kernel_size, self.kernel_stride, self.kernel_dilation = map(list, self.kernel[:3])
        self.region_type, self.expand_coordinates, self.dimension = region_type, expand_coordinates, dimension
        self.kernel_volume = self.kernel.volume


def _generator(given: Optional[KernelGenerator], size: Any, stride: Any, dilation: Any, dimension: Any) -> KernelGenerator:
    if not isinstance(dimension, int) or dimension <= 0:
        raise bad_param("dimension", "the number of axes", dimension)
    return given or KernelGenerator(size, stride, dilation, dimension=dimension)


def key_of(x: SparseTensor, coordinates: Any) -> Optional[CoordinateMapKey]:
    """The outputs that a program asks for."""
    if coordinates is None or isinstance(coordinates, CoordinateMapKey):
        return coordinates
    if isinstance(coordinates, SparseTensor):
        return coordinates.coordinate_map_key
    return x.coordinate_manager.add(coordinates, x.tensor_stride)


class _Convolution(MinkowskiModuleBase):
    _transposed = _expands = False

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any = -1, stride: Any = 1, dilation: Any = 1,
                 bias: bool = False, kernel_generator: Optional[KernelGenerator] = None, expand_coordinates: bool = False,
                 convolution_mode: Any = None, dimension: Any = None) -> None:
        super().__init__()
        self.kernel_generator = _generator(kernel_generator, kernel_size, stride, dilation, dimension)
        self.in_channels, self.out_channels, self.dimension = in_channels, out_channels, dimension
        self.is_transpose, self._expands = self._transposed, self._expands or expand_coordinates
        volume = self.kernel_generator.kernel_volume
        self.use_mm = volume == 1 and set(self.kernel_generator.kernel_stride) == {1}
        self.kernel = nn.Parameter(torch.empty(*([] if self.use_mm else [volume]), in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(1, out_channels)) if bias else None
        self.reset_parameters(self._transposed)

    def reset_parameters(self, is_transpose: bool = False) -> None:
        fan = (self.out_channels if is_transpose else self.in_channels) * self.kernel_generator.kernel_volume
        for parameter in (self.kernel, self.bias):
            if parameter is not None:
                nn.init.uniform_(parameter, -1 / math.sqrt(fan), 1 / math.sqrt(fan))

    def _outputs(self, x: SparseTensor, coordinates: Any) -> CoordinateMapKey:
        manager, kernel = x.coordinate_manager, self.kernel_generator.kernel
        asked = key_of(x, coordinates)
        if asked is not None:
            return asked
        if self._transposed:
            return manager.finer(x.coordinate_map_key, kernel, self._expands)
        if self._expands:
            raise NotImplementedError("expand_coordinates: mluops has it for transposed convolutions alone")
        return manager.strided(x.coordinate_map_key, kernel.stride)

    def forward(self, input: SparseTensor, coordinates: Any = None) -> SparseTensor:
        if self.use_mm:
            features, key = input.F @ self.kernel, input.coordinate_map_key
        else:
            key = self._outputs(input, coordinates)
            filters = self.kernel.reshape(-1, *[1] * (max(self.dimension, 2) - 1), self.in_channels, self.out_channels)
            ends = (key, input.coordinate_map_key) if self._transposed else (input.coordinate_map_key, key)
            pairs = input.coordinate_manager.pairs(*ends, self.kernel_generator.kernel)
            rows = len(input.coordinate_manager.get_coordinates(key))
            features = indice_conv(input.F, filters, *pairs, rows, self._transposed)
        features = features if self.bias is None else features + self.bias
        return SparseTensor(features, coordinate_map_key=key, coordinate_manager=input.coordinate_manager)

    def extra_repr(self) -> str:
        kernel = self.kernel_generator
        return (f"in={self.in_channels}, out={self.out_channels}, kernel_size={kernel.kernel_size}, "
                f"stride={kernel.kernel_stride}, dilation={kernel.kernel_dilation}")


class MinkowskiConvolution(_Convolution):
    """Outputs lie at multiples of the stride that have an input in their cell."""


class MinkowskiConvolutionTranspose(_Convolution):
    """Back to coordinates known with the finer stride, or to all that the kernel reaches."""

    _transposed = True


class MinkowskiGenerativeConvolutionTranspose(MinkowskiConvolutionTranspose):
    """To all coordinates that the kernel reaches."""

    _expands = True


# ---- pooling


class _Pooling(MinkowskiModuleBase):
    def __init__(self, kernel_size: Any, stride: Any = 1, dilation: Any = 1, kernel_generator: Any = None,
                 dimension: Any = None) -> None:
        super().__init__()
        self.kernel_generator = _generator(kernel_generator, kernel_size, stride, dilation, dimension)
        self.dimension = dimension

    def _reduce(self, features: Tensor, row: Tensor, rows: int) -> Tensor:
        raise NotImplementedError

    def forward(self, input: SparseTensor, coordinates: Any = None) -> SparseTensor:
        manager, kernel = input.coordinate_manager, self.kernel_generator.kernel
        key = key_of(input, coordinates) or manager.strided(input.coordinate_map_key, kernel.stride)
        pairs, _ = manager.pairs(input.coordinate_map_key, key, kernel)
        source, target = pairs.long().movedim(1, 0).flatten(1)
        met = source >= 0
        features = self._reduce(input.F[source[met]], target[met], len(manager.get_coordinates(key)))
        return SparseTensor(features, coordinate_map_key=key, coordinate_manager=manager)


def _sum(features: Tensor, row: Tensor, rows: int) -> Tensor:
    return features.new_zeros(rows, features.shape[1]).index_add(0, row, features)


def _mean(features: Tensor, row: Tensor, rows: int) -> Tensor:
    return _sum(features, row, rows) / torch.bincount(row, minlength=rows).clamp(min=1)[:, None].to(features.dtype)


def _greatest(features: Tensor, row: Tensor, rows: int) -> Tensor:
    return _scatter.extreme(features, row, 0, None, rows, True)[0]


class _GlobalPooling(MinkowskiModuleBase):
    def __init__(self, mode: Any = None) -> None:
        super().__init__()

    def forward(self, input: SparseTensor, coordinates: Any = None) -> SparseTensor:
        key, row = input.coordinate_manager.batches(input.coordinate_map_key)
        rows = len(input.coordinate_manager.get_coordinates(key))
        return SparseTensor(self._reduce(input.F, row, rows), coordinate_map_key=key,
                            coordinate_manager=input.coordinate_manager)


_KINDS = {"Sum": _sum, "Avg": _mean, "Max": _greatest}
POOLS = {f"Minkowski{where}{kind}Pooling": type(f"Minkowski{where}{kind}Pooling", (base,), {
    "_reduce": staticmethod(reduce), "__module__": __name__, "__doc__": "Of places that are there."})
    for where, base in (("", _Pooling), ("Global", _GlobalPooling)) for kind, reduce in _KINDS.items()}
POOLS["MinkowskiGlobalPooling"] = POOLS["MinkowskiGlobalAvgPooling"]


# ---- what acts on features


class _OnFeatures(MinkowskiModuleBase):
    """A module of torch, for the features."""

    _kind: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.module = self._kind(*args, **kwargs)

    def forward(self, input: Any) -> Any:
        made = self.module(input.F)
        return TensorField(made, input.C) if isinstance(input, TensorField) else input.like(made)


_LAYERS = ("ELU", "Hardshrink", "Hardsigmoid", "Hardtanh", "Hardswish", "LeakyReLU", "LogSigmoid", "PReLU", "ReLU", "ReLU6",
           "RReLU", "SELU", "CELU", "GELU", "Sigmoid", "SiLU", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
           "Threshold", "Softmin", "Softmax", "LogSoftmax", "Dropout", "AlphaDropout")
LAYERS = {f"Minkowski{name}": type(f"Minkowski{name}", (_OnFeatures,), {
    "_kind": getattr(nn, name), "__module__": __name__, "__doc__": f"torch.nn.{name} of the features."}) for name in _LAYERS}


class MinkowskiBatchNorm(nn.Module):
    """BatchNorm1d of the features."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
                 track_running_stats: bool = True) -> None:
        super().__init__()
        self.bn = nn.BatchNorm1d(num_features, eps, momentum, affine, track_running_stats)

    def forward(self, input: Any) -> Any:
        made = self.bn(input.F)
        return TensorField(made, input.C) if isinstance(input, TensorField) else input.like(made)


class MinkowskiSyncBatchNorm(MinkowskiBatchNorm):
    """MinkowskiBatchNorm: there is one process."""

    @classmethod
    def convert_sync_batchnorm(cls, module: nn.Module, process_group: Any = None) -> nn.Module:
        return module


class MinkowskiInstanceNorm(MinkowskiModuleBase):
    """Each sample's features with mean 0 and variance 1, scaled."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.num_features = num_features
        self.weight, self.bias = nn.Parameter(torch.ones(1, num_features)), nn.Parameter(torch.zeros(1, num_features))

    def forward(self, input: SparseTensor) -> SparseTensor:
        row = input.C[:, 0].unique(return_inverse=True)[1]
        rows = int(row.max()) + 1 if len(row) else 0
        centred = input.F - _mean(input.F, row, rows)[row]
        variance = _mean(centred.square(), row, rows)[row]
        return input.like(centred / (variance + 1e-8).sqrt() * self.weight + self.bias)


MinkowskiStableInstanceNorm = MinkowskiInstanceNorm


class MinkowskiLinear(nn.Module):
    """Linear of the features."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias)

    def forward(self, input: Any) -> Any:
        made = self.linear(input.F)
        return TensorField(made, input.C) if isinstance(input, TensorField) else input.like(made)


# ---- several tensors


def _tuple(tensors: tuple, function: Any) -> SparseTensor:
    first = tensors[0]
    for i, other in enumerate(tensors):
        if other.coordinate_map_key != first.coordinate_map_key or other.coordinate_manager is not first.coordinate_manager:
            raise bad_param(f"sparse_tensors[{i}]", f"the coordinates of the first, {first.coordinate_map_key}",
                            other.coordinate_map_key)
    return first.like(function([each.F for each in tensors]))


def cat(*sparse_tensors: SparseTensor) -> SparseTensor:
    """The channels of tensors at the same places."""
    return _tuple(sparse_tensors, lambda features: torch.cat(features, 1))


def sum(*sparse_tensors: SparseTensor) -> SparseTensor:
    return _tuple(sparse_tensors, lambda features: torch.stack(features).sum(0))


def mean(*sparse_tensors: SparseTensor) -> SparseTensor:
    return _tuple(sparse_tensors, lambda features: torch.stack(features).mean(0))


class MinkowskiUnion(nn.Module):
    """The sum of tensors of one manager, at all their places."""

    def forward(self, *inputs: SparseTensor) -> SparseTensor:
        rows, coordinates = union([each.C for each in inputs])
        features = _sum(torch.cat([each.F for each in inputs]), torch.cat(rows), len(coordinates))
        manager = inputs[0].coordinate_manager
        return SparseTensor(features, coordinate_map_key=manager.add(coordinates, inputs[0].tensor_stride),
                            coordinate_manager=manager)


class _Broadcast(MinkowskiModuleBase):
    def forward(self, input: SparseTensor, input_glob: SparseTensor) -> SparseTensor:
        places = input_glob.coordinate_manager.places(input_glob.coordinate_map_key)
        batch = torch.nn.functional.pad(input.C[:, :1], (0, input.D))
        return input.like(self._join(input.F, input_glob.F[places.find(batch)]))


_JOINS = {"MinkowskiBroadcastAddition": torch.add, "MinkowskiBroadcastMultiplication": torch.mul,
          "MinkowskiBroadcast": lambda own, other: other,
          "MinkowskiBroadcastConcatenation": lambda own, other: torch.cat([own, other], 1)}
BROADCASTS = {name: type(name, (_Broadcast,), {"_join": staticmethod(join), "__module__": __name__, "__doc__":
                                               "A sample's feature for each of its places."}) for name, join in _JOINS.items()}


class MinkowskiPruning(MinkowskiModuleBase):
    """The places that a mask keeps."""

    def forward(self, input: SparseTensor, mask: Tensor) -> SparseTensor:
        mask = mask.bool().flatten()
        key = input.coordinate_manager.add(input.C[mask], input.tensor_stride)
        return SparseTensor(input.F[mask], coordinate_map_key=key, coordinate_manager=input.coordinate_manager)


class MinkowskiInterpolation(MinkowskiModuleBase):
    """Multilinear between the places round points."""

    def __init__(self, return_kernel_map: bool = False, return_weights: bool = False) -> None:
        super().__init__()
        if return_kernel_map or return_weights:
            raise NotImplementedError("MinkowskiInterpolation: mluops gives features alone")

    def forward(self, input: SparseTensor, tfield: Tensor) -> Tensor:
        return interpolated(input, tfield)


class MinkowskiNetwork(nn.Module):
    """A network of D axes."""

    def __init__(self, D: int) -> None:
        super().__init__()
        self.D = D


class BasicBlock(nn.Module):
    """Two convolutions and what goes past them."""

    expansion = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1, dilation: int = 1, downsample: Optional[nn.Module] = None,
                 bn_momentum: float = 0.1, dimension: int = -1) -> None:
        super().__init__()
        self._add_layers([(inplanes, planes, 3, stride), (planes, planes, 3, 1)], dilation, bn_momentum, dimension)
        self.relu, self.downsample = LAYERS["MinkowskiReLU"](inplace=True), downsample

    def _add_layers(self, layers: List[tuple], dilation: int, momentum: float, dimension: int) -> None:
        self._count = len(layers)
        for i, (inputs, outputs, size, stride) in enumerate(layers, 1):
            wide = dilation if size > 1 else 1
            setattr(self, f"conv{i}", MinkowskiConvolution(inputs, outputs, size, stride, wide, dimension=dimension))
            setattr(self, f"norm{i}", MinkowskiBatchNorm(outputs, momentum=momentum))

    def forward(self, x: SparseTensor) -> SparseTensor:
        out = x
        for i in range(1, self._count + 1):
            out = getattr(self, f"norm{i}")(getattr(self, f"conv{i}")(out))
            out = self.relu(out) if i < self._count else out
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(BasicBlock):
    """Three convolutions, the middle one with few channels."""

    expansion = 4

    def __init__(self, inplanes: int, planes: int, stride: int = 1, dilation: int = 1, downsample: Optional[nn.Module] = None,
                 bn_momentum: float = 0.1, dimension: int = -1) -> None:
        nn.Module.__init__(self)
        self._add_layers([(inplanes, planes, 1, 1), (planes, planes, 3, stride), (planes, planes * 4, 1, 1)], dilation,
                         bn_momentum, dimension)
        self.relu, self.downsample = LAYERS["MinkowskiReLU"](inplace=True), downsample
