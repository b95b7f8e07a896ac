#include "common/op/carafe.h"

#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {

// Limits of mlu_op.h; the EXTENDED contract lifts them.
constexpr int kForwardKernelLimit = 45;
constexpr int kForwardScaleLimit = 5;
constexpr int kBackwardKernelLimit = 137;

Status within_limit(const char* name, int value, int limit, mluOpExtContract_t contract) {
  if (value <= limit || contract == MLUOP_EXT_CONTRACT_EXTENDED) return Status::go_on();
  return Status::not_supported(std::string(name) + ": wanted <= " + std::to_string(limit) + ", got " +
                               std::to_string(value));
}

/// Ranks and layouts, in the order of the list.
Status check_form(int dim_nb, std::initializer_list<TensorArg> tensors, mluOpExtContract_t contract) {
  for (const TensorArg& t : tensors) MLUOPS_RETURN_IF_FINISHED(has_rank(t, dim_nb));
  for (const TensorArg& t : tensors) MLUOPS_RETURN_IF_FINISHED(has_image_layout(t, *tensors.begin(), contract));
  return Status::go_on();
}

Status check_types(const TensorArg& input, std::initializer_list<TensorArg> others, mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(input, contract));
  for (const TensorArg& t : others) MLUOPS_RETURN_IF_FINISHED(same_dtype(t, input));
  return Status::go_on();
}

/// `mask` and `output` fit `input` under the descriptor.
Status check_relations(const mluOpCarafeStruct& d, const TensorArg& input, const TensorArg& mask,
                       const TensorArg& output) {
  const std::int64_t channels = size_of(input, Axis::kC);
  const std::int64_t ho = dim_product({size_of(input, Axis::kH), d.scale_factor});
  const std::int64_t wo = dim_product({size_of(input, Axis::kW), d.scale_factor});
  for (const TensorArg* t : {&mask, &output}) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(*t, Axis::kN, size_of(input, Axis::kN), "the batch of input"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(*t, Axis::kH, ho, "scale_factor * height of input"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(*t, Axis::kW, wo, "scale_factor * width of input"));
  }
  if (channels % d.group_size != 0) {
    return Status::bad_param("input: wanted channels divisible by group_size " + std::to_string(d.group_size) +
                             ", got " + std::to_string(channels));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(output, Axis::kC, channels, "the channels of input"));
  const std::int64_t taps = dim_product({d.kernel_size, d.kernel_size, d.group_size});
  return has_dim(mask, Axis::kC, taps, "group_size * kernel_size * kernel_size");
}

Status all_dense(std::initializer_list<TensorArg> tensors, mluOpStatus_t code) {
  for (const TensorArg& t : tensors) MLUOPS_RETURN_IF_FINISHED(is_dense(t, code));
  return Status::go_on();
}

mluopsCarafeShape shape_of(const mluOpCarafeStruct& d, const TensorArg& input) {
  const std::int64_t h = size_of(input, Axis::kH), w = size_of(input, Axis::kW);
  return {input.desc->dtype,
          size_of(input, Axis::kN),
          h,
          w,
          size_of(input, Axis::kC),
          h * d.scale_factor,
          w * d.scale_factor,
          d.kernel_size,
          d.group_size,
          d.scale_factor};
}

}  // namespace

Status check_carafe_descriptor(const mluOpCarafeStruct& d) {
  MLUOPS_RETURN_IF_FINISHED(in_range("dimNb", d.dim_nb, 4, 4));
  MLUOPS_RETURN_IF_FINISHED(at_least("kernel_size", d.kernel_size, 1));
  if (d.kernel_size % 2 == 0) {
    return Status::bad_param("kernel_size: wanted an odd number, got " + std::to_string(d.kernel_size));
  }
  MLUOPS_RETURN_IF_FINISHED(at_least("group_size", d.group_size, 1));
  return at_least("scale_factor", d.scale_factor, 1);
}

Status check_carafe_forward(const CarafeForwardArgs& a, mluopsCarafeForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(not_null("carafe_desc", a.carafe_desc));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input, a.mask, a.output}));
  const mluOpCarafeStruct& d = *a.carafe_desc;
  const mluOpExtContract_t contract = a.handle->contract;
  MLUOPS_RETURN_IF_FINISHED(check_carafe_descriptor(d));
  MLUOPS_RETURN_IF_FINISHED(within_limit("kernel_size", d.kernel_size, kForwardKernelLimit, contract));
  MLUOPS_RETURN_IF_FINISHED(within_limit("scale_factor", d.scale_factor, kForwardScaleLimit, contract));
  MLUOPS_RETURN_IF_FINISHED(check_form(d.dim_nb, {a.input, a.mask, a.output}, contract));
  MLUOPS_RETURN_IF_FINISHED(all_dense({a.input, a.mask, a.output}, MLUOP_STATUS_BAD_PARAM));
  MLUOPS_RETURN_IF_FINISHED(check_types(a.input, {a.mask, a.output}, contract));
  MLUOPS_RETURN_IF_FINISHED(check_relations(d, a.input, a.mask, a.output));
  if (any_empty({a.input, a.mask, a.output})) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.mask, a.output}));
  MLUOPS_RETURN_IF_FINISHED(all_countable({a.input, a.mask, a.output}, contract));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.mask}, {a.output}));
  problem = {shape_of(d, a.input), a.input.data, a.mask.data, const_cast<void*>(a.output.data), a.input.desc->layout};
  return Status::go_on();
}

Status check_carafe_backward(const CarafeBackwardArgs& a, mluopsCarafeBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(not_null("carafe_desc", a.carafe_desc));
  const auto all = {a.input, a.mask, a.grad_output, a.grad_input, a.grad_mask};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  const mluOpCarafeStruct& d = *a.carafe_desc;
  const mluOpExtContract_t contract = a.handle->contract;
  MLUOPS_RETURN_IF_FINISHED(check_carafe_descriptor(d));
  MLUOPS_RETURN_IF_FINISHED(check_form(d.dim_nb, all, contract));
  MLUOPS_RETURN_IF_FINISHED(check_relations(d, a.input, a.mask, a.grad_output));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_input, a.input));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grad_mask, a.mask));
  MLUOPS_RETURN_IF_FINISHED(check_types(a.input, {a.mask, a.grad_output, a.grad_input, a.grad_mask}, contract));
  MLUOPS_RETURN_IF_FINISHED(all_dense(all, MLUOP_STATUS_NOT_SUPPORTED));
  if (any_empty(all)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(within_limit("kernel_size", d.kernel_size, kBackwardKernelLimit, contract));
  MLUOPS_RETURN_IF_FINISHED(all_countable(all, contract));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.mask, a.grad_output}, {a.grad_input, a.grad_mask}));
  problem = {shape_of(d, a.input),
             a.input.data,
             a.mask.data,
             a.grad_output.data,
             const_cast<void*>(a.grad_input.data),
             const_cast<void*>(a.grad_mask.data),
             a.input.desc->layout};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsCarafeShape& s) {
  return CaseKeys()("n", s.n)("h", s.h)("w", s.w)("c", s.c)("k", s.kernel)("g", s.group)("s", s.scale).text();
}

}  // namespace

std::string case_keys(const mluopsCarafeForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsCarafeBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
