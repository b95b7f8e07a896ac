"""masked_conv2d_cuda and masked_conv2d_ext of mmdet 1 and 2.0."""

from ...torch.filling import masked_conv2d as _ours

__all__ = ["masked_col2im_forward", "masked_im2col_forward"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}" for name in ("masked_conv2d_cuda", "masked_conv2d_ext") for prefix in ("", "*."))


def masked_im2col_forward(features, mask_h_idx, mask_w_idx, kernel_h, kernel_w, pad_h, pad_w, data_col):
    _ours.masked_im2col_forward(features, mask_h_idx, mask_w_idx, data_col, kernel_h, kernel_w, pad_h, pad_w)
    return 1


def masked_col2im_forward(data_col, mask_h_idx, mask_w_idx, height, width, channels, output):
    _ours.masked_col2im_forward(data_col, mask_h_idx, mask_w_idx, output, height, width, channels)
    return 1
