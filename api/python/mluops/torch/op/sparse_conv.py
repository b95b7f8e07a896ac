"""Sparse convolution and maximum pooling: pairs of voxels, and what is computed over them."""

from ctypes import byref, c_int, c_void_p
from math import prod
from typing import List, Sequence, Tuple, Union

import torch
from torch import Tensor

from ... import _context as c
from ..._functions import indice_convolution as f
from ..._functions import indice_max_pool
from ..._functions.get_indice_pairs import GET_INDICE_PAIRS as _PAIRS
from ..._library import check, lib
from .._blocks import (at_least, bad_param, expect, filled, first, floats, index32, int32, integer, linear_tangent,
                       no_derivative, no_tangents, operator, rank, run)
from .._tensors import context

__all__ = ["get_conv_output_size", "get_deconv_output_size", "get_indice_pairs", "indice_conv", "indice_inverse_conv",
           "indice_maxpool", "indice_subm_conv"]

Sizes = Union[int, Sequence[int]]

# ---- pairs

# (batch, pad, stride, dilation, input_space, filter_space, output_space, sub_m, transpose), the six in tuples
_DESCRIBED = c.Described(
    "SparseConvolution", "mluOpSetSparseConvolutionDescriptor", [c_int, c_int, *[c_void_p] * 6, *[c_int] * 3],
    lambda values: [len(values[1]) + 2, values[0], *((c_int * len(each))(*each) for each in values[1:7]), *values[7:], 0])


_least = getattr(torch, "sym_min", min)  # of sizes that a graph learns when it runs


