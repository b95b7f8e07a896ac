"""MinkowskiEngine's sparse tensors: coordinates, int32 [N, 1 + D], in a manager that knows which outputs convolutions have and
which pairs of places meet."""

import itertools
import math
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .._errors import bad_param
from ..torch.op.sparse_conv import many


class RegionType(Enum):
    """The shape of kernels."""

    HYPER_CUBE, HYPER_CROSS, CUSTOM = range(3)


class CoordinateMapKey(NamedTuple):
    """Which coordinates of a manager; equal strides with other names are other coordinates."""

    tensor_stride: Tuple[int, ...]
    name: str = ""

    def get_tensor_stride(self) -> List[int]:
        return list(self.tensor_stride)

    def get_key(self) -> Tuple[List[int], str]:
        return list(self.tensor_stride), self.name


class Places:
    """Coordinates that can be searched."""

    def __init__(self, coordinates: Tensor) -> None:
        self.coordinates = coordinates
        wide = coordinates.long()
        zero = wide.new_zeros(wide.shape[1])
        self.low, self.high = (wide.amin(0), wide.amax(0)) if len(wide) else (zero, zero - 1)
        self.sizes = (self.high - self.low + 1).clamp(min=1).tolist()
        if math.prod(self.sizes) >= 2 ** 62:
            raise bad_param("coordinates", "a range whose places can be numbered by int64", self.sizes)
        self.keys, self.order = self._key(wide).sort(stable=True)

    def _key(self, places: Tensor) -> Tensor:
        key = places[..., 0] - self.low[0]
        for axis in range(1, places.shape[-1]):
            key = key * self.sizes[axis] + places[..., axis] - self.low[axis]
        return key

    def distinct(self) -> Tuple[Tensor, Tensor]:
        """The first row of each place, as they stand, and the number of each row's place."""
        first = torch.ones_like(self.keys, dtype=torch.bool)
        first[1:] = self.keys[1:] != self.keys[:-1]
        group = torch.empty_like(self.order).scatter_(0, self.order, first.cumsum(0) - 1)
        rows, by_row = self.order[first].sort()
        return rows, torch.empty_like(by_row).scatter_(0, by_row, torch.arange(len(rows)))[group]

    def find(self, places: Tensor) -> Tensor:
        """The row of each place, -1 where there is none: int64."""
        places = places.long()
        if len(self.keys) == 0:
            return torch.full(places.shape[:-1], -1)
        inside = ((places >= self.low) & (places <= self.high)).all(-1)
        key = torch.where(inside, self._key(places), torch.full_like(inside, -1, dtype=torch.int64))
        at = torch.searchsorted(self.keys, key).clamp(max=len(self.keys) - 1)
        return torch.where(self.keys[at] == key, self.order[at], torch.full_like(at, -1))


