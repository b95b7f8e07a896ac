#include "common/env.h"

#include <cerrno>
#include <cstdlib>

#include "common/trust.h"

namespace mluops {

namespace {

std::optional<std::string> non_empty(const char* value) {
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> env_text(const char* name) {
  return non_empty(std::getenv(name));
}

std::optional<std::string> secure_env_text(const char* name) {
  return non_empty(secure_variable(name));
}

std::optional<long long> env_integer(const char* name, long long low, long long high, std::string* problem) {
  const std::optional<std::string> text = env_text(name);
  if (!text) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text->c_str(), &end, 10);
  if (errno == 0 && *end == '\0' && value >= low && value <= high) return value;
  if (problem != nullptr) {
    *problem = std::string(name) + ": wanted a whole number from " + std::to_string(low) + " to " +
               std::to_string(high) + ", got \"" + *text + "\"";
  }
  return std::nullopt;
}

}  // namespace mluops
