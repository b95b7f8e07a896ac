"""torchsparse.nn.utils, torchsparse.utils: functions of features, tuples."""

import torch

from .._torchsparse import _steps, make_ntuple

__all__ = ["fapply", "get_kernel_offsets", "make_divisible", "make_ntuple", "make_tensor", "to_dense"]

PACKAGE = "torchsparse"
NAMES = ("torchsparse.nn.utils", "torchsparse.utils", "torchsparse.utils.utils", "torchsparse.utils.to_dense")
OF_OUR_PACKAGE = True


def fapply(input, fn, *args, **kwargs):
    return input.like(fn(input.feats, *args, **kwargs))


def make_tensor(x, dtype, device):
    return torch.tensor(x, dtype=dtype, device=device)


def make_divisible(x, divisor):
    return -(-x // divisor) * divisor


def get_kernel_offsets(size, stride=1, dilation=1, device="cpu"):
    """int32 [K, 3], in the order of the weights."""
    size, stride, dilation = (make_ntuple(each, 3) for each in (size, stride, dilation))
    steps = _steps(size, tuple((each - 1) // 2 for each in size))
    return (steps * torch.tensor(stride) * torch.tensor(dilation)).int()


def to_dense(feats, coords, spatial_range):
    out = feats.new_zeros(*spatial_range, feats.shape[1])
    return out.index_put(tuple(coords.long().unbind(1)), feats)
