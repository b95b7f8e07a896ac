#ifdef __APPLE__
#include <sys/mman.h>
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

bool mapped(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  char resident = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is all there is
  return address >= page && mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) == 0;
}

}  // namespace mluops

#endif
