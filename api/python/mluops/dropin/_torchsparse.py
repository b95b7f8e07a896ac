"""torchsparse's tensors and convolutions: coordinates int32 [N, 4], batch, x, y, z, in units of the tensor's stride."""

import itertools
import math
from typing import Any, Dict, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn

from .._errors import bad_param
from ..torch.op.sparse_conv import indice_conv, many
from ._minkowski import Places

Triple = Tuple[int, int, int]


def make_ntuple(x: Any, ndim: int) -> Tuple[int, ...]:
    """One number, or one for each axis."""
    return tuple(many("x", x.flatten().tolist() if isinstance(x, Tensor) else x, ndim))


class TensorCache:
    """What tensors on related places share: coordinates by stride, pairs by convolution. Programs add what they like."""

    def __init__(self) -> None:
        self.cmaps: Dict[Triple, Tuple[Tensor, Any]] = {}
        self.kmaps: Dict[tuple, "Pairs"] = {}
        self.hashmaps: Dict[Triple, Any] = {}


class SparseTensor:
    """feats T [N, C] at coords."""

    def __init__(self, feats: Any, coords: Any, stride: Any = 1, spatial_range: Any = None) -> None:
        self.feats, self.coords = feats, coords
        self.stride = make_ntuple(stride, 3)
        self.spatial_range = None if spatial_range is None else tuple(spatial_range)
        self._caches = TensorCache()

    F = property(lambda self: self.feats, lambda self, feats: setattr(self, "feats", feats))
    C = property(lambda self: self.coords, lambda self, coords: setattr(self, "coords", coords))
    s = property(lambda self: self.stride, lambda self, stride: setattr(self, "stride", make_ntuple(stride, 3)))

    def _both(self, change: Any) -> "SparseTensor":
        self.feats, self.coords = change(self.feats), change(self.coords)
        return self

    def cpu(self) -> "SparseTensor":
        return self._both(lambda tensor: tensor.cpu())

    def cuda(self) -> "SparseTensor":
        return self._both(lambda tensor: tensor.cuda())

    def detach(self) -> "SparseTensor":
        return self._both(lambda tensor: tensor.detach())

    def to(self, device: Any, non_blocking: bool = True) -> "SparseTensor":
        return self._both(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def half(self) -> "SparseTensor":
        self.feats = self.feats.half()
        return self

    def dense(self) -> Tensor:
        """T [*spatial_range, C], batch first."""
        if self.spatial_range is None:
            raise bad_param("spatial_range", "the sizes of the batch and of the grid", None)
        out = self.feats.new_zeros(*self.spatial_range, self.feats.shape[1])
        return out.index_put(tuple(self.coords.long().unbind(1)), self.feats)

    def like(self, feats: Tensor) -> "SparseTensor":
        """Other features at the same places."""
        made = SparseTensor(feats, self.coords, self.stride, self.spatial_range)
        made._caches = self._caches
        return made

    def __add__(self, other: "SparseTensor") -> "SparseTensor":
        return self.like(self.feats + other.feats)


# ---- which places meet


class Pairs(NamedTuple):
    """Outputs' coordinates, the pairs of rows that meet int32 [K, 2, N] and how many each place of the kernel has."""

    coords: Tensor
    pairs: Tensor
    num: Tensor


def _steps(kernel: Triple, padding: Triple) -> Tensor:
    """From an output's first place to those that meet it, int64 [K, 3]: x changes fastest in kernels of an odd number of
    places, z in others, as in torchsparse's weights."""
    axes = [range(-pad, size - pad) for size, pad in zip(kernel, padding)]
    if math.prod(kernel) % 2:
        return torch.tensor([each[::-1] for each in itertools.product(*reversed(axes))])
    return torch.tensor(list(itertools.product(*axes)))


def _outputs(coords: Tensor, kernel: Triple, stride: Triple, padding: Triple) -> Tensor:
    """Those of a strided convolution, in increasing order: one for each cell where strides are 1 or the kernel's size, else
    wherever the kernel reaches, as spconv's."""
    step = torch.tensor([1, *stride])
    places = coords.long()
    if all(wide in (1, size) for wide, size in zip(stride, kernel)):
        return places.div(step, rounding_mode="floor").unique(dim=0).int()
    ahead = (places[:, None, 1:] - _steps(kernel, padding)).flatten(0, 1)
    batch = places[:, :1].repeat_interleave(math.prod(kernel), 0)
    last = (places[:, 1:].amax(0) + 2 * torch.tensor(padding) - torch.tensor(kernel) + 1).div(step[1:], rounding_mode="floor")
    found = ahead.div(step[1:], rounding_mode="floor")
    kept = ((ahead == found * step[1:]) & (found >= 0) & (found <= last)).all(1)
    return torch.cat([batch, found], 1)[kept].unique(dim=0).int()


def _pairs(coords: Tensor, kernel: Triple, stride: Triple, padding: Triple) -> Pairs:
    outputs = coords if stride == (1, 1, 1) else _outputs(coords, kernel, stride, padding)
    source, target = Places(coords), outputs.long() * torch.tensor([1, *stride])
    steps = nn.functional.pad(_steps(kernel, padding), (1, 0))
    pairs = torch.full((len(steps), 2, len(coords)), -1, dtype=torch.int32)
    num = torch.zeros(len(steps), dtype=torch.int32)
    for k, step in enumerate(steps):
        found = source.find(target + step)
        rows = (found >= 0).nonzero()[:, 0]
        num[k] = len(rows)
        pairs[k, 0, :len(rows)], pairs[k, 1, :len(rows)] = found[rows].int(), rows.int()
    return Pairs(outputs, pairs, num)


def _range(input: SparseTensor, kernel: Triple, stride: Triple, padding: Triple) -> Any:
    if input.spatial_range is None or stride == (1, 1, 1):
        return input.spatial_range
    sizes = zip(input.spatial_range[1:], kernel, stride, padding)
    return (input.spatial_range[0], *((size + 2 * pad - wide) // step + 1 for size, wide, step, pad in sizes))


def conv3d(input: SparseTensor, weight: Tensor, kernel_size: Any, bias: Optional[Tensor] = None, stride: Any = 1,
           padding: Any = 0, dilation: Any = 1, config: Any = None, transposed: bool = False, generative: bool = False,
           training: bool = False) -> SparseTensor:
    """weight T [K, C_in, C_out], or [C_in, C_out] of a kernel of one place. A transposed convolution goes back to the places of
    the convolution with its kernel and stride. The configuration is without effect."""
    kernel, stride, dilation = (make_ntuple(each, 3) for each in (kernel_size, stride, dilation))
    padding, one = make_ntuple(padding, 3), (1, 1, 1)
    if dilation != one or generative:
        raise bad_param("dilation", "1, and no generative convolution", (dilation, generative))
    if kernel == stride == one:
        out = input.like(input.feats @ weight.reshape(weight.shape[-2:]))
    elif transposed:
        out = _back(input, weight, kernel, stride)
    else:
        out = _forth(input, weight, kernel, stride, padding)
    if bias is not None:
        out.feats = out.feats + bias
    out._caches = input._caches
    out._caches.cmaps.setdefault(out.stride, (out.coords, out.spatial_range))
    return out


def _forth(input: SparseTensor, weight: Tensor, kernel: Triple, stride: Triple, padding: Triple) -> SparseTensor:
    caches, key = input._caches, (input.stride, kernel, stride, (1, 1, 1))
    caches.cmaps.setdefault(input.stride, (input.coords, input.spatial_range))
    if key not in caches.kmaps:
        caches.kmaps[key] = _pairs(input.coords, kernel, stride, padding)
    found = caches.kmaps[key]
    feats = indice_conv(input.feats, weight[None, None], found.pairs, found.num, len(found.coords))
    wide = tuple(a * b for a, b in zip(input.stride, stride))
    return SparseTensor(feats, found.coords, wide, _range(input, kernel, stride, padding))


def _back(input: SparseTensor, weight: Tensor, kernel: Triple, stride: Triple) -> SparseTensor:
    fine = tuple(a // b for a, b in zip(input.stride, stride))
    key = (fine, kernel, stride, (1, 1, 1))
    if key not in input._caches.kmaps or fine not in input._caches.cmaps:
        raise bad_param("input", f"a tensor behind a convolution from stride {fine} with kernel {kernel} and stride {stride}",
                        f"one of stride {input.stride}")
    found, (coords, spatial_range) = input._caches.kmaps[key], input._caches.cmaps[fine]
    feats = indice_conv(input.feats, weight[None, None], found.pairs, found.num, len(coords), True)
    return SparseTensor(feats, coords, fine, spatial_range)


class Conv3d(nn.Module):
    """conv3d as a module; parameter kernel."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any = 3, stride: Any = 1, padding: Any = 0,
                 dilation: int = 1, bias: bool = False, transposed: bool = False, generative: bool = False,
                 config: Any = None) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.dilation = in_channels, out_channels, dilation
        self.kernel_size, self.stride = make_ntuple(kernel_size, 3), make_ntuple(stride, 3)
        self.padding = tuple((size - 1) // 2 if size % 2 and step == 1 else pad for size, step, pad in
                             zip(self.kernel_size, self.stride, make_ntuple(padding, 3)))
        self.transposed, self.generative = transposed, generative
        self.kernel_volume = math.prod(self.kernel_size)
        places = (self.kernel_volume,) if self.kernel_volume > 1 or self.stride != (1, 1, 1) else ()
        self.kernel = nn.Parameter(torch.empty(*places, in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        reach = 1 / math.sqrt((self.out_channels if self.transposed else self.in_channels) * self.kernel_volume)
        for each in self.parameters(recurse=False):
            nn.init.uniform_(each, -reach, reach)

    def forward(self, input: SparseTensor) -> SparseTensor:
        return conv3d(input, self.kernel, self.kernel_size, self.bias, self.stride, self.padding, self.dilation, None,
                      self.transposed, self.generative, self.training)
