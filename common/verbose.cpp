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
  try {
    std::fprintf(stderr, "mluops: %s\n", printable(text).c_str());
  } catch (const std::exception&) {
    std::fprintf(stderr, "mluops: no memory for this line\n");
  }
}

void VerboseTimer::report(const Attempt& a, const Status& status) const noexcept {
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  std::fprintf(stderr, "mluops: %s,%s,%s,%s,%s,%.3f ms\n", a.op, a.backend, a.path.empty() ? "-" : a.path.c_str(),
               status_name(status.code()), a.text.c_str(), std::chrono::duration<double, std::milli>(elapsed).count());
}

}  // namespace mluops
