"""RoiAlign."""
from api.generate.describe import *

family("RoiAlign", "mluOpRoiAlignForward_v2 and Backward_v2 of MLU-OPS 1.11.",
       letters={"pooled_height": "pooled_height", "pooled_width": "pooled_width", "pooled_h": "pooled_height", "pooled_w": "pooled_width"})

shape("mluopsRoiAlignShape",
      "batch, h, w, c; rois /* backward: may be 0 */; pooled_h, pooled_w; float spatial_scale; int "
      "sampling_ratio; int aligned; int mean /* 1: the mean of the samples, 0: the greatest */")

prose("""
typedef struct mluOpRoiAlignStruct* mluOpRoiAlignForwardDescriptor_t;
""")

descriptor("RoiAlignForward", "roialign_desc", "mluOpRoiAlignStruct", """
    const int pooled_height >= 1 -- bins of a box
    const int pooled_width >= 1 -- bins of a box
    const int sampling_ratio -- samples per axis and bin; <= 0 means ceil(box size / bins), none for an empty box
    const float spatial_scale -- multiplies box corners
    const int pool_mode in 0..1 -- 0: a bin is its greatest sample; 1: the mean of its samples
    const bool aligned -- true: half a pixel is subtracted from the scaled corners; false: it is not, and boxes are at
        -- least one pixel wide and high
    """,
    order="pooled_height pooled_width pool_mode", desc="desc", set_name="mluOpSetRoiAlignForwardDescriptor_v2",
    docs={"set": """Sets how boxes are pooled.

{fields}
BAD_PARAM: roialign_desc NULL, a pooled size <= 0, pool_mode not 0 or 1."""})

SAY = {"rois": "the number of boxes", "c": "the channels of the image", "5": "batch index, x1, y1, x2, y2",
       "pooled_height": "pooled_height", "pooled_width": "pooled_width"}
KEYS = ("b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sampling_ratio aligned "
        'pool={p.shape.mean != 0 ? "mean" : "greatest"}')
GRADS = {"height": rule("pooled_h >= 1", "height of grads: wanted >= 1, got {pooled_h}", wrong="grads.1=0"),
         "width": rule("pooled_w >= 1", "width of grads: wanted >= 1, got {pooled_w}", wrong="grads.2=0")}

operator("roi_align_forward", "mluOpRoiAlignForward_v2", 13, doc="""Cuts each box in pooled_height x pooled_width bins and pools bilinear samples of the input in each.

R, B, H, W or C = 0: SUCCESS, nothing written. Source: He et al., "Mask R-CNN", ICCV 2017; mmcv's roi_align;
docs/op/roi_align.md.""", args="""
    descriptor const mluOpRoiAlignForwardDescriptor_t roialign_desc
    in input T image [batch, h, w, c]
    in boxes:rois T any [rois, 5] -- batch index, x1, y1, x2, y2
    out output T image [rois, pooled_height, pooled_width, c]
    out argmax_x T like output where pool_mode == 0 -- pool_mode 0: where the greatest sample is, -1 for a bin without
        -- samples. pool_mode 1: NULL with NULL descriptors, or not looked at.
    out argmax_y T like output where pool_mode == 0 -- likewise
    """,
    order="descriptor descs fields layouts(input output boxes) ranks(input output boxes) dtypes(input output boxes) "
          "sizes(input boxes output) descs(argmax_x argmax_y) layouts(argmax_x argmax_y) dtypes(argmax_x argmax_y) "
          "sizes(argmax_x argmax_y) dense done_if_empty(input output) data(input boxes output) data(argmax_x argmax_y) "
          "overlap batch_indices(boxes)",
    keys=KEYS, say=SAY, notes={"argmax_x": "NULL where shape.mean"},
    fill={"pooled_h": "pooled_height", "pooled_w": "pooled_width", "mean": "pool_mode", "aligned": "desc.aligned ? 1 : 0"},
    fixed={"pool_mode": "1", "argmax_x": "None", "argmax_y": "None"})

operator("roi_align_backward", "mluOpRoiAlignBackward_v2", 14, doc="""Gradient of mluOpRoiAlignForward_v2 with respect to input (scatter-add).

B, H, W or C = 0: SUCCESS, nothing written.""", args="""
    in grads:grad_output T image [rois, pooled_h, pooled_w, c]
    in boxes:rois T any [rois, 5]
    in argmax_x T like grads where pool_mode == 0 -- pool_mode 0: as the forward call gave them; pool_mode 1: NULL, or
        -- not looked at
    in argmax_y T like grads where pool_mode == 0 -- likewise
    const float spatial_scale
    const int sampling_ratio
    const bool aligned
    const int pool_mode in 0..1
    out grads_image:grad_input T image [batch, h, w, c] -- where R = 0 too
    """,
    order="descs layouts(grads_image grads boxes) ranks(grads_image grads boxes) dtypes(grads_image grads boxes) "
          "sizes(grads_image boxes grads) height width numbers descs(argmax_x argmax_y) layouts(argmax_x argmax_y) "
          "dtypes(argmax_x argmax_y) sizes(argmax_x argmax_y) dense done_if_empty(grads_image) data(grads_image) "
          "data(grads: grads boxes argmax_x argmax_y) overlap batch_indices(boxes)",
    keys=KEYS, say=SAY, rules=GRADS, lead="grads_image", fill={"mean": "pool_mode"},
    notes={"argmax_x": "NULL where shape.mean"},
    fixed={"pool_mode": "1", "argmax_x": "None", "argmax_y": "None"})

operator("roi_align_backward", "mluOpRoiAlignBackward", 14, doc="""Gradient of the mean (pool_mode 1); mluOpRoiAlignBackward_v2 without argmax.""", args="""
    const float spatial_scale
    const int sampling_ratio
    const bool aligned
    in grads:grad_output T image [rois, pooled_h, pooled_w, c]
    in boxes:rois T any [rois, 5]
    out grads_image:grad_input T image [batch, h, w, c]
    """,
    order="descs layouts(grads_image grads boxes) ranks(grads_image grads boxes) dtypes(grads_image grads boxes) "
          "sizes(grads_image boxes grads) height width dense done_if_empty(grads_image) "
          "data(grads_image) data(grads: grads boxes) overlap batch_indices(boxes)",
    keys=KEYS, say=SAY, rules=GRADS, lead="grads_image", check="roi_align_mean_backward",
    fill={"mean": "1", "argmax_x": "nullptr", "argmax_y": "nullptr"}, no_numpy=True)
