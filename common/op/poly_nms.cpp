#include "common/op/poly_nms.h"

#include <cmath>

#include "common/case_text.h"

namespace mluops::op {

Status is_polygons(const TensorArg& boxes) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(boxes, 2));
  return has_dim(boxes, 1, 9, "x and y of four corners, score");
}

Status check_poly_nms(const PolyNmsArgs& a, mluopsPolyNmsProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.boxes, a.output}));
  if (std::isnan(a.iou_threshold.value)) return Status::bad_param("iou_threshold: wanted a number, got nan");
  MLUOPS_RETURN_IF_FINISHED(is_polygons(a.boxes));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.output, 1));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, 0, a.boxes.desc->dims[0], "boxes"));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.boxes, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.output, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(are_arrays({a.boxes, a.output}));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({a.boxes, a.output}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.boxes, 0));
  if (!is_empty(a.boxes)) MLUOPS_RETURN_IF_FINISHED(have_data({a.boxes, a.output}));
  MLUOPS_RETURN_IF_FINISHED(not_null("output_size", a.output_size));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.boxes}, {a.output, {"output_size", one_int32(), a.output_size}}));
  problem = {{a.boxes.desc->dtype, a.boxes.desc->dims[0]},
             a.boxes.data,
             int32_data(a.output),
             static_cast<std::int32_t*>(a.output_size),
             a.iou_threshold.of(a.boxes.desc->dtype)};
  return Status::go_on();
}

std::string case_keys(const mluopsPolyNmsProblem& p) {
  return CaseKeys()("n", p.shape.n).scalar("iou", p.iou_threshold, p.shape.dtype).text();
}

}  // namespace mluops::op
