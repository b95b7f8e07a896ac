"""MinkowskiEngine.utils: coordinates of batches, and points at places."""

import math
from typing import Any, List, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ._minkowski import Places


def _tensor(values: Any) -> Tensor:
    return torch.from_numpy(values) if isinstance(values, np.ndarray) else values


def _whole(coordinates: Any) -> Tensor:
    coordinates = _tensor(coordinates)
    return (coordinates.floor() if coordinates.is_floating_point() else coordinates).int()


def sparse_quantize(coordinates: Any, features: Any = None, labels: Any = None, ignore_label: int = -100,
                    return_index: bool = False, return_inverse: bool = False, return_maps_only: bool = False,
                    quantization_size: Any = None, device: Any = "cpu") -> Any:
    """The places of points, the first point of each, and the place of each point; a label where all points agree."""
    if quantization_size is not None:
        coordinates = _tensor(coordinates) / torch.as_tensor(quantization_size)
    places = _whole(coordinates)
    rows, row = Places(places).distinct()
    maps = [*([rows] if return_index or return_maps_only else []), *([row] if return_inverse else [])]
    if return_maps_only:
        return maps[0] if len(maps) == 1 else tuple(maps)
    made = [places[rows]]
    if features is not None:
        made.append(features[rows.numpy() if isinstance(features, np.ndarray) else rows])
    if labels is not None:
        label = _tensor(labels)
        clash = torch.zeros(len(rows)).index_add(0, row, (label != label[rows][row]).float()) > 0
        label = label[rows].masked_fill(clash, ignore_label)
        made.append(label.numpy() if isinstance(labels, np.ndarray) else label)
    made += maps
    return made[0] if len(made) == 1 else tuple(made)


def batched_coordinates(coords: Sequence[Any], dtype: torch.dtype = torch.int32, device: Any = None) -> Tensor:
    """[N1 + N2 + ..., 1 + D], each with the number of its sample before it."""
    made: List[Tensor] = []
    for sample, each in enumerate(coords):
        each = _tensor(each).to(dtype) if dtype.is_floating_point else _whole(each).to(dtype)
        made.append(nn.functional.pad(each, (1, 0), value=sample))
    return torch.cat(made)


def sparse_collate(coords: Sequence[Any], feats: Sequence[Any], labels: Any = None, dtype: torch.dtype = torch.int32,
                   device: Any = None) -> tuple:
    """Coordinates, features and labels of a batch."""
    made = batched_coordinates(coords, dtype), torch.cat([_tensor(each) for each in feats])
    return made if labels is None else (*made, torch.cat([_tensor(each) for each in labels]))


def batch_sparse_collate(data: Sequence[Any], dtype: torch.dtype = torch.int32, device: Any = None) -> tuple:
    return sparse_collate(*zip(*data), dtype=dtype)


class SparseCollation:
    """sparse_collate for a DataLoader."""

    def __init__(self, limit_numpoints: int = -1, dtype: torch.dtype = torch.int32, device: Any = None) -> None:
        self.limit_numpoints, self.dtype = limit_numpoints, dtype

    def __call__(self, list_data: Sequence[Any]) -> tuple:
        kept, points = [], 0
        for each in list_data:
            points += len(each[0])
            if 0 < self.limit_numpoints < points and kept:
                break
            kept.append(each)
        return batch_sparse_collate(kept, self.dtype)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Of a kernel [K, C_in, C_out] or [C_in, C_out]."""
    fan = tensor.shape[-2 if mode == "fan_in" else -1] * (len(tensor) if tensor.dim() == 3 else 1)
    return nn.init.normal_(tensor, 0, nn.init.calculate_gain(nonlinearity, a) / math.sqrt(fan))
