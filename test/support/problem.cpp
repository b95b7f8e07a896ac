#include "test/support/problem.h"

#include <stdexcept>

#include "test/support/encode.h"

namespace mluops::test {
namespace {

bool starts_with(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

std::size_t misalign_of(const Case& text) {
  return static_cast<std::size_t>(text.real_or("misalign", 0));
}

}  // namespace

Tensor& Problem::add_input(const std::string& name, mluOpTensorLayout_t layout, mluOpDataType_t type,
                           std::vector<std::int64_t> dims) {
  inputs.push_back(std::make_unique<Tensor>(name, layout, type, std::move(dims), misalign_of(text)));
  return *inputs.back();
}

Tensor& Problem::add_output(const std::string& name, mluOpTensorLayout_t layout, mluOpDataType_t type,
                            std::vector<std::int64_t> dims, Comparison comparison, double term_size) {
  outputs.push_back(std::make_unique<Tensor>(name, layout, type, std::move(dims), misalign_of(text)));
  comparisons.push_back(comparison);
  term_sizes.push_back(term_size);
  return *outputs.back();
}

Problem make_problem(const Case& text, mluOpDataType_t dtype) {
  const std::string& op = text.op();
  if (starts_with(op, "carafe")) return make_carafe(text, dtype);
  if (starts_with(op, "psamask")) return make_psamask(text, dtype);
  if (starts_with(op, "three_interpolate")) return make_three_interpolate(text, dtype);
  if (starts_with(op, "deform_roi_pool")) return make_deform_roi_pool(text, dtype);
  if (starts_with(op, "border_align")) return make_border_align(text, dtype);
  throw std::runtime_error("no problem for " + op);
}

reference::Values admissible(const Problem& problem, reference::Values values) {
  const std::string type = problem.text.text_or("values", "");
  if (type.empty()) return values;
  for (double& v : values) v = rounded(type == "half" ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_BFLOAT16, v);
  return values;
}

reference::Values uniform(const Problem& problem, Random& random, std::int64_t count, double low, double high) {
  reference::Values values(static_cast<std::size_t>(count));
  for (double& v : values) v = random.real(low, high);
  return admissible(problem, std::move(values));
}

}  // namespace mluops::test
