"""DeformRoiPool."""
from api.generate.describe import *

family("DeformRoiPool", "design document; statuses as MLU-OPS 1.11 gives them.",
       letters={"pooled_height": "pooled_height", "pooled_width": "pooled_width"})

shape("mluopsDeformRoiPoolShape",
      "batch, h, w, c; rois; pooled_h, pooled_w; float spatial_scale; float gamma; int sampling_ratio")

SAY = {"rois": "the number of rois", "5": "batch index, x1, y1, x2, y2", "c": "the channels of input", "2": "x and y"}

NUMBERS = "spatial_scale=1.0 sampling_ratio=0 gamma=0.1"


def images(wrong):
    return rule("batch > 0", "input: wanted a non-empty tensor, got {shape_text(input)}", wrong=wrong)


operator("deform_roi_pool_forward", "mluOpDeformRoiPoolForward", 6, doc="""Deformable RoI pooling: each RoI is cut in pooled_height x pooled_width bins, each bin is the mean of
bilinear samples, and `offset` shifts every bin by gamma * RoI size * offset.

H or W = 0: SUCCESS, nothing written; other empty tensors: BAD_PARAM. Source: Dai et al., "Deformable ConvNets",
ICCV 2017; deform_roi_pool design document.""", args="""
    in input T image [batch, h, w, c]
    in rois T any [rois, 5] -- batch index, x1, y1, x2, y2
    in? offset T any [rois, 2, pooled_height, pooled_width] -- plane 0 = x, 1 = y; NULL with a NULL descriptor: no offsets
    const int pooled_height:pooled_h >= 1 -- bins per RoI, > 0
    const int pooled_width:pooled_w >= 1 -- likewise
    const float spatial_scale -- multiplies RoI corners; 0.5 is then subtracted
    const int sampling_ratio -- samples per axis and bin; <= 0 means ceil(RoI size / bins), none for an empty RoI
    const float gamma -- scale of offset
    out output T image [rois, pooled_height, pooled_width, c]
    """,
    order="descs layouts ranks(input output) strides dtypes(input rois output) ranks(rois) numbers dtypes(offset) "
          "ranks(offset) sizes(input rois output offset) countable both(offset) images not_empty(rois output) "
          "done_if_empty(input) data overlap batch_indices(rois)",
    keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sampling_ratio gamma offset?",
    notes={'offset': 'may be NULL'},
    say=SAY, rules={"images": images("input.0=0")}, handle="const mluOpHandle_t handle",
    takes="input rois offset output_size(pooled_height pooled_width) " + NUMBERS)

operator("deform_roi_pool_backward", "mluOpDeformRoiPoolBackward", 7, doc="""Gradients of mluOpDeformRoiPoolForward. grad_offset uses the unclamped sample coordinates
(docs/op/deform_roi_pool.md).""", args="""
    in grad_output T image [rois, pooled_height, pooled_width, c]
    in input T image [batch, h, w, c]
    in rois T any [rois, 5]
    in? offset T any [rois, 2, pooled_height, pooled_width]
    const int pooled_height:pooled_h >= 1
    const int pooled_width:pooled_w >= 1
    const float spatial_scale
    const int sampling_ratio
    const float gamma
    out grad_input T like input
    out? grad_offset T any [rois, 2, pooled_height, pooled_width] -- NULL (with its descriptor) exactly when offset is
    """,
    order="descs layouts ranks(grad_output input grad_input) "
          "strides(input grad_output rois offset grad_input grad_offset) dtypes(input grad_output rois grad_input) "
          "ranks(rois) numbers both(offset) both(grad_offset) pair dtypes(offset grad_offset) "
          "ranks(offset grad_offset) sizes(input rois grad_output grad_input offset grad_offset) countable images "
          "not_empty(rois grad_output) done_if_empty(input) data overlap batch_indices(rois)",
    keys="b=batch h w c r=rois ph=pooled_h pw=pooled_w scale=spatial_scale ratio=sampling_ratio gamma offset?",
    notes={'offset': 'may be NULL', 'grad_offset': 'NULL exactly when offset is'},
    say=SAY, lead="input", handle="const mluOpHandle_t handle", takes="grad_output input rois offset " + NUMBERS,
    fixed={"pooled_height": "grad_output.shape[1]", "pooled_width": "grad_output.shape[2]"},
    rules={"images": images("input.0=0 grad_input.0=0"),
           "pair": rule("(offset.desc == nullptr) == (grad_offset.desc == nullptr)",
                        "grad_offset: wanted it exactly when offset is given, got "
                        '{offset.desc != nullptr ? "only offset" : "only grad_offset"}')})
