"""RoiPooling."""
from api.generate.describe import *

family("RoiPooling", "mluOpRoiPoolingForward and Backward of MLU-OPS 1.11; mmcv's roi_pool.")

shape("mluopsRoiPoolShape",
      "batch, h, w, c; rois /* backward: may be 0 */; pooled_h, pooled_w; float spatial_scale",
      "h * w < 2^31.")

prose("""
/** Ways to pool. */
typedef enum {
  MLUOP_POOLING_MAX = 0,
  MLUOP_POOLING_AVERAGE_COUNT_INCLUDE_PADDING = 1,
  MLUOP_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING = 2,
  MLUOP_POOLING_FIXED = 3,
} mluOpPoolingMode_t;
""")

SAY = {"rois": "the number of RoIs", "c": "the channels of the image", "5": "batch index, x1, y1, x2, y2"}
RULES = {"mode": rule("pooling_mode == MLUOP_POOLING_MAX", "pooling_mode: wanted POOLING_MAX (0), got {pooling_mode}"),
         "scale": rule("spatial_scale.value > 0 && spatial_scale.value <= 1",
                       "spatial_scale: wanted > 0 and <= 1, got {spatial_scale.value}", strict=True, wrong="scale=1.5")}


def bins(name, other=""):
    return rule("pooled_h > 0 && pooled_w > 0", name + ": wanted height and width >= 1, got {shape_text(" + name + ")}",
                wrong=f"{name}.1=0{other}")


operator("roi_pool_forward", "mluOpRoiPoolingForward", 41, doc="""Cuts each RoI in PH x PW bins and takes the greatest pixel of each.

Bin j of the columns has the pixels [floor(x1 + j w/PW), ceil(x1 + (j+1) w/PW)), cut to the map, where
x1 = rois[r,1] spatial_scale and x1 + w = (rois[r,3] + 1) spatial_scale; rows likewise.

R, B, H, W or C = 0: SUCCESS, nothing written. PH or PW = 0: BAD_PARAM. H*W >= 2^31: NOT_SUPPORTED. Source:
Girshick, "Fast R-CNN", ICCV 2015; mmcv's roi_pool; docs/op/roi_pool.md.""", args="""
    mluOpPoolingMode_t pooling_mode -- MAX, else BAD_PARAM
    in input T image [batch, h, w, c]
    in rois T [rois, 5] -- batch index, x1, y1, x2, y2
    float spatial_scale -- in (0,1], else BAD_PARAM; EXTENDED: any number
    out output T image [rois, pooled_h, pooled_w, c] -- a bin without pixels is 0, one without a number above -FLT_MAX
        -- is -FLT_MAX
    bare int* out argmax INT32 like output -- y * W + x of the first greatest pixel, -1 where there is none. NULL: not
        -- wanted.
    """,
    order="descs mode scale layouts ranks dtypes sizes(input rois output) bins dense pixels(input) done_if_empty(input output) data"
          " overlap batch_indices(rois)",
    keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale argmax?",
    notes={'argmax': 'may be NULL'},
    fixed={"pooling_mode": "0"}, say=SAY, rules={**RULES, "bins": bins("output")})

operator("roi_pool_backward", "mluOpRoiPoolingBackward", 42, doc="""Gradient of mluOpRoiPoolingForward with respect to input (scatter-add).

B, H, W or C = 0: SUCCESS, nothing written.""", args="""
    mluOpPoolingMode_t pooling_mode
    in grads:grad_output T image [rois, pooled_h, pooled_w, c]
    in rois T [rois, 5]
    in argmax INT32 like grads as const int* -- outside [0,H*W-1]: adds to nothing
    const float spatial_scale
    out grads_image:grad_input T image [batch, h, w, c] -- where R = 0 too
    """,
    order="descs mode scale layouts ranks dtypes sizes(grads_image rois grads argmax) bins dense pixels(grads_image)"
          " done_if_empty(grads_image) data(grads_image) data(grads: grads rois argmax) overlap batch_indices(rois)",
    keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale",
    notes={'argmax': 'arbitrary: outside [0,h*w-1] adds to nothing'},
    fixed={"pooling_mode": "0"}, say=SAY, rules={**RULES, "bins": bins("grads", " argmax.1=0")}, lead="grads_image")

