#include "common/op/nms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status wanted(const char* name, const char* what, double got) {
  return Status::bad_param(std::string(name) + ": wanted " + what + ", got " + std::to_string(got));
}

/// The dtype indices are written as.
Status has_index_dtype(const TensorArg& t, mluOpExtContract_t contract, bool unsigned_too) {
  const mluOpDataType_t dtype = t.desc->dtype;
  if (dtype == MLUOP_DTYPE_INT32 || (unsigned_too && dtype == MLUOP_DTYPE_UINT32)) return Status::go_on();
  const bool extended = contract == MLUOP_EXT_CONTRACT_EXTENDED;
  if (extended && dtype == MLUOP_DTYPE_INT64) return Status::go_on();
  return Status::bad_param(std::string(t.name) + ": wanted dtype DTYPE_INT32" + (unsigned_too ? ", DTYPE_UINT32" : "") +
                           (extended ? " or DTYPE_INT64" : "") + ", got " + dtype_name(dtype));
}

Status all_dense_and_countable(std::initializer_list<TensorArg> tensors, mluOpExtContract_t contract) {
  for (const TensorArg& t : tensors) {
    MLUOPS_RETURN_IF_FINISHED(is_dense(t, MLUOP_STATUS_NOT_SUPPORTED));
    MLUOPS_RETURN_IF_FINISHED(is_countable(t, contract));
  }
  return Status::go_on();
}

/// t is [n, width].
Status is_table(const TensorArg& t, std::int64_t width, const char* meaning) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
  return has_dim(t, 1, width, meaning);
}

/// t is [n], n the number of boxes.
Status is_list(const TensorArg& t, std::int64_t boxes) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 1));
  return has_dim(t, 0, boxes, "the number of boxes");
}

Status dim_at_least(const TensorArg& t, int axis, std::int64_t least, const char* meaning) {
  const std::int64_t got = t.desc->dims[static_cast<std::size_t>(axis)];
  if (got >= least) return Status::go_on();
  return Status::bad_param(std::string(t.name) + ": wanted dimension " + std::to_string(axis) +
                           " to be >= " + std::to_string(least) + " (" + meaning + "), got " + dims_text(*t.desc));
}

// ---- mluOpNms --------------------------------------------------------------------------------

/// What the vendor's function knows and this one does not.
Status check_modes(const NmsArgs& a) {
  const mluOpNmsStruct& d = *a.nms_desc;
  if (!d.is_set) return Status::bad_param("nms_desc: wanted a descriptor set by mluOpSetNmsDescriptor");
  if (d.method_mode != MLUOP_NMS_HARD_NMS) {
    return Status::not_supported("nms_desc: wanted method_mode HARD_NMS; mluOpExtSoftNms has the soft methods");
  }
  if (d.output_mode == MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS) {
    return Status::not_supported("nms_desc: wanted an output_mode of one image and one class, got BATCH_AND_CLASS");
  }
  if (rank(*a.boxes.desc) == 3) {
    return Status::not_supported("boxes: wanted the boxes of one image and class, 2 dimensions, got 3 " +
                                 dims_text(*a.boxes.desc));
  }
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.boxes, 2));
  if (a.boxes.desc->dims[d.input_layout == 0 ? 1 : 0] == 7) {
    return Status::not_supported("boxes: wanted 4 numbers a box, got 3-D boxes of 7 numbers");
  }
  return has_dim(a.boxes, d.input_layout == 0 ? 1 : 0, 4, "numbers of a box");
}

Status check_confidence_threshold(double threshold, mluOpExtContract_t contract) {
  if (contract == MLUOP_EXT_CONTRACT_EXTENDED) return is_number("confidence_threshold", threshold);
  if (threshold >= 0 && threshold <= 1) return Status::go_on();
  return wanted("confidence_threshold", "a number in [0, 1]", threshold);
}