class Kernel(NamedTuple):
    """The numbers that decide which places meet."""

    size: Tuple[int, ...]
    stride: Tuple[int, ...]
    dilation: Tuple[int, ...]
    region: RegionType = RegionType.HYPER_CUBE

    @property
    def volume(self) -> int:
        if self.region == RegionType.HYPER_CROSS:
            return 1 + sum(size - 1 for size in self.size)
        return math.prod(self.size)

    def steps(self, tensor_stride: Sequence[int]) -> Tensor:
        """To the places that meet an output, int64 [K, D]; the first axis changes fastest. Even sizes have no centre."""
        widths = [step * wide for step, wide in zip(tensor_stride, self.dilation)]
        axes = [[i - (size // 2 if size % 2 else 0) for i in range(size)] for size in self.size]
        if self.region == RegionType.HYPER_CUBE:
            steps = [each[::-1] for each in itertools.product(*reversed(axes))]
        else:
            steps = [(0,) * len(axes)]
            for axis, size in enumerate(self.size):
                reach = (size - 1) // 2
                for step in (*range(1, reach + 1), *range(-reach, 0)):
                    steps.append(tuple(step if other == axis else 0 for other in range(len(axes))))
        return torch.tensor(steps) * torch.tensor(widths)


def kernel_of(size: Any, stride: Any, dilation: Any, axes: int, region: RegionType = RegionType.HYPER_CUBE) -> Kernel:
    numbers = (many(name, value, axes) for name, value in (("kernel_size", size), ("stride", stride), ("dilation", dilation)))
    return Kernel(*map(tuple, numbers), region)


class CoordinateManager:
    """Coordinates by key, and the pairs found between them."""

    def __init__(self, D: int = 3, **ignored: Any) -> None:
        self.D = D
        self._places: Dict[CoordinateMapKey, Places] = {}
        self._pairs: Dict[tuple, Tuple[Tensor, Tensor]] = {}
        self._names = itertools.count()

    def add(self, coordinates: Tensor, tensor_stride: Sequence[int], name: Optional[str] = None) -> CoordinateMapKey:
        """A key for coordinates that differ; with no name, one that no others have."""
        stride = tuple(tensor_stride)
        if name is None:
            name = f"own {next(self._names)}" if CoordinateMapKey(stride) in self._places else ""
        key = CoordinateMapKey(stride, name)
        self._places[key] = Places(coordinates.int())
        return key

    def places(self, key: CoordinateMapKey) -> Places:
        if key not in self._places:
            raise bad_param("coordinate_map_key", f"one of this manager's, {list(self._places)}", key)
        return self._places[key]

    def get_coordinates(self, key: CoordinateMapKey) -> Tensor:
        return self.places(key).coordinates

    def strided(self, key: CoordinateMapKey, stride: Sequence[int]) -> CoordinateMapKey:
        """Those of a stride times as wide; known ones are used again."""
        wide = tuple(a * b for a, b in zip(key.tensor_stride, stride))
        made = CoordinateMapKey(wide, key.name)
        if made not in self._places:
            step = torch.tensor([1, *wide])
            coarse = self.get_coordinates(key).long().div(step, rounding_mode="floor") * step
            self.add(coarse[Places(coarse).distinct()[0]], wide, key.name)
        return made

    def finer(self, key: CoordinateMapKey, kernel: Kernel, expand: bool) -> CoordinateMapKey:
        """Those that a transposed convolution goes back to; where it expands, all that its kernel reaches."""
        fine = tuple(max(a // b, 1) for a, b in zip(key.tensor_stride, kernel.stride))
        made = CoordinateMapKey(fine, key.name)
        if made in self._places and not expand:
            return made
        reached = self.get_coordinates(key).long()[:, None].repeat(1, kernel.volume, 1)
        reached[..., 1:] += kernel.steps(fine)
        reached = reached.flatten(0, 1)
        return self.add(reached[Places(reached).distinct()[0]], fine)

    def pairs(self, inputs: CoordinateMapKey, outputs: CoordinateMapKey, kernel: Kernel) -> Tuple[Tensor, Tensor]:
        """Inputs and outputs that meet, int32 [K, 2, N], -1 behind them, and how many each place of the kernel has."""
        known = inputs, outputs, kernel.size, kernel.dilation, kernel.region
        if known not in self._pairs:
            source, target = self.places(inputs), self.get_coordinates(outputs).long()
            made = torch.full((kernel.volume, 2, len(source.coordinates)), -1, dtype=torch.int32)
            num = torch.zeros(kernel.volume, dtype=torch.int32)
            for k, step in enumerate(kernel.steps(inputs.tensor_stride)):
                found = source.find(torch.cat([target[:, :1], target[:, 1:] + step], 1))
                rows = (found >= 0).nonzero()[:, 0]
                num[k] = len(rows)
                made[k, 0, :len(rows)], made[k, 1, :len(rows)] = found[rows].int(), rows.int()
            self._pairs[known] = made, num
        return self._pairs[known]

    def batches(self, key: CoordinateMapKey) -> Tuple[CoordinateMapKey, Tensor]:
        """Coordinates with one place a sample, and the sample of each row."""
        batch, row = self.get_coordinates(key)[:, 0].unique(return_inverse=True)
        made = CoordinateMapKey((0,) * self.D)
        if made not in self._places:
            self.add(torch.nn.functional.pad(batch[:, None], (0, self.D)), made.tensor_stride, "")
        return made, row
