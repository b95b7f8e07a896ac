"""Correlation."""
from api.generate.describe import *

family("Correlation")

shape("mluopsCorrelationShape",
      "n, h, w, c; out_h, out_w; int32_t max_displacement; int32_t kernel_h, kernel_w; int32_t stride_h, "
      "stride_w; int32_t pad_h, pad_w; int32_t dilation_h, dilation_w; int32_t dilation_patch_h, "
      "dilation_patch_w", "Inputs [n,h,w,c], output [n,p,p,out_h,out_w], p = 2 max_displacement + 1.")

NUMBERS = """
    const int kernel_h >= 1
    const int kernel_w >= 1
    const int max_displacement >= 0
    const int stride_h >= 1
    const int stride_w >= 1
    const int pad_h >= 0
    const int pad_w >= 0
    const int dilation_h >= 1
    const int dilation_w >= 1
    const int dilation_patch_h >= 1
    const int dilation_patch_w >= 1
"""
WINDOWS = dict(
    keys="n h w c displacement=max_displacement kh=kernel_h kw=kernel_w sh=stride_h sw=stride_w ph=pad_h pw=pad_w "
         "dh=dilation_h dw=dilation_w eh=dilation_patch_h ew=dilation_patch_w",
    order="descs numbers layouts ranks dtypes fits_h fits_w sizes dense done_if_empty(input1) data overlap",
    say={"n": "the number of images", "p": "2 max_displacement + 1", "out_h": "the windows down",
         "out_w": "the windows across"},
    derive={"p": "2 * max_displacement + 1", "out_h": "windows(h, kernel_h, pad_h, dilation_h, stride_h)",
            "out_w": "windows(w, kernel_w, pad_w, dilation_w, stride_w)"},
    rules={"fits_h": rule("out_h > 0 || is_empty(input1)",
                          "kernel_h: wanted a window inside of {h} pixels and their padding, got more", wrong="kh=99"),
           "fits_w": rule("out_w > 0 || is_empty(input1)",
                          "kernel_w: wanted a window inside of {w} pixels and their padding, got more", wrong="kw=99")})

operator("correlation_forward", "mluOpExtCorrelationForward", 82, doc="""Sums of products of windows of one image with displaced windows of another.

  output[n,p,q,y,x] = sum over i, j of the window and channels c of
      input1[n,u,v,c] * input2[n, u + (p - max_displacement) dilation_patch_h,
                                  v + (q - max_displacement) dilation_patch_w, c],
  u = y stride_h - pad_h + i dilation_h, v likewise; a pixel off either image counts 0

N, H, W or C = 0: SUCCESS, nothing written. Cost: 2 flops for each channel, pixel of the window and output. mluOp has
no such operator. Source: Dosovitskiy et al., "FlowNet", ICCV 2015; mmcv's correlation; docs/op/correlation.md.""", args="""
    in input1 T image [n, h, w, c]
    in input2 T like input1
""" + NUMBERS + """    out output T [n, p, p, out_h, out_w] -- P = 2 max_displacement + 1, Ho and Wo those of a convolution
    """,
    lead="input1", **WINDOWS)

operator("correlation_backward", "mluOpExtCorrelationBackward", 83, doc="""Gradients of mluOpExtCorrelationForward with respect to both images.""", args="""
    in grad_output T [n, p, p, out_h, out_w]
    in input1 T image [n, h, w, c]
    in input2 T like input1
""" + NUMBERS + """    out grad_input1 T like input1
    out grad_input2 T like input1
    """,
    lead="input1", **WINDOWS)

