"""gather_points and grouping_operation: features of chosen points, and of the points of groups."""

from typing import Optional

import torch
from torch import Tensor

from ..._function import CFunction
from ..._functions import gather_points as f
from .._blocks import described, expect, floats, index32, int32, operator, rank
from .._stacks import check_stack, pairs_of_samples

__all__ = ["gather_points", "grouping_operation"]


def _operators(name: str, c_forward: CFunction, c_backward: CFunction):
    """The operator and its gradient."""
    gradient = described(f"{name}_backward(grad, indices, points)", c_backward,
                         names={"indices": "idx", "points": "n"})
    return described(f"{name}(features, indices)", c_forward, gradient=gradient,
                     names={"features": "points", "indices": "idx"}, linear="points"), gradient


gather, gather_gradient = _operators("gather_points", f.GATHER_POINTS_FORWARD, f.GATHER_POINTS_BACKWARD)
group, group_gradient = _operators("group_points", f.GROUP_POINTS_FORWARD, f.GROUP_POINTS_BACKWARD)


def gather_points(features: Tensor, indices: Tensor) -> Tensor:
    """Takes the features of M of N points.

    Args:
        features: T [B, C, N].
        indices: int32 or int64 [B, M]; one outside [0, N-1] gives zeros.
    Returns: T [B, C, M], differentiable in features.

    T: float16, bfloat16, float32, float64. Source: Qi et al., "PointNet++", 2017; mmcv's gather_points.
    """
    features, = floats(features=features)
    return gather(features, index32("indices", indices, features.shape[-1]))


# ---- stacked: rows of features, which torch gathers and adds up fastest


_BLOCK = 1 << 18  # elements of a gradient that are brought into another order at a time, within the caches


def _stacked_sizes(features, indices, features_batch_cnt, indices_batch_cnt):
    _, channels = rank("features", features.shape, 2)
    _, group_size = rank("indices", indices.shape, 2)
    count, = rank("features_batch_cnt", features_batch_cnt.shape, 1)
    check_stack("features", features, channels, "", features_batch_cnt, count)
    check_stack("indices", indices, group_size, "", indices_batch_cnt, count)
    return (*indices.shape, channels)


def _rows(features, indices, features_batch_cnt, indices_batch_cnt):
    """For each index its row among the features of all samples, and which indices are inside of their sample."""
    rows = torch.zeros_like(indices, dtype=torch.int64)  # of which torch adds up fastest
    inside = torch.zeros_like(indices, dtype=torch.bool)
    for own, points in pairs_of_samples(("indices_batch_cnt", indices_batch_cnt, indices.shape[0]),
                                        ("features_batch_cnt", features_batch_cnt, features.shape[0])):
        inside[own] = (indices[own] >= 0) & (indices[own] < points.stop - points.start)
        rows[own] = (indices[own] + points.start) * inside[own]
    return rows.flatten(), inside.flatten()


def _stacked_call(output, features, *where):
    rows, inside = _rows(features, *where)
    flat = output.view(-1, features.shape[1])
    torch.index_select(features, 0, rows, out=flat)
    if not inside.all():
        flat[~inside] = 0


def _stacked_gradient_fake(grad, features, *where):
    expect("grad", grad.shape, _stacked_sizes(features, *where), ("that of the output",) * 3)
    return features.new_empty(features.shape)


def _stacked_gradient_call(grad_features, grad, features, *where):
    rows, inside = _rows(features, *where)
    channels, group_size = features.shape[1], grad.shape[1]
    wide = torch.promote_types(grad.dtype, torch.float32)
    sums = (grad_features if grad_features.dtype == wide else grad_features.to(wide)).zero_()
    groups = max(1, _BLOCK // (group_size * channels))
    for terms, at, counts in zip(grad.split(groups), rows.split(groups * group_size), inside.split(groups * group_size)):
        terms = terms.reshape(-1, channels).to(wide)
        sums.index_add_(0, at, terms if counts.all() else terms.masked_fill(~counts.unsqueeze(1), 0))
    if sums is not grad_features:
        grad_features.copy_(sums)


_STACK = "Tensor features, Tensor indices, Tensor features_batch_cnt, Tensor indices_batch_cnt"
stacked_gradient = operator(f"stack_group_points_backward(Tensor grad, {_STACK}) -> Tensor", _stacked_gradient_fake,
                            _stacked_gradient_call)


def _stacked_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


stacked = operator(
    f"stack_group_points({_STACK}) -> Tensor",
    lambda features, *where: features.new_empty(_stacked_sizes(features, *where)), _stacked_call, setup=_stacked_setup,
    backward=lambda ctx, grad: (stacked_gradient(grad, *ctx.saved_tensors), None, None, None),
    jvp=lambda inputs, output, tangents: stacked(tangents[0], *inputs[1:]))


def stack(indices: Tensor, features_batch_cnt: Tensor, indices_batch_cnt: Tensor) -> tuple:
    return (int32("indices", indices), int32("features_batch_cnt", features_batch_cnt),
            int32("indices_batch_cnt", indices_batch_cnt))


def grouping_operation(features: Tensor, indices: Tensor, features_batch_cnt: Optional[Tensor] = None,
                       indices_batch_cnt: Optional[Tensor] = None) -> Tensor:
    """Takes the features of the points of each group.

    Args:
        features: T [B, C, N]; stacked, T [N1 + N2 + ..., C].
        indices: int32 or int64 [B, P, S], S points of P groups (ball_query gives them); one outside [0, N-1] gives
            zeros. Stacked, [P1 + P2 + ..., S], counted from the first point of the sample.
        features_batch_cnt, indices_batch_cnt: int32 or int64 [B], N1, N2, ... and P1, P2, ...; None: not stacked.
    Returns: T [B, C, P, S], differentiable in features; stacked, [P1 + P2 + ..., C, S], a view of [P1 + P2 + ..., S, C].

    T: float16, bfloat16, float32, float64. Source: Qi et al., "PointNet++", 2017; mmcv's grouping_operation.
    """
    features, = floats(features=features)
    if features_batch_cnt is None and indices_batch_cnt is None:
        return group(features, index32("indices", indices, features.shape[-1]))
    return stacked(features, *stack(indices, features_batch_cnt, indices_batch_cnt)).transpose(1, 2)


SMALLEST = {"stack_group_points": lambda ones, zeros: grouping_operation(ones(1, 1), zeros(1, 1), zeros(1) + 1,
                                                                         zeros(1) + 1)}
