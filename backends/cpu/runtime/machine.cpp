#include "backends/cpu/runtime/machine.h"

#include <unistd.h>

#include <algorithm>

namespace mluops::cpu {
namespace {

// A core with 2 MiB was slower with all of it in use: half gradients of small maps took twice as long once their output
// was no longer written with non-temporal stores.
std::int64_t read_second_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  const std::int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (bytes > 0) return std::clamp<std::int64_t>(bytes, 256 << 10, kUsualSecondCacheBytes);
#endif
  return kUsualSecondCacheBytes;
}

}  // namespace

std::int64_t second_cache_bytes() {
  static const std::int64_t bytes = read_second_cache();
  return bytes;
}

}  // namespace mluops::cpu
