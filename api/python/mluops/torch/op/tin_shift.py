"""tin_shift: groups of channels moved along time; TINShift, the module."""

from torch import Tensor, nn

from ..._functions.tin_shift import TIN_SHIFT_FORWARD
from .._blocks import bad_param, described, floats, int32

__all__ = ["TINShift", "tin_shift"]


def _rule(c, groups, **_):
    if groups < 1 or c < 1 or c % groups:
        raise bad_param("shift", f"a number of groups that divides the {c} channels of input", groups)


# The gradient moves back; that of the C function for gradients moves in the same direction.
forward = described("tin_shift(input, shift)", TIN_SHIFT_FORWARD, names={"shift": "shifts"}, linear="input", rule=_rule,
                    setup=lambda ctx, inputs, output: ctx.save_for_backward(inputs[1]),
                    backward=lambda ctx, grad: (forward(grad, -ctx.saved_tensors[0]), None))


def tin_shift(input: Tensor, shift: Tensor) -> Tensor:
    """Moves groups of channels along time.

    Args:
        input: T [N, T, C, HW].
        shift: int32 or int64 [N, G]; C is a multiple of G. Group g of sample n moves by shift[n, g] steps.
    Returns: T [N, T, C, HW]; 0 where nothing moved to. Differentiable in input. (mmcv's gradient moves in the same
    direction, which is not that of its function.)

    T: float16, bfloat16, float32, float64. Source: mmcv's tin_shift.
    """
    input, = floats(input=input)
    return forward(input, int32("shift", shift))


class TINShift(nn.Module):
    """tin_shift as a module: forward(input, shift)."""

    def forward(self, input: Tensor, shift: Tensor) -> Tensor:
        return tin_shift(input, shift)
