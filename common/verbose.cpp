#include "common/verbose.h"

#include <cstdio>

#include "common/env.h"

namespace mluops {

int verbose_level() noexcept {
  static const int level = [] {
    try {
      return static_cast<int>(env_integer("MLUOP_VERBOSE", 0, 9).value_or(0));
    } catch (...) {
      return 0;
    }
  }();
  return level;
}

void verbose_line(const std::string& text) noexcept {
  std::fprintf(stderr, "mluops: %s\n", text.c_str());
}

void VerboseTimer::report(const char* op, const char* backend, const Status& status) const noexcept {
  if (verbose_level() < 2) return;
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  std::fprintf(stderr, "mluops: %s,%s,%s,%.3f ms\n", op, backend, status_name(status.code()),
               std::chrono::duration<double, std::milli>(elapsed).count());
}

}  // namespace mluops
