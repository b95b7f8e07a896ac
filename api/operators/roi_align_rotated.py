"""RoiAlignRotated."""
from api.generate.describe import *

family("RoiAlignRotated", "mlu_op.h of mlu-ops.")

SHAPE = struct("mluopsRoiAlignRotatedShape", """
  mluOpDataType_t dtype;
  int64_t batch, h, w, c;
  int64_t rois; /* backward: may be 0 */
  int64_t pooled_h, pooled_w;
  float spatial_scale;  /* >= 0 */
  int32_t sample_ratio; /* >= 0 */
  int32_t aligned;      /* 0 or 1 */
  int32_t clockwise;    /* 0 or 1 */
""", doc="""RoiAlignRotated: input [batch,h,w,c], rois [rois,6], output [rois,pooled_h,pooled_w,c].""")

SAY = {"rois": "the number of RoIs", "c": "the channels of the image", "6": "batch index, x, y, w, h, rotation"}

operator("roi_align_rotated_forward", "mluOpRoiAlignRotatedForward", 58, doc="""Cuts each rotated RoI in pooled_height x pooled_width bins and takes the mean of bilinear samples of each.

@param features  T [B, H, W, C], NHWC; EXTENDED: also [B, C, H, W], NCHW, with output likewise.
@param rois      T [R, 6], ARRAY: batch index, x and y of the centre, width, height, rotation in radians. A batch
                 index outside [0, B-1]: BAD_PARAM.
@param pooled_height,pooled_width  bins of a RoI, > 0.
@param sample_ratio   samples per axis and bin; 0: ceil(RoI size / bins). Below 0: BAD_PARAM, above 256:
                 NOT_SUPPORTED.
@param spatial_scale  multiplies centres and sizes, >= 0.
@param aligned   true: centres are moved by half a pixel; false: they are not, and RoIs are at least one pixel wide
                 and high.
@param clockwise the sense of positive rotations.
@param output    T [R, pooled_height, pooled_width, C]; overwritten. 0 for bins without samples.
T: HALF, FLOAT; EXTENDED also DOUBLE, BFLOAT16; samples are placed in double. R, B, H, W or C = 0: SUCCESS, nothing
written. Strided tensors: NOT_SUPPORTED. Cost: 8 flops a sample and channel.
Source: mmcv's roi_align_rotated, detectron2's ROIAlignRotated; docs/op/roi_align_rotated.md.""", args="""
    in features:input T image [batch, h, w, c]
    in rois T [rois, 6]
    const int pooled_height:pooled_h >= 1
    const int pooled_width:pooled_w >= 1
    const int sample_ratio >= 0 py=sampling_ratio
    const float spatial_scale >= 0
    const bool aligned
    const bool clockwise
    out output T image [rois, pooled_height, pooled_width, c]
    """,
    order="descs numbers layouts ranks dtypes sizes(features rois output) dense done_if_empty(features output) data "
          "overlap batch_indices(rois)",
    shape=SHAPE, keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sample_ratio aligned clockwise",
    say=SAY)

operator("roi_align_rotated_backward", "mluOpRoiAlignRotatedBackward", 59, doc="""Gradient of mluOpRoiAlignRotatedForward with respect to features (scatter-add).

@param top_grad     T [R, pooled_height, pooled_width, C], NHWC; EXTENDED: NCHW too.
@param bottom_grad  T [B, H, W, C], in the layout of top_grad; overwritten, also where R = 0.
The others as in the forward call. B, H, W or C = 0: SUCCESS, nothing written.""", args="""
    in top_grad:grad_output T image [rois, pooled_height, pooled_width, c]
    in rois T [rois, 6]
    const int pooled_height:pooled_h >= 1
    const int pooled_width:pooled_w >= 1
    const int sample_ratio >= 0 py=sampling_ratio
    const float spatial_scale >= 0
    const bool aligned
    const bool clockwise
    out bottom_grad:grad_input T image [batch, h, w, c]
    """,
    order="descs numbers layouts ranks dtypes sizes(bottom_grad rois top_grad) dense done_if_empty(bottom_grad) "
          "data(bottom_grad) data(top_grad: top_grad rois) overlap batch_indices(rois)",
    shape=SHAPE, keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sample_ratio aligned clockwise",
    say=SAY, lead="bottom_grad")
