/* GenerateProposalsV2: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_GENERATE_PROPOSALS_H_
#define MLUOPS_OP_GENERATE_PROPOSALS_H_

#include <stdbool.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of the workspace of mluOpGenerateProposalsV2: 0, it takes none.
 *  BAD_PARAM: NULL; scores that are not ARRAY [N, H, W, A] with H, W, A >= 1. */
mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize(mluOpHandle_t handle,
                                                                     const mluOpTensorDescriptor_t scores_desc,
                                                                     size_t* size);
mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize_v2(mluOpHandle_t handle,
                                                                        const mluOpTensorDescriptor_t scores_desc,
                                                                        const int32_t pre_nms_top_n, size_t* size);

/** Proposes RoIs: of the anchors of the best scores, moved by their deltas, clipped to the image and large enough,
 * those whose IoU with every better one that is kept is not greater than a threshold.
 *
 *  @param pre_nms_top_n   the most anchors of an image that are looked at; <= 0: all.
 *  @param post_nms_top_n  the most that are kept, >= 1.
 *  @param nms_thresh      > 0.
 *  @param min_size        the least side of a RoI, not below 1.
 *  @param eta             of adaptive suppression, which is not done; >= 1.
 *  @param pixel_offset    a side is 1 longer, and the centre of a RoI lies in the image.
 *  @param scores          T [N, H, W, A], ARRAY; NaN counts as the best, equal ones are taken in order.
 *  @param bbox_deltas     T [N, H, W, 4 A], ARRAY: x, y, w, h.
 *  @param im_shape        T [N, 2], ARRAY: height, width.
 *  @param anchors         T [H, W, A, 4], ARRAY: x1, y1, x2, y2.
 *  @param variances       T [H, W, A, 4], ARRAY: what deltas are multiplied by.
 *  @param workspace       not looked at, nor its size.
 *  @param rpn_rois        T [N post_nms_top_n, 4], ARRAY: the RoIs of all images, best first, zeros behind;
 * overwritten.
 *  @param rpn_roi_probs   T [N post_nms_top_n, 1], ARRAY: their scores, zeros behind; overwritten.
 *  @param rpn_rois_num    INT32 [N], ARRAY: how many each image has. One without any gets one of zeros; overwritten.
 *  @param rpn_rois_batch_size  INT32: how many all have; overwritten, with 0 where N = 0.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16; what is kept is decided in double. H, W or A of 0: BAD_PARAM.
 * Strided tensors, 2^31 anchors or more: NOT_SUPPORTED. Cost: at most pre_nms_top_n times post_nms_top_n pairs an
 * image. Source: Ren et al., "Faster R-CNN", NIPS 2015; Paddle's generate_proposals; docs/op/generate_proposals.md. */
mluOpStatus_t MLUOP_WIN_API mluOpGenerateProposalsV2(
    mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n, const float nms_thresh,
    const float min_size, const float eta, bool pixel_offset, const mluOpTensorDescriptor_t scores_desc,
    const void* scores, const mluOpTensorDescriptor_t bbox_deltas_desc, const void* bbox_deltas,
    const mluOpTensorDescriptor_t im_shape_desc, const void* im_shape, const mluOpTensorDescriptor_t anchors_desc,
    const void* anchors, const mluOpTensorDescriptor_t variances_desc, const void* variances, void* workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t rpn_rois_desc, void* rpn_rois,
    const mluOpTensorDescriptor_t rpn_roi_probs_desc, void* rpn_roi_probs,
    const mluOpTensorDescriptor_t rpn_rois_num_desc, void* rpn_rois_num, void* rpn_rois_batch_size);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_GENERATE_PROPOSALS_H_ */
