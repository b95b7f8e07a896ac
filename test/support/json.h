// Strings as JSON has them.
#pragma once

#include <string>

#include "common/text.h"

namespace mluops::test {

inline std::string json_string(const std::string& text) {
  return std::string("\"").append(json_escaped(text)).append("\"");
}

}  // namespace mluops::test
