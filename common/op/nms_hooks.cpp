#include <algorithm>
#include <cmath>
#include <limits>

#include "common/case_text.h"
#include "common/op/nms.h"

namespace mluops::op {
namespace {

Status wanted(const char* name, const char* what, double got) {
  return Status::bad_param(std::string(name) + ": wanted " + what + ", got " + std::to_string(got));
}

Status has_one_index_dtype(const TensorArg& t, mluOpExtContract_t contract, bool unsigned_too) {
  const mluOpDataType_t dtype = t.desc->dtype;
  if (dtype == MLUOP_DTYPE_INT32 || (unsigned_too && dtype == MLUOP_DTYPE_UINT32)) return Status::go_on();
  const bool extended = contract == MLUOP_EXT_CONTRACT_EXTENDED;
  if (extended && dtype == MLUOP_DTYPE_INT64) return Status::go_on();
  return Status::bad_param(std::string(t.name) + ": wanted dtype DTYPE_INT32" + (unsigned_too ? ", DTYPE_UINT32" : "") +
                           (extended ? " or DTYPE_INT64" : "") + ", got " + dtype_name(dtype));
}

Status dim_at_least(const TensorArg& t, int axis, std::int64_t least, const char* meaning) {
  const std::int64_t got = t.desc->dims[static_cast<std::size_t>(axis)];
  if (got >= least) return Status::go_on();
  return Status::bad_param(std::string(t.name) + ": wanted dimension " + std::to_string(axis) +
                           " to be >= " + std::to_string(least) + " (" + meaning + "), got " + dims_text(*t.desc));
}

/// Output has room for what may be written.
Status check_output_room(const NmsArgs& a, std::int64_t boxes) {
  const mluOpNmsStruct& d = *a.nms_desc;
  const bool scored = nms_box_numbers(a) == 4;
  const std::int64_t most = scored ? d.max_output_size : boxes,
                     least = scored && d.pad_to_max_output_size ? most : std::min(boxes, most);
  const char* const meaning = "boxes that may be kept";
  const mluOpNmsOutputMode_t mode = nms_output_mode(a);
  if (mode == MLUOP_NMS_OUTPUT_TARGET_INDICES) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(a.output, 1));
    return dim_at_least(a.output, 0, least, meaning);
  }
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.output, 2));
  const int across = mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1 ? 1 : 0;
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, across, 5, "score and box"));
  return dim_at_least(a.output, 1 - across, least, meaning);
}

Status has_hard_modes(const mluOpNmsStruct& d) {
  if (d.method_mode != MLUOP_NMS_HARD_NMS) {
    return Status::not_supported("nms_desc: wanted method_mode HARD_NMS; mluOpExtSoftNms has the soft methods");
  }
  if (d.output_mode == MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS) {
    return Status::not_supported("nms_desc: wanted an output_mode of one image and one class, got BATCH_AND_CLASS");
  }
  return Status::go_on();
}

}  // namespace

Status has_index_dtype(const TensorArg& t, mluOpExtContract_t contract) {
  return has_one_index_dtype(t, contract, false);
}

Status has_nms_modes(const mluOpNmsStruct& d, const TensorArg& boxes) {
  if (!d.is_set) return Status::bad_param("nms_desc: wanted a descriptor set by mluOpSetNmsDescriptor");
  const int numbers = d.input_layout == 0 ? 1 : 0;
  if (rank(*boxes.desc) == 2 && size_of(boxes, numbers) == 7) return Status::go_on();
  MLUOPS_RETURN_IF_FINISHED(has_hard_modes(d));
  if (rank(*boxes.desc) == 3) {
    return Status::not_supported("boxes: wanted the boxes of one image and class, 2 dimensions, got 3 " +
                                 dims_text(*boxes.desc));
  }
  MLUOPS_RETURN_IF_FINISHED(has_rank(boxes, 2));
  return has_dim(boxes, numbers, 4, "numbers of a box");
}

std::int64_t nms_box_numbers(const NmsArgs& a) {
  return size_of(a.boxes, a.nms_desc->input_layout == 0 ? 1 : 0);
}

mluOpNmsOutputMode_t nms_output_mode(const NmsArgs& a) {
  return nms_box_numbers(a) == 7 ? MLUOP_NMS_OUTPUT_TARGET_INDICES : a.nms_desc->output_mode;
}

Status is_score_threshold(const NmsArgs& a) {
  const double threshold = a.nms_desc->confidence_threshold;
  if (nms_box_numbers(a) == 7) return Status::go_on();
  if (a.handle->contract == MLUOP_EXT_CONTRACT_EXTENDED) return is_number("confidence_threshold", threshold);
  if (threshold >= 0 && threshold <= 1) return Status::go_on();
  return wanted("confidence_threshold", "a number in [0, 1]", threshold);
}

Status have_nms_dtypes(const NmsArgs& a) {
  const mluOpExtContract_t contract = a.handle->contract;
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.boxes, contract));
  if (nms_box_numbers(a) == 7) return has_one_index_dtype(a.output, contract, true);
  const bool half_scores = a.boxes.desc->dtype == MLUOP_DTYPE_FLOAT && a.confidence.desc->dtype == MLUOP_DTYPE_HALF;
  if (!half_scores) MLUOPS_RETURN_IF_FINISHED(same_dtype(a.confidence, a.boxes));
  return a.nms_desc->output_mode == MLUOP_NMS_OUTPUT_TARGET_INDICES ? has_one_index_dtype(a.output, contract, true)
                                                                    : same_dtype(a.output, a.boxes);
}

std::int64_t nms_boxes(const NmsArgs& a) {
  return a.boxes.desc->dims[a.nms_desc->input_layout == 0 ? 0 : 1];
}

double nms_threshold(const NmsArgs& a) {
  const double threshold = a.nms_desc->confidence_threshold;
  const bool all = nms_box_numbers(a) == 7 || (std::isinf(threshold) && threshold < 0);
  return all ? std::numeric_limits<double>::quiet_NaN() : threshold;
}

Status have_nms_sizes(const NmsArgs& a) {
  const std::int64_t boxes = nms_boxes(a);
  if (nms_box_numbers(a) == 4) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(a.confidence, 1));
    MLUOPS_RETURN_IF_FINISHED(has_dim(a.confidence, 0, boxes, "the number of boxes"));
  }
  return check_output_room(a, boxes);
}

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
  keys("layout", p.transposed != 0 ? "columns" : "rows");
  keys("box", p.box_numbers == 7 ? "3d" : p.box_mode == MLUOP_NMS_BOX_CENTER ? "centre" : "corners");
  const bool half_scores = s.dtype == MLUOP_DTYPE_FLOAT && p.score_dtype == MLUOP_DTYPE_HALF;
  return keys("half_scores", half_scores ? 1 : 0)("room", p.room)("pad", p.pad).text();
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
