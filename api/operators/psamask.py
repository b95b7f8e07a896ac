"""PSAMask."""
from api.generate.describe import *

family("PSAMask", "psamask design document; statuses as MLU-OPS 1.11 gives them.",
       letters={"cells": "h_mask*w_mask", "pixels": "H*W"})

shape("mluopsPsamaskShape", "n, h, w; h_mask, w_mask; int psa_type", "psa_type 0 collect, 1 distribute.")

# MLU-OPS maps every failure of this function's shape check, strides and size included, to BAD_PARAM.
MASKS = dict(
    floats="FLOAT each", strided="BAD_PARAM", keys="n h w hm=h_mask wm=w_mask type=psa_type",
    derive={"cells": "h_mask * w_mask", "pixels": "dim_product({h, w})"},
    say={"n": "the batch", "h": "the height", "w": "the width", "cells": "h_mask * w_mask", "pixels": "height * width"})

operator("psamask_forward", "mluOpPsamaskForward", 2, doc="""Point-wise spatial attention mask: lays the h_mask x w_mask mask of every pixel over the feature map.

  for (n,h,w) and every mask cell (i,j) whose target (th,tw) = (h+i-(h_mask-1)/2, w+j-(w_mask-1)/2) is in the map:
  psa_type 0 (collect):    y[n, h, w, th*W+tw]   = x[n, h, w, i*w_mask+j]
  psa_type 1 (distribute): y[n, th, tw, h*W+w]   = x[n, h, w, i*w_mask+j];  all other y are 0.

Empty x: SUCCESS, nothing written. Cost: one pass over x and y. Source: Zhao et al., "PSANet", ECCV 2018; psamask
design document.""", args="""
    const int psa_type in 0..1 named collect distribute
    in x T image [n, h, w, cells] py=input
    const int h_mask >= 0 -- mask size, even sizes allowed; negative: BAD_PARAM
    const int w_mask >= 0 -- likewise
    out y T image [n, h, w, pixels] py=output
    """,
    order="descs ranks layouts dtypes numbers sizes(x y) strides countable(BAD_PARAM) done_if_empty(x y) data overlap",
    lead="x", called="psa_mask", renamed={"x": "input"}, takes="input psa_type mask_size(h_mask w_mask)", **MASKS)

operator("psamask_backward", "mluOpPsamaskBackward", 3, doc="""Gradient of mluOpPsamaskForward: dx gathers the dy its cell was copied to; uncovered cells get 0.

Empty dy: SUCCESS, nothing written.""", args="""
    const int psa_type in 0..1 named collect distribute
    in dy T image [n, h, w, pixels] py=grad_output
    const int h_mask >= 0
    const int w_mask >= 0
    out dx T image [n, h, w, cells] py=grad_input
    """,
    order="descs ranks(dx dy) layouts(dx dy) dtypes numbers sizes(dx dy) strides countable(BAD_PARAM) done_if_empty(dx dy) data overlap",
    lead="dy", image="dx", called="psa_mask_backward", takes="grad_output psa_type mask_size(h_mask w_mask)", **MASKS)

