// A problem as short text, e.g. "carafe_forward n=1 h=3 w=4 c=6 k=3 g=2 s=2": it names a test, and selects it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mlu_op.h"

namespace mluops::test {

/// The ten operators, by the names of the backend's members.
inline const std::vector<std::string>& operators() {
  static const std::vector<std::string> names = {
      "carafe_forward",          "carafe_backward",           "psamask_forward",
      "psamask_backward",        "three_interpolate_forward", "three_interpolate_backward",
      "deform_roi_pool_forward", "deform_roi_pool_backward",  "border_align_forward",
      "border_align_backward"};
  return names;
}

class Case {
 public:
  explicit Case(std::string op) : op_(std::move(op)) {}
  /// Throws std::runtime_error when text is not "op key=value ...".
  static Case parse(const std::string& text);

  const std::string& op() const { return op_; }
  Case& set(const std::string& key, const std::string& value);
  Case& set(const std::string& key, double value);
  /// The same problem under the name of another operator.
  Case as(const std::string& op) const;

  bool has(const std::string& key) const;
  /// Value of a key that must be there.
  double real(const std::string& key) const;
  std::int64_t size(const std::string& key) const { return static_cast<std::int64_t>(real(key)); }
  /// Value of a key, or fallback.
  double real_or(const std::string& key, double fallback) const { return has(key) ? real(key) : fallback; }
  std::string text_or(const std::string& key, const std::string& fallback) const;
  std::string text() const;

 private:
  const std::string* find(const std::string& key) const;

  std::string op_;
  std::vector<std::pair<std::string, std::string>> values_;
};

/// The case named by MLUOP_TEST_CASE, if any: then nothing else runs.
std::optional<Case> selected_case();

/// Share of the random cases to run: MLUOP_TEST_SCALE, by default 1 (0.1 under sanitizers).
double test_scale();
/// count scaled by test_scale, at least 1.
int scaled(int count);

std::string dtype_name(mluOpDataType_t dtype);

}  // namespace mluops::test
