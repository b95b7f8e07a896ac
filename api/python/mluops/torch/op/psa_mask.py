"""PSAMask: point-wise spatial attention."""

from torch import Tensor, nn

from ..._arguments import PsaType, Size, pair, psa_type_number, renamed
from ..._shapes import NCHW
from ...op import psa_mask as c
from .._operator import operator
from .._tensors import floats, new_image, run

__all__ = ["PSAMask", "psa_mask"]


def _gradient_fake(grad, psa_type, h_mask, w_mask):
    return new_image((grad,), c.grad_input_shape(NCHW, grad.shape, psa_type, h_mask, w_mask))


def _gradient_call(grad_input, grad, psa_type, h_mask, w_mask):
    return run(c.BACKWARD, psa_type, grad, h_mask, w_mask, grad_input)


gradient = operator("psa_mask_backward(Tensor grad, int psa_type, int h_mask, int w_mask) -> Tensor",
                    _gradient_fake, _gradient_call)


def _fake(input, psa_type, h_mask, w_mask):
    return new_image((input,), c.output_shape(NCHW, input.shape, psa_type, h_mask, w_mask))


def _call(output, input, psa_type, h_mask, w_mask):
    return run(c.FORWARD, psa_type, input, h_mask, w_mask, output)


def _setup(ctx, inputs, output):
    _, *ctx.numbers = inputs


def _backward(ctx, grad):
    return gradient(grad, *ctx.numbers), None, None, None


def _jvp(inputs, output, tangents):
    return forward(tangents[0], *inputs[1:])


forward = operator("psa_mask(Tensor input, int psa_type, int h_mask, int w_mask) -> Tensor",
                   _fake, _call, setup=_setup, backward=_backward, jvp=_jvp)


@renamed(x="input")
def psa_mask(input: Tensor, psa_type: PsaType, mask_size: Size) -> Tensor:
    """Point-wise spatial attention: lays the mask of every pixel over the feature map.

    Args:
        input: T [N, hm*wm, H, W].
        psa_type: "collect" (0) or "distribute" (1).
        mask_size: hm, wm, or one number for both; even sizes allowed.
    Returns: T [N, H*W, H, W], differentiable in input.

    Source: Zhao et al., "PSANet", ECCV 2018.
    """
    x, = floats(input=input)
    return forward(x, psa_type_number(psa_type), *pair("mask_size", mask_size))


class PSAMask(nn.Module):
    """mluops.torch.psa_mask; psa_type "collect" or "distribute". forward: [N, hm*wm, H, W] -> [N, H*W, H, W]."""

    def __init__(self, psa_type: str, mask_size: Size) -> None:
        super().__init__()
        self.psa_type = psa_type
        self.psa_type_enum = psa_type_number(psa_type)
        self.mask_size = mask_size

    def forward(self, input: Tensor) -> Tensor:
        return psa_mask(input, self.psa_type_enum, self.mask_size)

    def extra_repr(self) -> str:
        return f"psa_type={self.psa_type}, mask_size={self.mask_size}"


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"psa_mask": lambda ones, zeros: psa_mask(ones(1, 1, 1, 1), 0, 1)}
