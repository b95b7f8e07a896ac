// Arithmetic in the mode results are promised for: round to nearest, denormal numbers kept, no traps.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace mluops::cpu {

/// Whatever mode the thread's owner chose (another rounding, flush to zero) holds again afterwards.
class DefaultFloatMode {
 public:
#if defined(__SSE__)
  DefaultFloatMode() : saved_(_mm_getcsr()) {
    constexpr unsigned kAllMaskedToNearest = 0x1f80;
    _mm_setcsr(kAllMaskedToNearest);
  }
  ~DefaultFloatMode() {
    _mm_setcsr(saved_);
  }
#else
  DefaultFloatMode() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatMode() {
    std::fesetenv(&saved_);
  }
#endif
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
#if defined(__SSE__)
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace mluops::cpu
