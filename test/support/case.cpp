#include "test/support/case.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "test/support/sanitized.h"

#if MLUOPS_TEST_SANITIZED
// LLVM's OpenMP runtime keeps the memory of its thread teams until the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libomp";
}
#endif

namespace mluops::test {

Case Case::parse(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  if (!(words >> word)) throw std::runtime_error("empty case");
  Case c(word);
  if (std::find(operators().begin(), operators().end(), word) == operators().end()) {
    throw std::runtime_error("case: no operator is called " + word);
  }
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::runtime_error("case: wanted key=value, got " + word);
    c.set(word.substr(0, equals), word.substr(equals + 1));
  }
  return c;
}

const std::string* Case::find(const std::string& key) const {
  for (const auto& [k, v] : values_) {
    if (k == key) return &v;
  }
  return nullptr;
}

Case& Case::set(const std::string& key, const std::string& value) {
  for (auto& [k, v] : values_) {
    if (k == key) {
      v = value;
      return *this;
    }
  }
  values_.emplace_back(key, value);
  return *this;
}

Case& Case::set(const std::string& key, double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return set(key, std::string(buffer));
}

Case Case::as(const std::string& op) const {
  Case other = *this;
  other.op_ = op;
  return other;
}

bool Case::has(const std::string& key) const {
  return find(key) != nullptr;
}

double Case::real(const std::string& key) const {
  const std::string* value = find(key);
  if (value == nullptr) throw std::runtime_error("case " + text() + ": no " + key);
  return std::stod(*value);
}

std::string Case::text_or(const std::string& key, const std::string& fallback) const {
  const std::string* value = find(key);
  return value == nullptr ? fallback : *value;
}

std::string Case::text() const {
  std::string line = op_;
  for (const auto& [k, v] : values_) line += " " + k + "=" + v;
  return line;
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

std::string dtype_name(mluOpDataType_t dtype) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      return "half";
    case MLUOP_DTYPE_FLOAT:
      return "float";
    case MLUOP_DTYPE_DOUBLE:
      return "double";
    case MLUOP_DTYPE_BFLOAT16:
      return "bfloat16";
    case MLUOP_DTYPE_INT32:
      return "int32";
    default:
      return "other";
  }
}

}  // namespace mluops::test
