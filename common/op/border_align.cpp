#include "common/op/border_align.h"

#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// The four tensors of either direction: map is input or grad_input, pooled is output or grad_output.
struct Tensors {
  TensorArg map, boxes, pooled, argmax;
};

Status check_form(const Tensors& t, std::initializer_list<TensorArg> in_order) {
  MLUOPS_RETURN_IF_FINISHED(have_descs(in_order));
  for (const TensorArg& arg : in_order) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(arg, arg.name == t.boxes.name ? 3 : 4));
  }
  for (const TensorArg& arg : in_order) MLUOPS_RETURN_IF_FINISHED(is_dense(arg, MLUOP_STATUS_NOT_SUPPORTED));
  return Status::go_on();
}

Status check_types(const Tensors& t, const TensorArg& leading, mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(leading, contract));
  for (const TensorArg* other : {&t.boxes, &t.pooled, &t.map}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*other, leading));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(t.argmax, MLUOP_DTYPE_INT32));
  for (const TensorArg* arg : {&t.map, &t.pooled, &t.argmax}) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(*arg, t.map, contract));
  }
  return Status::go_on();
}

/// Sizes of the map and of boxes: none may be 0.
Status check_sizes(const Tensors& t) {
  if (size_of(t.map, Axis::kC) % 4 != 0) {
    return Status::bad_param(std::string(t.map.name) + ": wanted channels divisible by 4 (borders), got " +
                             std::to_string(size_of(t.map, Axis::kC)));
  }
  for (const TensorArg* arg : {&t.map, &t.boxes}) {
    if (is_empty(*arg)) {
      return Status::bad_param(std::string(arg->name) + ": wanted a non-empty tensor, got " + dims_text(*arg->desc));
    }
  }
  return has_dim(t.boxes, 2, 4, "x1, y1, x2, y2");
}

Status check_relations(const Tensors& t, std::int32_t pool_size) {
  MLUOPS_RETURN_IF_FINISHED(check_sizes(t));
  MLUOPS_RETURN_IF_FINISHED(at_least("pool_size", pool_size, 1));
  const std::int64_t batch = size_of(t.map, Axis::kN);
  MLUOPS_RETURN_IF_FINISHED(has_dim(t.boxes, 0, batch, "the batch"));
  for (const TensorArg* arg : {&t.pooled, &t.argmax}) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(*arg, Axis::kN, batch, "the batch"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(*arg, Axis::kH, t.boxes.desc->dims[1], "the number of boxes"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(*arg, Axis::kW, 4, "borders"));
    MLUOPS_RETURN_IF_FINISHED(has_dim(*arg, Axis::kC, size_of(t.map, Axis::kC) / 4, "a quarter of the map's channels"));
  }
  return Status::go_on();
}

/// The work of a border is that of its points, whose number no tensor bounds.
Status has_few_points(std::int32_t pool_size) {
  constexpr std::int32_t kLimit = 1 << 16;
  if (pool_size < kLimit) return Status::go_on();
  return Status::not_supported("pool_size: wanted fewer than " + std::to_string(kLimit) + ", got " +
                               std::to_string(pool_size));
}

Status check(mluOpHandle_t handle, const Tensors& t, std::initializer_list<TensorArg> in_order,
             std::int32_t pool_size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", handle));
  MLUOPS_RETURN_IF_FINISHED(check_form(t, in_order));
  MLUOPS_RETURN_IF_FINISHED(check_types(t, *in_order.begin(), handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_relations(t, pool_size));
  for (const TensorArg& arg : in_order) MLUOPS_RETURN_IF_FINISHED(is_countable(arg, handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_few_points(pool_size));
  return have_data(in_order);
}

mluopsBorderAlignShape shape_of(const Tensors& t, std::int32_t pool_size) {
  const TensorArg& map = t.map;
  return {map.desc->dtype,
          size_of(map, Axis::kN),
          size_of(map, Axis::kH),
          size_of(map, Axis::kW),
          size_of(map, Axis::kC) / 4,
          t.boxes.desc->dims[1],
          pool_size};
}

}  // namespace

Status check_border_align_forward(const BorderAlignForwardArgs& a, mluopsBorderAlignForwardProblem& problem) {
  const Tensors t = {a.input, a.boxes, a.output, a.argmax_idx};
  MLUOPS_RETURN_IF_FINISHED(check(a.handle, t, {a.input, a.boxes, a.output, a.argmax_idx}, a.pool_size));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.boxes}, {a.output, a.argmax_idx}));
  problem = {shape_of(t, a.pool_size), a.input.data,        a.boxes.data, const_cast<void*>(a.output.data),
             int32_data(a.argmax_idx), a.input.desc->layout};
  return Status::go_on();
}

Status check_border_align_backward(const BorderAlignBackwardArgs& a, mluopsBorderAlignBackwardProblem& problem) {
  const Tensors t = {a.grad_input, a.boxes, a.grad_output, a.argmax_idx};
  MLUOPS_RETURN_IF_FINISHED(check(a.handle, t, {a.grad_output, a.boxes, a.argmax_idx, a.grad_input}, a.pool_size));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grad_output, a.boxes, a.argmax_idx}, {a.grad_input}));
  problem = {shape_of(t, a.pool_size),
             a.grad_output.data,
             a.boxes.data,
             static_cast<const std::int32_t*>(a.argmax_idx.data),
             const_cast<void*>(a.grad_input.data),
             a.grad_input.desc->layout};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsBorderAlignShape& s) {
  return CaseKeys()("n", s.n)("h", s.h)("w", s.w)("c", s.c)("k", s.k)("p", s.pool_size).text();
}

}  // namespace

std::string case_keys(const mluopsBorderAlignForwardProblem& p) {
  return keys_of(p.shape);
}
std::string case_keys(const mluopsBorderAlignBackwardProblem& p) {
  return keys_of(p.shape);
}

}  // namespace mluops::op
