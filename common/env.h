// Environment variables, read where the documentation says they are read (docs/environment.md).
#pragma once

#include <optional>
#include <string>

namespace mluops {

/// The variable's text; nullopt when unset or empty.
std::optional<std::string> env_text(const char* name);
/// env_text(), but nullopt in a program that runs with more rights than its caller (setuid, setgid, capabilities): for
/// variables that name code to run or where to write.
std::optional<std::string> secure_env_text(const char* name);
/// A whole number in [low, high]; nullopt when unset, empty or not such a number (then *problem, if given, says so).
std::optional<long long> env_integer(const char* name, long long low, long long high, std::string* problem = nullptr);

}  // namespace mluops
