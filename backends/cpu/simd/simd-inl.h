// Row primitives on Highway, compiled once per instruction-set level.
//
// Include after foreach_target.h and use inside HWY_NAMESPACE. Lambdas that use vectors carry HWY_ATTR. A row is a run
// of elements of one of the types of element.h; vectors hold their sums (float, or double for double), so a load
// promotes and a store rounds to nearest even.
#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cpu/runtime/isa.h"
#include "backends/cpu/simd/element.h"

#if defined(MLUOPS_CPU_SIMD_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SIMD_SIMD_INL_H_
#else
#define MLUOPS_CPU_SIMD_SIMD_INL_H_
#endif

#include <hwy/highway.h>

/// Before a loop of constant length over an array of vectors: unrolled, the array lives in registers. Where a vector is
/// one element, unrolling makes only code.
#undef MLUOPS_UNROLL
#if defined(__clang__)
#define MLUOPS_UNROLL _Pragma("unroll")
#elif HWY_TARGET == HWY_SCALAR
#define MLUOPS_UNROLL _Pragma("GCC unroll 1")
#else
#define MLUOPS_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using FullTag = hn::ScalableTag<Acc<T>>;

/// Lanes of a whole vector of A, as a constant for array sizes.
template <class A>
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<A>()));

// ---- loads and stores ------------------------------------------------------------------------

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* HWY_RESTRICT p) {
  return hn::LoadU(d, p);
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const double* HWY_RESTRICT p) {
  return hn::LoadU(d, p);
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Bfloat16* HWY_RESTRICT p) {
  const hn::Rebind<std::uint32_t, D> du32;
  const hn::Rebind<std::uint16_t, D> du16;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du32, hn::LoadU(du16, &p->bits))));
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Half* HWY_RESTRICT p) {
#if HWY_TARGET <= HWY_AVX2  // F16C
  const hn::Rebind<hwy::float16_t, D> df16;
  return hn::PromoteTo(d, hn::LoadU(df16, reinterpret_cast<const hwy::float16_t*>(p)));
#else
  const hn::Rebind<std::uint32_t, D> du32;
  const hn::Rebind<std::uint16_t, D> du16;
  const auto bits = hn::PromoteTo(du32, hn::LoadU(du16, &p->bits));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du32, 0x8000u)));
  const auto magnitude = hn::And(bits, hn::Set(du32, 0x7fffu));
  // The exponent bias differs by 112; the product is exact for subnormals too.
  const auto scaled = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
  const hn::Rebind<std::int32_t, D> di32;
  const auto special = hn::Gt(hn::BitCast(di32, magnitude), hn::Set(di32, 0x7bff));
  const auto all_ones = hn::IfThenElseZero(hn::RebindMask(du32, special), hn::Set(du32, 0x7f800000u));
  return hn::BitCast(d, hn::Or(sign, hn::Or(hn::BitCast(du32, scaled), all_ones)));
#endif
}

template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, float* HWY_RESTRICT p) {
  hn::StoreU(v, d, p);
}

template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, double* HWY_RESTRICT p) {
  hn::StoreU(v, d, p);
}

/// The low 16 bits of each lane; the high ones must be 0.
template <class DU32>
HWY_INLINE void store_low16(hn::Vec<DU32> v, DU32 du32, std::uint16_t* HWY_RESTRICT p) {
  const hn::Rebind<std::int32_t, DU32> di32;
  const hn::Rebind<std::uint16_t, DU32> du16;
  (void)du32;
  hn::StoreU(hn::DemoteTo(du16, hn::BitCast(di32, v)), du16, p);
}

template <class D>
HWY_INLINE void store(hn::Vec<D> v, D, Bfloat16* HWY_RESTRICT p) {
  const hn::Rebind<std::uint32_t, D> du32;
  const auto bits = hn::BitCast(du32, v);
  const auto high = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(high, hn::Set(du32, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du32, 0x7fffu))));
  const auto quiet = hn::Or(high, hn::Set(du32, 0x40u));
  const auto nan = hn::RebindMask(du32, hn::IsNaN(v));
  store_low16(hn::IfThenElse(nan, quiet, rounded), du32, &p->bits);
}

