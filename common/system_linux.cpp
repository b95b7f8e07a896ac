#ifdef __linux__
#include <sched.h>
#include <unistd.h>

#include "common/system.h"

namespace mluops {

namespace {

int processors_of(pid_t thread) {
  cpu_set_t mask;
  return sched_getaffinity(thread, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

}  // namespace

int processors_of_caller() {
  return processors_of(0);
}

int processors_of_process() {
  return processors_of(getpid());
}

std::int64_t process_number() {
  return getpid();
}

}  // namespace mluops

#endif
