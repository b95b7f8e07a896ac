#include "common/system.h"

#include <sys/stat.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace mluops {

bool is_folder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

#ifdef _WIN32

int processors_of_caller() {
  return 0;
}

int processors_of_process() {
  DWORD_PTR own = 0, all = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all)) return 0;
  return __builtin_popcountll(own);
}

std::int64_t process_number() {
  return GetCurrentProcessId();
}

bool mapped(std::uintptr_t address) {
  MEMORY_BASIC_INFORMATION area;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is all there is
  const SIZE_T known = VirtualQuery(reinterpret_cast<const void*>(address), &area, sizeof(area));
  return known != 0 && area.State == MEM_COMMIT;
}

#else

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

bool mapped(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is all there is
  return address >= page && mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) == 0;
}

#endif

}  // namespace mluops
