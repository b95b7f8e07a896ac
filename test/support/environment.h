// Variables of the process' environment.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace mluops::test {

inline void set_variable(const std::string& name, const std::string& value) {
#ifdef _WIN32
  _putenv_s(name.c_str(), value.c_str());
#else
  setenv(name.c_str(), value.c_str(), 1);
#endif
}

inline void unset_variable(const std::string& name) {
#ifdef _WIN32
  _putenv_s(name.c_str(), "");
#else
  unsetenv(name.c_str());
#endif
}

/// Variables that are set for its lifetime.
class Environment {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  Environment(std::initializer_list<Variables::value_type> variables) : Environment(Variables(variables)) {}
  explicit Environment(Variables variables) : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) set_variable(name, value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : variables_) unset_variable(name);
  }

 private:
  Variables variables_;
};

}  // namespace mluops::test
