"""PrRoIPool."""
from api.generate.describe import *

family("PrRoIPool", "mmcv's prroi_pool.")

SHAPE = shape("mluopsPrRoiPoolShape", "batch, h, w, c; rois /* backward: may be 0 */; pooled_h, pooled_w; "
              "float spatial_scale")

SAY = {"rois": "the number of RoIs", "c": "the channels of input", "5": "batch index, x1, y1, x2, y2"}


def bins(name):
    return rule("pooled_h > 0 && pooled_w > 0", name + ": wanted height and width >= 1, got {shape_text(" + name + ")}",
                wrong=name + ".1=0")

operator("prroi_pool_forward", "mluOpExtPrRoiPoolForward", 80, doc="""Cuts each RoI in PH x PW bins and takes the mean of each over the bilinear surface through the pixels of the map, 0
outside of it: an integral over the bin's area, no samples.

  output[r,i,j,c] = sum over pixels of input[y,x,c] * shares of the bin's rows [i,y] * shares of its columns [j,x] /
                    area; a share is the integral over the bin of the hat max(0, 1 - |t - pixel|)

Shares are found in double. R, B, H, W or C = 0: SUCCESS, nothing written. Cost: 2 flops a pixel of a bin and
channel. mluOp has no such operator. Source: Jiang et al., "Acquisition of Localization Confidence", ECCV 2018;
mmcv's prroi_pool; docs/op/prroi_pool.md.""", args="""
    in input T image [batch, h, w, c]
    in rois T [rois, 5] -- batch index, x1, y1, x2, y2
    const float spatial_scale -- multiplies the corners
    out output T image [rois, pooled_h, pooled_w, c] -- 0 for a RoI without area or finite corners
    """,
    order="descs layouts ranks dtypes sizes(input rois output) bins dense done_if_empty(input output) data overlap "
          "batch_indices(rois)",
    shape="mluopsPrRoiPoolShape", keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale", problem="mluopsPrRoiPoolForwardProblem",
    say=SAY, rules={"bins": bins("output")})

operator("prroi_pool_backward", "mluOpExtPrRoiPoolBackward", 81, doc="""Gradients of mluOpExtPrRoiPoolForward with respect to input (scatter-add) and to rois.

B, H, W or C = 0: SUCCESS, nothing written.""", args="""
    in grad_output T image [rois, pooled_h, pooled_w, c]
    in input T image [batch, h, w, c] -- that of the forward call
    in rois T [rois, 5]
    const float spatial_scale
    out? grad_input T like input -- where R = 0 too. Absent: descriptor and data NULL.
    out? grad_rois T like rois -- 0 for the batch index and for a RoI without area. May be absent, but not both.
    """,
    order="descs layouts(input grad_output rois) ranks(input grad_output rois) dtypes(input grad_output rois) sizes(input rois grad_output) "
          "bins dense(input rois grad_output) layouts(grad_input) dtypes(grad_input) ranks(grad_input) "
          "sizes(grad_input) dense(grad_input) both_unless_empty(grad_input) layouts(grad_rois) "
          "dtypes(grad_rois) ranks(grad_rois) sizes(grad_rois) dense(grad_rois) both_unless_empty(grad_rois) "
          "one done_if_empty(input) data(grad_output: grad_output input rois) overlap batch_indices(rois)",
    shape="mluopsPrRoiPoolShape", keys='b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale grads={p.grad_rois == nullptr ? "image" : p.grad_input == nullptr ? "rois" : "both"}', problem="mluopsPrRoiPoolBackwardProblem",
    notes={'grad_input': 'nullptr: not wanted', 'grad_rois': '[rois,5]; nullptr: not wanted'},
    say=SAY, lead="input",
    rules={"bins": bins("grad_output"), "one": rule("grad_input.desc != nullptr || grad_rois.desc != nullptr",
                                              "grad_input: wanted it or grad_rois, got neither")})
