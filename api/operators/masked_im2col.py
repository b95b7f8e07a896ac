"""MaskedIm2col and MaskedCol2im."""
from api.generate.describe import *

family("MaskedIm2col and MaskedCol2im", "mlu_op.h of mlu-ops.", hooks="""
/// data_col has a row for each channel and pixel of the window.
Status has_columns(const TensorArg& data_col, std::int64_t channels, std::int64_t window);
""", letters={"columns": "C kernel_h kernel_w"})

shape("mluopsMaskedIm2colShape", "c, h, w; m /* MaskedCol2im: may be 0 */; kernel_h, kernel_w, pad_h, pad_w",
      "Image [c,h,w], columns [c*kernel_h*kernel_w,m]; MaskedCol2im: kernel 1 x 1, no padding.")

getter("mluOpGetMaskedIm2colForwardWorkspaceSize", "masked_im2col_forward",
       "feature mask_h_idx mask_w_idx kernel_h kernel_w data_col", "handle descs size")

SAY = {"feature.1": "one image", "im.1": "one image", "m": "mask_h_idx", "channels": "the channels of the image"}

operator("masked_im2col_forward", "mluOpMaskedIm2colForward", 63, doc="""Copies the windows of an image about chosen pixels into columns.

  data_col[(c kernel_h + i) kernel_w + j, m] = feature[0, c, mask_h_idx[m] - pad_h + i, mask_w_idx[m] - pad_w + j]

and 0 where that is outside the image.

M = 0: SUCCESS, nothing written. Cost: each element of data_col is written once. Source: mmcv's masked_conv2d.""", args="""
    in feature T nchw [1, c, h, w] py=features -- empty: BAD_PARAM
    in mask_h_idx INT32 [m] py=rows -- any numbers
    in mask_w_idx INT32 [m] py=columns -- likewise
    const int kernel_h >= 1
    const int kernel_w >= 1
    const int pad_h -- any
    const int pad_w
    workspace void* workspace, const size_t workspace_size
    out data_col T [columns, m]
    """,
    order="descs numbers layouts ranks(feature mask_h_idx mask_w_idx) dtypes sizes(feature mask_h_idx mask_w_idx) "
          "dense not_empty(feature) pixels(feature) ranks(data_col) hook(has_columns data_col c window) "
          "sizes(data_col) done_if_empty(data_col) data overlap",
    keys="c h w m kh=kernel_h kw=kernel_w padh=pad_h padw=pad_w",
    notes={'mask_h_idx': 'arbitrary', 'mask_w_idx': 'likewise'},
    say=SAY, derive={"window": "kernel_h * kernel_w"},
    sizes={"columns": "c * kernel_h * kernel_w"})

getter("mluOpGetMaskedCol2imForwardWorkspaceSize", "masked_col2im_forward", "col mask_h_idx mask_w_idx im",
       "handle descs size")

operator("masked_col2im_forward", "mluOpMaskedCol2imForward", 64, doc="""Puts columns at chosen pixels of an image that is 0 elsewhere.

  im[0, c, mask_h_idx[m], mask_w_idx[m]] = col[c, m]

M = 0: im is 0. Cost: each element of im is written once, each of col read once. Source: mmcv's masked_conv2d.""", args="""
    in col T [c, m]
    in mask_h_idx INT32 [m] py=rows -- a pixel outside the image is not written; of columns for one pixel the last is
    in mask_w_idx INT32 [m] py=columns -- likewise
    workspace const size_t workspace_size, void* workspace
    out im T nchw [1, c, h, w] -- empty: BAD_PARAM
    """,
    order="descs layouts ranks(im mask_h_idx mask_w_idx) dtypes sizes(im mask_h_idx mask_w_idx) dense not_empty(im) "
          "pixels(im) ranks(col) sizes(col) data(im) data(col: col mask_h_idx mask_w_idx) overlap",
    keys="c h w m",
    notes={'mask_h_idx': 'arbitrary: pixels outside are not written, of several for one pixel the last is', 'mask_w_idx': 'likewise'},
    say={**SAY, "c": "the channels of the image"}, lead="im",
    fill={"kernel_h": "1", "kernel_w": "1", "pad_h": "0", "pad_w": "0"})
