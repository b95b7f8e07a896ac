#include <omp.h>

#include "backends/cpu/parallel.h"

namespace mluops::cpu {

bool inside_openmp_region() {
  return omp_in_parallel() != 0;
}

namespace {

// libgomp ends the threads that a smaller team has no use for and starts them again for the next larger one, which
// takes milliseconds; libomp (clang) keeps them.
#if defined(__clang__)
constexpr bool kThreadsOutliveTeams = true;
#else
constexpr bool kThreadsOutliveTeams = false;
#endif

}  // namespace

void run_on_openmp(int tasks, int team, Task task, void* arg) {
  const int threads = kThreadsOutliveTeams ? tasks : team;
  // A team may be smaller than asked for, so tasks are shared out, not identified with threads.
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < tasks; ++i) task(arg, i);
}

}  // namespace mluops::cpu
