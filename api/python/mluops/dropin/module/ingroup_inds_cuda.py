"""ingroup_inds_cuda of SST, in OpenPCDet: the how-many-th of its group each element is."""

import torch

from ...torch._buffers import fill

__all__ = ["forward"]

PACKAGE = "pcdet"
NAMES = ("ingroup_inds_cuda", "*.ingroup_inds_cuda")


def forward(group_inds, out_inds):
    """Fills int64 [N]; in a group, elements are numbered as they stand."""
    groups, order = group_inds.sort(stable=True)
    _, sizes = groups.unique_consecutive(return_counts=True)
    starts = (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
    fill("out_inds", out_inds, torch.empty_like(order).scatter_(0, order, torch.arange(len(groups)) - starts))
