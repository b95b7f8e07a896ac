"""Operators of torch on a device: name -> function of the device. Each is run on mlu and on the CPU."""

import torch
import torch.nn.functional as F
from torch import nn


def _r(device, *sizes):
    """Made on the CPU, where random numbers are the same for both."""
    return torch.randn(*sizes).to(device)


def _i(device, values):
    return torch.tensor(values).to(device)


def _set_items(d):
    x = _r(d, 5, 4)
    x[1:3] = 7
    x[:, 0] = _r(d, 5)
    x[x > 1] = 0
    return x


def _views_in_place(d):
    x = _r(d, 5, 4)
    x.t().mul_(2)
    x[::2].add_(1)
    x.view(20)[3] = 9
    return x


def _out_of_a_view(d):
    out = torch.zeros(3, 2, device=d)
    torch.add(_r(d, 3), 1, out=out[:, 1])
    return out


def _lists_in_place(d):
    x = [_r(d, 3), _r(d, 4)]
    torch._foreach_mul_(x, 2.0)
    return x


def _spectrum(d):
    return torch.fft.fft(_r(d, 8))


OPERATORS = {
    "add": lambda d: _r(d, 3, 4) + 1,
    "broadcast": lambda d: _r(d, 3, 1) * _r(d, 4),
    "number of the CPU": lambda d: _r(d, 3) * torch.tensor(2.0),
    "matmul": lambda d: _r(d, 3, 4) @ _r(d, 4, 5),
    "bmm": lambda d: torch.bmm(_r(d, 2, 3, 4), _r(d, 2, 4, 5)),
    "linear": lambda d: F.linear(_r(d, 3, 4), _r(d, 5, 4), _r(d, 5)),
    "einsum": lambda d: torch.einsum("ij,jk->ik", _r(d, 3, 4), _r(d, 4, 5)),
    "conv1d": lambda d: F.conv1d(_r(d, 2, 3, 8), _r(d, 4, 3, 3)),
    "conv2d": lambda d: F.conv2d(_r(d, 2, 3, 8, 8), _r(d, 4, 3, 3, 3), _r(d, 4), padding=1),
    "conv3d": lambda d: F.conv3d(_r(d, 1, 2, 4, 4, 4), _r(d, 3, 2, 2, 2, 2)),
    "conv2d depthwise": lambda d: F.conv2d(_r(d, 2, 4, 8, 8), _r(d, 4, 1, 3, 3), groups=4),
    "conv_transpose2d": lambda d: F.conv_transpose2d(_r(d, 2, 3, 8, 8), _r(d, 3, 4, 3, 3)),
    "max_pool2d": lambda d: F.max_pool2d(_r(d, 2, 3, 8, 8), 2, return_indices=True),
    "avg_pool3d": lambda d: F.avg_pool3d(_r(d, 2, 3, 8, 8, 8), 2),
    "adaptive_avg_pool2d": lambda d: F.adaptive_avg_pool2d(_r(d, 2, 3, 8, 8), 3),
    "batch_norm": lambda d: F.batch_norm(_r(d, 2, 3, 8, 8), _r(d, 3), _r(d, 3), training=True),
    "layer_norm": lambda d: F.layer_norm(_r(d, 2, 8), (8,)),
    "group_norm": lambda d: F.group_norm(_r(d, 2, 8, 3), 4),
    "instance_norm": lambda d: F.instance_norm(_r(d, 2, 8, 3)),
    "softmax": lambda d: _r(d, 2, 8).softmax(1),
    "gelu": lambda d: F.gelu(_r(d, 10)),
    "cross_entropy": lambda d: F.cross_entropy(_r(d, 4, 8), _i(d, [0, 1, 2, 3])),
    "nll_loss": lambda d: F.nll_loss(_r(d, 2, 3).log_softmax(1), _i(d, [0, 1])),
    "bce": lambda d: F.binary_cross_entropy_with_logits(_r(d, 3), torch.ones(3, device=d)),
    "attention": lambda d: F.scaled_dot_product_attention(_r(d, 2, 4, 8, 16), _r(d, 2, 4, 8, 16), _r(d, 2, 4, 8, 16)),
    "attention causal": lambda d: F.scaled_dot_product_attention(*[_r(d, 2, 4, 8, 16)] * 3, is_causal=True),
    "embedding": lambda d: F.embedding(_i(d, [[1, 2], [0, 1]]), _r(d, 5, 4)),
    "index": lambda d: _r(d, 5, 4)[_i(d, [0, 2])],
    "index of the CPU": lambda d: _r(d, 5, 4)[torch.tensor([0, 2])],
    "mask": lambda d: (lambda x: x[x > 0])(_r(d, 5, 4)),
    "set items": _set_items,
    "views in place": _views_in_place,
    "out": lambda d: torch.add(_r(d, 3), 1, out=torch.empty(0, device=d)),
    "out of a view": _out_of_a_view,
    "foreach": lambda d: torch._foreach_add([_r(d, 3), _r(d, 4)], 1.0),
    "foreach in place": _lists_in_place,
    "cat": lambda d: torch.cat([_r(d, 2, 3), _r(d, 4, 3)]),
    "stack": lambda d: torch.stack([_r(d, 2, 3), _r(d, 2, 3)], 2),
    "sort": lambda d: _r(d, 10).sort(),
    "topk": lambda d: _r(d, 10).topk(3),
    "cumsum": lambda d: _r(d, 10, 2).cumsum(0),
    "arange": lambda d: torch.arange(10, device=d),
    "linspace": lambda d: torch.linspace(0, 1, 10, device=d),
    "full": lambda d: torch.full((3,), 2.0, device=d),
    "eye": lambda d: torch.eye(3, device=d),
    "tril_indices": lambda d: torch.tril_indices(3, 3, device=d),
    "randn": lambda d: torch.randn(3, 4, device=d),
    "randint": lambda d: torch.randint(0, 10, (3, 4), device=d),
    "randperm": lambda d: torch.randperm(10, device=d),
    "dropout": lambda d: F.dropout(_r(d, 100), 0.5),
    "multinomial": lambda d: torch.multinomial(torch.ones(10, device=d), 3),
    "half": lambda d: _r(d, 3, 4).half() * 2,
    "bfloat16": lambda d: _r(d, 3, 4).bfloat16() + 1,
    "double": lambda d: _r(d, 3, 4).double().exp(),
    "long": lambda d: (_r(d, 3, 4) * 10).long(),
    "where": lambda d: torch.where(_r(d, 3, 4) > 0, _r(d, 3, 4), torch.zeros(3, 4, device=d)),
    "masked_fill": lambda d: _r(d, 3, 3).masked_fill(torch.eye(3, device=d).bool(), 0),
    "fft": _spectrum,
    "irfft": lambda d: torch.fft.irfft(torch.fft.rfft(_r(d, 8))),
    "view_as_real": lambda d: torch.view_as_real(_spectrum(d)),
    "conj": lambda d: _spectrum(d).conj().resolve_conj(),
    "imaginary of conj": lambda d: _spectrum(d).conj().imag.clone(),
    "unfold": lambda d: _r(d, 10).unfold(0, 3, 1),
    "im2col": lambda d: F.unfold(_r(d, 1, 2, 5, 5), 3),
    "expand": lambda d: _r(d, 1, 4).expand(3, 4).contiguous(),
    "permute": lambda d: _r(d, 2, 3, 4).permute(2, 0, 1).contiguous(),
    "channels last": lambda d: _r(d, 2, 3, 4, 4).to(memory_format=torch.channels_last),
    "flip": lambda d: _r(d, 3, 4).flip(0),
    "gather": lambda d: _r(d, 3, 4).gather(1, _i(d, [[0], [1], [2]])),
    "scatter_add": lambda d: torch.zeros(3, 4, device=d).scatter_add_(1, _i(d, [[0], [1], [2]]), _r(d, 3, 1)),
    "index_put": lambda d: torch.zeros(5, device=d).index_put_((_i(d, [0, 0, 1]),), _r(d, 3), accumulate=True),
    "nonzero": lambda d: (_r(d, 10) > 0).nonzero(),
    "unique": lambda d: _i(d, [1, 2, 2, 3]).unique(return_counts=True),
    "svdvals": lambda d: torch.linalg.svdvals(_r(d, 4, 4)),
    "inverse": lambda d: torch.linalg.inv(torch.eye(4, device=d) * 2),
    "lstm": lambda d: nn.LSTM(4, 5, 2).to(d)(torch.ones(3, 2, 4, device=d))[0],
    "gru": lambda d: nn.GRU(4, 5, 2, bidirectional=True).to(d)(torch.ones(3, 2, 4, device=d))[0],
    "transformer": lambda d: nn.TransformerEncoderLayer(8, 2, 16, 0).to(d).eval()(torch.ones(2, 3, 8, device=d)),
    "interpolate": lambda d: F.interpolate(_r(d, 1, 2, 4, 4), scale_factor=2, mode="bilinear"),
    "grid_sample": lambda d: F.grid_sample(_r(d, 1, 2, 4, 4), _r(d, 1, 3, 3, 2).clamp(-1, 1), align_corners=False),
    "pad": lambda d: F.pad(_r(d, 1, 2, 4, 4), (1, 1, 1, 1), mode="reflect"),
    "item": lambda d: _r(d, 1).item(),
    "tolist": lambda d: _r(d, 3).tolist(),
    "std_mean": lambda d: torch.std_mean(_r(d, 3, 4), 0),
    "resize": lambda d: torch.zeros(2, device=d).resize_(4).zero_(),
    "set": lambda d: torch.zeros(0, device=d).set_(_r(d, 3)),
    "clone of a view": lambda d: _r(d, 3, 4).t().clone(),
    "new_zeros": lambda d: _r(d, 3).new_zeros(2, 2),
    "as_strided": lambda d: _r(d, 9).as_strided((3, 3), (1, 3)).clone(),
    "histc": lambda d: _r(d, 10).histc(4),
    "bincount": lambda d: _i(d, [1, 1, 2]).bincount(),
    "cdist": lambda d: torch.cdist(_r(d, 3, 4), _r(d, 2, 4)),
}

# name: (module, sizes of its input)
MODULES = {
    "linear": (lambda: nn.Linear(4, 5), (3, 4)),
    "conv2d": (lambda: nn.Conv2d(3, 4, 3, padding=1), (2, 3, 6, 6)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(3, 4, 3), (2, 3, 6, 6)),
    "depthwise": (lambda: nn.Conv1d(4, 4, 3, groups=4, bias=False), (2, 4, 6)),
    "lstm": (lambda: nn.LSTM(4, 5, 2), (3, 2, 4)),
    "gru": (lambda: nn.GRU(4, 5, 2), (3, 2, 4)),
    "gru without biases": (lambda: nn.GRU(4, 5, bias=False), (3, 2, 4)),
    "transformer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0), (3, 2, 8)),
    "batch_norm": (lambda: nn.BatchNorm2d(3), (2, 3, 6, 6)),
    "max_pool2d": (lambda: nn.MaxPool2d(2), (2, 3, 6, 6)),
}