template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, Half* HWY_RESTRICT p) {
#if HWY_TARGET <= HWY_AVX2  // F16C rounds to nearest even by its immediate operand
  (void)d;
  const hn::Rebind<hwy::float16_t, D> df16;
  hn::StoreU(hn::DemoteTo(df16, v), df16, reinterpret_cast<hwy::float16_t*>(p));
#else
  const hn::Rebind<std::uint32_t, D> du32;
  const hn::Rebind<std::int32_t, D> di32;
  const auto bits = hn::BitCast(du32, v);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du32, 0x8000u));
  const auto x = hn::And(bits, hn::Set(du32, 0x7fffffffu));
  const auto exceeds = [&](std::int32_t limit) HWY_ATTR {
    return hn::RebindMask(du32, hn::Gt(hn::BitCast(di32, x), hn::Set(di32, limit)));
  };
  const auto odd = hn::And(hn::ShiftRight<13>(x), hn::Set(du32, 1u));
  const auto rounded = hn::Add(x, hn::Add(odd, hn::Set(du32, 0xfffu)));
  const auto normal = hn::ShiftRight<13>(hn::Sub(rounded, hn::Set(du32, 0x38000000u)));
  // Adding 0.5 leaves the multiples of 2^-24 in the low fraction bits, rounded by the addition.
  const auto shifted = hn::BitCast(du32, hn::Add(hn::BitCast(d, x), hn::Set(d, 0.5f)));
  const auto subnormal = hn::Sub(shifted, hn::Set(du32, 0x3f000000u));
  const auto nan = hn::Or(hn::Set(du32, 0x7e00u), hn::And(hn::ShiftRight<13>(x), hn::Set(du32, 0x3ffu)));
  auto result = hn::IfThenElse(exceeds(0x387fffff), normal, subnormal);
  result = hn::IfThenElse(exceeds(0x477fefff), hn::Set(du32, 0x7c00u), result);
  result = hn::IfThenElse(exceeds(0x7f800000), nan, result);
  store_low16(hn::Or(result, sign), du32, &p->bits);
#endif
}

/// store() with a non-temporal store; p is aligned to the vector it becomes in memory. Whole vectors only.
template <class T, class D>
HWY_INLINE void store_non_temporal(hn::Vec<D> v, D d, T* HWY_RESTRICT p) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    hn::Stream(v, d, p);
  } else {
#if HWY_TARGET <= HWY_AVX2  // at least half a vector of 32 bytes
    const hn::Rebind<std::uint16_t, D> du16;
    HWY_ALIGN T narrow[hn::MaxLanes(d)];
    store(v, d, narrow);
    hn::Stream(hn::Load(du16, &narrow->bits), du16, &p->bits);
#else
    store(v, d, p);
#endif
  }
}

/// The output sink of vectors: with non-temporal stores, or into the caches.
template <bool kNonTemporal, class T, class D>
HWY_INLINE void store(hn::Vec<D> v, D d, T* HWY_RESTRICT p) {
  if constexpr (kNonTemporal) {
    store_non_temporal(v, d, p);
  } else {
    store(v, d, p);
  }
}

/// Where only the call tells; what is less than a vector goes into the caches.
template <class T, class D>
HWY_INLINE void store(bool non_temporal, hn::Vec<D> v, D d, T* HWY_RESTRICT p) {
  if constexpr (std::is_same_v<D, FullTag<T>>) {
    if (non_temporal) return store_non_temporal(v, d, p);
  }
  store(v, d, p);
}

// ---- loops over a row ------------------------------------------------------------------------

/// f(d, i) for vectors that cover elements [i, n), fewer than 2 * kMost: of kMost lanes, of half as many, and so on.
template <class A, std::int64_t kMost, class F>
HWY_INLINE void for_tail(std::int64_t i, std::int64_t n, F&& f) {
  const hn::CappedTag<A, kMost> d;
  if (i + kMost <= n) {
    f(d, i);
    i += kMost;
  }
  if constexpr (kMost > 1) for_tail<A, kMost / 2>(i, n, f);
}

/// f(d, i) for vectors that cover elements [0, n): whole vectors, then what is left in ever shorter ones. No element is
/// touched twice and none outside the row. The one place that knows about tails.
template <class A, class F>
HWY_INLINE void for_lanes(std::int64_t n, F&& f) {
  const hn::ScalableTag<A> d;
  std::int64_t i = 0;
  for (; i + kLanes<A> <= n; i += kLanes<A>) f(d, i);
  if constexpr (kLanes<A> != 1) {
    if (i < n) for_tail<A, kLanes<A> / 2>(i, n, f);
  }
}

/// Vectors that can be summed side by side: AVX-512 has 32 registers, the others 16.
constexpr int kManySums = HWY_TARGET <= HWY_AVX3 ? 16 : 8;

