#include "test/replay/watchdog.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "common/text.h"
#include "test/support/sanitized.h"

namespace mluops::replay {

Watchdog::Watchdog(std::string what, int seconds)
    : waits_([this, what = std::move(what), seconds] {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return done_; })) return;
        std::fflush(stdout);
        std::fprintf(stderr, "mluops_replay: %s: takes more than %d s (--seconds)\n", printable(what).c_str(), seconds);
        _exit(2);  // whatever runs cannot be asked to stop
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  waits_.join();
}

void limit_memory(std::uintmax_t bytes) {
  if (MLUOPS_TEST_SANITIZED) return;
  struct rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_max == RLIM_INFINITY || bytes < limit.rlim_max) limit.rlim_cur = bytes;
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace mluops::replay
