#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "backends/cpu/runtime/parallel.h"

namespace mluops::cpu {

void run_on_new_threads(int tasks, Task task, void* arg) {
  std::vector<std::jthread> threads;
  int started = 1;  // task 0 is the caller's
  try {
    threads.reserve(static_cast<std::size_t>(tasks - 1));
    for (; started < tasks; ++started) threads.emplace_back(task, arg, started);
  } catch (const std::exception&) {  // no thread or no memory: the caller does what is left
  }
  task(arg, 0);
  for (int i = started; i < tasks; ++i) task(arg, i);
}

namespace {

bool can_start(int count) {
  std::latch all_asked(1);
  std::vector<std::jthread> threads;
  try {
    threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) threads.emplace_back([&] { all_asked.wait(); });
  } catch (const std::exception&) {
    all_asked.count_down();
    return false;
  }
  all_asked.count_down();
  return true;
}

}  // namespace

bool team_can_start(int team) {
  thread_local int proven = 1;
  if (team <= proven) return true;
  // Twice as many: the kernel still counts those that ended for a moment, when the runtime starts its own.
  if (!can_start(2 * (team - 1))) return false;
  proven = team;
  return true;
}

}  // namespace mluops::cpu
