#include "common/op/roi_align.h"

#include <limits>

#include "common/case_text.h"
#include "common/op/rois.h"

namespace mluops::op {
namespace {
/// Image and bins (output or grads): layouts, ranks, dtypes; boxes.
Status check_form(const TensorArg& image, const TensorArg& bins, const TensorArg& boxes, mluOpExtContract_t contract) {
  for (const TensorArg* t : {&image, &bins}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, image, contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(is_rois(boxes));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(image, contract));
  for (const TensorArg* t : {&bins, &boxes}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, image));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, 0, boxes.desc->dims[0], "the number of boxes"));
  return has_dim(bins, Axis::kC, size_of(image, Axis::kC), "the channels of the image");
}

/// argmax_x and argmax_y are like the bins.
Status check_argmax(const TensorArg& x, const TensorArg& y, const TensorArg& bins) {
  for (const TensorArg* t : {&x, &y}) {
    MLUOPS_RETURN_IF_FINISHED(have_descs({*t}));
    MLUOPS_RETURN_IF_FINISHED(has_layout(*t, bins.desc->layout));
    MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, bins));
    MLUOPS_RETURN_IF_FINISHED(same_dims(*t, bins));
  }
  return Status::go_on();
}

mluopsRoiAlignShape shape_of(const TensorArg& image, const TensorArg& bins, const mluOpRoiAlignStruct& d) {
  return {image.desc->dtype,        size_of(image, Axis::kN), size_of(image, Axis::kH), size_of(image, Axis::kW),
          size_of(image, Axis::kC), size_of(bins, Axis::kN),  size_of(bins, Axis::kH),  size_of(bins, Axis::kW),
          d.spatial_scale,          d.sampling_ratio,         d.aligned ? 1 : 0,        d.pool_mode};
}

Status check_forward_tensors(const RoiAlignForwardArgs& a) {
  const mluOpRoiAlignStruct& d = *a.roialign_desc;
  const mluOpExtContract_t contract = a.handle->contract;
  MLUOPS_RETURN_IF_FINISHED(check_form(a.input, a.output, a.boxes, contract));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, Axis::kH, d.pooled_height, "pooled_height"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, Axis::kW, d.pooled_width, "pooled_width"));
  if (d.pool_mode == 0) {
    MLUOPS_RETURN_IF_FINISHED(check_argmax(a.argmax_x, a.argmax_y, a.output));
    MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({a.argmax_x, a.argmax_y}, contract));
  }
  return are_dense_and_countable({a.input, a.boxes, a.output}, contract);
}

Status check_backward_tensors(const RoiAlignBackwardArgs& a) {
  const mluOpExtContract_t contract = a.handle->contract;
  MLUOPS_RETURN_IF_FINISHED(check_form(a.grads_image, a.grads, a.boxes, contract));
  MLUOPS_RETURN_IF_FINISHED(at_least("height of grads", size_of(a.grads, Axis::kH), 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("width of grads", size_of(a.grads, Axis::kW), 1));
  MLUOPS_RETURN_IF_FINISHED(in_range("pool_mode", a.pool_mode, 0, 1));
  if (a.pool_mode == 0) {
    MLUOPS_RETURN_IF_FINISHED(check_argmax(a.argmax_x, a.argmax_y, a.grads));
    MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({a.argmax_x, a.argmax_y}, contract));
  }
  return are_dense_and_countable({a.grads, a.boxes, a.grads_image}, contract);
}

/// A tensor that is not looked at.
TensorArg none(const TensorArg& t) {
  return {t.name, nullptr, nullptr};
}

}  // namespace

Status check_roi_align_descriptor(const mluOpRoiAlignStruct& d) {
  MLUOPS_RETURN_IF_FINISHED(at_least("pooled_height", d.pooled_height, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("pooled_width", d.pooled_width, 1));
  return in_range("pool_mode", d.pool_mode, 0, 1);
}

Status check_roi_align_forward(const RoiAlignForwardArgs& a, mluopsRoiAlignForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(not_null("roialign_desc", a.roialign_desc));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input, a.boxes, a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_roi_align_descriptor(*a.roialign_desc));
  MLUOPS_RETURN_IF_FINISHED(check_forward_tensors(a));
  if (is_empty(a.input) || is_empty(a.output)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.boxes, a.output}));
  const bool mean = a.roialign_desc->pool_mode == 1;
  const TensorArg argmax_x = mean ? none(a.argmax_x) : a.argmax_x, argmax_y = mean ? none(a.argmax_y) : a.argmax_y;
  if (!mean) MLUOPS_RETURN_IF_FINISHED(have_data({argmax_x, argmax_y}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.boxes}, {a.output, argmax_x, argmax_y}));
  const mluopsRoiAlignShape shape = shape_of(a.input, a.output, *a.roialign_desc);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.boxes, shape.batch));
  problem = {shape,
             a.input.data,
             a.boxes.data,
             const_cast<void*>(a.output.data),
             const_cast<void*>(argmax_x.data),
             const_cast<void*>(argmax_y.data),
             a.input.desc->layout,
             a.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

Status check_roi_align_backward(const RoiAlignBackwardArgs& a, mluopsRoiAlignBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.grads, a.boxes, a.grads_image}));
  MLUOPS_RETURN_IF_FINISHED(check_backward_tensors(a));
  if (is_empty(a.grads_image)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.grads_image}));
  const bool mean = a.pool_mode == 1;
  const TensorArg argmax_x = mean ? none(a.argmax_x) : a.argmax_x, argmax_y = mean ? none(a.argmax_y) : a.argmax_y;
  if (!is_empty(a.grads)) MLUOPS_RETURN_IF_FINISHED(have_data({a.grads, a.boxes}));
  if (!is_empty(a.grads) && !mean) MLUOPS_RETURN_IF_FINISHED(have_data({argmax_x, argmax_y}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grads, a.boxes, argmax_x, argmax_y}, {a.grads_image}));
  const mluopsRoiAlignShape shape =
      shape_of(a.grads_image, a.grads,
               mluOpRoiAlignStruct{0, 0, a.sampling_ratio, a.spatial_scale.value, a.pool_mode, a.aligned});
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.boxes, shape.batch));
  problem = {shape,
             a.grads.data,
             a.boxes.data,
             argmax_x.data,
             argmax_y.data,
             const_cast<void*>(a.grads_image.data),
             a.grads_image.desc->layout,
             a.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

namespace {

template <class Problem>
std::string align_keys(const Problem& p) {
  const mluopsRoiAlignShape& s = p.shape;
  CaseKeys keys =
      CaseKeys()("b", s.batch)("h", s.h)("w", s.w)("c", s.c)("r", s.rois)("ph", s.pooled_h)("pw", s.pooled_w);
  keys.scalar("scale", p.exact_spatial_scale, s.dtype)("ratio", s.sampling_ratio)("aligned", s.aligned);
  return keys("pool", s.mean != 0 ? "mean" : "greatest").text();
}

}  // namespace

std::string case_keys(const mluopsRoiAlignForwardProblem& p) {
  return align_keys(p);
}
std::string case_keys(const mluopsRoiAlignBackwardProblem& p) {
  return align_keys(p);
}

}  // namespace mluops::op
