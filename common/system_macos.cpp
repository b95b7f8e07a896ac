#ifdef __APPLE__
#include <unistd.h>

#include "common/system.h"

namespace mluops {

// Threads are bound to no processor there.
int processors_of_caller() {
  return 0;
}

int processors_of_process() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 0;
}

std::int64_t process_number() {
  return getpid();
}

}  // namespace mluops

#endif
