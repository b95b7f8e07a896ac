#include <omp.h>

#include "backends/cpu/parallel.h"

namespace mluops::cpu {

bool inside_openmp_region() {
  return omp_in_parallel() != 0;
}

// Always the same team: libgomp ends the threads that a smaller one has no use for and starts them again for the next
// larger one, which takes milliseconds; libomp allocates. Not `omp for`: libomp would allocate in each.
void run_on_openmp(int tasks, int team, Task task, void* arg) {
#pragma omp parallel num_threads(team)
  // A team may be smaller than asked for, so tasks are shared out, not identified with threads.
  for (int i = omp_get_thread_num(); i < tasks; i += omp_get_num_threads()) task(arg, i);
}

}  // namespace mluops::cpu
