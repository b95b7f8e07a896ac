#include "backends/cpu/runtime/parallel.h"

#ifdef MLUOPS_CPU_TBB
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace mluops::cpu {

bool has_tbb() {
  return true;
}

void run_on_tbb(int tasks, Task task, void* arg) {
  // Isolated: while it waits, this thread must not pick up a task of the caller's that calls into the same handle,
  // whose mutex it holds.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, tasks, 1),
        [&](const tbb::blocked_range<int>& range) {
          for (int i = range.begin(); i < range.end(); ++i) task(arg, i);
        },
        tbb::simple_partitioner{});
  });
}

}  // namespace mluops::cpu

#else  // a build without TBB

namespace mluops::cpu {

bool has_tbb() {
  return false;
}

void run_on_tbb(int tasks, Task task, void* arg) {
  run_on_new_threads(tasks, task, arg);
}

}  // namespace mluops::cpu

#endif
