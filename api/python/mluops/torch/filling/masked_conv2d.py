"""masked_conv2d's two movements; the product is mmcv's own code."""

from .._buffers import fill
from ..op.masked_conv2d import col2im, im2col


def masked_im2col_forward(features, mask_h_idx, mask_w_idx, data_col, kernel_h, kernel_w, pad_h, pad_w):
    fill("data_col", data_col, im2col(features.detach(), mask_h_idx.int(), mask_w_idx.int(), kernel_h, kernel_w, pad_h,
                                      pad_w))


def masked_col2im_forward(columns, mask_h_idx, mask_w_idx, output, height, width, channels):
    """Pixels of a mask that is larger than the output are left out."""
    fill("output", output, col2im(columns.detach(), mask_h_idx.int(), mask_w_idx.int(), height, width))
