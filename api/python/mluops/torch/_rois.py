"""RoIs as the operators take them: rows that begin with the number of an image."""

from typing import Any, Sequence, Union

import torch
from torch import Tensor
from torch.nn import functional as F

from .._errors import bad_param
from .._shapes import expect, rank
from ._tensors import is_tensor

Rois = Union[Tensor, Sequence[Tensor]]


def rois_of(images: Tensor, rois: Any, name: str = "rois", numbers: int = 4) -> Any:
    """`rois`, or of a list with the boxes [L, numbers] of each image, as torchvision takes it, the same boxes [R, 1 + numbers]."""
    if not isinstance(rois, (list, tuple)):
        return rois
    if len(rois) > len(is_tensor("input", images)):
        raise bad_param(name, f"a list of at most {len(images)} tensors, the boxes of each image of input", len(rois))
    rows = [images.new_empty((0, 1 + numbers))]
    for i, boxes in enumerate(rois):
        rank(f"{name}[{i}]", is_tensor(f"{name}[{i}]", boxes).shape, 2)
        expect(f"{name}[{i}]", boxes.shape, (boxes.shape[0], numbers), ("", "the numbers of a box without its image"))
        rows.append(F.pad(boxes, (1, 0), value=i))
    return torch.cat(rows[1:] or rows)
