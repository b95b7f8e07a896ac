"""MinkowskiEngine's SparseTensor and TensorField."""

import operator
from enum import Enum
from typing import Any, Callable, List, Optional, Tuple

import torch
from torch import Tensor

from .._errors import bad_param
from ..torch.op.sparse_conv import many
from . import _scatter
from ._minkowski import CoordinateManager, CoordinateMapKey, Places


class SparseTensorQuantizationMode(Enum):
    """What becomes of several features at one place."""

    RANDOM_SUBSAMPLE, UNWEIGHTED_AVERAGE, UNWEIGHTED_SUM, NO_QUANTIZATION, MAX_POOL, SPLAT_LINEAR_INTERPOLATION = range(6)


class SparseTensorOperationMode(Enum):
    """Whether tensors made of coordinates have a manager each, or one for all."""

    SEPARATE_COORDINATE_MANAGER, SHARE_COORDINATE_MANAGER = range(2)


class MinkowskiAlgorithm(Enum):
    """Without effect."""

    DEFAULT, MEMORY_EFFICIENT, SPEED_OPTIMIZED = range(3)


_shared = {"mode": SparseTensorOperationMode.SEPARATE_COORDINATE_MANAGER, "manager": None}


def set_sparse_tensor_operation_mode(operation_mode: SparseTensorOperationMode) -> None:
    _shared["mode"] = operation_mode


def sparse_tensor_operation_mode() -> SparseTensorOperationMode:
    return _shared["mode"]


def global_coordinate_manager() -> Optional[CoordinateManager]:
    return _shared["manager"]


def clear_global_coordinate_manager() -> None:
    _shared["manager"] = None


def _manager(axes: int) -> CoordinateManager:
    """For a tensor that is given none."""
    if _shared["mode"] == SparseTensorOperationMode.SEPARATE_COORDINATE_MANAGER:
        return CoordinateManager(axes)
    if _shared["manager"] is None:
        _shared["manager"] = CoordinateManager(axes)
    return _shared["manager"]


def reduced(features: Tensor, row: Tensor, rows: int, mode: SparseTensorQuantizationMode) -> Tensor:
    """One feature for each place."""
    if mode == SparseTensorQuantizationMode.MAX_POOL:
        return _scatter.extreme(features, row, 0, None, rows, True)[0]
    total = features.new_zeros(rows, features.shape[1]).index_add(0, row, features)
    if mode == SparseTensorQuantizationMode.UNWEIGHTED_SUM:
        return total
    return total / torch.bincount(row, minlength=rows).clamp(min=1)[:, None]


