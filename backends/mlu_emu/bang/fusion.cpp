// Two operations in one word.
#include <bit>
#include <cmath>
#include <type_traits>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/words.h"

namespace mluops::emu::bang {
namespace {

/// a + b rounded to odd: rounding that once more to a type with a shorter fraction gives what rounding the exact sum
/// once would. No branches, so that loops over it become vector code.
template <class F>
F add_to_odd(F a, F b) {
  using Bits = std::conditional_t<std::is_same_v<F, float>, std::int32_t, std::int64_t>;
  const F sum = a + b;
  // Knuth's two-sum: a + b equals sum + error exactly. With Inf or NaN the error is NaN and nothing happens.
  const F back = sum - a;
  const F error = (a - (sum - back)) + (b - back);
  const F outwards = sum < 0 ? -error : error;
  const Bits step = (outwards > 0 ? 1 : 0) - (outwards < 0 ? 1 : 0);
  const auto bits = std::bit_cast<Bits>(sum);
  const Bits if_even = (bits & 1) - 1;
  return std::bit_cast<F>(bits + (step & if_even));
}

/// a * b + c rounded once.
float fused(float a, float b, float c) {
#ifdef _WIN32  // mingw's fma rounds the product
  return static_cast<float>(add_to_odd<double>(static_cast<double>(a) * b, c));
#else
  return std::fma(a, b, c);
#endif
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void fused_hardware(float* dst, const float* a, float scale, const float* c,
                                                        std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dst[i] = __builtin_fmaf(a[i], scale, c[i]);
}
const bool kHardwareFma = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
#endif

void fused(float* dst, const float* a, float scale, const float* c, std::int64_t n) {
#if defined(__x86_64__)
  if (kHardwareFma) return fused_hardware(dst, a, scale, c, n);
#endif
  for (std::int64_t i = 0; i < n; ++i) dst[i] = fused(a[i], scale, c[i]);
}

/// The product of two lanes of 16 bits is exact in float.
template <class T>
void fused(T* dst, const T* a, T scale, const T* c, std::int64_t n) {
  const float wide = scale;
  map(dst, a, c, n, [=](float x, float y) { return add_to_odd<float>(x * wide, y); });
}

// ---- one lane ------------------------------------------------------------------------------------------------------

float multiply_add(const float*, float a, float b, float c) {
  return fused(a, b, c);
}
template <class T>
T multiply_add(const T*, float a, float b, float c) {
  return add_to_odd<float>(a * b, c);
}

enum class Step { kAdd, kSubtract, kMultiply };

struct Steps {
  Step first, second;
};

Steps steps_of(mluFusionOpCode mode) {
  switch (mode) {
    case FUSION_FMA:
      return {Step::kMultiply, Step::kAdd};
    case FUSION_FMS:
      return {Step::kMultiply, Step::kSubtract};
    case FUSION_FAA:
      return {Step::kAdd, Step::kAdd};
    case FUSION_FAS:
      return {Step::kAdd, Step::kSubtract};
    case FUSION_FAM:
      return {Step::kAdd, Step::kMultiply};
    case FUSION_FSA:
      return {Step::kSubtract, Step::kAdd};
    case FUSION_FSS:
      return {Step::kSubtract, Step::kSubtract};
    case FUSION_FSM:
      break;
  }
  return {Step::kSubtract, Step::kMultiply};
}

/// One operation, rounded in T; integers wrap around.
template <class T>
T apply(Step step, T a, T b) {
  using Number = std::conditional_t<std::is_integral_v<T>, std::uint32_t, Wide<T>>;
  const auto x = static_cast<Number>(a), y = static_cast<Number>(b);
  return static_cast<T>(step == Step::kAdd ? x + y : step == Step::kSubtract ? x - y : x * y);
}

template <class T>
T fuse_lane(const Steps& steps, bool once, T a, T b, T c) {
  if constexpr (!std::is_integral_v<T>) {
    if (once) return multiply_add(static_cast<const T*>(nullptr), a, b, steps.second == Step::kAdd ? c : -c);
  }
  return apply<T>(steps.second, apply<T>(steps.first, a, b), c);
}

}  // namespace

template <class T>
void __bang_fusion(mluFusionOpCode mode, T* dst, const T* a, ValueOf<Operand<T>> b, ValueOf<Operand<T>> c,
                   std::int64_t n, std::int64_t length) {
  Word word(__func__);
  word.count(n);
  word.require(length > 0 && n % length == 0, "the count must be a multiple of the cycle");
  word.source(a, n, "first source");
  if (b.vector != nullptr) word.cycled_source(b.vector, length, n);
  if (c.vector != nullptr) word.cycled_source(c.vector, length, n);
  word.destination(dst, n);
  const Steps steps = steps_of(mode);
  const bool once = steps.first == Step::kMultiply && word.fused_multiply_add();
  for (std::int64_t at = 0; at < n; at += length) {
    if constexpr (!std::is_integral_v<T>) {
      if (mode == FUSION_FMA && once && b.vector == nullptr && c.vector != nullptr) {
        fused(dst + at, a + at, b.value, c.vector, length);
        continue;
      }
    }
    for (std::int64_t i = 0; i < length; ++i) {
      dst[at + i] = fuse_lane<T>(steps, once, a[at + i], b.vector != nullptr ? b.vector[i] : b.value,
                                 c.vector != nullptr ? c.vector[i] : c.value);
    }
  }
}
#define FUSION(T)                                                                                                    \
  template void __bang_fusion(mluFusionOpCode, T*, const T*, ValueOf<Operand<T>>, ValueOf<Operand<T>>, std::int64_t, \
                              std::int64_t)
FUSION(half);
FUSION(bfloat16_t);
FUSION(float);
FUSION(std::int32_t);
FUSION(std::uint32_t);

}  // namespace mluops::emu::bang
