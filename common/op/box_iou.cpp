#include "common/op/box_iou.h"

#include <cmath>

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_ious_shape(const BoxIouArgs& a) {
  const std::int64_t n = a.bbox1.desc->dims[0];
  if (!a.aligned) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(a.ious, 2));
    MLUOPS_RETURN_IF_FINISHED(has_dim(a.ious, 0, n, "bbox1"));
    return has_dim(a.ious, 1, a.bbox2.desc->dims[0], "bbox2");
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.bbox2, 0, n, "bbox1, aligned"));
  const bool column = n == 0 && rank(*a.ious.desc) == 2 && a.ious.desc->dims[1] == 1;
  if (!column) MLUOPS_RETURN_IF_FINISHED(has_rank(a.ious, 1));
  return has_dim(a.ious, 0, n, "bbox1");
}

/// What the operators on pairs ask for, dtypes apart.
Status check_form(const BoxIouArgs& a, int numbers) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(in_range("mode", a.mode, 0, 1));
  MLUOPS_RETURN_IF_FINISHED(in_range("offset", a.offset, 0, 1));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.bbox1, a.bbox2, a.ious}));
  for (const TensorArg& t : {a.bbox1, a.bbox2}) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 1, numbers, "numbers of a box"));
  }
  return check_ious_shape(a);
}

Status check_data(const BoxIouArgs& a, mluopsBoxIouProblem& problem) {
  const auto all = {a.bbox1, a.bbox2, a.ious};
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.bbox2, a.bbox1));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.ious, a.bbox1));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  if (is_empty(a.ious)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.bbox1, a.bbox2}, {a.ious}));
  problem = {{a.bbox1.desc->dtype, a.bbox1.desc->dims[0], a.bbox2.desc->dims[0], a.mode, a.aligned ? 1 : 0, a.offset},
             a.bbox1.data,
             a.bbox2.data,
             const_cast<void*>(a.ious.data)};
  return Status::go_on();
}

}  // namespace

Status check_bbox_overlaps(const BoxIouArgs& a, mluopsBoxIouProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, 4));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.bbox1, a.handle->contract));
  return check_data(a, problem);
}

Status check_box_iou_rotated(const BoxIouArgs& a, mluopsBoxIouProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, 5));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.bbox1, a.handle->contract));
  return check_data(a, problem);
}

Status check_box_iou_quadri(const BoxIouArgs& a, mluopsBoxIouProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, 8));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.bbox1, a.handle->contract));
  return check_data(a, problem);
}

Status check_nms_rotated(const NmsRotatedArgs& a, mluopsNmsRotatedProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  if (std::isnan(a.iou_threshold.value)) return Status::bad_param("iou_threshold: wanted a number, got nan");
  const auto all = {a.boxes, a.scores, a.output};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.boxes, 2));
  const bool labelled = a.boxes.desc->dims[1] == 6;
  if (!labelled) MLUOPS_RETURN_IF_FINISHED(has_dim(a.boxes, 1, 5, "numbers of a box, or 6 with a label"));
  for (const TensorArg& t : {a.scores, a.output}) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 1));
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, 0, a.boxes.desc->dims[0], "boxes"));
  }
  MLUOPS_RETURN_IF_FINISHED(is_float(a.boxes, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.scores, a.boxes));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.output, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.boxes, 0));
  if (!is_empty(a.boxes)) MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(not_null("result_num", a.result_num));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.boxes, a.scores}, {a.output, {"result_num", one_int32(), a.result_num}}));
  problem = {{a.boxes.desc->dtype, a.boxes.desc->dims[0], labelled ? 6 : 5},
             a.boxes.data,
             a.scores.data,
             int32_data(a.output),
             a.result_num,
             a.iou_threshold.of(a.boxes.desc->dtype)};
  return Status::go_on();
}

std::string case_keys(const mluopsBoxIouProblem& p) {
  CaseKeys keys = CaseKeys()("n", p.shape.n);
  if (p.shape.aligned == 0) keys("m", p.shape.m);
  keys("mode", p.shape.mode)("aligned", p.shape.aligned);
  if (p.shape.offset != 0) keys("offset", p.shape.offset);
  return keys.text();
}
std::string case_keys(const mluopsNmsRotatedProblem& p) {
  return CaseKeys()("n", p.shape.n).scalar("iou", p.iou_threshold, p.shape.dtype)("width", p.shape.width).text();
}

}  // namespace mluops::op