class SparseTensor:
    """Features T [N, C] at coordinates int [N, 1 + D]; of several at one place the first, unless a mode says otherwise."""

    def __init__(self, features: Tensor, coordinates: Optional[Tensor] = None, tensor_stride: Any = 1,
                 coordinate_map_key: Optional[CoordinateMapKey] = None,
                 coordinate_manager: Optional[CoordinateManager] = None,
                 quantization_mode: SparseTensorQuantizationMode = SparseTensorQuantizationMode.RANDOM_SUBSAMPLE,
                 allocator_type: Any = None, minkowski_algorithm: Any = None, requires_grad: Optional[bool] = None,
                 device: Any = None) -> None:
        self.quantization_mode = quantization_mode
        self.unique_index: Optional[Tensor] = None
        self.inverse_mapping: Optional[Tensor] = None
        if coordinates is not None:
            features = self._place(features, coordinates, tensor_stride, coordinate_manager)
        elif coordinate_map_key is None or coordinate_manager is None:
            raise bad_param("coordinates", "some, or a coordinate_map_key and its coordinate_manager", None)
        else:
            self.coordinate_map_key, self.coordinate_manager = coordinate_map_key, coordinate_manager
        if len(features) != len(self.C):
            raise bad_param("features", f"{len(self.C)} rows, as many as coordinates", len(features))
        self._F = features if requires_grad is None else features.requires_grad_(requires_grad)

    def _place(self, features: Tensor, coordinates: Tensor, tensor_stride: Any,
               manager: Optional[CoordinateManager]) -> Tensor:
        axes = coordinates.shape[1] - 1
        if len(features) != len(coordinates):
            raise bad_param("features", f"{len(coordinates)} rows, as many as coordinates", len(features))
        coordinates = coordinates.floor().int() if coordinates.is_floating_point() else coordinates.int()
        self.coordinate_manager = _manager(axes) if manager is None else manager
        rows, row = Places(coordinates).distinct()
        self.coordinate_map_key = self.coordinate_manager.add(coordinates[rows], many("tensor_stride", tensor_stride, axes))
        self.unique_index, self.inverse_mapping = rows, row
        modes = SparseTensorQuantizationMode
        if len(rows) == len(coordinates):
            return features
        if self.quantization_mode in (modes.RANDOM_SUBSAMPLE, modes.NO_QUANTIZATION):
            return features[rows]
        return reduced(features, row, len(rows), self.quantization_mode)

    def like(self, features: Tensor) -> "SparseTensor":
        """Other features at the same places."""
        return SparseTensor(features, coordinate_map_key=self.coordinate_map_key, coordinate_manager=self.coordinate_manager)

    # ---- what it has

    F = features = property(lambda self: self._F)
    C = coordinates = property(lambda self: self.coordinate_manager.get_coordinates(self.coordinate_map_key))
    D = dimension = property(lambda self: self.coordinate_manager.D)
    tensor_stride = property(lambda self: self.coordinate_map_key.get_tensor_stride())
    coordinate_key = coords_key = property(lambda self: self.coordinate_map_key)
    coords_man = property(lambda self: self.coordinate_manager)
    dtype = property(lambda self: self._F.dtype)
    device = property(lambda self: self._F.device)
    shape = property(lambda self: self._F.shape)
    requires_grad = property(lambda self: self._F.requires_grad)

    def size(self, *axis: int) -> Any:
        return self._F.size(*axis)

    def __len__(self) -> int:
        return len(self._F)

    def __repr__(self) -> str:
        return f"SparseTensor(coordinates={self.C}, features={self._F}, tensor_stride={self.tensor_stride})"

    def _rows(self) -> List[Tensor]:
        batch = self.C[:, 0]
        return [(batch == sample).nonzero()[:, 0] for sample in range(int(batch.max()) + 1 if len(batch) else 0)]

    decomposed_coordinates = property(lambda self: [self.C[rows, 1:] for rows in self._rows()])
    decomposed_features = property(lambda self: [self._F[rows] for rows in self._rows()])
    decomposed_coordinates_and_features = property(lambda self: (self.decomposed_coordinates, self.decomposed_features))

    def coordinates_at(self, batch_index: int) -> Tensor:
        return self.C[self.C[:, 0] == batch_index, 1:]

    def features_at(self, batch_index: int) -> Tensor:
        return self._F[self.C[:, 0] == batch_index]

    def features_at_coordinates(self, query_coordinates: Tensor) -> Tensor:
        """Multilinear between the places round points, T [M, C]."""
        return interpolated(self, query_coordinates)

    # ---- others of it

    def detach(self) -> "SparseTensor":
        return self.like(self._F.detach())

    def to(self, *args: Any, **kwargs: Any) -> "SparseTensor":
        return self.like(self._F.to(*args, **kwargs))

    def double(self) -> "SparseTensor":
        return self.like(self._F.double())

    def float(self) -> "SparseTensor":
        return self.like(self._F.float())

    def cpu(self) -> "SparseTensor":
        return self

    def dense(self, shape: Optional[torch.Size] = None, min_coordinate: Optional[Tensor] = None,
              contract_stride: bool = True) -> Tuple[Tensor, Tensor, Tensor]:
        """T [B, C, ...], zeros where there is no place; the least coordinate, and the stride."""
        stride = torch.tensor(self.tensor_stride)
        batch, place = self.C[:, 0].long(), self.C[:, 1:].long()
        low = place.amin(0) if min_coordinate is None else min_coordinate.long().flatten()
        place = (place - low).div(stride, rounding_mode="floor") if contract_stride else place - low
        if shape is None:
            shape = (int(batch.max()) + 1, self._F.shape[1], *(place.amax(0) + 1).tolist())
        full = self._F.new_zeros(shape[0], *shape[2:], shape[1]).index_put((batch, *place.unbind(1)), self._F)
        return full.movedim(-1, 1), low[None].int(), stride

    def slice(self, X: "TensorField") -> "TensorField":
        """The features of the places that a field's points lie in."""
        step = torch.tensor([1, *self.tensor_stride])
        places = X.C.double().div(step).floor().long() * step
        found = self.coordinate_manager.places(self.coordinate_map_key).find(places)
        features = self._F[found.clamp(min=0)].masked_fill((found < 0)[:, None], 0)
        return TensorField(features, X.C, quantization_mode=X.quantization_mode)

    def cat_slice(self, X: "TensorField") -> "TensorField":
        return TensorField(torch.cat([self.slice(X).F, X.F], 1), X.C, quantization_mode=X.quantization_mode)

    # ---- arithmetic; of tensors at other places over the union of both

    def _with(self, other: Any, function: Callable) -> "SparseTensor":
        if not isinstance(other, SparseTensor):
            return self.like(function(self._F, other))
        if other.coordinate_manager is not self.coordinate_manager:
            raise bad_param("other", "a tensor of the same coordinate_manager", "one of another")
        if other.coordinate_map_key == self.coordinate_map_key:
            return self.like(function(self._F, other._F))
        rows, coordinates = union([self.C, other.C])
        mine, theirs = (each._F.new_zeros(len(coordinates), each._F.shape[1]).index_add(0, row, each._F)
                        for each, row in zip((self, other), rows))
        met = torch.zeros(len(coordinates), 1, dtype=torch.bool).index_fill(0, rows[1], True)
        key = self.coordinate_manager.add(coordinates, self.tensor_stride)
        return SparseTensor(torch.where(met, function(mine, theirs), mine), coordinate_map_key=key,
                            coordinate_manager=self.coordinate_manager)

    def __add__(self, other: Any) -> "SparseTensor":
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> "SparseTensor":
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> "SparseTensor":
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> "SparseTensor":
        return self._with(other, operator.truediv)

    def __neg__(self) -> "SparseTensor":
        return self.like(-self._F)

    __radd__, __rmul__, __iadd__, __isub__, __imul__ = __add__, __mul__, __add__, __sub__, __mul__


