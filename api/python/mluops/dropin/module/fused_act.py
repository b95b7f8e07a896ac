"""fused_act_ext of BasicSR and GFPGAN, and `fused`, which StyleGAN2's programs compile: bias and activation."""

from ...torch.filling.bias_act import fused_bias_act

__all__ = ["fused_bias_act"]

PACKAGE = "stylegan2"
NAMES = ("fused_act_ext", "*.fused_act_ext")
BUILT = ("fused", "fused_act", "fused_bias_act")