Status check_dtypes(const NmsArgs& a) {
  const mluOpExtContract_t contract = a.handle->contract;
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.boxes, contract));
  const bool half_scores = a.boxes.desc->dtype == MLUOP_DTYPE_FLOAT && a.confidence.desc->dtype == MLUOP_DTYPE_HALF;
  if (!half_scores) MLUOPS_RETURN_IF_FINISHED(same_dtype(a.confidence, a.boxes));
  return a.nms_desc->output_mode == MLUOP_NMS_OUTPUT_TARGET_INDICES ? has_index_dtype(a.output, contract, true)
                                                                    : same_dtype(a.output, a.boxes);
}

/// Output has room for what may be written.
Status check_output_room(const NmsArgs& a, std::int64_t boxes) {
  const mluOpNmsStruct& d = *a.nms_desc;
  const std::int64_t least =
      d.pad_to_max_output_size ? d.max_output_size : std::min<std::int64_t>(boxes, d.max_output_size);
  const char* const meaning = "boxes that may be kept";
  if (d.output_mode == MLUOP_NMS_OUTPUT_TARGET_INDICES) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(a.output, 1));
    return dim_at_least(a.output, 0, least, meaning);
  }
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.output, 2));
  const int across = d.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1 ? 1 : 0;
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, across, 5, "score and box"));
  return dim_at_least(a.output, 1 - across, least, meaning);
}

Status check_nms_form(const NmsArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(not_null("nms_desc", a.nms_desc));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.boxes}));
  MLUOPS_RETURN_IF_FINISHED(check_modes(a));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.confidence, a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_confidence_threshold(a.nms_desc->confidence_threshold, a.handle->contract));
  return check_dtypes(a);
}

// ---- soft_nms, nms_match ---------------------------------------------------------------------

Status check_soft_params(const SoftNmsArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(is_number("iou_threshold", a.iou_threshold.exact));
  MLUOPS_RETURN_IF_FINISHED(is_number("sigma", a.sigma.exact));
  MLUOPS_RETURN_IF_FINISHED(is_number("min_score", a.min_score.exact));
  MLUOPS_RETURN_IF_FINISHED(in_range("method", a.method, MLUOP_EXT_SOFT_NMS_NAIVE, MLUOP_EXT_SOFT_NMS_GAUSSIAN));
  return in_range("offset", a.offset, 0, 1);
}

Status check_soft_form(const SoftNmsArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.boxes, a.scores, a.dets, a.indices}));
  MLUOPS_RETURN_IF_FINISHED(is_table(a.boxes, 4, "x1, y1, x2, y2"));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.boxes, a.handle->contract));
  for (const TensorArg* t : {&a.scores, &a.dets}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, a.boxes));
  return has_index_dtype(a.indices, a.handle->contract, false);
}

Status check_match_form(const NmsMatchArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.dets, a.indices, a.group_sizes}));
  MLUOPS_RETURN_IF_FINISHED(is_table(a.dets, 5, "x1, y1, x2, y2, score"));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.dets, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_index_dtype(a.indices, a.handle->contract, false));
  return same_dtype(a.group_sizes, a.indices);
}

/// Data pointers, which empty tensors need not have.
Status have_data_where_needed(std::initializer_list<TensorArg> tensors) {
  for (const TensorArg& t : tensors) {
    if (!is_empty(t)) MLUOPS_RETURN_IF_FINISHED(not_null(t.name, t.data));
  }
  return Status::go_on();
}

}  // namespace

