"""BorderAlign."""
from api.generate.describe import *

family("BorderAlign", "design document; statuses as MLU-OPS 1.11 gives them.", letters={"channels": "4*C"})

shape("mluopsBorderAlignShape", "n, h, w, c; k; pool_size", "input [n,h,w,4*c], boxes [n,k,4], output and argmax [n,k,4,c].")

BORDERS = dict(
    say={"n": "the batch", "boxes.4": "x1, y1, x2, y2", "k": "the number of boxes", "4": "borders",
         "c": "a quarter of the map's channels"},
    derive={"c": "channels / 4"}, smallest={"channels": 4})


def rules(image):
    return {"borders": rule("channels % 4 == 0", image + ": wanted channels divisible by 4 (borders), got {channels}",
                            wrong=image + ".3=10"),
            "few_points": rule("pool_size < 65536", "pool_size: wanted fewer than 65536, got {pool_size}",
                               "NOT_SUPPORTED", wrong="p=65536" if image == "input" else "")}

operator("border_align_forward", "mluOpBorderAlignForward", 8, doc="""Maximum of pool_size+1 bilinear samples along each border of each box.

Empty tensors: BAD_PARAM. Source: Qiu et al., "BorderDet", ECCV 2020; border_align design document.""", args="""
    in input T image [n, h, w, channels] -- channel border*C+c, borders top, left, bottom, right
    in boxes T any [n, k, 4] -- x1, y1, x2, y2; any K >= 1; inverted boxes are legal. Top and left start at (x1,y1),
        -- bottom and right at (x2,y2) and run backwards.
    const int32_t pool_size >= 1 -- samples per border less one, >= 1; 65536 or more: NOT_SUPPORTED
    out output T image [n, k, 4, c]
    out argmax_idx:argmax INT32 image [n, k, 4, c] -- sample index 0..pool_size of the first maximum
    """,
    order="descs ranks strides dtypes layouts borders not_empty(input boxes) numbers "
          "sizes(input boxes output argmax_idx) countable few_points data overlap",
    keys="n h w c k p=pool_size",
    rules=rules("input"), **BORDERS)

operator("border_align_backward", "mluOpBorderAlignBackward", 9, doc="""Gradient of mluOpBorderAlignForward: scatters grad_output to the four neighbours of the winning sample.""", args="""
    in grad_output T image [n, k, 4, c]
    in boxes T any [n, k, 4]
    in argmax_idx:argmax INT32 image [n, k, 4, c] -- values outside [0,pool_size] contribute nothing
    const int32_t pool_size >= 1
    out grad_input T image [n, h, w, channels] -- samples outside the map contribute nothing
    """,
    order="descs ranks strides dtypes layouts borders not_empty(grad_input boxes) numbers "
          "sizes(grad_input boxes grad_output argmax_idx) countable few_points data overlap",
    keys="n h w c k p=pool_size",
    image="grad_input", rules=rules("grad_input"), sizes={"channels": "4 * c"},
    takes="grad_output boxes argmax pool_size height(h) width(w)", **BORDERS)
