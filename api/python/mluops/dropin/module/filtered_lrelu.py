"""filtered_lrelu_plugin, which StyleGAN3 compiles."""

from ...torch.filling.filtered_lrelu import filtered_lrelu
from ...torch.filling.filtered_lrelu import filtered_lrelu_act as filtered_lrelu_act_

__all__ = ["filtered_lrelu", "filtered_lrelu_act_"]

PACKAGE = "stylegan2"
BUILT = ("filtered_lrelu",)
