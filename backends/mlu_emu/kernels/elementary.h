// Functions of float lanes by the builtins that a machine has: exponentials and logarithms of two from the 300 series
// on, tables before.
#pragma once

#include <cstdint>
#include <numbers>

#include "backends/mlu_emu/bang/bang.h"

namespace mluops::emu {

inline bool has_tables_alone() {
  return bang_arch() < 300;
}

/// e to lanes that are not positive, in place.
inline void exponentials(float* lanes, std::int64_t n) {
  if (has_tables_alone()) return __bang_active_exp_less_0(lanes, lanes, n);
  __bang_mul_scalar(lanes, lanes, std::numbers::log2e_v<float>, n);
  __bang_pow2(lanes, lanes, n);
}

/// Natural logarithms of lanes from 1 to 2, in place.
inline void logarithms(float* lanes, std::int64_t n) {
  if (has_tables_alone()) return __bang_active_loghp(lanes, lanes, n);
  __bang_log2(lanes, lanes, n);
  __bang_mul_scalar(lanes, lanes, std::numbers::ln2_v<float>, n);
}

/// Sines of angles. On machines with tables alone angles must be within -2 pi and 2 pi, which the tables cover.
inline void sines(float* to, const float* angles, std::int64_t n) {
  if (has_tables_alone()) return __bang_active_sin(to, angles, n);
  __bang_sin(to, angles, n);
}
inline void cosines(float* to, const float* angles, std::int64_t n) {
  if (has_tables_alone()) return __bang_active_cos(to, angles, n);
  __bang_cos(to, angles, n);
}

/// To nearest: ties to even, on the 200 series away from zero.
inline void to_halves(half* to, const float* from, std::int64_t n) {
  if (has_tables_alone()) return __bang_float2half_rd(to, from, n);
  __bang_float2half_rn(to, from, n);
}

}  // namespace mluops::emu
