#include "backends/cpu/runtime/parallel.h"

#ifdef MLUOPS_CPU_OPENMP
#include <omp.h>

namespace mluops::cpu {

bool has_openmp() {
  return true;
}

bool inside_openmp_region() {
  return omp_in_parallel() != 0;
}

// Always the same team: libgomp ends the threads that a smaller one has no use for and starts them again for the next
// larger one, which takes milliseconds; libomp allocates. Not `omp for`: libomp would allocate in each.
void run_on_openmp(int tasks, int team, Task task, void* arg) {
#pragma omp parallel num_threads(team)
  // A team may be smaller than wanted, so tasks are shared out, not identified with threads.
  for (int i = omp_get_thread_num(); i < tasks; i += omp_get_num_threads()) task(arg, i);
}

}  // namespace mluops::cpu

#else  // a build without OpenMP

namespace mluops::cpu {

bool has_openmp() {
  return false;
}

bool inside_openmp_region() {
  return false;
}

void run_on_openmp(int tasks, int, Task task, void* arg) {
  run_on_new_threads(tasks, task, arg);
}

}  // namespace mluops::cpu

#endif
