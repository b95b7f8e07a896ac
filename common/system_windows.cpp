#ifdef _WIN32
#include <windows.h>

#include "common/system.h"

namespace mluops {

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

}  // namespace mluops

#endif
