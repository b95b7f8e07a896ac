// Builtins of BANG C that apply a mathematical function to every lane: half, bfloat16, float. All operands lie in NRAM;
// dst may be a. The device interpolates in tables. Where the guide states a result, as below and above the table, ours
// is that; where it states a bound of the error alone, ours is exact but for one rounding, and a card may be off by as
// much as the bound. A lane beyond the domain is told: the guide promises nothing of it. docs/builtins.md lists both.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

/// e^a; 5.96e-8 below -7.75; up to 11.
template <class T>
void __bang_active_exp(T* dst, const T* a, std::int64_t n);
/// e^a; of half 5.96e-8 below -7.75, of float 3e-7 below -15.5; up to 11 and 16.
template <class T>
void __bang_active_exphp(T* dst, const T* a, std::int64_t n);
/// e^a of lanes below 0; 5.96e-8 below -15.5.
template <class T>
void __bang_active_exp_less_0(T* dst, const T* a, std::int64_t n);
/// Natural logarithm.
template <class T>
void __bang_active_log(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_loghp(T* dst, const T* a, std::int64_t n);
/// Square root.
template <class T>
void __bang_active_sqrt(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_sqrthp(T* dst, const T* a, std::int64_t n);
/// 1 / sqrt(a).
template <class T>
void __bang_rsqrt(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_rsqrt(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_rsqrthp(T* dst, const T* a, std::int64_t n);
/// 1 / a.
template <class T>
void __bang_active_recip(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_reciphp(T* dst, const T* a, std::int64_t n);
/// 1 / a of lanes from 1 to 63487.
template <class T>
void __bang_active_recip_greater_1(T* dst, const T* a, std::int64_t n);
/// 1 / (1 + e^-a); 0 below -7.75 and 1 above 7.75.
template <class T>
void __bang_active_sigmoid(T* dst, const T* a, std::int64_t n);
/// Hyperbolic tangent.
template <class T>
void __bang_active_tanh(T* dst, const T* a, std::int64_t n);
/// a * (1 + erf(a / sqrt(2))) / 2; -5.96e-8 below -3.875.
template <class T>
void __bang_active_gelu(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_gelup(T* dst, const T* a, std::int64_t n);
/// a, or 0 where a is less; a NaN stays.
template <class T>
void __bang_relu(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_relu(T* dst, const T* a, std::int64_t n);
/// relu(a), or the bound where that is more.
template <class T>
void __bang_relun(T* dst, const T* a, std::int64_t n, ValueOf<T> bound);
/// -1 or 1, which a 0 gives; a NaN stays.
template <class T>
void __bang_active_sign(T* dst, const T* a, std::int64_t n);
/// 2^a of whole numbers, in half from -24 to 15, in float from -31 to 31.
template <class T>
void __bang_active_pow2(T* dst, const T* a, std::int64_t n);
/// Sine and cosine, from -2 pi to 2 pi.
template <class T>
void __bang_active_sin(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_cos(T* dst, const T* a, std::int64_t n);

#define MLUOPS_EMU_DECLARE_TAYLOR(name)                                                                 \
  template <class T>                                                                                    \
  void __bang_taylor3_##name(T* dst, const T* a, const T* scratch1, const T* scratch2, std::int64_t n); \
  template <class T>                                                                                    \
  void __bang_taylor4_##name(T* dst, const T* a, const T* scratch1, const T* scratch2, std::int64_t n);
/// Series of three and four terms, between -7.75 and 7.75, with two places for intermediate results; softplus is
/// log(1 + e^a). half and float.
MLUOPS_EMU_DECLARE_TAYLOR(sin)
MLUOPS_EMU_DECLARE_TAYLOR(cos)
MLUOPS_EMU_DECLARE_TAYLOR(tanh)
MLUOPS_EMU_DECLARE_TAYLOR(sigmoid)
MLUOPS_EMU_DECLARE_TAYLOR(softplus)
#undef MLUOPS_EMU_DECLARE_TAYLOR

}  // namespace mluops::emu::bang
