#include "common/op/prior_box.h"

#include <limits>

#include "common/case_text.h"
#include "common/shape.h"

namespace mluops::op {
namespace {

Status check_numbers(const PriorBoxArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(at_least("height", a.height, 0));
  MLUOPS_RETURN_IF_FINISHED(at_least("width", a.width, 0));
  MLUOPS_RETURN_IF_FINISHED(at_least("im_height", a.im_height, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("im_width", a.im_width, 1));
  MLUOPS_RETURN_IF_FINISHED(is_positive("step_h", a.step_h));
  return is_positive("step_w", a.step_w);
}

/// Boxes of a pixel; more than any tensor has where that leaves int64.
std::int64_t count_priors(const PriorBoxArgs& a) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  const std::int64_t squares = is_empty(a.max_sizes) ? 0 : a.min_sizes.desc->dims[0];
  const std::int64_t all = checked_product({a.min_sizes.desc->dims[0], a.aspect_ratios.desc->dims[0]}).value_or(kMost);
  return std::min(all, kMost) + std::min(squares, kMost);
}

Status check_shapes(const PriorBoxArgs& a) {
  for (const TensorArg& t : {a.min_sizes, a.aspect_ratios, a.variances, a.max_sizes}) {
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 1));
  }
  for (const TensorArg& t : {a.output, a.var}) MLUOPS_RETURN_IF_FINISHED(has_rank(t, 4));
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.min_sizes));
  MLUOPS_RETURN_IF_FINISHED(not_empty(a.aspect_ratios));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.variances, 0, 4, "x1, y1, x2, y2"));
  if (!is_empty(a.max_sizes)) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(a.max_sizes, 0, a.min_sizes.desc->dims[0], "those of min_sizes, or none"));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, 0, a.height, "height"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, 1, a.width, "width"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, 2, count_priors(a), "min_sizes times aspect_ratios, plus max_sizes"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, 3, 4, "x1, y1, x2, y2"));
  return same_dims(a.var, a.output);
}

}  // namespace

Status check_prior_box(const PriorBoxArgs& a, mluopsPriorBoxProblem& problem) {
  const auto all = {a.min_sizes, a.aspect_ratios, a.variances, a.max_sizes, a.output, a.var};
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(a));
  MLUOPS_RETURN_IF_FINISHED(check_shapes(a));
  MLUOPS_RETURN_IF_FINISHED(is_float(a.min_sizes, a.handle->contract));
  for (const TensorArg& t : all) MLUOPS_RETURN_IF_FINISHED(same_dtype(t, a.min_sizes));
  MLUOPS_RETURN_IF_FINISHED(are_arrays(all));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  if (is_empty(a.output)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.min_sizes, a.aspect_ratios, a.variances, a.output, a.var}));
  if (!is_empty(a.max_sizes)) MLUOPS_RETURN_IF_FINISHED(have_data({a.max_sizes}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.min_sizes, a.aspect_ratios, a.variances, a.max_sizes}, {a.output, a.var}));
  const mluOpDataType_t dtype = a.min_sizes.desc->dtype;
  problem = {
      {dtype, a.min_sizes.desc->dims[0], a.aspect_ratios.desc->dims[0], a.max_sizes.desc->dims[0], a.height, a.width},
      a.min_sizes.data,
      a.aspect_ratios.data,
      a.variances.data,
      is_empty(a.max_sizes) ? nullptr : a.max_sizes.data,
      const_cast<void*>(a.output.data),
      const_cast<void*>(a.var.data),
      a.im_height,
      a.im_width,
      a.step_h.of(dtype),
      a.step_w.of(dtype),
      a.offset.of(dtype),
      a.clip ? 1 : 0,
      a.min_max_aspect_ratios_order ? 1 : 0};
  return Status::go_on();
}

std::string case_keys(const mluopsPriorBoxProblem& p) {
  const mluopsPriorBoxShape& s = p.shape;
  return CaseKeys()("h", s.h)("w", s.w)("sizes", s.sizes)("ratios", s.ratios)("squares", s.max_sizes != 0 ? 1 : 0)(
             "imh", p.im_height)("imw", p.im_width)
      .scalar("steph", p.step_h, s.dtype)
      .scalar("stepw", p.step_w, s.dtype)
      .scalar("offset", p.offset, s.dtype)("clip", p.clip)("minmax", p.min_max_order)
      .text();
}

}  // namespace mluops::op
