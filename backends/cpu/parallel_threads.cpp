#include <system_error>
#include <thread>
#include <vector>

#include "backends/cpu/parallel.h"

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

}  // namespace mluops::cpu
