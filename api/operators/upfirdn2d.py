"""Upfirdn2d."""
from api.generate.describe import *

family("Upfirdn2d", "upfirdn2d of StyleGAN2, StyleGAN3, BasicSR and mmcv.",
       letters={"fh": "FH", "fw": "FW", "out_h": "HO", "out_w": "WO"})

shape("mluopsUpfirdn2dShape",
      "n, h, w, c; fh, fw /* the filter, 1 or more */; out_h, out_w; int32_t up_x, up_y; int32_t down_x, "
      "down_y; int32_t pad_x0, pad_x1, pad_y0, pad_y1 /* negative: pixels that are cut off */; int32_t "
      "flip_filter", "h * w < 2^31.")

ROOM_H, ROOM_W = "h * up_y + pad_y0 + pad_y1", "w * up_x + pad_x0 + pad_x1"

operator("upfirdn2d", "mluOpExtUpfirdn2d", 109, doc="""Zeros between the pixels, padding, a filter, and every few pixels of what comes out; each channel by itself.

  u[y up_y + pad_y0, x up_x + pad_x0] = input[n,y,x,c], 0 elsewhere; H up_y + pad_y0 + pad_y1 rows, columns likewise
  output[n,y,x,c] = gain * sum over i, j of the filter: u[y down_y + i, x down_x + j] * f[i,j]
  f[i,j] = filter[i,j] with flip_filter, else filter[FH-1-i, FW-1-j], which makes it a convolution

The gradient with respect to input is this operator on the gradient of output: up and down changed places,
flip_filter turned round, pad_x0 = FW - 1 - pad_x0, pad_x1 = W up_x - WO down_x + pad_x0 - up_x + 1 (the pad_x0 of
the call), rows likewise. There is none with respect to filter. N or C = 0: SUCCESS, nothing written. H, W, FH or
FW = 0: BAD_PARAM. H*W >= 2^31: NOT_SUPPORTED. Cost: 2 FH/up_y FW/up_x flops for each element of output. mluOp has
no such operator. Source: Karras et al., "Analyzing and Improving the Image Quality of StyleGAN", CVPR 2020;
docs/op/upfirdn2d.md.""", args="""
    in input T image [n, h, w, c]
    in filter T [fh, fw] -- finite numbers, no more than u has rows and columns
    const int up_x >= 1
    const int up_y >= 1
    const int down_x >= 1
    const int down_y >= 1
    const int pad_x0 >= -2147483647 -- rows and columns of zeros before and behind; negative: rows and columns cut off
    const int pad_x1 >= -2147483647 -- likewise
    const int pad_y0 >= -2147483647 -- likewise
    const int pad_y1 >= -2147483647 -- likewise
    const bool flip_filter
    const float gain
    out output T image [n, out_h, out_w, c] -- HO = (H up_y + pad_y0 + pad_y1 - FH) / down_y + 1, rounded down, WO
        -- likewise
    """,
    order="descs numbers layouts ranks dtypes map pixels(input) taps fits_h fits_w sizes dense done_if_empty(input) data "
          "overlap",
    keys="n h w c fh fw ux=up_x uy=up_y dx=down_x dy=down_y x0=pad_x0 x1=pad_x1 y0=pad_y0 y1=pad_y1 "
                      "flip=flip_filter gain",
    say={"n": "the number of images", "c": "the channels of input", "out_h": "the filtered rows",
         "out_w": "the filtered columns"},
    derive={"out_h": f"({ROOM_H} - fh) / down_y + 1", "out_w": f"({ROOM_W} - fw) / down_x + 1"},
    rules={"map": rule("h >= 1 && w >= 1", "input: wanted height and width >= 1, got {shape_text(input)}",
                       wrong="input.1=0"),
           "taps": rule("fh >= 1 && fw >= 1", "filter: wanted height and width >= 1, got {shape_text(filter)}",
                        wrong="filter.1=0"),
           "fits_h": rule(f"fh <= {ROOM_H}", f"filter: wanted at most the {{{ROOM_H}}} rows of the padded input, got {{fh}}",
                          wrong="filter.0=99"),
           "fits_w": rule(f"fw <= {ROOM_W}",
                          f"filter: wanted at most the {{{ROOM_W}}} columns of the padded input, got {{fw}}",
                          wrong="filter.1=99")})
