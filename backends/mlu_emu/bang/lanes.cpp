#include "backends/mlu_emu/bang/lanes.h"

#include "backends/mlu_emu/device/core.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mluops::emu::bang {
namespace {

void widen_plain(const half* from, float* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = half_to_float(from[i].bits);
}

void narrow_plain(const float* from, half* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i].bits = float_to_half(from[i]);
}

#if defined(__x86_64__)
constexpr std::int64_t kLanes = 8;

__attribute__((target("avx,f16c"))) void widen_f16c(const half* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  widen_plain(from + i, to + i, n - i);
}

__attribute__((target("avx,f16c"))) void narrow_f16c(const float* from, half* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const __m128i rounded = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), rounded);
  }
  narrow_plain(from + i, to + i, n - i);
}

// Asked by way of AVX2: no processor has that without F16C, and not every compiler knows the name.
const bool kF16c = __builtin_cpu_supports("avx2") != 0;
#endif

}  // namespace

void half_overflowed() {
  if (Core::runs_here()) Core::current().half_overflowed();
}

void widen(const half* from, float* to, std::int64_t n) {
#if defined(__x86_64__)
  if (kF16c) return widen_f16c(from, to, n);
#endif
  widen_plain(from, to, n);
}

void narrow(const float* from, half* to, std::int64_t n) {
#if defined(__x86_64__)
  if (kF16c) return narrow_f16c(from, to, n);
#endif
  narrow_plain(from, to, n);
}

}  // namespace mluops::emu::bang
