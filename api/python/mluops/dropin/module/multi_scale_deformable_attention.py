"""MultiScaleDeformableAttention, the extension of Deformable-DETR and its descendants (DINO, Mask2Former, MaskDINO...)."""

from ...torch.filling.ms_deform_attn import gradients, ms_deform_attn_forward

__all__ = ["ms_deform_attn_backward", "ms_deform_attn_forward"]

PACKAGE = "MultiScaleDeformableAttention"
NAMES = ("MultiScaleDeformableAttention",)


def ms_deform_attn_backward(value, spatial_shapes, level_start_index, sampling_loc, attn_weight, grad_output,
                            im2col_step):
    return list(gradients(value, spatial_shapes, level_start_index, sampling_loc, attn_weight, grad_output))