/// f(d, vectors, i): runs of kWide whole vectors as long as there are any, then, where a run is short, those that are
/// left together, then the tail as for_lanes. `vectors` is a std::integral_constant: as many sums can stay in registers
/// side by side.
template <class A, int kWide, class F>
HWY_INLINE void for_wide(std::int64_t n, F&& f) {
  const hn::ScalableTag<A> d;
  std::int64_t i = 0;
  for (; i + kWide * kLanes<A> <= n; i += kWide * kLanes<A>) f(d, std::integral_constant<int, kWide>(), i);
  if constexpr (kWide == 4) {
    const std::int64_t left = (n - i) / kLanes<A>;
    if (left == 3) f(d, std::integral_constant<int, 3>(), i);
    if (left == 2) f(d, std::integral_constant<int, 2>(), i);
    if (left > 1) i += left * kLanes<A>;
  }
  for_lanes<A>(n - i, [&](auto dn, std::int64_t j) HWY_ATTR { f(dn, std::integral_constant<int, 1>(), i + j); });
}

/// sum[i] += a * row[i].
template <class T>
HWY_INLINE void axpy(Acc<T> a, const T* HWY_RESTRICT row, Acc<T>* HWY_RESTRICT sum, std::int64_t n) {
  for_lanes<Acc<T>>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::Set(d, a), load(d, row + i), hn::LoadU(d, sum + i)), d, sum + i);
  });
}

/// out[i] = a * row[i].
template <class T>
HWY_INLINE void scale(Acc<T> a, const T* HWY_RESTRICT row, Acc<T>* HWY_RESTRICT out, std::int64_t n) {
  for_lanes<Acc<T>>(
      n, [&](auto d, std::int64_t i) HWY_ATTR { hn::StoreU(hn::Mul(hn::Set(d, a), load(d, row + i)), d, out + i); });
}

/// Sum of x[i] * y[i]; the order of additions depends on n only.
template <class T>
HWY_INLINE Acc<T> dot(const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, std::int64_t n) {
  const FullTag<T> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    sum0 = hn::MulAdd(load(d, x + i), load(d, y + i), sum0);
    sum1 = hn::MulAdd(load(d, x + i + step), load(d, y + i + step), sum1);
  }
  if (i + step <= n) {
    sum0 = hn::MulAdd(load(d, x + i), load(d, y + i), sum0);
    i += step;
  }
  Acc<T> tail{0};
  for_lanes<Acc<T>>(n - i, [&](auto dn, std::int64_t j) HWY_ATTR {
    tail += hn::GetLane(hn::SumOfLanes(dn, hn::Mul(load(dn, x + i + j), load(dn, y + i + j))));
  });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1))) + tail;
}

#if HWY_TARGET == HWY_SCALAR
/// sums[i] = sum of the lanes of v_i.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE void sum_4_vectors(D d, hn::Vec<D> v0, hn::Vec<D> v1, hn::Vec<D> v2, hn::Vec<D> v3, A* HWY_RESTRICT sums) {
  hn::Store(v0, d, sums);
  hn::Store(v1, d, sums + 1);
  hn::Store(v2, d, sums + 2);
  hn::Store(v3, d, sums + 3);
}
#else
/// Lanes a whole 128 bits apart added up.
template <class D>
HWY_INLINE auto fold_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return fold_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// sums[i] = sum of the lanes of v_i.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE void sum_4_vectors(D d, hn::Vec<D> v0, hn::Vec<D> v1, hn::Vec<D> v2, hn::Vec<D> v3, A* HWY_RESTRICT sums) {
  if constexpr (sizeof(A) == 4 && hn::MaxLanes(d) >= 4) {
    const hn::Repartition<double, D> pairs;
    const auto v01 = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1)));
    const auto v23 = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3)));
    const auto low = hn::BitCast(d, hn::InterleaveLower(pairs, v01, v23));
    const auto high = hn::BitCast(d, hn::InterleaveUpper(pairs, v01, v23));
    const hn::CappedTag<A, 4> d4;
    hn::StoreU(fold_blocks(d, hn::Add(low, high)), d4, sums);
  } else {
    sums[0] = hn::GetLane(hn::SumOfLanes(d, v0));
    sums[1] = hn::GetLane(hn::SumOfLanes(d, v1));
    sums[2] = hn::GetLane(hn::SumOfLanes(d, v2));
    sums[3] = hn::GetLane(hn::SumOfLanes(d, v3));
  }
}
#endif

/// Sums into elements of T, rounded.
template <class T>
HWY_INLINE void store_row(const Acc<T>* HWY_RESTRICT sums, T* HWY_RESTRICT out, std::int64_t n) {
  for_lanes<Acc<T>>(n, [&](auto d, std::int64_t i) HWY_ATTR { store(hn::LoadU(d, sums + i), d, out + i); });
}

