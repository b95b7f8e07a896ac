// Strings as JSON has them.
#pragma once

#include <cstdio>
#include <string>

namespace mluops::test {

inline std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    constexpr unsigned char kSpace = 0x20;
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (code >= kSpace) {
      out += c;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(code));
      out += escaped;
    }
  }
  return out + "\"";
}

}  // namespace mluops::test
