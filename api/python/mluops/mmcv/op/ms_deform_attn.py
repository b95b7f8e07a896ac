"""MultiScaleDeformableAttnFunction. mmcv's module calls it only for tensors on other devices and a composition of torch's
operators for those on the CPU, so that function of mmcv is replaced too."""

from ...torch.filling.ms_deform_attn import composition, ms_deform_attn_backward, ms_deform_attn_forward

ENTRY_POINTS = (ms_deform_attn_forward, ms_deform_attn_backward)
METHODS = {("mmcv.ops.multi_scale_deform_attn", "multi_scale_deformable_attn_pytorch", ""): composition}
