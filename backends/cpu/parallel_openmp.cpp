#include <omp.h>

#include "backends/cpu/parallel.h"

namespace mluops::cpu {

bool inside_openmp_region() {
  return omp_in_parallel() != 0;
}

void run_on_openmp(int tasks, Task task, void* arg) {
  // A team may be smaller than asked for, so tasks are shared out, not identified with threads.
#pragma omp parallel for num_threads(tasks) schedule(static, 1)
  for (int i = 0; i < tasks; ++i) task(arg, i);
}

}  // namespace mluops::cpu
