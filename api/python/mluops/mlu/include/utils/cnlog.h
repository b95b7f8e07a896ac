// Log lines of extensions: CNLOG(INFO) << "text"; writes to stderr from the level that TORCH_MIN_CNLOG_LEVEL names on
// (DEBUG, INFO, WARNING, ERROR or FATAL, or their numbers -1 to 3), and nothing where the variable is not set.
#pragma once

#include <array>
#include <climits>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

namespace torch_mlu {

constexpr std::array<const char*, 5> kLogLevels{"DEBUG", "INFO", "WARNING", "ERROR", "FATAL"};

/// The number of a level, given by its name or its number; INT_MAX for any other text.
inline int log_level(const std::string& text) {
  for (int i = 0; i < static_cast<int>(kLogLevels.size()); ++i) {
    if (text == kLogLevels[static_cast<std::size_t>(i)] || text == std::to_string(i - 1)) return i - 1;
  }
  return INT_MAX;
}

inline int least_log_level() {
  static const char* const wanted = std::getenv("TORCH_MIN_CNLOG_LEVEL");
  static const int least = wanted == nullptr ? INT_MAX : log_level(wanted);
  return least;
}

class CNLogMessage {
 public:
  CNLogMessage(const char* level, const char* file, int line) {
    stream_ << "[" << level << "][" << file << ":" << line << "] ";
  }
  ~CNLogMessage() { std::cerr << stream_.str() + "\n" << std::flush; }
  CNLogMessage(const CNLogMessage&) = delete;
  CNLogMessage& operator=(const CNLogMessage&) = delete;
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace torch_mlu

#define CNLOG(level)                                                     \
  if (::torch_mlu::log_level(#level) < ::torch_mlu::least_log_level()) { \
  } else                                                                 \
    ::torch_mlu::CNLogMessage(#level, __FILE__, __LINE__).stream()
