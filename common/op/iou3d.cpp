#include "common/op/iou3d.h"

#include <cmath>

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status are_boxes(const TensorArg& t) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
  return has_dim(t, 1, 7, "numbers of a box");
}

}  // namespace

Status check_boxes_overlap_bev(const BoxesOverlapBevArgs& a, mluopsBoxesOverlapBevProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.boxes_a, a.boxes_b, a.overlap};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(are_boxes(a.boxes_a));
  MLUOPS_RETURN_IF_FINISHED(are_boxes(a.boxes_b));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.overlap, 2));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.overlap, 0, a.boxes_a.desc->dims[0], "boxes_a"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.overlap, 1, a.boxes_b.desc->dims[0], "boxes_b"));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.boxes_a, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.boxes_b, a.boxes_a));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.overlap, a.boxes_a));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  if (is_empty(a.overlap)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.boxes_a, a.boxes_b}, {a.overlap}));
  problem = {{a.boxes_a.desc->dtype, a.boxes_a.desc->dims[0], a.boxes_b.desc->dims[0]},
             a.boxes_a.data,
             a.boxes_b.data,
             const_cast<void*>(a.overlap.data)};
  return Status::go_on();
}

Status check_nms3d(const Nms3dArgs& a, mluopsNms3dProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  if (std::isnan(a.iou_threshold.value)) return Status::bad_param("iou_threshold: wanted a number, got nan");
  MLUOPS_RETURN_IF_FINISHED(in_range("rotated", a.rotated, 0, 1));
  const auto all = {a.boxes, a.keep};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(are_boxes(a.boxes));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.keep, 1));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.keep, 0, a.boxes.desc->dims[0], "boxes"));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.boxes, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.keep, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.boxes, 0));
  if (!is_empty(a.boxes)) MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(not_null("num_out", a.num_out));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.boxes}, {a.keep, {"num_out", one_int32(), a.num_out}}));
  problem = {{a.boxes.desc->dtype, a.boxes.desc->dims[0], a.iou_threshold.value, a.rotated},
             a.boxes.data,
             int32_data(a.keep),
             static_cast<std::int32_t*>(a.num_out),
             a.iou_threshold.of(a.boxes.desc->dtype)};
  return Status::go_on();
}

std::string case_keys(const mluopsBoxesOverlapBevProblem& p) {
  return CaseKeys()("n", p.shape.n)("m", p.shape.m).text();
}
std::string case_keys(const mluopsNms3dProblem& p) {
  CaseKeys keys = CaseKeys()("n", p.shape.n).scalar("iou", p.exact_iou_threshold, p.shape.dtype);
  return keys("rotated", p.shape.rotated).text();
}

}  // namespace mluops::op
