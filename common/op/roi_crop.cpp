#include "common/op/roi_crop.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// Both directions: images (input or grad_input), their grids and the samples.
Status check_crop_tensors(const TensorArg& image, const TensorArg& grid, const TensorArg& samples,
                          mluOpExtContract_t contract) {
  for (const TensorArg* t : {&image, &samples}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*t, image, contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(*t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(are_arrays({grid}));
  MLUOPS_RETURN_IF_FINISHED(has_rank(grid, 4));
  MLUOPS_RETURN_IF_FINISHED(is_float(image, contract));
  for (const TensorArg* t : {&grid, &samples}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, image));
  const auto& dims = grid.desc->dims;
  MLUOPS_RETURN_IF_FINISHED(has_dim(grid, 3, 2, "y, x"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(samples, Axis::kN, dims[0], "the number of grids"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(samples, Axis::kH, dims[1], "the height of a grid"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(samples, Axis::kW, dims[2], "the width of a grid"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(samples, Axis::kC, size_of(image, Axis::kC), "the channels of the images"));
  MLUOPS_RETURN_IF_FINISHED(have_dense_data({image, grid, samples}, contract));
  const std::int64_t images = size_of(image, Axis::kN);
  if (dims[0] % images == 0) return Status::go_on();
  return Status::bad_param("grid: wanted dimension 0 to be a multiple of " + std::to_string(images) +
                           " (the number of images), got " + dims_text(*grid.desc));
}

mluopsRoiCropShape crop_shape_of(const TensorArg& image, const TensorArg& grid) {
  const auto& dims = grid.desc->dims;
  return {image.desc->dtype,
          size_of(image, Axis::kN),
          size_of(image, Axis::kH),
          size_of(image, Axis::kW),
          size_of(image, Axis::kC),
          dims[0],
          dims[1],
          dims[2]};
}

template <class Problem>
std::string crop_keys(const Problem& p) {
  const mluopsRoiCropShape& s = p.shape;
  CaseKeys keys = CaseKeys()("b", s.batch)("h", s.h)("w", s.w)("c", s.c);
  return keys("grids", s.grids / s.batch)("oh", s.out_h)("ow", s.out_w).text();
}

}  // namespace

Status check_roi_crop_forward(const RoiCropForwardArgs& a, mluopsRoiCropForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input, a.grid, a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_crop_tensors(a.input, a.grid, a.output, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.grid}, {a.output}));
  problem = {crop_shape_of(a.input, a.grid), a.input.data, a.grid.data, const_cast<void*>(a.output.data),
             a.input.desc->layout};
  return Status::go_on();
}

Status check_roi_crop_backward(const RoiCropBackwardArgs& a, mluopsRoiCropBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.grad_output, a.grid, a.grad_input}));
  MLUOPS_RETURN_IF_FINISHED(check_crop_tensors(a.grad_input, a.grid, a.grad_output, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grad_output, a.grid}, {a.grad_input}));
  problem = {crop_shape_of(a.grad_input, a.grid), a.grad_output.data, a.grid.data, const_cast<void*>(a.grad_input.data),
             a.grad_input.desc->layout};
  return Status::go_on();
}

std::string case_keys(const mluopsRoiCropForwardProblem& p) {
  return crop_keys(p);
}
std::string case_keys(const mluopsRoiCropBackwardProblem& p) {
  return crop_keys(p);
}

}  // namespace mluops::op