Status set_nms_descriptor(mluOpNmsDescriptor_t desc, const mluOpNmsStruct& d) {
  MLUOPS_RETURN_IF_FINISHED(not_null("nms_desc", desc));
  MLUOPS_RETURN_IF_FINISHED(in_range("box_mode", d.box_mode, MLUOP_NMS_BOX_DIAGONAL, MLUOP_NMS_BOX_CENTER));
  MLUOPS_RETURN_IF_FINISHED(
      in_range("output_mode", d.output_mode, MLUOP_NMS_OUTPUT_TARGET_INDICES, MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS));
  MLUOPS_RETURN_IF_FINISHED(in_range("algo", d.algo, MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY, MLUOP_NMS_ALGO_INCLUDE_BOUNDARY));
  MLUOPS_RETURN_IF_FINISHED(in_range("method_mode", d.method_mode, MLUOP_NMS_HARD_NMS, MLUOP_NMS_SOFT_NMS_GAUSSIAN));
  MLUOPS_RETURN_IF_FINISHED(is_number("iou_threshold", d.iou_threshold));
  if (!(d.soft_nms_sigma >= 0)) return wanted("soft_nms_sigma", "a number >= 0", d.soft_nms_sigma);
  MLUOPS_RETURN_IF_FINISHED(in_range("max_output_size", d.max_output_size, 0, std::numeric_limits<int>::max()));
  if (d.offset != 0.0f && d.offset != 1.0f) return wanted("offset", "0 or 1", d.offset);
  MLUOPS_RETURN_IF_FINISHED(in_range("input_layout", d.input_layout, 0, 1));
  *desc = d;
  return Status::go_on();
}

Status check_nms(const NmsArgs& a, mluopsNmsProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_nms_form(a));
  const mluOpNmsStruct& d = *a.nms_desc;
  const std::int64_t boxes = a.boxes.desc->dims[d.input_layout == 0 ? 0 : 1];
  MLUOPS_RETURN_IF_FINISHED(is_list(a.confidence, boxes));
  MLUOPS_RETURN_IF_FINISHED(check_output_room(a, boxes));
  MLUOPS_RETURN_IF_FINISHED(all_dense_and_countable({a.boxes, a.confidence, a.output}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(have_data_where_needed({a.boxes, a.confidence, a.output}));
  MLUOPS_RETURN_IF_FINISHED(not_null("output_size", a.output_size));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.boxes, a.confidence}, {a.output, {"output_size", one_int32(), a.output_size}}));
  const bool indices = d.output_mode == MLUOP_NMS_OUTPUT_TARGET_INDICES;
  const double no_threshold = std::numeric_limits<double>::quiet_NaN();
  problem = {
      {a.boxes.desc->dtype, indices ? a.output.desc->dtype : MLUOP_DTYPE_INVALID, boxes, d.iou_threshold, d.offset},
      a.confidence.desc->dtype,
      d.box_mode,
      d.output_mode,
      d.input_layout,
      std::isinf(d.confidence_threshold) && d.confidence_threshold < 0 ? no_threshold : d.confidence_threshold,
      d.max_output_size,
      a.output.desc->dims[d.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2 ? 1 : 0],
      d.pad_to_max_output_size ? 1 : 0,
      a.boxes.data,
      a.confidence.data,
      const_cast<void*>(a.output.data),
      static_cast<std::int32_t*>(a.output_size)};
  return Status::go_on();
}

Status check_soft_nms(const SoftNmsArgs& a, mluopsSoftNmsProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_soft_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_soft_params(a));
  const std::int64_t boxes = a.boxes.desc->dims[0];
  MLUOPS_RETURN_IF_FINISHED(is_list(a.scores, boxes));
  MLUOPS_RETURN_IF_FINISHED(is_table(a.dets, 5, "x1, y1, x2, y2, score"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.dets, 0, boxes, "the number of boxes"));
  MLUOPS_RETURN_IF_FINISHED(is_list(a.indices, boxes));
  MLUOPS_RETURN_IF_FINISHED(all_dense_and_countable({a.boxes, a.scores, a.dets, a.indices}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(have_data_where_needed({a.boxes, a.scores, a.dets, a.indices}));
  MLUOPS_RETURN_IF_FINISHED(not_null("output_size", a.output_size));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.boxes, a.scores}, {a.dets, a.indices, {"output_size", one_int32(), a.output_size}}));
  const mluOpDataType_t dtype = a.boxes.desc->dtype;
  problem = {{dtype, a.indices.desc->dtype, boxes, a.iou_threshold.of(dtype), static_cast<float>(a.offset)},
             a.sigma.value,
             a.min_score.value,
             a.method,
             a.boxes.data,
             a.scores.data,
             const_cast<void*>(a.dets.data),
             const_cast<void*>(a.indices.data),
             static_cast<std::int32_t*>(a.output_size),
             a.sigma.of(dtype),
             a.min_score.of(dtype)};
  return Status::go_on();
}

