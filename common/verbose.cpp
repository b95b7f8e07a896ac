#include "common/verbose.h"

#include <cstdio>
#include <mutex>
#include <set>

#include "common/env.h"

namespace mluops {

namespace {

constexpr int kMostLevel = 9;  ///< from 2 on all the same

int level_of_environment() noexcept {
  static const int level = [] {
    try {
      std::string problem;
      const auto said = env_integer("MLUOP_VERBOSE", 0, kMostLevel, &problem);
      if (!problem.empty()) say_once(problem);
      return static_cast<int>(said.value_or(0));
    } catch (...) {
      return 0;
    }
  }();
  return level;
}

bool timestamps() {
  static const bool wanted = [] {
    std::string problem;
    const auto said = env_integer("MLUOP_VERBOSE_TIMESTAMP", 0, 1, &problem);
    if (!problem.empty()) say_once(problem);
    return said.value_or(0) == 1;
  }();
  return wanted;
}

/// "1764169512345.678,", milliseconds since 1970; "" where nobody asked.
std::string timestamp() {
  if (!timestamps()) return "";
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.3f,", std::chrono::duration<double, std::milli>(now).count());
  return digits;
}

int& level_of_thread() noexcept {
  static thread_local int level = -1;
  return level;
}

}  // namespace

int verbose_level() noexcept {
  const int own = level_of_thread();
  return own >= 0 ? own : level_of_environment();
}

void set_verbose_level_of_thread(int level) noexcept {
  level_of_thread() = level;
}

void verbose_line(const std::string& text) noexcept {
  try {
    std::fprintf(stderr, "mluops: %s%s\n", timestamp().c_str(), printable(text).c_str());
  } catch (const std::exception&) {
    std::fprintf(stderr, "mluops: no memory for this line\n");
  }
}

void say_once(const std::string& text) noexcept {
  try {
    static std::mutex& mutex = *new std::mutex;  // a thread may say something while the process ends
    static std::set<std::string>& said = *new std::set<std::string>;
    {
      const std::lock_guard lock(mutex);
      if (!said.insert(text).second) return;
    }
    std::fprintf(stderr, "mluops: %s\n", printable(text).c_str());
  } catch (const std::exception&) {
    std::fprintf(stderr, "mluops: no memory for this line\n");
  }
}

void VerboseTimer::report(const Attempt& a, const Status& status) const noexcept {
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  char ms[40];
  std::snprintf(ms, sizeof ms, "%.3f ms", std::chrono::duration<double, std::milli>(elapsed).count());
  try {
    verbose_line(std::string(a.op) + "," + a.backend + "," + (a.path.empty() ? "-" : a.path) + "," +
                 status_name(status.code()) + "," + a.text + "," + ms);
  } catch (const std::exception&) {
    std::fprintf(stderr, "mluops: no memory for this line\n");
  }
}

}  // namespace mluops
