#include "common/op/generate_proposals.h"

#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_numbers(const GenerateProposalsArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(at_least("post_nms_top_n", a.post_nms_top_n, 1));
  MLUOPS_RETURN_IF_FINISHED(is_positive("nms_thresh", a.nms_thresh));
  if (a.eta.value >= 1) return Status::go_on();
  return Status::bad_param("eta: wanted >= 1, no adaptive suppression, got " + std::to_string(a.eta.value));
}

/// [H, W, A, 4].
Status has_anchors(const TensorArg& t, const TensorArg& scores) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 4));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, scores.desc->dims[1], "the height of scores"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 1, scores.desc->dims[2], "the width of scores"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(t, 2, scores.desc->dims[3], "the anchors of scores"));
  return has_dim(t, 3, 4, "of a box");
}

Status check_shapes(const GenerateProposalsArgs& a) {
  const std::vector<std::int64_t>& dims = a.scores.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.bbox_deltas, 4));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.bbox_deltas, 0, dims[0], "the batch of scores"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.bbox_deltas, 1, dims[1], "the height of scores"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.bbox_deltas, 2, dims[2], "the width of scores"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.bbox_deltas, 3, dim_product({4, dims[3]}), "4 of each anchor"));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.im_shape, 2));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.im_shape, 0, dims[0], "the batch of scores"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.im_shape, 1, 2, "height, width"));
  MLUOPS_RETURN_IF_FINISHED(has_anchors(a.anchors, a.scores));
  MLUOPS_RETURN_IF_FINISHED(has_anchors(a.variances, a.scores));
  for (const TensorArg& t : {a.rpn_rois, a.rpn_roi_probs}) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
    MLUOPS_RETURN_IF_FINISHED(
        has_dim(t, 0, dim_product({dims[0], a.post_nms_top_n}), "the batch of scores times post_nms_top_n"));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.rpn_rois, 1, 4, "x1, y1, x2, y2"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.rpn_roi_probs, 1, 1, "a score"));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.rpn_rois_num, 1));
  return has_dim(a.rpn_rois_num, 0, dims[0], "the batch of scores");
}

/// The anchors of an image, below 2^31, so that INT32 numbers reach all of them, else NOT_SUPPORTED.
Status has_countable_anchors(const TensorArg& scores) {
  const std::vector<std::int64_t>& dims = scores.desc->dims;
  const std::int64_t anchors = dim_product({dims[1], dims[2], dims[3]});
  if (anchors >= 0 && anchors <= std::numeric_limits<std::int32_t>::max()) return Status::go_on();
  return Status::not_supported("scores: wanted fewer than 2^31 anchors of an image, got more");
}

}  // namespace

Status is_score_map(const TensorArg& scores) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(scores, 4));
  MLUOPS_RETURN_IF_FINISHED(has_layout(scores, MLUOP_LAYOUT_ARRAY));
  for (std::size_t axis = 1; axis < 4; ++axis) {
    if (scores.desc->dims[axis] == 0) return not_empty(scores);
  }
  return Status::go_on();
}

Status check_generate_proposals(const GenerateProposalsArgs& a, mluopsGenerateProposalsProblem& problem) {
  const auto inputs = {a.scores, a.bbox_deltas, a.im_shape, a.anchors, a.variances};
  const auto outputs = {a.rpn_rois, a.rpn_roi_probs, a.rpn_rois_num};
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs(inputs));
  MLUOPS_RETURN_IF_FINISHED(have_descs(outputs));
  MLUOPS_RETURN_IF_FINISHED(not_null("rpn_rois_batch_size", a.rpn_rois_batch_size));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(a));
  MLUOPS_RETURN_IF_FINISHED(is_score_map(a.scores));
  MLUOPS_RETURN_IF_FINISHED(check_shapes(a));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.scores, a.handle->contract));
  for (const TensorArg& t : inputs) MLUOPS_RETURN_IF_FINISHED(same_dtype(t, a.scores));
  for (const TensorArg& t : {a.rpn_rois, a.rpn_roi_probs}) MLUOPS_RETURN_IF_FINISHED(same_dtype(t, a.scores));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.rpn_rois_num, MLUOP_DTYPE_INT32));
  for (const auto& tensors : {inputs, outputs}) {
    MLUOPS_RETURN_IF_FINISHED(are_arrays(tensors));
    MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(tensors, a.handle->contract));
  }
  MLUOPS_RETURN_IF_FINISHED(has_countable_anchors(a.scores));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.rpn_rois, 0));
  if (a.scores.desc->dims[0] != 0) {
    MLUOPS_RETURN_IF_FINISHED(have_data(inputs));
    MLUOPS_RETURN_IF_FINISHED(have_data(outputs));
  }
  MLUOPS_RETURN_IF_FINISHED(no_overlap(
      {a.scores, a.bbox_deltas, a.im_shape, a.anchors, a.variances},
      {a.rpn_rois, a.rpn_roi_probs, a.rpn_rois_num, {"rpn_rois_batch_size", one_int32(), a.rpn_rois_batch_size}}));
  const mluOpDataType_t dtype = a.scores.desc->dtype;
  const std::vector<std::int64_t>& dims = a.scores.desc->dims;
  problem = {{dtype, dims[0], dims[1], dims[2], dims[3]},
             a.scores.data,
             a.bbox_deltas.data,
             a.im_shape.data,
             a.anchors.data,
             a.variances.data,
             const_cast<void*>(a.rpn_rois.data),
             const_cast<void*>(a.rpn_roi_probs.data),
             int32_data(a.rpn_rois_num),
             static_cast<std::int32_t*>(a.rpn_rois_batch_size),
             a.pre_nms_top_n,
             a.post_nms_top_n,
             a.nms_thresh.of(dtype),
             a.min_size.of(dtype),
             a.pixel_offset ? 1 : 0};
  return Status::go_on();
}

std::string case_keys(const mluopsGenerateProposalsProblem& p) {
  const mluopsGenerateProposalsShape& s = p.shape;
  return CaseKeys()("n", s.n)("h", s.h)("w", s.w)("a", s.a)("pre", p.pre_nms_top_n)("post", p.post_nms_top_n)
      .scalar("iou", p.nms_thresh, s.dtype)
      .scalar("least", p.min_size, s.dtype)("offset", p.pixel_offset)
      .text();
}

}  // namespace mluops::op
