// Every rule of GenerateProposalsV2's arguments. Source: mlu_op.h of mlu-ops and its design document.
#pragma once

#include "common/op/check.h"
#include "mluops/problem/generate_proposals.h"

namespace mluops::op {

struct GenerateProposalsArgs {
  mluOpHandle_t handle;
  int pre_nms_top_n, post_nms_top_n;
  Scalar nms_thresh, min_size, eta;
  bool pixel_offset;
  TensorArg scores, bbox_deltas, im_shape, anchors, variances;
  TensorArg rpn_rois, rpn_roi_probs, rpn_rois_num;
  void* rpn_rois_batch_size;
};

/// ARRAY [N, H, W, A], of which N alone may be 0: all that the size of the workspace asks for.
Status is_score_map(const TensorArg& scores);
Status check_generate_proposals(const GenerateProposalsArgs& args, mluopsGenerateProposalsProblem& problem);

}  // namespace mluops::op