def _most_outputs(inputs, batch, pad, stride, dilation, space, kernel, output, subm, transpose):
    if subm:
        return inputs
    reach = prod(kernel) if transpose else prod(-(-k // s) for k, s in zip(kernel, stride))
    return _least(inputs * reach, batch * prod(output))


def _pairs_fake(indices, batch, *numbers):
    kernel = numbers[4]
    inputs, width = rank("indices", indices.shape, 2)
    if width != len(kernel) + 1:
        raise bad_param("indices", f"a batch and {len(kernel)} coordinates in a row", width)
    at_least(1, batch_size=batch, **{"out_shape": min(numbers[5])})
    outputs = _most_outputs(inputs, batch, *numbers)
    return (indices.new_empty((outputs, width)), indices.new_empty((prod(kernel), 2, inputs)),
            indices.new_empty((prod(kernel),)), indices.new_empty((1,)))


def _pairs_call(results, indices, batch, *numbers):
    out_indices, pairs, num, count = results
    lists, flags = numbers[:6], numbers[6:]
    desc = context().descriptor(_DESCRIBED, (batch, *map(tuple, lists), *map(int, flags)))
    run(_PAIRS, desc, indices, None, 0, pairs, out_indices, num)
    found = c_int()
    check(lib.mluOpGetSparseConvolutionNumActOut(desc, byref(found)))  # written into the descriptor by the call
    count.fill_(found.value)


_find_pairs = operator(
    "get_indice_pairs(Tensor indices, int batch_size, int[] padding, int[] stride, int[] dilation, int[] spatial_shape, "
    "int[] ksize, int[] out_shape, bool subm, bool transpose) -> (Tensor, Tensor, Tensor, Tensor)", _pairs_fake,
    _pairs_call, setup=no_derivative, jvp=no_tangents, empty=filled(0, -1, 0, 0))


def find_pairs(indices: Tensor, batch_size: int, out_shape: Sequence[int], spatial_shape: Sequence[int],
               ksize: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
               subm: bool, transpose: bool) -> Tuple[Tensor, Tensor, Tensor]:
    """get_indice_pairs, the output's size given."""
    lists = [[integer(name, number) for number in numbers]
             for name, numbers in (("padding", padding), ("stride", stride), ("dilation", dilation),
                                   ("spatial_shape", spatial_shape), ("ksize", ksize), ("out_shape", out_shape))]
    out_indices, pairs, num, count = _find_pairs(index32("indices", indices), integer("batch_size", batch_size), *lists,
                                                 bool(subm), bool(transpose))
    if subm:
        return indices, pairs, num
    return first(count, out_indices)[0].clone(), pairs, num  # a copy lets go of the rows that nobody needs


def many(name: str, number: Sizes, ndim: int) -> List[int]:
    """One number for each axis, given as one or as many."""
    numbers = list(number) if isinstance(number, (list, tuple)) else [number] * ndim
    if len(numbers) != ndim:
        raise bad_param(name, f"one number or {ndim}", number)
    return [integer(name, each) for each in numbers]


def get_conv_output_size(input_size: Sequence[int], kernel_size: Sequence[int], stride: Sequence[int],
                         padding: Sequence[int], dilation: Sequence[int]) -> List[int]:
    """Sizes of the grid behind a sparse convolution; kernel_size -1 means the whole axis."""
    return [1 if k == -1 else (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(input_size, kernel_size, stride, padding, dilation)]


def get_deconv_output_size(input_size: Sequence[int], kernel_size: Sequence[int], stride: Sequence[int],
                           padding: Sequence[int], dilation: Sequence[int],
                           output_padding: Sequence[int]) -> List[int]:
    """Sizes of the grid behind a transposed sparse convolution."""
    if min(kernel_size) < 0:
        raise bad_param("kernel_size", "at least 0", kernel_size)
    return [(n - 1) * s - 2 * p + d * (k - 1) + 1 + o
            for n, k, s, p, d, o in zip(input_size, kernel_size, stride, padding, dilation, output_padding)]


def _apart(indices: Tensor, batch_size: int, shape: Sequence[int],
           dilation: Sequence[int]) -> Tuple[Tensor, int, List[int]]:
    """Indices, batch and grid with every d-th place of an axis a cloud of its own, in which a filter of dilation d has
    none. (The library, as mmcv, pads a dilated submanifold convolution as an undilated one: it is off centre.)"""
    batch, inside, columns, grid = indices[:, 0], torch.ones((), dtype=torch.bool, device=indices.device), [], []
    for axis, (size, step) in enumerate(zip(shape, dilation), 1):
        places = indices[:, axis]
        inside = inside & (places >= 0) & (places < size)
        columns.append(torch.div(places, step, rounding_mode="floor"))
        batch = batch * step + places % step
        grid.append(-(-size // step))
    inside = inside & (indices[:, 0] >= 0) & (indices[:, 0] < batch_size)
    batch = torch.where(inside, batch, torch.full_like(batch, -1))
    return torch.stack([batch, *columns], 1), batch_size * prod(dilation), grid


def get_indice_pairs(indices: Tensor, batch_size: int, spatial_shape: Sequence[int], ksize: Sizes = 3,
                     stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1, out_padding: Sizes = 0,
                     subm: bool = False, transpose: bool = False, grid: None = None) -> Tuple[Tensor, Tensor, Tensor]:
    """Which voxels of a sparse convolution's input meet which of its output, for each offset of the filter.

    Args:
        indices: int32 or int64 [L, 1 + axes]; batch and coordinates, 2 to 4 axes, slowest first.
        batch_size: voxels outside the batch or the grid meet none.
        spatial_shape: sizes of the input's grid.
        ksize, stride, padding, dilation, out_padding: one number or one for each axis. Where a stride is not 1, the
            dilation is.
        subm: submanifold; outputs are the inputs, padding is half of the filter's reach and stride 1.
        transpose: transposed convolution.
        grid: without effect; mmcv's room to work in.
    Returns: the outputs' indices, those of the inputs or int32 [M, 1 + axes] in increasing order; pairs int32
    [K, 2, L], inputs and outputs, -1 behind the last; numbers of pairs int32 [K]. Not differentiable.

    M is read from the data (docs/python.md). Source: mmcv's get_indice_pairs (docs/python.md lists where that
    differs).
    """
    ndim = rank("indices", indices.shape, 2)[1] - 1
    if ndim not in (2, 3, 4):
        raise bad_param("indices", "a batch and 2 to 4 coordinates in a row", ndim + 1)
    names = {"ksize": ksize, "stride": stride, "padding": padding, "dilation": dilation, "out_padding": out_padding}
    ksize, stride, padding, dilation, out_padding = (many(name, value, ndim) for name, value in names.items())
    if subm:
        out_shape = spatial_shape
        if prod(dilation) != 1:
            apart, clouds, grid_of_each = _apart(indices, batch_size, spatial_shape, dilation)
            return (indices, *get_indice_pairs(apart, clouds, grid_of_each, ksize, subm=True)[1:])
    elif transpose:
        out_shape = get_deconv_output_size(spatial_shape, ksize, stride, padding, dilation, out_padding)
    else:
        out_shape = get_conv_output_size(spatial_shape, ksize, stride, padding, dilation)
    return find_pairs(indices, batch_size, out_shape, spatial_shape, ksize, stride, padding, dilation, subm, transpose)


# ---- convolution


def _check_pairs(pairs, num):
    offsets = rank("indice_pairs", pairs.shape, 3)[0]
    expect("indice_pairs", pairs.shape, (offsets, 2, pairs.shape[2]), ("", "input and output", ""))
    expect("indice_pair_num", num.shape, (offsets,), ("the offsets of indice_pairs",))


def _check_convolution(features, filters, pairs, num):
    _check_pairs(pairs, num)
    _, channels = rank("features", features.shape, 2)
    if filters.dim() not in (4, 5, 6):
        raise bad_param("filters", "4 to 6 dimensions", filters.dim())
    if filters.shape[-2] != channels:
        raise bad_param("filters", f"{channels} input channels, those of features", filters.shape[-2])


def _numbers(num):
    """The counts as the C function reads them; the caller keeps them until it returns."""
    return num.to(torch.int64).contiguous()


def _fake(features, filters, pairs, num, outputs, inverse):
    _check_convolution(features, filters, pairs, num)
    at_least(0, num_activate_out=outputs)
    return features.new_empty((outputs, filters.shape[-1]))


def _call(output, features, filters, pairs, num, outputs, inverse):
    counts = _numbers(num)
    return run(f.INDICE_CONVOLUTION_FORWARD, features, filters, pairs, counts, outputs, inverse, 0, None, 0, output)


def _data_call(input_grad, features, filters, grad, pairs, num, inverse):
    counts = _numbers(num)
    return run(f.INDICE_CONVOLUTION_BACKWARD_DATA, grad, filters, pairs, counts, inverse, 0, None, 0, input_grad)


def _filter_call(filters_grad, features, filters, grad, pairs, num, inverse):
    counts = _numbers(num)
    return run(f.INDICE_CONVOLUTION_BACKWARD_FILTER, features, grad, pairs, counts, inverse, 0, None, 0, filters_grad)


def _gradient_fake(of):
    def fake(features, filters, grad, pairs, num, inverse):
        _check_convolution(features, filters, pairs, num)
        expect("grad", grad.shape, (grad.shape[0], filters.shape[-1]), ("", "the output channels of filters"))
        return grad.new_empty((features, filters)[of].shape)

    return fake


_ARGUMENTS = "(Tensor features, Tensor filters, Tensor grad, Tensor indice_pairs, Tensor indice_pair_num, bool inverse)"
data_gradient = operator(f"indice_conv_data_backward{_ARGUMENTS} -> Tensor", _gradient_fake(0), _data_call)
filter_gradient = operator(f"indice_conv_filter_backward{_ARGUMENTS} -> Tensor", _gradient_fake(1), _filter_call)


def _setup(ctx, inputs, output):
    *tensors, _, ctx.inverse = inputs
    ctx.save_for_backward(*tensors)


def _backward(ctx, grad):
    features, filters, pairs, num = ctx.saved_tensors
    inputs = features, filters, grad, pairs, num, ctx.inverse
    return (data_gradient(*inputs) if ctx.needs_input_grad[0] else None,
            filter_gradient(*inputs) if ctx.needs_input_grad[1] else None, None, None, None, None)


def _jvp(inputs, output, tangents):
    """The operator is linear in features and in filters."""
    return linear_tangent(convolve, inputs, tangents, (0, 1))


convolve = operator(
    "indice_conv(Tensor features, Tensor filters, Tensor indice_pairs, Tensor indice_pair_num, SymInt num_activate_out, "
    "bool inverse) -> Tensor", _fake, _call, setup=_setup, backward=_backward, jvp=_jvp)


def pair_tensors(indice_pairs: Tensor, indice_pair_num: Tensor) -> Tuple[Tensor, Tensor]:
    return index32("indice_pairs", indice_pairs), int32("indice_pair_num", indice_pair_num)


def indice_conv(features: Tensor, filters: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor,
                num_activate_out: int, inverse: bool = False) -> Tensor:
    """Convolution over the pairs that get_indice_pairs found.

    Args:
        features: T [L, C_in].
        filters: T [k, k, C_in, C_out], [k, k, k, C_in, C_out] or with one axis more.
        indice_pairs, indice_pair_num: of get_indice_pairs.
        num_activate_out: rows of the result.
        inverse: outputs become inputs: undoes the places of the convolution the pairs are of.
    Returns: T [num_activate_out, C_out], differentiable in features and filters.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; sums in float32 (float64).
    Source: Yan et al., "SECOND", 2018; mmcv's indice_conv.
    """
    features, filters = floats(features=features, filters=filters)
    return convolve(features, filters, *pair_tensors(indice_pairs, indice_pair_num),
                    integer("num_activate_out", num_activate_out), bool(inverse))


def indice_inverse_conv(features: Tensor, filters: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor,
                        num_activate_out: int) -> Tensor:
    """indice_conv with inverse: from the outputs of the convolution that the pairs are of to its inputs."""
    return indice_conv(features, filters, indice_pairs, indice_pair_num, num_activate_out, True)


def indice_subm_conv(features: Tensor, filters: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor,
                     num_activate_out: int) -> Tensor:
    """indice_conv over the pairs of a submanifold convolution."""
    return indice_conv(features, filters, indice_pairs, indice_pair_num, num_activate_out)


# ---- maximum pooling


def _max_fake(features, pairs, num, outputs):
    _check_pairs(pairs, num)
    _, channels = rank("features", features.shape, 2)
    at_least(0, num_activate_out=outputs)
    return features.new_empty((outputs, channels))


def _max_call(output, features, pairs, num, outputs):
    counts = _numbers(num)
    run(indice_max_pool.INDICE_MAX_POOL_FORWARD, features, pairs, counts, output)
    if (features < 0).any():  # the library, as mmcv, starts at 0
        output.copy_(_greatest(features, pairs, counts.tolist(), outputs))


def _greatest(features, pairs, counts, outputs):
    """In the type of the sums; 0 where no input meets an output."""
    wide = features.to(torch.promote_types(features.dtype, torch.float32))
    lowest = -float("inf")
    found = wide.new_full((outputs, features.shape[1]), lowest)
    met = torch.zeros(outputs, 1, dtype=torch.bool)
    for (inputs, at), count in zip(pairs.long(), counts):
        inside = (inputs[:count] >= 0) & (inputs[:count] < len(wide)) & (at[:count] >= 0) & (at[:count] < outputs)
        rows, at = wide[inputs[:count][inside]], at[:count][inside]
        rows = torch.where(rows.isnan(), torch.full_like(rows, lowest), rows)
        found.scatter_reduce_(0, at.unsqueeze(1).expand_as(rows), rows, "amax")
        met[at] = True
    return torch.where(met, found, torch.zeros_like(found))


def _max_gradient_fake(features, output, grad, pairs, num):
    _check_pairs(pairs, num)
    _, channels = rank("features", features.shape, 2)
    rank("output", output.shape, 2)
    expect("output", output.shape, (output.shape[0], channels), ("", "the channels of features"))
    expect("grad", grad.shape, output.shape, ("the rows of output", "the channels of features"))
    return features.new_empty(features.shape)


def _max_gradient_call(input_grad, features, output, grad, pairs, num):
    counts = _numbers(num)
    return run(indice_max_pool.INDICE_MAX_POOL_BACKWARD, features, output, grad, pairs, counts, input_grad)


max_gradient = operator("indice_maxpool_backward(Tensor features, Tensor output, Tensor grad, Tensor indice_pairs, "
                        "Tensor indice_pair_num) -> Tensor", _max_gradient_fake, _max_gradient_call)


def _max_setup(ctx, inputs, output):
    features, pairs, num, _ = inputs
    ctx.save_for_backward(features, output, pairs, num)


def _max_backward(ctx, grad):
    features, output, pairs, num = ctx.saved_tensors
    return max_gradient(features, output, grad, pairs, num), None, None, None


pool = operator("indice_maxpool(Tensor features, Tensor indice_pairs, Tensor indice_pair_num, SymInt num_activate_out) "
                "-> Tensor", _max_fake, _max_call, setup=_max_setup, backward=_max_backward)


def indice_maxpool(features: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor, num_activate_out: int) -> Tensor:
    """Maximum pooling over the pairs that get_indice_pairs found: the greatest feature, 0 where no input meets an output.

    Args:
        features: T [L, C].
        indice_pairs, indice_pair_num: of get_indice_pairs.
        num_activate_out: rows of the result.
    Returns: T [num_activate_out, C]; differentiable: every feature that is the maximum gets the whole gradient.

    T: float16, bfloat16, float32, float64. Fastest where no feature is below 0, as behind a ReLU. Source: mmcv's
    indice_maxpool, which takes 0 for the least.
    """
    features, = floats(features=features)
    return pool(features, *pair_tensors(indice_pairs, indice_pair_num), integer("num_activate_out", num_activate_out))


def _one_pair(zeros):
    return zeros(1, 2, 1), zeros(1) + 1


SMALLEST = {"get_indice_pairs": lambda ones, zeros: get_indice_pairs(zeros(1, 4), 1, (1, 1, 1), 1),
            "indice_conv": lambda ones, zeros: indice_conv(ones(1, 1), ones(1, 1, 1, 1, 1), *_one_pair(zeros), 1),
            "indice_maxpool": lambda ones, zeros: indice_maxpool(ones(1, 1), *_one_pair(zeros), 1)}
