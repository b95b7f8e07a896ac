#include "common/op/focal_loss.h"

#include <limits>

#include "common/case_text.h"

namespace mluops::op {
namespace {

constexpr double kMostGammaBackward = 10000;

/// Which values a target may have; mmcv reads outside its tensors at others.
struct Classes {
  std::int64_t least, most;
  const char* meaning;
};

bool has_weight(const FocalLossArgs& a) {
  return a.weight.desc != nullptr && !is_empty(a.weight);
}

Status check_modes(const FocalLossModes& m, bool fast) {
  if (m.prefer != MLUOP_COMPUTATION_HIGH_PRECISION && !(fast && m.prefer == MLUOP_COMPUTATION_FAST)) {
    return Status::not_supported(std::string("prefer: wanted ") + (fast ? "COMPUTATION_FAST or " : "") +
                                 "COMPUTATION_HIGH_PRECISION, got " + std::to_string(m.prefer));
  }
  if (m.reduction == MLUOP_LOSS_REDUCTION_NONE) return Status::go_on();
  return Status::not_supported("reduction: wanted LOSS_REDUCTION_NONE, got " + std::to_string(m.reduction));
}

Status check_gamma(double gamma, double most) {
  if (gamma >= 0 && gamma <= most) return Status::go_on();
  const std::string upper = most < std::numeric_limits<double>::infinity() ? " and <= " + std::to_string(most) : "";
  return Status::not_supported("gamma: wanted >= 0" + upper + ", got " + std::to_string(gamma));
}

Status check_weight(const FocalLossArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_layout(a.weight, MLUOP_LAYOUT_ARRAY));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.weight, 1));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.weight, a.input));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.weight, 0, a.input.desc->dims[1], "the classes of the input"));
  return is_dense(a.weight, MLUOP_STATUS_NOT_SUPPORTED);
}

/// A result of rank 2 is like the input, one of rank 1 like the target.
Status check_form(const FocalLossArgs& a, int result_rank) {
  const auto all = {a.input, a.target, a.result};
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.input, 2));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.target, 1));
  MLUOPS_RETURN_IF_FINISHED(has_rank(a.result, result_rank));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.input, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(a.target, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(a.result, a.input));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.target, 0, a.input.desc->dims[0], "the rows of the input"));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.result, result_rank == 2 ? a.input : a.target));
  if (has_weight(a)) MLUOPS_RETURN_IF_FINISHED(check_weight(a));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  return is_indexable(a.input, 1);
}

Status check_targets(const TensorArg& target, const Classes& classes) {
  const auto* const values = static_cast<const std::int32_t*>(target.data);
  for (std::int64_t i = 0; i < target.desc->dims[0]; ++i) {
    if (values[i] >= classes.least && values[i] <= classes.most) continue;
    return Status::bad_param(std::string(target.name) + ": wanted " + classes.meaning + " (at most " +
                             std::to_string(classes.most) + "), got " + std::to_string(values[i]) + " in row " +
                             std::to_string(i));
  }
  return Status::go_on();
}

Status check_data(const FocalLossArgs& a, const Classes& classes, mluopsFocalLossProblem& problem) {
  const void* const weight = has_weight(a) ? a.weight.data : nullptr;
  if (is_empty(a.input)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.target, a.result}));
  if (has_weight(a)) MLUOPS_RETURN_IF_FINISHED(have_data({a.weight}));
  const TensorArg weights = {a.weight.name, weight == nullptr ? nullptr : a.weight.desc, weight};
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.target, weights}, {a.result}));
  MLUOPS_RETURN_IF_FINISHED(check_targets(a.target, classes));
  const auto& dims = a.input.desc->dims;
  problem = {{a.input.desc->dtype, dims[0], dims[1], a.alpha.value, a.gamma.value},
             a.input.data,
             static_cast<const std::int32_t*>(a.target.data),
             weight,
             const_cast<void*>(a.result.data),
             a.alpha.of(a.input.desc->dtype),
             a.gamma.of(a.input.desc->dtype)};
  return Status::go_on();
}

Status have_arguments(const FocalLossArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  return have_descs({a.input, a.target, a.result});
}

constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();

Status check_sigmoid(const FocalLossArgs& a, mluopsFocalLossProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a, 2));
  const std::int64_t c = a.input.desc->dims[1];
  const Classes weighted = {0, c - 1, "a class with a weight"};
  const Classes plain = {kLeast, c, "a class or background"};
  return check_data(a, has_weight(a) ? weighted : plain, problem);
}

Status check_softmax(const FocalLossArgs& a, int result_rank, mluopsFocalLossProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(have_arguments(a));
  MLUOPS_RETURN_IF_FINISHED(check_gamma(a.gamma.exact, std::numeric_limits<double>::infinity()));
  MLUOPS_RETURN_IF_FINISHED(check_form(a, result_rank));
  return check_data(a, {kLeast, a.input.desc->dims[1] - 1, "a class or a negative number"}, problem);
}

}  // namespace

Status check_focal_loss_sigmoid_forward(const FocalLossArgs& a, const FocalLossModes& modes,
                                        mluopsFocalLossProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(have_arguments(a));
  MLUOPS_RETURN_IF_FINISHED(check_modes(modes, true));
  MLUOPS_RETURN_IF_FINISHED(check_gamma(a.gamma.exact, std::numeric_limits<double>::infinity()));
  return check_sigmoid(a, problem);
}

Status check_focal_loss_sigmoid_backward(const FocalLossArgs& a, const FocalLossModes& modes,
                                         mluopsFocalLossProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(have_arguments(a));
  MLUOPS_RETURN_IF_FINISHED(check_modes(modes, false));
  MLUOPS_RETURN_IF_FINISHED(check_gamma(a.gamma.exact, kMostGammaBackward));
  return check_sigmoid(a, problem);
}

Status check_focal_loss_softmax_forward(const FocalLossArgs& a, mluopsFocalLossProblem& problem) {
  return check_softmax(a, 1, problem);
}

Status check_focal_loss_softmax_backward(const FocalLossArgs& a, mluopsFocalLossProblem& problem) {
  return check_softmax(a, 2, problem);
}

std::string case_keys(const mluopsFocalLossProblem& p) {
  const mluopsFocalLossShape& s = p.shape;
  CaseKeys keys = CaseKeys()("n", s.n)("c", s.c);
  keys.scalar("alpha", p.exact_alpha, s.dtype).scalar("gamma", p.exact_gamma, s.dtype);
  return keys("weight", p.weight != nullptr ? 1 : 0).text();
}

}  // namespace mluops::op
