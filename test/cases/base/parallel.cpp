#include "test/cases/base/parallel.h"

#ifndef _WIN32
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mluops::cases {
namespace {

/// What a thread throws is thrown on by the caller.
class FirstError {
 public:
  template <class Body>
  void watch(const Body& body) {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

#ifdef _WIN32
int available_cpus() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}
#else
int available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}
#endif

void parallel_slices(std::int64_t count, std::int64_t grain,
                     const std::function<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const std::int64_t slices = std::min<std::int64_t>(available_cpus(), grains);
  const auto bound = [&](std::int64_t i) { return std::min(count, grains * i / slices * grain); };
  if (slices <= 1) return count > 0 ? body(0, count) : void();
  FirstError error;
  {
    std::vector<std::jthread> threads;
    for (std::int64_t i = 0; i < slices; ++i) {
      threads.emplace_back([&, i] { error.watch([&] { body(bound(i), bound(i + 1)); }); });
    }
  }
  error.rethrow();
}

void parallel_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  FirstError error;
  const auto work = [&] {
    error.watch([&] {
      for (std::int64_t i = next++; i < tasks; i = next++) body(i);
    });
  };
  {
    std::vector<std::jthread> threads;
    for (std::int64_t i = std::min<std::int64_t>(available_cpus(), tasks); i > 0; --i) threads.emplace_back(work);
  }
  error.rethrow();
}

}  // namespace mluops::cases