def union(all_coordinates: List[Tensor]) -> Tuple[List[Tensor], Tensor]:
    """The row of each coordinate among all that there are, and those."""
    stacked = torch.cat(all_coordinates)
    rows, row = Places(stacked).distinct()
    return list(row.split([len(each) for each in all_coordinates])), stacked[rows]


def interpolated(x: SparseTensor, points: Tensor) -> Tensor:
    """Multilinear between the places round points [M, 1 + D]: T [M, C]; places that are missing count as zeros."""
    stride = torch.tensor(x.tensor_stride)
    batch, point = points[:, :1].long(), points[:, 1:].to(x.F.dtype)
    low = point.div(stride).floor()
    share = point / stride - low
    corners = torch.cartesian_prod(*[torch.arange(2)] * x.D).reshape(-1, x.D)
    out = x.F.new_zeros(len(points), x.F.shape[1])
    for corner in corners:
        place = torch.cat([batch, (low.long() + corner) * stride], 1)
        found = x.coordinate_manager.places(x.coordinate_map_key).find(place)
        weight = torch.where(corner == 1, share, 1 - share).prod(1).masked_fill(found < 0, 0)
        out = out + weight[:, None] * x.F[found.clamp(min=0)]
    return out


class TensorField:
    """Features at points, T [N, 1 + D]."""

    def __init__(self, features: Tensor, coordinates: Tensor, tensor_stride: Any = 1,
                 quantization_mode: SparseTensorQuantizationMode = SparseTensorQuantizationMode.UNWEIGHTED_AVERAGE,
                 **ignored: Any) -> None:
        if len(features) != len(coordinates):
            raise bad_param("features", f"{len(coordinates)} rows, as many as coordinates", len(features))
        self.F = self.features = features
        self.C = self.coordinates = coordinates
        self.D, self.quantization_mode = coordinates.shape[1] - 1, quantization_mode

    def sparse(self, tensor_stride: Any = 1, coordinate_map_key: Any = None,
               quantization_mode: Optional[SparseTensorQuantizationMode] = None) -> SparseTensor:
        """The places that its points lie in."""
        step = torch.tensor([1, *many("tensor_stride", tensor_stride, self.D)])
        places = (self.C.double().div(step).floor() * step).int()
        return SparseTensor(self.F, places, tensor_stride, quantization_mode=quantization_mode or self.quantization_mode)
