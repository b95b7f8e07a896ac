"""masked_conv2d's two movements; the product is mmcv's own code."""

from ...torch.op.masked_conv2d import columns


def masked_im2col_forward(features, mask_h_idx, mask_w_idx, data_col, kernel_h, kernel_w, pad_h, pad_w):
    data_col.copy_(columns(features.detach(), mask_h_idx, mask_w_idx, (kernel_h, kernel_w), (pad_h, pad_w)))


def masked_col2im_forward(columns, mask_h_idx, mask_w_idx, output, height, width, channels):
    """Pixels of a mask that is larger than the output are left out."""
    inside = (mask_h_idx < height) & (mask_w_idx < width)
    output[0][:, mask_h_idx[inside], mask_w_idx[inside]] = columns[:, inside].to(output.dtype)


ENTRY_POINTS = COMPOSED = (masked_im2col_forward, masked_col2im_forward)
