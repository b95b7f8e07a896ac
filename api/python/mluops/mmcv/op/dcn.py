"""Deformable convolution, v1 and v2. A compiled mmcv has CPU code for both and keeps it."""

from ...torch.filling.dcn import (deform_conv_backward_input, deform_conv_backward_parameters, deform_conv_forward,
                                  modulated_deform_conv_backward, modulated_deform_conv_forward)

ENTRY_POINTS = (deform_conv_forward, deform_conv_backward_input, deform_conv_backward_parameters,
                modulated_deform_conv_forward, modulated_deform_conv_backward)
KEEPS_OWN = tuple(function.__name__ for function in ENTRY_POINTS)
