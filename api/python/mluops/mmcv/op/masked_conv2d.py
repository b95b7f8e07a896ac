"""masked_conv2d's two movements; the product is mmcv's own code."""

from ...torch.filling.masked_conv2d import masked_col2im_forward, masked_im2col_forward

ENTRY_POINTS = (masked_im2col_forward, masked_col2im_forward)
