"""knn_cuda of MTR and EQNet: for each point its nearest ones of another cloud, sample by sample."""

import torch

from ...torch._buffers import fill
from ...torch._tensors import floats
from ...torch.op.knn import forward

__all__ = ["knn_batch", "knn_batch_mlogk"]

PACKAGE = "mtr"
NAMES = ("*.ops.knn.knn_cuda",)


def knn_batch(xyz, query_xyz, batch_idxs, query_batch_offsets, idx, n, m, k):
    """Points T [n, 3] of samples batch_idxs, others T [m, 3] that end and begin at the offsets: fills idx [n, k] with indices
    that count from the first of the sample's, nearest first, -1 where there are too few."""
    points, others = floats(xyz=xyz, query_xyz=query_xyz)
    found = torch.full((len(points), k), -1, dtype=torch.int32)
    ends = query_batch_offsets.tolist()
    for sample, (start, end) in enumerate(zip(ends, ends[1:])):
        rows = (batch_idxs == sample).nonzero()[:, 0]
        many = min(k, end - start)
        if len(rows) and many:
            found[rows, :many] = forward(others[None, start:end], points[None, rows], many)[0][0]
    fill("idx", idx, found)


knn_batch_mlogk = knn_batch