/// store_row with non-temporal stores.
template <class T>
HWY_INLINE void store_row_non_temporal(const Acc<T>* HWY_RESTRICT sums, T* HWY_RESTRICT out, std::int64_t n) {
  const FullTag<T> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % 64 / sizeof(T));
  std::int64_t i = std::min(n, past == 0 ? 0 : static_cast<std::int64_t>(64 / sizeof(T)) - past);
  store_row(sums, out, i);
  for (; i + step <= n; i += step) store_non_temporal(hn::LoadU(d, sums + i), d, out + i);
  store_row(sums + i, out + i, n - i);
}

/// The output sink of rows: with non-temporal stores, or into the caches.
template <class T>
HWY_INLINE void store_row(bool non_temporal, const Acc<T>* HWY_RESTRICT sums, T* HWY_RESTRICT out, std::int64_t n) {
  non_temporal ? store_row_non_temporal(sums, out, n) : store_row(sums, out, n);
}

/// Elements of T promoted to the type of the sums.
template <class T>
HWY_INLINE void load_row(const T* HWY_RESTRICT row, Acc<T>* HWY_RESTRICT out, std::int64_t n) {
  for_lanes<Acc<T>>(n, [&](auto d, std::int64_t i) HWY_ATTR { hn::StoreU(load(d, row + i), d, out + i); });
}

// ---- bytes -----------------------------------------------------------------------------------

/// Bytes at `to` before the first cache line, of `bytes`. A non-temporal store of part of a line
/// costs memory more than those of many lines.
HWY_INLINE std::int64_t before_line(const void* to, std::int64_t bytes) {
  return std::min<std::int64_t>(bytes, -reinterpret_cast<std::intptr_t>(to) & 63);
}

/// Zeroes with non-temporal stores: for output that is larger than they are and not read soon. Follow a series of calls
/// with non_temporal_fence() before another thread may look.
HWY_INLINE void zero_non_temporal(void* to, std::int64_t bytes) {
  if (bytes <= 0) return;
  auto* p = static_cast<std::uint8_t*>(to);
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  i = before_line(p, bytes);
  std::memset(p, 0, static_cast<std::size_t>(i));
  for (; i + 64 <= bytes; i += 64) {
    MLUOPS_UNROLL
    for (int v = 0; v < 64; v += kLanes<std::uint8_t>) hn::Stream(hn::Zero(d), d, p + i + v);
  }
#endif
  std::memset(p + i, 0, static_cast<std::size_t>(bytes - i));
}

/// Zeroes, with non-temporal stores or in the caches.
HWY_INLINE void zero_bytes(bool non_temporal, void* to, std::int64_t bytes) {
  if (non_temporal) return zero_non_temporal(to, bytes);
  if (bytes > 0) std::memset(to, 0, static_cast<std::size_t>(bytes));
}

/// Copies with non-temporal stores; the same holds as for zero_non_temporal.
HWY_INLINE void copy_non_temporal(const void* from, void* to, std::int64_t bytes) {
  const auto* source = static_cast<const std::uint8_t*>(from);
  auto* p = static_cast<std::uint8_t*>(to);
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  i = before_line(p, bytes);
  std::memcpy(p, source, static_cast<std::size_t>(i));
  for (; i + 64 <= bytes; i += 64) {
    MLUOPS_UNROLL
    for (int v = 0; v < 64; v += kLanes<std::uint8_t>) hn::Stream(hn::LoadU(d, source + i + v), d, p + i + v);
  }
#endif
  std::memcpy(p + i, source + i, static_cast<std::size_t>(bytes - i));
}

/// Whether rows that follow each other are whole cache lines each: then vectors of them can be stored non-temporally.
HWY_INLINE bool whole_lines(const void* rows, std::int64_t row_bytes) {
  return reinterpret_cast<std::uintptr_t>(rows) % 64 == 0 && row_bytes % 64 == 0;
}

/// Copies kBytes, whole cache lines on both sides, with non-temporal stores.
template <std::size_t kBytes>
HWY_INLINE void copy_lines_non_temporal(const void* HWY_RESTRICT from, void* HWY_RESTRICT to) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto* in = static_cast<const std::uint8_t*>(from);
  auto* out = static_cast<std::uint8_t*>(to);
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kBytes; i += hn::MaxLanes(d)) hn::Stream(hn::Load(d, in + i), d, out + i);
}

HWY_INLINE void non_temporal_fence() {
  hwy::FlushStream();
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
