// Words of BANG C that apply a mathematical function to every lane: half, bfloat16, float, rounded once. The device's
// own approximations are not documented; ours are exact to that rounding. All operands lie in NRAM; dst may be a.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

/// e^a.
template <class T>
void __bang_active_exp(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_exphp(T* dst, const T* a, std::int64_t n);
/// e^a of lanes that are at most 0; the device promises nothing of others, here they are e^a too.
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
/// 1 / a of lanes above 1; the device promises nothing of others, here they are 1 / a too.
template <class T>
void __bang_active_recip_greater_1(T* dst, const T* a, std::int64_t n);
/// 1 / (1 + e^-a).
template <class T>
void __bang_active_sigmoid(T* dst, const T* a, std::int64_t n);
/// Hyperbolic tangent.
template <class T>
void __bang_active_tanh(T* dst, const T* a, std::int64_t n);
/// a * (1 + erf(a / sqrt(2))) / 2.
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
/// -1, 0 or 1; a NaN stays.
template <class T>
void __bang_active_sign(T* dst, const T* a, std::int64_t n);
/// 2^a.
template <class T>
void __bang_active_pow2(T* dst, const T* a, std::int64_t n);
/// Sine and cosine.
template <class T>
void __bang_active_sin(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_cos(T* dst, const T* a, std::int64_t n);

}  // namespace mluops::emu::bang
