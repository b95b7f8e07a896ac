"""three_nn: the three nearest known points of each unknown one."""

from typing import Optional, Tuple

import torch
from torch import Tensor

from ..._functions.three_nn import THREE_NN_FORWARD as FORWARD
from .._blocks import described, floats, int32, no_derivative, no_tangents, operator, rank, run
from .._stacks import check_stack, pairs_of_samples

__all__ = ["three_nn"]


def _nothing_known(outputs):
    """Missing neighbours have index 0 and are infinitely far."""
    outputs[0].fill_(1e40 if outputs[0].dtype == torch.float64 else float("inf"))
    outputs[1].zero_()


forward = described("three_nn(target, source)", FORWARD, empty=_nothing_known)


def _stacked_fake(target, source, target_batch_cnt, source_batch_cnt):
    count, = rank("target_batch_cnt", target_batch_cnt.shape, 1)
    check_stack("target", target, 3, "x, y, z", target_batch_cnt, count)
    check_stack("source", source, 3, "x, y, z", source_batch_cnt, count)
    return target.new_empty(target.shape), target.new_empty(target.shape, dtype=torch.int32)


def _stacked_call(outputs, target, source, target_batch_cnt, source_batch_cnt):
    squares, indices = outputs
    of_samples = pairs_of_samples(("target_batch_cnt", target_batch_cnt, target.shape[0]),
                                  ("source_batch_cnt", source_batch_cnt, source.shape[0]))
    for rows, known in of_samples:
        own = squares[None, rows], indices[None, rows]
        if known.start == known.stop:
            _nothing_known(own)
        elif rows.start < rows.stop:
            run(FORWARD, target[None, rows], source[None, known], None, 0, *own)
        own[1].add_(known.start)


stacked = operator("stack_three_nn(Tensor target, Tensor source, Tensor target_batch_cnt, Tensor source_batch_cnt) -> "
                   "(Tensor, Tensor)", _stacked_fake, _stacked_call, setup=no_derivative, jvp=no_tangents,
                   empty=_nothing_known)


def three_nn(target: Tensor, source: Tensor, target_batch_cnt: Optional[Tensor] = None,
             source_batch_cnt: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """The three nearest of M known points for each of N unknown ones.

    Args:
        target: T [B, N, 3], the unknown points; x, y, z. Stacked, T [N1 + N2 + ..., 3].
        source: T [B, M, 3], the known points; stacked, T [M1 + M2 + ..., 3].
        target_batch_cnt, source_batch_cnt: int32 or int64 [B], N1, N2, ... and M1, M2, ...; None: not stacked.
    Returns: distances T [B, N, 3], nearest first, of equal ones the lower index first, and indices int32 [B, N, 3].
    With fewer than three known points the rest has index 0 and distance inf (float64: 1e20). Stacked, [N1 + N2 + ..., 3],
    and indices count from the first point of all samples; index 0 is that of the sample's first. Neither is
    differentiable.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    Source: Qi et al., "PointNet++", 2017; mmcv's three_nn; stacked, that of OpenPCDet.
    """
    target, source = floats(target=target, source=source)
    dtype = target.dtype
    wide = torch.promote_types(dtype, torch.float32)  # the squares of 16-bit distances are beyond their range
    points = target.to(wide), source.to(wide)
    if target_batch_cnt is None and source_batch_cnt is None:
        squares, indices = forward(*points)
    else:
        squares, indices = stacked(*points, int32("target_batch_cnt", target_batch_cnt),
                                   int32("source_batch_cnt", source_batch_cnt))
    return torch.sqrt(squares).to(dtype), indices


SMALLEST = {"stack_three_nn": lambda ones, zeros: three_nn(ones(1, 3), ones(1, 3), zeros(1) + 1, zeros(1) + 1)}
