"""torch_scatter, where it is not installed: reductions by index and by interval, differentiable."""

import torch

from .. import _scatter
from ..._errors import bad_param

__all__ = ["__version__", "gather_coo", "gather_csr", "scatter", "scatter_add", "scatter_log_softmax", "scatter_logsumexp",
           "scatter_max", "scatter_mean", "scatter_min", "scatter_mul", "scatter_softmax", "scatter_std", "scatter_sum",
           "segment_add_coo", "segment_add_csr", "segment_coo", "segment_csr", "segment_max_coo", "segment_max_csr",
           "segment_mean_coo", "segment_mean_csr", "segment_min_coo", "segment_min_csr", "segment_sum_coo",
           "segment_sum_csr"]

PACKAGE = "torch_scatter"
NAMES = ("torch_scatter", "torch_scatter.scatter", "torch_scatter.segment_csr", "torch_scatter.segment_coo",
         "torch_scatter.composite")
OF_OUR_PACKAGE = True

__version__ = "2.1.2"  # whose functions these are


def scatter_sum(src, index, dim=-1, out=None, dim_size=None):
    return _scatter.summed(src, index, dim, out, dim_size)


scatter_add = scatter_sum


def scatter_mul(src, index, dim=-1, out=None, dim_size=None):
    dim = dim % src.dim()
    made = _scatter.start(src, index, dim, out, dim_size, 1).scatter_reduce(dim, _scatter.along(index, src, dim), src, "prod")
    return _scatter.kept(made, out)


def scatter_mean(src, index, dim=-1, out=None, dim_size=None):
    total = _scatter.summed(src, index, dim, out, dim_size)
    count = _scatter.counts(index, src, dim, total.shape[dim]).clamp(min=1)
    if total.is_floating_point():
        made = total / count.to(total.dtype)
    else:
        made = torch.div(total, count, rounding_mode="floor").to(total.dtype)
    return _scatter.kept(made, out)


def scatter_max(src, index, dim=-1, out=None, dim_size=None):
    return _scatter.extreme(src, index, dim, out, dim_size, True)


def scatter_min(src, index, dim=-1, out=None, dim_size=None):
    return _scatter.extreme(src, index, dim, out, dim_size, False)


def scatter(src, index, dim=-1, out=None, dim_size=None, reduce="sum"):
    if reduce in ("min", "max"):
        return _scatter.extreme(src, index, dim, out, dim_size, reduce == "max")[0]
    functions = {"sum": scatter_sum, "add": scatter_sum, "mul": scatter_mul, "mean": scatter_mean}
    if reduce not in functions:
        raise bad_param("reduce", f"one of {', '.join([*functions, 'min', 'max'])}", reduce)
    return functions[reduce](src, index, dim, out, dim_size)


def scatter_std(src, index, dim=-1, out=None, dim_size=None, unbiased=True):
    mean = scatter_mean(src, index, dim, None, dim_size if out is None else out.shape[dim])
    spread = scatter_sum((src - mean.gather(dim, _scatter.along(index, src, dim))).square(), index, dim, None,
                         mean.shape[dim])
    count = _scatter.counts(index, src, dim, mean.shape[dim]).clamp(min=1).to(src.dtype)
    made = (spread / ((count - 1).clamp(min=1) if unbiased else count + 1e-6)).sqrt()
    return _scatter.kept(made, out)


def _shifted(src, index, dim, dim_size):
    """src less the greatest of its place, the index of each element, and those greatest."""
    whole = _scatter.along(index, src, dim)
    greatest = scatter_max(src.detach(), index, dim, None, dim_size)[0]
    return src - greatest.gather(dim, whole), whole, greatest


def scatter_softmax(src, index, dim=-1, dim_size=None):
    shifted, whole, _ = _shifted(src, index, dim, dim_size)
    weights = shifted.exp()
    return weights / scatter_sum(weights, index, dim, None, dim_size).gather(dim, whole)


def scatter_log_softmax(src, index, dim=-1, eps=1e-12, dim_size=None):
    shifted, whole, _ = _shifted(src, index, dim, dim_size)
    return shifted - (scatter_sum(shifted.exp(), index, dim, None, dim_size) + eps).log().gather(dim, whole)


def scatter_logsumexp(src, index, dim=-1, out=None, dim_size=None, eps=1e-12):
    shifted, _, greatest = _shifted(src, index, dim, dim_size if out is None else out.shape[dim])
    made = (scatter_sum(shifted.exp(), index, dim, None, greatest.shape[dim]) + eps).log() + greatest
    return _scatter.kept(made, out)


def segment_csr(src, indptr, out=None, reduce="sum"):
    """Elements indptr[..., k] to indptr[..., k + 1] along indptr's last axis are reduced to the k-th."""
    dim = indptr.dim() - 1
    index, length = _scatter.targets(indptr)
    first, last = (int(indptr.reshape(-1, indptr.shape[-1])[0, end]) for end in (0, -1))
    made = scatter(src.narrow(dim, first, last - first), index, dim, None, len(length), reduce)
    return _scatter.kept(made, out)


def _extreme_csr(src, indptr, out, greatest):
    dim = indptr.dim() - 1
    index, length = _scatter.targets(indptr)
    first, last = (int(indptr.reshape(-1, indptr.shape[-1])[0, end]) for end in (0, -1))
    made, at = _scatter.extreme(src.narrow(dim, first, last - first), index, dim, None, len(length), greatest)
    at = torch.where(at < last - first, at + first, torch.full_like(at, src.shape[dim]))
    return _scatter.kept(made, out), at


def segment_sum_csr(src, indptr, out=None):
    return segment_csr(src, indptr, out, "sum")


def segment_mean_csr(src, indptr, out=None):
    return segment_csr(src, indptr, out, "mean")


def segment_max_csr(src, indptr, out=None):
    return _extreme_csr(src, indptr, out, True)


def segment_min_csr(src, indptr, out=None):
    return _extreme_csr(src, indptr, out, False)


segment_add_csr = segment_sum_csr


def gather_csr(src, indptr, out=None):
    """The k-th element for each of its interval."""
    index, _ = _scatter.targets(indptr)
    made = src.index_select(indptr.dim() - 1, index)
    return _scatter.kept(made, out)


def _rows_of(index):
    """The index along its last axis, which is the same in all rows."""
    flat = index.reshape(-1, index.shape[-1])
    if len(flat) > 1 and not (flat == flat[0]).all():
        return index
    return flat[0]


def segment_coo(src, index, out=None, dim_size=None, reduce="sum"):
    return scatter(src, _rows_of(index), index.dim() - 1, out, dim_size, reduce)


def segment_sum_coo(src, index, out=None, dim_size=None):
    return segment_coo(src, index, out, dim_size, "sum")


def segment_mean_coo(src, index, out=None, dim_size=None):
    return segment_coo(src, index, out, dim_size, "mean")


def segment_max_coo(src, index, out=None, dim_size=None):
    return scatter_max(src, _rows_of(index), index.dim() - 1, out, dim_size)


def segment_min_coo(src, index, out=None, dim_size=None):
    return scatter_min(src, _rows_of(index), index.dim() - 1, out, dim_size)


segment_add_coo = segment_sum_coo


def gather_coo(src, index, out=None):
    made = src.gather(index.dim() - 1, _scatter.along(_rows_of(index), src, index.dim() - 1)) if index.dim() == src.dim() \
        else src.index_select(index.dim() - 1, _rows_of(index))
    return _scatter.kept(made, out)
