#include "test/support/settings.h"

#include <algorithm>
#include <cstdlib>

#include "test/support/sanitized.h"

#if MLUOPS_TEST_SANITIZED
// LLVM's OpenMP runtime keeps the memory of its thread teams until the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libomp";
}
#endif

namespace mluops::test {

const std::vector<std::string>& operators() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const OperatorCases& op : all_operators()) all.emplace_back(op.op);
    return all;
  }();
  return names;
}

std::optional<Case> selected_case() {
  const char* text = std::getenv("MLUOP_TEST_CASE");
  if (text == nullptr || *text == '\0') return std::nullopt;
  return Case::parse(text);
}

double test_scale() {
  const char* text = std::getenv("MLUOP_TEST_SCALE");
  if (text != nullptr && *text != '\0') return std::atof(text);
#if MLUOPS_TEST_SANITIZED
  return 0.1;
#else
  return 1.0;
#endif
}

int scaled(int count) {
  return std::max(1, static_cast<int>(count * test_scale()));
}

}  // namespace mluops::test
