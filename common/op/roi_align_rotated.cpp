#include "common/op/roi_align_rotated.h"

#include "common/case_text.h"
#include "common/op/rois.h"

namespace mluops::op {
namespace {

Status check_numbers(const RoiAlignRotatedNumbers& n) {
  MLUOPS_RETURN_IF_FINISHED(at_least("pooled_height", n.pooled_height, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("pooled_width", n.pooled_width, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("sample_ratio", n.sample_ratio, 0));
  if (n.spatial_scale.value >= 0) return Status::go_on();
  return Status::bad_param("spatial_scale: wanted >= 0, got " + std::to_string(n.spatial_scale.value));
}

/// Image and bins: layouts, ranks, dtypes, sizes; rois.
Status check_tensors(const TensorArg& image, const TensorArg& bins, const TensorArg& rois,
                     const RoiAlignRotatedNumbers& n, mluOpExtContract_t contract) {
  for (const TensorArg* t : {&image, &bins}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, image, contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(are_arrays({rois}));
  MLUOPS_RETURN_IF_FINISHED(is_rois(rois, 6, "batch index, x, y, w, h, rotation"));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(image, contract));
  for (const TensorArg* t : {&bins, &rois}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, image));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kN, rois.desc->dims[0], "the number of RoIs"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kH, n.pooled_height, "pooled_height"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kW, n.pooled_width, "pooled_width"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kC, size_of(image, Axis::kC), "the channels of the image"));
  return are_dense_and_countable({image, rois, bins}, contract);
}

mluopsRoiAlignRotatedShape shape_of(const TensorArg& image, const TensorArg& rois, const RoiAlignRotatedNumbers& n) {
  return {image.desc->dtype,        size_of(image, Axis::kN), size_of(image, Axis::kH), size_of(image, Axis::kW),
          size_of(image, Axis::kC), rois.desc->dims[0],       n.pooled_height,          n.pooled_width,
          n.spatial_scale.value,    n.sample_ratio,           n.aligned ? 1 : 0,        n.clockwise ? 1 : 0};
}

}  // namespace

Status check_roi_align_rotated_forward(const RoiAlignRotatedForwardArgs& a,
                                       mluopsRoiAlignRotatedForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.features, a.rois, a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(a.numbers));
  MLUOPS_RETURN_IF_FINISHED(check_tensors(a.features, a.output, a.rois, a.numbers, a.handle->contract));
  if (is_empty(a.features) || is_empty(a.output)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.features, a.rois, a.output}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.features, a.rois}, {a.output}));
  const mluopsRoiAlignRotatedShape shape = shape_of(a.features, a.rois, a.numbers);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, shape.batch));
  problem = {shape,
             a.features.data,
             a.rois.data,
             const_cast<void*>(a.output.data),
             a.features.desc->layout,
             a.numbers.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

Status check_roi_align_rotated_backward(const RoiAlignRotatedBackwardArgs& a,
                                        mluopsRoiAlignRotatedBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.top_grad, a.rois, a.bottom_grad}));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(a.numbers));
  MLUOPS_RETURN_IF_FINISHED(check_tensors(a.bottom_grad, a.top_grad, a.rois, a.numbers, a.handle->contract));
  if (is_empty(a.bottom_grad)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.bottom_grad}));
  if (!is_empty(a.top_grad)) MLUOPS_RETURN_IF_FINISHED(have_data({a.top_grad, a.rois}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.top_grad, a.rois}, {a.bottom_grad}));
  const mluopsRoiAlignRotatedShape shape = shape_of(a.bottom_grad, a.rois, a.numbers);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, shape.batch));
  problem = {shape,
             a.top_grad.data,
             a.rois.data,
             const_cast<void*>(a.bottom_grad.data),
             a.bottom_grad.desc->layout,
             a.numbers.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

namespace {

template <class Problem>
std::string rotated_keys(const Problem& p) {
  const mluopsRoiAlignRotatedShape& s = p.shape;
  CaseKeys keys =
      CaseKeys()("b", s.batch)("h", s.h)("w", s.w)("c", s.c)("r", s.rois)("ph", s.pooled_h)("pw", s.pooled_w);
  keys.scalar("scale", p.exact_spatial_scale, s.dtype)("ratio", s.sample_ratio)("aligned", s.aligned);
  return keys("clockwise", s.clockwise).text();
}

}  // namespace

std::string case_keys(const mluopsRoiAlignRotatedForwardProblem& p) {
  return rotated_keys(p);
}
std::string case_keys(const mluopsRoiAlignRotatedBackwardProblem& p) {
  return rotated_keys(p);
}

}  // namespace mluops::op
