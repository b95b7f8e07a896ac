"""torchsparse.nn: modules over the features of a sparse tensor, and its convolution."""

import torch
from torch import nn

from .._torchsparse import Conv3d
from .torchsparse_nn_utils import fapply

__all__ = ["BatchNorm", "Conv3d", "GlobalAvgPool", "GlobalMaxPool", "GroupNorm", "InstanceNorm", "LeakyReLU", "ReLU", "SiLU"]

PACKAGE = "torchsparse"
NAMES = ("torchsparse.nn", "torchsparse.nn.modules")
OF_OUR_PACKAGE = True


class BatchNorm(nn.BatchNorm1d):
    def forward(self, input):
        return fapply(input, super().forward)


class InstanceNorm(nn.InstanceNorm1d):
    def forward(self, input):
        return fapply(input, super().forward)


class ReLU(nn.ReLU):
    def forward(self, input):
        return fapply(input, super().forward)


class LeakyReLU(nn.LeakyReLU):
    def forward(self, input):
        return fapply(input, super().forward)


class SiLU(nn.SiLU):
    def forward(self, input):
        return fapply(input, super().forward)


def _samples(input):
    """The features of each sample."""
    batch = input.coords[:, 0]
    return [input.feats[batch == sample] for sample in range(int(batch.max()) + 1)]


class GroupNorm(nn.GroupNorm):
    """Of each sample's features."""

    def forward(self, input):
        batch = input.coords[:, 0]
        order = batch.sort(stable=True)[1]
        normed = [super(GroupNorm, self).forward(each.t()[None])[0].t() for each in _samples(input)]
        return input.like(torch.cat(normed)[torch.empty_like(order).scatter_(0, order, torch.arange(len(order)))])


class GlobalAvgPool(nn.Module):
    """T [samples, C]."""

    def forward(self, input):
        return torch.stack([each.mean(0) for each in _samples(input)])


class GlobalMaxPool(nn.Module):
    """T [samples, C]."""

    def forward(self, input):
        return torch.stack([each.max(0)[0] for each in _samples(input)])
