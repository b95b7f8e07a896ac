#include "common/op/adam_w.h"
#include "common/op/adam_w_form.h"

namespace mluops::op {
namespace {

/// A number in [0, 1].
Status is_share(const char* name, float value) {
  if (value >= 0 && value <= 1) return Status::go_on();
  return Status::bad_param(text_of(name, ": wanted 0 to 1, got ", value));
}

Status check_factors(const AdamWArgs& args) {
  MLUOPS_RETURN_IF_FINISHED(is_number("lr", static_cast<double>(args.lr.value)));
  MLUOPS_RETURN_IF_FINISHED(is_share("beta1", args.beta1.value));
  MLUOPS_RETURN_IF_FINISHED(is_share("beta2", args.beta2.value));
  MLUOPS_RETURN_IF_FINISHED(is_number("bias1", static_cast<double>(args.bias1.value)));
  MLUOPS_RETURN_IF_FINISHED(is_number("bias2", static_cast<double>(args.bias2.value)));
  return is_positive("epsilon", args.epsilon);
}

/// param_h: the parameters in bfloat16, which may be absent, or the number of the step.
Status check_param_h(const AdamWArgs& args, bool is_step) {
  const TensorArg& t = args.param_h;
  if (is_step) {
    MLUOPS_RETURN_IF_FINISHED(have_descs({t}));
    MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_FLOAT));
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 1));
    return has_dim(t, 0, 1, "the number of the step");
  }
  MLUOPS_RETURN_IF_FINISHED(present_or_absent(t));
  if (t.desc == nullptr) return Status::go_on();
  MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_BFLOAT16));
  MLUOPS_RETURN_IF_FINISHED(same_dims(t, args.param));
  return is_dense(t, MLUOP_STATUS_NOT_SUPPORTED);
}

}  // namespace

Status check_adam_w_arguments(const AdamWArgs& args) {
  MLUOPS_RETURN_IF_FINISHED(not_null("adamw_desc", args.adamw_desc));
  MLUOPS_RETURN_IF_FINISHED(have_descs({args.param, args.momentum, args.velocity, args.grad}));
  const bool is_step = args.adamw_desc->need_remove_nan;
  MLUOPS_RETURN_IF_FINISHED(check_each({args.param, args.momentum, args.velocity}, has_dtype, MLUOP_DTYPE_FLOAT));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(args.grad, is_step ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_BFLOAT16));
  MLUOPS_RETURN_IF_FINISHED(check_factors(args));
  MLUOPS_RETURN_IF_FINISHED(check_each({args.momentum, args.velocity, args.grad}, same_dims, args.param));
  MLUOPS_RETURN_IF_FINISHED(check_param_h(args, is_step));
  MLUOPS_RETURN_IF_FINISHED(
      check_each({args.param, args.momentum, args.velocity, args.grad}, is_dense, MLUOP_STATUS_NOT_SUPPORTED));
  MLUOPS_RETURN_IF_FINISHED(
      check_each({args.param, args.momentum, args.velocity, args.grad}, is_countable, args.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(not_empty(args.param));
  MLUOPS_RETURN_IF_FINISHED(check_each({args.param, args.momentum, args.velocity, args.grad}, has_data));
  if (is_step) MLUOPS_RETURN_IF_FINISHED(has_data(args.param_h));
  return share_nothing({args.grad}, {args.param, args.param_h, args.momentum, args.velocity});
}

std::int64_t count_of(const TensorArg& t) {
  return t.desc->elements;
}

}  // namespace mluops::op
