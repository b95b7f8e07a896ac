"""bias_act_plugin, which StyleGAN2-ADA and 3 compile."""

from ...torch.filling.bias_act import bias_act

__all__ = ["bias_act"]

PACKAGE = "stylegan2"
BUILT = ("bias_act",)
