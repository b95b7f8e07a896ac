"""groundingdino._C. GroundingDINO asks it for CUDA tensors only, and a composition of torch's operators for others; ours
stands for that too."""

from ...torch.filling.ms_deform_attn import composition, ms_deform_attn_forward
from .multi_scale_deformable_attention import ms_deform_attn_backward

__all__ = ["ms_deform_attn_backward", "ms_deform_attn_forward"]

PACKAGE = "groundingdino"
NAMES = ("groundingdino._C",)
REPLACES = {("groundingdino.models.GroundingDINO.ms_deform_attn", "multi_scale_deformable_attn_pytorch"): composition}
