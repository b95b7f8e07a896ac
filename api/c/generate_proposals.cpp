#include "common/op/generate_proposals.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/generate_proposals.h"

using namespace mluops;

mluOpStatus_t mluOpGetGenerateProposalsV2WorkspaceSize(mluOpHandle_t handle, const mluOpTensorDescriptor_t scores_desc,
                                                       size_t* size) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::not_null("handle", handle));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("scores_desc", scores_desc));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("size", size));
    MLUOPS_RETURN_IF_FINISHED(op::is_score_map({"scores", scores_desc, nullptr}));
    *size = 0;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetGenerateProposalsV2WorkspaceSize_v2(mluOpHandle_t handle,
                                                          const mluOpTensorDescriptor_t scores_desc, const int32_t,
                                                          size_t* size) {
  return mluOpGetGenerateProposalsV2WorkspaceSize(handle, scores_desc, size);
}

mluOpStatus_t mluOpGenerateProposalsV2(mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n,
                                       const float nms_thresh, const float min_size, const float eta, bool pixel_offset,
                                       const mluOpTensorDescriptor_t scores_desc, const void* scores,
                                       const mluOpTensorDescriptor_t bbox_deltas_desc, const void* bbox_deltas,
                                       const mluOpTensorDescriptor_t im_shape_desc, const void* im_shape,
                                       const mluOpTensorDescriptor_t anchors_desc, const void* anchors,
                                       const mluOpTensorDescriptor_t variances_desc, const void* variances, void*,
                                       size_t, const mluOpTensorDescriptor_t rpn_rois_desc, void* rpn_rois,
                                       const mluOpTensorDescriptor_t rpn_roi_probs_desc, void* rpn_roi_probs,
                                       const mluOpTensorDescriptor_t rpn_rois_num_desc, void* rpn_rois_num,
                                       void* rpn_rois_batch_size) {
  return guard_operator(
      __func__, handle, {{"nms_thresh", nms_thresh}, {"min_size", min_size}, {"eta", eta}},
      [&](const auto& scalars) -> Status {
        mluopsGenerateProposalsProblem problem;
        MLUOPS_RETURN_IF_FINISHED(op::check_generate_proposals({handle,
                                                                pre_nms_top_n,
                                                                post_nms_top_n,
                                                                scalars[0],
                                                                scalars[1],
                                                                scalars[2],
                                                                pixel_offset,
                                                                {"scores", scores_desc, scores},
                                                                {"bbox_deltas", bbox_deltas_desc, bbox_deltas},
                                                                {"im_shape", im_shape_desc, im_shape},
                                                                {"anchors", anchors_desc, anchors},
                                                                {"variances", variances_desc, variances},
                                                                {"rpn_rois", rpn_rois_desc, rpn_rois},
                                                                {"rpn_roi_probs", rpn_roi_probs_desc, rpn_roi_probs},
                                                                {"rpn_rois_num", rpn_rois_num_desc, rpn_rois_num},
                                                                rpn_rois_batch_size},
                                                               problem));
        return dispatch(*handle, "generate_proposals_v2", problem, &mluopsBackend::generate_proposals_v2);
      });
}
