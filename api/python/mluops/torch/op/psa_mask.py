"""PSAMask: point-wise spatial attention."""

from torch import Tensor, nn

from ..._arguments import PsaType, psa_type_number
from ..._functions.psamask import PSAMASK_BACKWARD as BACKWARD, PSAMASK_FORWARD as FORWARD
from .._blocks import Size, described, floats, pair, renamed

__all__ = ["PSAMask", "psa_mask"]


gradient = described("psa_mask_backward(grad, psa_type, h_mask, w_mask)", BACKWARD)
forward = described("psa_mask(input, psa_type, h_mask, w_mask)", FORWARD, gradient=gradient, linear="input")


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
