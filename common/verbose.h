// MLUOP_VERBOSE: what the library says on stderr, nothing by default.
#pragma once

#include <chrono>
#include <string>

#include "common/status.h"
#include "common/text.h"

namespace mluops {

/// 0 silent, 1 failures, 2 also one line per operator run; MLUOP_VERBOSE, read once.
int verbose_level() noexcept;

/// One line on stderr: "mluops: <text>", made printable.
void verbose_line(const std::string& text) noexcept;

/// One attempt of one backend at one operator, as a line that others read.
struct Attempt {
  const char* op;
  const char* backend;
  std::string path;  ///< that the backend took; "" where it has none
  std::string text;  ///< the problem (common/case_text.h)
};

/// Times one attempt, when the level asks for it.
class VerboseTimer {
 public:
  VerboseTimer() {
    if (verbose_level() >= 2) start_ = std::chrono::steady_clock::now();
  }
  void report(const Attempt& attempt, const Status& status) const noexcept;

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace mluops
