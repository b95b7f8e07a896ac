"""mutual_information: the sum over all paths through a lattice of symbols and frames, k2's pruned transducer."""

from typing import Optional

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..._functions import mutual_information as f
from .._blocks import described, floats
from .._integers import is_wide
from .._tensors import check_device

__all__ = ["mutual_information"]

_NAMES = {"boundary": "opt_boundary"}

gradient = described("mutual_information_backward(px, py, boundary, p, ans_grad)", f.MUTUAL_INFORMATION_BACKWARD,
                     names=_NAMES, results="px_grad py_grad", fixed={"overwrite_ans_grad": False}, check=check_device)


def _setup(ctx, inputs, output):
    ctx.mark_non_differentiable(output[0])
    ctx.save_for_backward(*inputs, output[0])


def _backward(ctx, _, grad):
    found = gradient(*ctx.saved_tensors, grad)
    return (*[each if needed else None for each, needed in zip(found, ctx.needs_input_grad)], None)


def _jvp(inputs, output, tangents):
    p, ans = output
    along = torch.zeros_like(ans)
    for grad, tangent in zip(gradient(*inputs, p, torch.ones_like(ans)), tangents):
        if tangent is not None:
            along = along + (grad * tangent).sum((1, 2))
    return None, along


# p keeps what it holds outside of the boundaries: zeros.
forward = described("mutual_information(px, py, boundary)", f.MUTUAL_INFORMATION_FORWARD, names=_NAMES, results="p ans",
                    setup=_setup, backward=_backward, jvp=_jvp, check=check_device,
                    before=lambda outputs, *_: outputs[0].zero_())


def _with_an_element(px: Tensor, py: Tensor, boundary: Optional[Tensor]) -> tuple:
    """Lattices without symbols or frames as parts of such with one: empty tensors do not reach the library."""
    (batch, symbols, _), frames = px.shape, py.shape[2]
    if boundary is None:
        boundary = torch.tensor([[0, 0, symbols, frames]], device=px.device).expand(batch, 4)
    more = int(frames == 0), int(symbols == 0)
    return pad(px, (0, more[0], 0, more[1])), pad(py, (0, more[0], 0, more[1])), boundary


def mutual_information(px: Tensor, py: Tensor, boundary: Optional[Tensor] = None) -> Tensor:
    """The logarithm of the probability of all paths through a lattice of S symbols and T frames.

        p[b, s0, t0] = 0
        p[b, s, t] = log(exp(p[b, s-1, t] + px[b, s-1, t]) + exp(p[b, s, t-1] + py[b, s, t-1]))

    Args:
        px: T [B, S, T + 1]: logarithms of the probabilities of a symbol.
        py: T [B, S + 1, T]: likewise of going on to the next frame.
        boundary: int32 or int64 [B, 4], or None: first symbol s0, first frame t0, last symbol s1, last frame t1 of each
            sequence, 0 <= first <= last <= S (T). None: 0, 0, S, T.
    Returns: T [B]: p[b, s1, t1], differentiable in px and py.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Computed in float64. Source: k2's
    mutual_information_recursion.
    """
    px, py = floats(px=px, py=py)
    if boundary is not None and not is_wide("boundary", boundary):
        boundary = boundary.long()
    if px.dim() == py.dim() == 3 and (px.shape[1] == 0 or py.shape[2] == 0):
        px, py, boundary = _with_an_element(px, py, boundary)
    return forward(px, py, boundary)[1]
