// A problem as short text, "carafe_forward n=2 h=25 w=38 c=256 k=5 g=1 s=2 dtype=float": what MLUOP_VERBOSE=2 prints
// and
// ./run bench --case, mluops_replay --case and the tests take. It has sizes and scalars; data are made up from it.
#pragma once

#include <charconv>
#include <string>

#include "common/dtype.h"
#include "mluops/backend_types.h"

namespace mluops::op {

/// "n=2 h=25": keys as the operator's file in test/cases has them.
class CaseKeys {
 public:
  /// Shortest digits that read back as the same number.
  template <class Number>
  CaseKeys& operator()(const char* key, Number value) {
    char digits[48];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return add(key, std::string(digits, end));
  }
  /// A float argument: in double where the call is.
  CaseKeys& scalar(const char* key, double value, mluOpDataType_t dtype) {
    return dtype == MLUOP_DTYPE_DOUBLE ? (*this)(key, value) : (*this)(key, static_cast<float>(value));
  }
  CaseKeys& operator()(const char* key, const char* word) { return add(key, word); }
  CaseKeys& operator()(const char* key, const std::string& word) { return add(key, word); }
  const std::string& text() const { return text_; }

 private:
  CaseKeys& add(const char* key, const std::string& word) {
    text_.append(text_.empty() ? "" : " ").append(key).append("=").append(word);
    return *this;
  }

  std::string text_;
};

/// "3", or "3x1x1" where the axes differ.
template <class Number>
std::string axes_text(const Number* sizes, int count) {
  std::string text = std::to_string(sizes[0]);
  bool all_one = true;
  for (int i = 1; i < count; ++i) all_one = all_one && sizes[i] == sizes[0];
  for (int i = 1; i < count && !all_one; ++i) text.append("x").append(std::to_string(sizes[i]));
  return text;
}

// case_keys(problem) for every operator, beside its rules (common/op/<family>.cpp).
#define MLUOPS_OPERATOR(name, Problem) std::string case_keys(const Problem& problem);
#include "mluops/operators.inc"

/// "float": as the option --dtype of tools has it.
std::string short_dtype_name(mluOpDataType_t dtype);

template <class Problem>
mluOpDataType_t case_dtype(const Problem& problem) {
  return problem.shape.dtype;
}
/// A case of AdamW has the type of the parameters; the dtype of its problem is that of the gradients.
inline mluOpDataType_t case_dtype(const mluopsAdamWProblem&) {
  return MLUOP_DTYPE_FLOAT;
}

template <class Problem>
std::string case_text(const char* op, const Problem& problem, mluOpExtContract_t contract) {
  std::string text = std::string(op) + " " + case_keys(problem);
  if constexpr (requires { problem.layout; }) {
    if (problem.layout == MLUOP_LAYOUT_NCHW) text += " layout=nchw";
  }
  if constexpr (requires { problem.shape.dtype; }) text += " dtype=" + short_dtype_name(case_dtype(problem));
  return contract == MLUOP_EXT_CONTRACT_EXTENDED ? text + " contract=extended" : text;
}

}  // namespace mluops::op
