#include "common/op/rotated_iou.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// Boxes and a tensor `of_pairs` [B,N]; the first decides the shape.
Status check_pairs(const TensorArg& box1, const TensorArg& box2, const TensorArg& of_pairs) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(box1, 3));
  if (box1.desc->dims[2] != 5) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(box1, 2, 7, "numbers of a box, or 5 of a rectangle"));
  }
  MLUOPS_RETURN_IF_FINISHED(same_dims(box2, box1));
  MLUOPS_RETURN_IF_FINISHED(has_rank(of_pairs, 2));
  MLUOPS_RETURN_IF_FINISHED(has_dim(of_pairs, 0, box1.desc->dims[0], "that of box1"));
  return has_dim(of_pairs, 1, box1.desc->dims[1], "that of box1");
}

/// What is left to check of tensors whose shapes are right and of which the first box decides the dtype.
Status check_data(mluOpHandle_t handle, const TensorArg& box1, std::initializer_list<TensorArg> inputs,
                  std::initializer_list<TensorArg> outputs) {
  MLUOPS_RETURN_IF_FINISHED(is_float(box1, handle->contract));
  for (const auto& list : {inputs, outputs}) {
    for (const TensorArg& t : list) MLUOPS_RETURN_IF_FINISHED(same_dtype(t, box1));
    MLUOPS_RETURN_IF_FINISHED(are_arrays(list));
    MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(list, handle->contract));
  }
  if (any_empty(outputs)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(inputs));
  MLUOPS_RETURN_IF_FINISHED(have_data(outputs));
  return no_overlap(inputs, outputs);
}

mluopsRotatedIouShape shape_of(const TensorArg& box1) {
  const auto& dims = box1.desc->dims;
  return {box1.desc->dtype, dims[0] * dims[1], dims[2]};
}

std::string keys(const mluopsRotatedIouShape& s) {
  return CaseKeys()("b", 1)("n", s.count)("numbers", s.numbers).text();
}

}  // namespace

Status check_rotated_iou_forward(const RotatedIouForwardArgs& a, mluopsRotatedIouForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.box1, a.box2, a.ious}));
  MLUOPS_RETURN_IF_FINISHED(check_pairs(a.box1, a.box2, a.ious));
  MLUOPS_RETURN_IF_FINISHED(check_data(a.handle, a.box1, {a.box1, a.box2}, {a.ious}));
  problem = {shape_of(a.box1), a.box1.data, a.box2.data, const_cast<void*>(a.ious.data)};
  return Status::go_on();
}

Status check_rotated_iou_backward(const RotatedIouBackwardArgs& a, mluopsRotatedIouBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.grads, a.box1, a.box2, a.grads1, a.grads2}));
  MLUOPS_RETURN_IF_FINISHED(check_pairs(a.box1, a.box2, a.grads));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grads1, a.box1));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.grads2, a.box1));
  MLUOPS_RETURN_IF_FINISHED(check_data(a.handle, a.box1, {a.grads, a.box1, a.box2}, {a.grads1, a.grads2}));
  problem = {shape_of(a.box1),
             a.grads.data,
             a.box1.data,
             a.box2.data,
             const_cast<void*>(a.grads1.data),
             const_cast<void*>(a.grads2.data)};
  return Status::go_on();
}

std::string case_keys(const mluopsRotatedIouForwardProblem& p) {
  return keys(p.shape);
}
std::string case_keys(const mluopsRotatedIouBackwardProblem& p) {
  return keys(p.shape);
}

}  // namespace mluops::op
