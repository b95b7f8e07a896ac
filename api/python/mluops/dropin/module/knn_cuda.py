"""knn_cuda, of KNN_CUDA: the nearest of N points for each of M, in any number of dimensions."""

import torch
from torch import nn

from ...torch._tensors import floats
from ...torch.op.knn import forward

__all__ = ["KNN", "knn"]

PACKAGE = "knn_cuda"
NAMES = ("knn_cuda",)


def nearest(ref, query, k):
    """ref [B, N, D], query [B, M, D]: distances and indices int64, [B, M, k]. In space the library's search, else torch's
    distances."""
    ref, query = floats(ref=ref.float(), query=query.float())
    if ref.shape[1] < k:
        raise ValueError(f"k: wanted at most {ref.shape[1]}, the points there are, got {k}")
    if ref.shape[2] == 3:
        indices, squares = forward(ref, query, k)
        return squares.sqrt(), indices.long()
    return torch.cdist(query, ref).topk(k, 2, largest=False)


def knn(ref, query, k):
    """ref [D, N], query [D, M]: distances and indices [k, M]."""
    distances, indices = nearest(ref.t()[None], query.t()[None], k)
    return distances[0].t().contiguous(), indices[0].t().contiguous()


class KNN(nn.Module):
    """forward(ref, query): [B, D, N], [B, D, M] to distances and indices [B, k, M]; transpose_mode: the last two axes the
    other way round, of all."""

    def __init__(self, k, transpose_mode=False):
        super().__init__()
        self.k, self._t = k, transpose_mode

    def forward(self, ref, query):
        assert ref.size(0) == query.size(0), f"ref.shape={ref.shape} != query.shape={query.shape}"
        with torch.no_grad():
            if self._t:
                return nearest(ref, query, self.k)
            found = nearest(ref.transpose(1, 2), query.transpose(1, 2), self.k)
            return tuple(each.transpose(1, 2).contiguous() for each in found)
