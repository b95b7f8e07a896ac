#include "common/op/roi_pool.h"

#include "common/case_text.h"
#include "common/op/rois.h"

namespace mluops::op {
namespace {

Status check_modes(mluOpPoolingMode_t mode, float spatial_scale, mluOpExtContract_t contract) {
  if (mode != MLUOP_POOLING_MAX) {
    return Status::bad_param("pooling_mode: wanted POOLING_MAX (0), got " + std::to_string(mode));
  }
  if (contract == MLUOP_EXT_CONTRACT_EXTENDED || (spatial_scale > 0 && spatial_scale <= 1)) return Status::go_on();
  return Status::bad_param("spatial_scale: wanted > 0 and <= 1, got " + std::to_string(spatial_scale));
}

/// Image and bins (output or grads): layouts, ranks, dtypes, sizes; rois.
Status check_image_and_bins(const TensorArg& image, const TensorArg& bins, const TensorArg& rois,
                            mluOpExtContract_t contract) {
  for (const TensorArg* t : {&image, &bins}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, image, contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(has_layout(rois, MLUOP_LAYOUT_ARRAY));
  MLUOPS_RETURN_IF_FINISHED(is_rois(rois));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(image, contract));
  for (const TensorArg* t : {&bins, &rois}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, image));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kN, rois.desc->dims[0], "the number of RoIs"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kC, size_of(image, Axis::kC), "the channels of the image"));
  if (size_of(bins, Axis::kH) > 0 && size_of(bins, Axis::kW) > 0) return Status::go_on();
  return Status::bad_param(std::string(bins.name) + ": wanted height and width >= 1, got " + dims_text(*bins.desc));
}

mluopsRoiPoolShape shape_of(const TensorArg& image, const TensorArg& bins, float spatial_scale) {
  return {image.desc->dtype,        size_of(image, Axis::kN), size_of(image, Axis::kH),
          size_of(image, Axis::kW), size_of(image, Axis::kC), size_of(bins, Axis::kN),
          size_of(bins, Axis::kH),  size_of(bins, Axis::kW),  spatial_scale};
}

}  // namespace

Status check_roi_pool_forward(const RoiPoolForwardArgs& a, mluopsRoiPoolForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const mluOpExtContract_t contract = a.handle->contract;
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input, a.rois, a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_modes(a.pooling_mode, a.spatial_scale.value, contract));
  MLUOPS_RETURN_IF_FINISHED(check_image_and_bins(a.input, a.output, a.rois, contract));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({a.input, a.rois, a.output}, contract));
  MLUOPS_RETURN_IF_FINISHED(has_countable_pixels(a.input));
  if (is_empty(a.input) || is_empty(a.output)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.rois, a.output}));
  mluOpTensorStruct of_argmax;  // only what no_overlap asks for
  of_argmax.dtype = MLUOP_DTYPE_INT32;
  of_argmax.elements = a.output.desc->elements;
  const TensorArg argmax = {"argmax", a.argmax == nullptr ? nullptr : &of_argmax, a.argmax};
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.rois}, {a.output, argmax}));
  const mluopsRoiPoolShape shape = shape_of(a.input, a.output, a.spatial_scale.value);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, shape.batch));
  problem = {shape,
             a.input.data,
             a.rois.data,
             const_cast<void*>(a.output.data),
             a.argmax,
             a.input.desc->layout,
             a.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

Status check_roi_pool_backward(const RoiPoolBackwardArgs& a, mluopsRoiPoolBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const mluOpExtContract_t contract = a.handle->contract;
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.grads, a.rois, a.argmax, a.grads_image}));
  MLUOPS_RETURN_IF_FINISHED(check_modes(a.pooling_mode, a.spatial_scale.value, contract));
  MLUOPS_RETURN_IF_FINISHED(check_image_and_bins(a.grads_image, a.grads, a.rois, contract));
  MLUOPS_RETURN_IF_FINISHED(has_layout(a.argmax, a.grads.desc->layout));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.argmax, 4));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.argmax, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.argmax, a.grads));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({a.grads, a.rois, a.argmax, a.grads_image}, contract));
  MLUOPS_RETURN_IF_FINISHED(has_countable_pixels(a.grads_image));
  if (is_empty(a.grads_image)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.grads_image}));
  if (!is_empty(a.grads)) MLUOPS_RETURN_IF_FINISHED(have_data({a.grads, a.rois, a.argmax}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grads, a.rois, a.argmax}, {a.grads_image}));
  const mluopsRoiPoolShape shape = shape_of(a.grads_image, a.grads, a.spatial_scale.value);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, shape.batch));
  problem = {shape,
             a.grads.data,
             a.rois.data,
             static_cast<const std::int32_t*>(a.argmax.data),
             const_cast<void*>(a.grads_image.data),
             a.grads_image.desc->layout,
             a.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

namespace {

template <class Problem>
CaseKeys pool_keys(const Problem& p) {
  const mluopsRoiPoolShape& s = p.shape;
  CaseKeys keys =
      CaseKeys()("b", s.batch)("h", s.h)("w", s.w)("c", s.c)("r", s.rois)("ph", s.pooled_h)("pw", s.pooled_w);
  return keys.scalar("scale", p.exact_spatial_scale, s.dtype);
}

}  // namespace

std::string case_keys(const mluopsRoiPoolForwardProblem& p) {
  return pool_keys(p)("argmax", p.argmax != nullptr ? 1 : 0).text();
}
std::string case_keys(const mluopsRoiPoolBackwardProblem& p) {
  return pool_keys(p).text();
}

}  // namespace mluops::op
