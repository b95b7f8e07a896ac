// Words of BANG C that compute lane by lane.
// Counts are elements unless called bytes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/bang/words/lane_types.h"

namespace mluops::emu::bang {

// All operands lie in NRAM; element-wise unless said otherwise; each operation is rounded in T; dst may be a source, or
// overlap one: sources are read as they were.

/// dst[i] = value for n lanes of V: the VALUE's type selects the lane: an int32 through a half* fills n int32
/// lanes, and 0.0f n floats. The vendor's border_align kernel relies on it.
template <class V>  // any number
void __bang_write_value(void* dst, std::int64_t n, V value);
template <class T>
void __bang_write_zero(T* dst, std::int64_t n) {
  __bang_write_value(dst, n, T(0));
}
/// Two nested rows of n lanes: strides in bytes, counts less 1.
template <class V>
void __bang_write_value(void* dst, std::int64_t n, V value, std::int64_t stride1, std::int64_t segments1,
                        std::int64_t stride2, std::int64_t segments2);
/// Copies `bytes` within NRAM on the vector unit; ranges may not overlap, except exactly.
void __bang_move(void* dst, const void* src, std::int64_t bytes);
/// segments + 1 pieces of `bytes`, in ascending order; strides in bytes.
void __bang_move(void* dst, const void* src, std::int64_t bytes, std::int64_t dst_stride, std::int64_t src_stride,
                 std::int64_t segments);
/// Two nested rows of pieces: each side has its inner stride and count, then the outer ones (counts less 1).
void __bang_move(void* dst, const void* src, std::int64_t bytes, std::int64_t dst_stride1, std::int64_t dst_segments1,
                 std::int64_t dst_stride2, std::int64_t dst_segments2, std::int64_t src_stride1,
                 std::int64_t src_segments1, std::int64_t src_stride2, std::int64_t src_segments2);

// Arithmetic: half, bfloat16, float and integers up to 32 bits, which wrap around.
template <class T>
void __bang_add(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_sub(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_mul(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_add_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_sub_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_mul_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
// Older names of the words with _scalar.
template <class T>
void __bang_add_const(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  __bang_add_scalar(dst, a, value, n);
}
template <class T>
void __bang_sub_const(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  __bang_sub_scalar(dst, a, value, n);
}
template <class T>
void __bang_mul_const(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  __bang_mul_scalar(dst, a, value, n);
}
// Integers that stop at the ends of their range instead, and halves of products: the upper one, or both in a wider
// lane.
#define MLUOPS_EMU_DECLARE_THREE(name)                                               \
  template <class T>                                                                 \
  void __bang_##name(T* dst, const T* a, const T* b, std::int64_t n);                \
  template <class T>                                                                 \
  void __bang_##name##_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n); \
  template <class T>                                                                 \
  void __bang_cycle_##name(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
/// Sums and differences that stop at the ends of T, the upper half of products; all integers up to 32 bits.
MLUOPS_EMU_DECLARE_THREE(adds)
MLUOPS_EMU_DECLARE_THREE(subs)
MLUOPS_EMU_DECLARE_THREE(mulh)
/// Whole products, in lanes twice as wide.
template <class W, class T>  // int16 of int8, int32 of int16, and both without a sign
void __bang_muls(W* dst, const T* a, const T* b, std::int64_t n);
template <class W, class T>
void __bang_muls_scalar(W* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class W, class T>
void __bang_cycle_muls(W* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
/// Remainder of a[i] / value, or of a[i] / b[i], with a's sign.
template <class T>  // half, float, integers of 16 and 32 bits
void __bang_rem(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>  // integers of 16 and 32 bits
void __bang_rem(T* dst, const T* a, const T* b, std::int64_t n);
/// dst[i] = a[i] op b[i mod cycle]; n is a multiple of cycle, cycle's length obeys the alignment.
template <class T>
void __bang_cycle_add(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_sub(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_mul(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);

// Sums and differences rounded towards zero.
template <class T>  // half, bfloat16, float
void __bang_add_tz(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_sub_tz(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_cycle_add_tz(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_sub_tz(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);

/// Two operations, one letter each: add, subtract, multiply.
enum mluFusionOpCode {
  FUSION_FMA,
  FUSION_FMS,
  FUSION_FAA,
  FUSION_FAS,
  FUSION_FAM,
  FUSION_FSA,
  FUSION_FSS,
  FUSION_FSM,
};
/// A vector, of which lane i mod cycle is meant, or one value for all lanes.
template <class T>
struct Operand {
  Operand(const T* p) : vector(p), value() {}  // NOLINT(google-explicit-constructor)
  Operand(T* p) : vector(p), value() {}        // NOLINT(google-explicit-constructor)
  template <class V, class = std::enable_if_t<!std::is_pointer_v<V>>>
  Operand(V v) : vector(nullptr), value(static_cast<T>(v)) {}  // NOLINT(google-explicit-constructor)

  const T* vector;
  T value;
};
/// dst[i] = (a[i] op1 b) op2 c. FMA and FMS round once from the 300 series on; else each operation is rounded.
template <class T>  // half, float, int32
void __bang_fusion(mluFusionOpCode mode, T* dst, const T* a, ValueOf<Operand<T>> b, ValueOf<Operand<T>> c,
                   std::int64_t n, std::int64_t cycle);
/// The vectors have n lanes.
template <class T>
void __bang_fusion(mluFusionOpCode mode, T* dst, const T* a, ValueOf<Operand<T>> b, ValueOf<Operand<T>> c,
                   std::int64_t n) {
  __bang_fusion(mode, dst, a, b, c, n, n);
}

/// b[i] where it is larger (smaller) than a[i], else a[i]: a NaN in a stays, a NaN in b loses.
template <class T>  // half, float, int16, int32
void __bang_maxequal(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_minequal(T* dst, const T* a, const T* b, std::int64_t n);

// Functions of one operand, rounded once: half, float; abs and neg also int16, int32. activations.h has more of them.
template <class T>
void __bang_abs(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_neg(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_abs(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_square(T* dst, const T* a, std::int64_t n);
template <class W, class T>  // whole squares of integers, in lanes twice as wide
void __bang_square(W* dst, const T* a, std::int64_t n);
template <class T>
void __bang_sqrt(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_recip(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_log2(T* dst, const T* a, std::int64_t n);
template <class T>  // older name of __bang_log2
void __bang_log(T* dst, const T* a, std::int64_t n) {
  __bang_log2(dst, a, n);
}
template <class T>
void __bang_pow2(T* dst, const T* a, std::int64_t n);  // 2^a
template <class T>
void __bang_sin(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_cos(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_floor(T* dst, const T* a, std::int64_t n);
/// a / b
template <class T>  // half, bfloat16, float, integers of 16 and 32 bits (towards zero)
void __bang_div(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_div(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_div_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
/// With a place in NRAM for the device's intermediate results, which is left as it is here.
template <class T>
void __bang_div(T* dst, const T* a, const T* b, T* scratch, std::int64_t n);

// The larger (smaller): of a number and a NaN the number, with nan_ the NaN.
template <class T>  // half, float, int16, int32
void __bang_maximum(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_minimum(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>  // half, float
void __bang_nan_maximum(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_nan_minimum(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>  // half, float, int16, int32
void __bang_maximum_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_minimum_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>  // half, float
void __bang_nan_maximum_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_nan_minimum_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
/// value where it is larger (smaller) than a[i], else a[i]; as __bang_maxequal with NaN.
template <class T>  // half, float, int16, int32
void __bang_maxeq_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_mineq_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);

// dst[i] = a[i] op b[i mod cycle], as the word without cycle_; half, float, int16, int32.
template <class T>
void __bang_cycle_and(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_or(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_xor(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_eq(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_ne(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_gt(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_ge(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_lt(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_le(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_maxequal(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_minequal(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_maximum(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_minimum(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_nan_maximum(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_nan_minimum(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
/// The bits of n lanes of any type.
template <class T>
void __bang_cycle_band(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_bor(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_bxor(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);

// Comparisons give 1 or 0 in T (half, float, int16, int32); with NaN all but ne give 0.
template <class T>
void __bang_eq(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_ne(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_lt(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_le(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_gt(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_ge(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_eq_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_ne_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_lt_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_le_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_gt_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_ge_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);

/// Comparisons that hold where a lane is NaN, too: "u" for unordered.
MLUOPS_EMU_DECLARE_THREE(equ)
MLUOPS_EMU_DECLARE_THREE(neu)
MLUOPS_EMU_DECLARE_THREE(ltu)
MLUOPS_EMU_DECLARE_THREE(leu)
MLUOPS_EMU_DECLARE_THREE(gtu)
MLUOPS_EMU_DECLARE_THREE(geu)
#undef MLUOPS_EMU_DECLARE_THREE

template <class T>  // older name of __bang_ge_scalar
void __bang_ge_const(T* dst, const T* a, ValueOf<T> value, std::int64_t n) {
  __bang_ge_scalar(dst, a, value, n);
}

// Logic on lanes: nonzero is true, the result 1 or 0 in T (half, float, int16, int32).
template <class T>
void __bang_and(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_or(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_xor(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_not(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_and_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_or_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_xor_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);

// The bits of n lanes of any type; kernels mostly take bytes.
template <class T>
void __bang_band(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_bor(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_bxor(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_bnot(T* dst, const T* a, std::int64_t n);

/// The bits of each lane and of the value.
template <class T>  // any
void __bang_band_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_bor_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_bxor_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
// Bits of each lane to the left or right; integers up to 32 bits. srl and sll have zeros follow, sra the sign; rol and
// ror turn them.
template <class T>
void __bang_srl(T* dst, const T* a, std::int64_t bits, std::int64_t n);
template <class T>
void __bang_sll(T* dst, const T* a, std::int64_t bits, std::int64_t n);
template <class T>
void __bang_sra(T* dst, const T* a, std::int64_t bits, std::int64_t n);
template <class T>
void __bang_rol(T* dst, const T* a, std::int64_t bits, std::int64_t n);
template <class T>
void __bang_ror(T* dst, const T* a, std::int64_t bits, std::int64_t n);
/// How many bits at the top are the sign over again; of lanes without a sign: are 0.
template <class T>
void __bang_nsa(T* dst, const T* a, std::int64_t n);
/// The 32-bit lanes with that bit 0, or 1.
void __bang_set0in32(void* dst, const void* src, int position, std::int64_t n);
void __bang_set1in32(void* dst, const void* src, int position, std::int64_t n);
/// How many bits are 1: in n lanes, for the scalar core, and in one number.
template <class T>  // uint8, uint16, uint32
int __bang_popcnt(const T* src, std::int64_t n);
template <class T>
T __popcnt(T x) {
  return static_cast<T>(__builtin_popcountll(x));
}
/// Whole numbers: to nearest, ties away from zero, or to even.
void __bang_round(float* dst, const float* src, std::int64_t n);
void __bang_nearbyint(float* dst, const float* src, std::int64_t n);

// The vendor's mathematical functions, rounded once: the count comes first.
float __cn_scalar_max_f32(float a, float b);
float __cn_scalar_min_f32(float a, float b);
float __cn_scalar_sin_f32(float x);
float __cn_scalar_cos_f32(float x);
half __cn_scalar_sin_f16(half x);
half __cn_scalar_cos_f16(half x);
void __cn_vector_sin_f32(std::int64_t n, float* dst, const float* a);
void __cn_vector_cos_f32(std::int64_t n, float* dst, const float* a);
void __cn_vector_hypot_f32(std::int64_t n, float* dst, const float* a, const float* b);
/// Towards zero.
void __cn_vector_cast_f32_to_s32(std::int64_t n, std::int32_t* dst, const float* a);

}  // namespace mluops::emu::bang