Status check_nms_match(const NmsMatchArgs& a, mluopsNmsMatchProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_match_form(a));
  MLUOPS_RETURN_IF_FINISHED(is_number("iou_threshold", a.iou_threshold.exact));
  const std::int64_t boxes = a.dets.desc->dims[0];
  for (const TensorArg* t : {&a.indices, &a.group_sizes}) MLUOPS_RETURN_IF_FINISHED(is_list(*t, boxes));
  MLUOPS_RETURN_IF_FINISHED(all_dense_and_countable({a.dets, a.indices, a.group_sizes}, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(have_data_where_needed({a.dets, a.indices, a.group_sizes}));
  MLUOPS_RETURN_IF_FINISHED(not_null("group_count", a.group_count));
  MLUOPS_RETURN_IF_FINISHED(
      no_overlap({a.dets}, {a.indices, a.group_sizes, {"group_count", one_int32(), a.group_count}}));
  const mluOpDataType_t dtype = a.dets.desc->dtype;
  problem = {{dtype, a.indices.desc->dtype, boxes, a.iou_threshold.of(dtype), 0.0f},
             a.dets.data,
             const_cast<void*>(a.indices.data),
             const_cast<void*>(a.group_sizes.data),
             static_cast<std::int32_t*>(a.group_count)};
  return Status::go_on();
}

namespace {

CaseKeys keys_of(const mluopsNmsShape& s) {
  CaseKeys keys = CaseKeys()("n", s.boxes).scalar("iou", s.iou_threshold, s.dtype);
  if (s.index_dtype != MLUOP_DTYPE_INVALID) keys("index", short_dtype_name(s.index_dtype));
  return keys;
}

}  // namespace

std::string case_keys(const mluopsNmsProblem& p) {
  const mluopsNmsShape& s = p.shape;
  CaseKeys keys = keys_of(s);
  const bool all = std::isnan(p.score_threshold);
  keys("offset", s.offset)("max", p.max_output);
  all ? keys("score", "none") : keys.scalar("score", p.score_threshold, s.dtype);
  keys("output", p.output_mode == MLUOP_NMS_OUTPUT_TARGET_INDICES                ? "indices"
                 : p.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1 ? "rows"
                                                                                 : "columns");
  keys("layout", p.transposed != 0 ? "columns" : "rows")("box",
                                                         p.box_mode == MLUOP_NMS_BOX_CENTER ? "centre" : "corners");
  return keys("half_scores", p.score_dtype != s.dtype ? 1 : 0)("room", p.room)("pad", p.pad).text();
}
std::string case_keys(const mluopsSoftNmsProblem& p) {
  CaseKeys keys = keys_of(p.shape);
  keys("offset", p.shape.offset)("method", p.method == MLUOP_EXT_SOFT_NMS_NAIVE    ? "naive"
                                           : p.method == MLUOP_EXT_SOFT_NMS_LINEAR ? "linear"
                                                                                   : "gaussian");
  return keys.scalar("sigma", p.exact_sigma, p.shape.dtype)
      .scalar("min_score", p.exact_min_score, p.shape.dtype)
      .text();
}
std::string case_keys(const mluopsNmsMatchProblem& p) {
  return keys_of(p.shape).text();
}

}  // namespace mluops::op
