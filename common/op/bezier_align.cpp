#include "common/op/bezier_align.h"

#include "common/case_text.h"
#include "common/op/rois.h"

namespace mluops::op {
namespace {

/// Image and bins: layouts, ranks, dtypes, sizes; beziers.
Status check_bezier_tensors(const TensorArg& image, const TensorArg& bins, const TensorArg& beziers,
                            const BezierAlignNumbers& n, mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(at_least("sampling_ratio", n.sampling_ratio, 0));
  for (const TensorArg* t : {&image, &bins}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, image, contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(are_arrays({beziers}));
  MLUOPS_RETURN_IF_FINISHED(is_rois(beziers, 17, "batch index, x and y of eight points"));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(image, contract));
  for (const TensorArg* t : {&bins, &beziers}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, image));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kN, beziers.desc->dims[0], "the number of beziers"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kC, size_of(image, Axis::kC), "the channels of the image"));
  return are_dense_and_countable({image, beziers, bins}, contract);
}

mluopsBezierAlignShape bezier_shape_of(const TensorArg& image, const TensorArg& bins, const BezierAlignNumbers& n) {
  return {image.desc->dtype,        size_of(image, Axis::kN), size_of(image, Axis::kH), size_of(image, Axis::kW),
          size_of(image, Axis::kC), size_of(bins, Axis::kN),  size_of(bins, Axis::kH),  size_of(bins, Axis::kW),
          n.spatial_scale.value,    n.sampling_ratio,         n.aligned ? 1 : 0};
}

template <class Problem>
std::string bezier_keys(const Problem& p) {
  const mluopsBezierAlignShape& s = p.shape;
  CaseKeys keys =
      CaseKeys()("b", s.batch)("h", s.h)("w", s.w)("c", s.c)("r", s.rois)("ph", s.pooled_h)("pw", s.pooled_w);
  return keys.scalar("scale", p.exact_spatial_scale, s.dtype)("ratio", s.sampling_ratio)("aligned", s.aligned).text();
}

}  // namespace

Status check_bezier_align_forward(const BezierAlignForwardArgs& a, mluopsBezierAlignForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input, a.beziers, a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_bezier_tensors(a.input, a.output, a.beziers, a.numbers, a.handle->contract));
  if (is_empty(a.input) || is_empty(a.output)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.beziers, a.output}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.beziers}, {a.output}));
  const mluopsBezierAlignShape shape = bezier_shape_of(a.input, a.output, a.numbers);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.beziers, shape.batch));
  problem = {shape,
             a.input.data,
             a.beziers.data,
             const_cast<void*>(a.output.data),
             a.input.desc->layout,
             a.numbers.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

Status check_bezier_align_backward(const BezierAlignBackwardArgs& a, mluopsBezierAlignBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.grads, a.beziers, a.grads_image}));
  MLUOPS_RETURN_IF_FINISHED(check_bezier_tensors(a.grads_image, a.grads, a.beziers, a.numbers, a.handle->contract));
  if (is_empty(a.grads_image)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.grads_image}));
  if (!is_empty(a.grads)) MLUOPS_RETURN_IF_FINISHED(have_data({a.grads, a.beziers}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grads, a.beziers}, {a.grads_image}));
  mluopsBezierAlignShape shape = bezier_shape_of(a.grads_image, a.grads, a.numbers);
  if (is_empty(a.grads)) shape.rois = 0;  // RoIs without bins add nothing
  if (shape.rois > 0) MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.beziers, shape.batch));
  problem = {shape,
             a.grads.data,
             a.beziers.data,
             const_cast<void*>(a.grads_image.data),
             a.grads_image.desc->layout,
             a.numbers.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

std::string case_keys(const mluopsBezierAlignForwardProblem& p) {
  return bezier_keys(p);
}
std::string case_keys(const mluopsBezierAlignBackwardProblem& p) {
  return bezier_keys(p);
}

}  // namespace mluops::op
