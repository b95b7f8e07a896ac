// Asking for memory in advance.
#pragma once

#include <hwy/base.h>

#include <cstdint>

namespace mluops::cpu {

/// Asks for `bytes` bytes, line by line, for the first cache or (kLocality 2) the second, to which more requests can be
/// under way. Touching memory outside a tensor this way is harmless. Inlined, since a compiler may drop calls of what
/// does nothing but ask.
template <int kLocality = 3>
HWY_INLINE void prefetch_bytes(const void* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(from) + i, 0, kLocality);
}

/// The same for n elements.
template <int kLocality = 3, class T>
HWY_INLINE void prefetch(const T* from, std::int64_t n) {
  prefetch_bytes<kLocality>(from, n * static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace mluops::cpu
