// The loops as the host's compiler has them.
#include <common/half.h>  // of the toolchain's prefix

#include "bench/emulator/work.h"

namespace bench_emulator {
using mluops::float_to_half;
using mluops::half_to_float;

// Not of this file alone: else the compiler knew that they hold zeros.
float a[kMostLanes], b[kMostLanes], out[kMostLanes];
std::uint16_t a_half[kMostLanes], out_half[kMostLanes];

namespace {

void once(Loop loop, int n) {
  switch (loop) {
    case Loop::kAddFloat:
      return add_plainly(out, a, b, n);
    case Loop::kAddInPlace:
      return add_plainly(a, a, b, n);
    case Loop::kScaleHalf:
      for (int i = 0; i < n; ++i) out_half[i] = float_to_half(half_to_float(a_half[i]) * 1.5f);
      return;
    case Loop::kFusedFloat:
      for (int i = 0; i < n; ++i) out[i] = __builtin_fmaf(a[i], b[i], b[i]);
      return;
    case Loop::kCompareFloat:
      for (int i = 0; i < n; ++i) out[i] = a[i] > 0.5f ? 1.0f : 0.0f;
      return;
    case Loop::kHalfToFloat:
      for (int i = 0; i < n; ++i) out[i] = half_to_float(a_half[i]);
      return;
    case Loop::kSumFloat: {
      float sum = 0;
      for (int i = 0; i < n; ++i) sum += a[i];
      out[0] = sum;
      return;
    }
    case Loop::kTransposeFloat: {
      const int columns = n / kTransposeRows;
      for (int y = 0; y < kTransposeRows; ++y) {
        for (int x = 0; x < columns; ++x) out[x * kTransposeRows + y] = a[y * columns + x];
      }
      return;
    }
    case Loop::kLoad:
      __builtin_memcpy(out, a, static_cast<std::size_t>(n) * sizeof(float));
      return;
  }
}

}  // namespace

void run_plainly(Loop loop, int lanes, int repeats) {
  for (int i = 0; i < repeats; ++i) {
    once(loop, lanes);
    asm volatile("" ::: "memory");  // each of them is done
  }
}

void add_plainly(float* c, const float* x, const float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) c[i] = x[i] + y[i];
}

}  // namespace bench_emulator
