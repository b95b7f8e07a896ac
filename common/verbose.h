// MLUOP_VERBOSE: what the library says on stderr, nothing by default. A variable that is not understood, or a folder
// that cannot be written, is said once.
#pragma once

#include <chrono>
#include <string>

#include "common/status.h"
#include "common/text.h"

namespace mluops {

/// 0 silent, 1 failures, 2 also one line per operator run: as set for this thread, else MLUOP_VERBOSE, read once.
int verbose_level() noexcept;
/// -1: as MLUOP_VERBOSE says.
void set_verbose_level_of_thread(int level) noexcept;

/// One line on stderr: "mluops: <text>", made printable; with MLUOP_VERBOSE_TIMESTAMP=1 "mluops: <ms since
/// 1970>,<text>".
void verbose_line(const std::string& text) noexcept;

/// The line, once in a process, whatever the level: a setting that has no effect is nobody's silence.
void say_once(const std::string& text) noexcept;

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
