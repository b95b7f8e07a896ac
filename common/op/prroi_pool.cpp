#include "common/op/prroi_pool.h"

#include "common/case_text.h"
#include "common/op/rois.h"

namespace mluops::op {
namespace {

/// Image and bins (output or grads): layouts, ranks, dtypes, sizes; rois.
Status check_prroi_form(const TensorArg& image, const TensorArg& bins, const TensorArg& rois,
                        mluOpExtContract_t contract) {
  for (const TensorArg* t : {&image, &bins}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, image, contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(are_arrays({rois}));
  MLUOPS_RETURN_IF_FINISHED(is_rois(rois));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(image, contract));
  for (const TensorArg* t : {&bins, &rois}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, image));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kN, rois.desc->dims[0], "the number of RoIs"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kC, size_of(image, Axis::kC), "the channels of input"));
  if (size_of(bins, Axis::kH) < 1 || size_of(bins, Axis::kW) < 1) {
    return Status::bad_param(std::string(bins.name) + ": wanted height and width >= 1, got " + dims_text(*bins.desc));
  }
  return are_dense_and_countable({image, rois, bins}, contract);
}

mluopsPrRoiPoolShape shape_of(const TensorArg& image, const TensorArg& bins, const Scalar& spatial_scale) {
  return {image.desc->dtype,        size_of(image, Axis::kN), size_of(image, Axis::kH),
          size_of(image, Axis::kW), size_of(image, Axis::kC), size_of(bins, Axis::kN),
          size_of(bins, Axis::kH),  size_of(bins, Axis::kW),  spatial_scale.value};
}

/// A gradient of `input`, or none.
Status check_prroi_gradient(const TensorArg& gradient, const TensorArg& input, mluOpExtContract_t contract) {
  if (gradient.desc == nullptr) return present_or_absent(gradient);
  MLUOPS_RETURN_IF_FINISHED(has_layout(gradient, input.desc->layout));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(gradient, input));
  MLUOPS_RETURN_IF_FINISHED(has_rank(gradient, rank(*input.desc)));
  MLUOPS_RETURN_IF_FINISHED(same_dims(gradient, input));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({gradient}, contract));
  return is_empty(gradient) ? Status::go_on() : present_or_absent(gradient);
}

}  // namespace

Status check_prroi_pool_forward(const PrRoiPoolForwardArgs& a, mluopsPrRoiPoolForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input, a.rois, a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_prroi_form(a.input, a.output, a.rois, a.handle->contract));
  if (is_empty(a.input) || is_empty(a.output)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.rois, a.output}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.rois}, {a.output}));
  const mluopsPrRoiPoolShape shape = shape_of(a.input, a.output, a.spatial_scale);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, shape.batch));
  problem = {shape,
             a.input.data,
             a.rois.data,
             const_cast<void*>(a.output.data),
             a.input.desc->layout,
             a.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

Status check_prroi_pool_backward(const PrRoiPoolBackwardArgs& a, mluopsPrRoiPoolBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.grads, a.input, a.rois}));
  MLUOPS_RETURN_IF_FINISHED(check_prroi_form(a.input, a.grads, a.rois, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_prroi_gradient(a.grads_image, a.input, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_prroi_gradient(a.grads_rois, a.rois, a.handle->contract));
  if (a.grads_image.desc == nullptr && a.grads_rois.desc == nullptr) {
    return Status::bad_param("grads_image: wanted it or grads_rois, got neither");
  }
  if (is_empty(a.input)) return Status::nothing_to_do();
  if (!is_empty(a.grads)) MLUOPS_RETURN_IF_FINISHED(have_data({a.grads, a.input, a.rois}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grads, a.input, a.rois}, {a.grads_image, a.grads_rois}));
  const mluopsPrRoiPoolShape shape = shape_of(a.input, a.grads, a.spatial_scale);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, shape.batch));
  problem = {shape,
             a.grads.data,
             a.input.data,
             a.rois.data,
             const_cast<void*>(a.grads_image.data),
             const_cast<void*>(a.grads_rois.data),
             a.input.desc->layout,
             a.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

namespace {

template <class Problem>
CaseKeys precise_keys(const Problem& p) {
  const mluopsPrRoiPoolShape& s = p.shape;
  CaseKeys keys =
      CaseKeys()("b", s.batch)("h", s.h)("w", s.w)("c", s.c)("r", s.rois)("ph", s.pooled_h)("pw", s.pooled_w);
  keys.scalar("scale", p.exact_spatial_scale, s.dtype);
  return keys;
}

}  // namespace

std::string case_keys(const mluopsPrRoiPoolForwardProblem& p) {
  return precise_keys(p).text();
}
std::string case_keys(const mluopsPrRoiPoolBackwardProblem& p) {
  const char* const grads = p.grad_rois == nullptr ? "image" : p.grad_input == nullptr ? "rois" : "both";
  return precise_keys(p)("grads", grads).text();
}

}  // namespace mluops::op
