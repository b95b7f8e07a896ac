// The words of BANG C: copies, barriers, vector intrinsics, atomics. bang.h says how a kernel uses them; kernels
// compiled by cncc see the same declarations.
//
// Counts are elements unless called bytes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/bfloat16.h"
#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/bang/tensor_unit.h"
#include "backends/mlu_emu/bang/vector_registers.h"

namespace mluops::emu::bang {

// ---- copies and barriers -----------------------------------------------------------------------------------------

enum mluMemcpyDirection_t {
  GDRAM2NRAM,
  NRAM2GDRAM,
  NRAM2NRAM,
  GDRAM2GDRAM,
  GDRAM2SRAM,
  SRAM2GDRAM,
  NRAM2SRAM,
  SRAM2NRAM,
  SRAM2SRAM,
  // Declared so that files which mention them compile; a fault where they are used.
  GDRAM2WRAM,
  WRAM2GDRAM,
  NRAM2WRAM,
  WRAM2NRAM,
  SRAM2WRAM,
  WRAM2SRAM,
};

/// Copies, seen by everything after it. No alignment rules. NRAM2NRAM may overlap: memmove per segment.
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction);
/// segments + 1 pieces of `bytes`, in ascending order; strides in bytes (32 bits on the device).
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride,
              std::int64_t src_stride, std::int64_t segments);
/// The same for two nested rows of pieces: of each side the inner stride and count, then the outer ones (counts less
/// 1).
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride1,
              std::int64_t dst_segments1, std::int64_t dst_stride2, std::int64_t dst_segments2,
              std::int64_t src_stride1, std::int64_t src_segments1, std::int64_t src_stride2,
              std::int64_t src_segments2);
/// Queues a copy: it happens at the next __sync(), __sync_io() (GDRAM), __sync_move() or __sync_compute() (NRAM2NRAM),
/// at a synchronous copy of its engine, or at the end of the task. Until then neither side may be touched, except by
/// later async copies of the same engine, which keep their order.
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction);
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments);
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride1, std::int64_t dst_segments1, std::int64_t dst_stride2,
                    std::int64_t dst_segments2, std::int64_t src_stride1, std::int64_t src_segments1,
                    std::int64_t src_stride2, std::int64_t src_segments2);

void __sync();
void __sync_io();
void __sync_move();
void __sync_compute();
void __sync_io_move_compute();
/// Waits for the flagged engines: those of the cores, then those of the memory core (which here waits for all).
void __sync_io_move_compute(bool io, bool move, bool compute, bool memory_core_io, bool memory_core_move,
                            bool memory_core_compute);

/// This core is its cluster's memory core (is not): it serves SRAM, every other word passes it by.
bool __is_mpu();
bool __is_ipu();
/// Waits for the other cores of the cluster, its memory core included; of a BLOCK launch: for nobody.
void __sync_cluster();
/// The same without the memory core.
void __sync_all_ipu_within_cluster();
/// Waits for the cores of all clusters that started together, with and without their memory cores.
void __sync_all();
void __sync_all_ipu();

// ---- vector words ------------------------------------------------------------------------------------------------
// All operands lie in NRAM; element-wise unless said otherwise; each operation is rounded in T; dst may be a source.

template <class T>
struct Same {
  using type = T;
};
template <class T>
using ValueOf = typename Same<T>::type;  // converts to the pointer's element type

/// dst[i] = value for n lanes of V: the VALUE's type selects the lane (an int32 through a half* fills n int32 lanes).
template <class V>  // half, float, int16, uint16, int32, uint32, int8, uint8
void __bang_write_value(void* dst, std::int64_t n, V value);
/// dst[i] = value for n lanes of T.
template <class T>  // as __bang_write_value
void __memset_nram(T* dst, std::int64_t n, ValueOf<T> value);
/// Copies `bytes` within NRAM on the vector unit; ranges may not overlap, except exactly.
void __bang_move(void* dst, const void* src, std::int64_t bytes);
/// segments + 1 pieces of `bytes`, in ascending order; strides in bytes.
void __bang_move(void* dst, const void* src, std::int64_t bytes, std::int64_t dst_stride, std::int64_t src_stride,
                 std::int64_t segments);

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
/// Remainder of a[i] / value with a's sign.
template <class T>  // half, float, int32, uint32
void __bang_rem(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
/// dst[i] = a[i] op b[i mod cycle]; n is a multiple of cycle, cycle's length obeys the alignment.
template <class T>
void __bang_cycle_add(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_sub(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_mul(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);

/// Two operations, one letter each: add, subtract, multiply.
enum FusionMode {
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
void __bang_fusion(FusionMode mode, T* dst, const T* a, ValueOf<Operand<T>> b, ValueOf<Operand<T>> c, std::int64_t n,
                   std::int64_t cycle);
/// The vectors have n lanes.
template <class T>
void __bang_fusion(FusionMode mode, T* dst, const T* a, ValueOf<Operand<T>> b, ValueOf<Operand<T>> c, std::int64_t n) {
  __bang_fusion(mode, dst, a, b, c, n, n);
}

/// b[i] where it is larger (smaller) than a[i], else a[i]: a NaN in a stays, a NaN in b loses.
template <class T>  // half, float, int16, int32
void __bang_maxequal(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_minequal(T* dst, const T* a, const T* b, std::int64_t n);

// Functions of one operand, rounded once: half, float; abs also int16, int32. active_abs is abs, reciphp is recip,
// exphp the exponential function; the device's own approximations of these are not documented.
template <class T>
void __bang_abs(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_abs(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_square(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_sqrt(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_recip(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_reciphp(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_active_exphp(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_log2(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_pow2(T* dst, const T* a, std::int64_t n);  // 2^a
template <class T>
void __bang_sin(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_cos(T* dst, const T* a, std::int64_t n);
template <class T>
void __bang_floor(T* dst, const T* a, std::int64_t n);
/// a / b
template <class T>  // half, bfloat16, float, int32 (towards zero)
void __bang_div(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_div(T* dst, const T* a, ValueOf<T> value, std::int64_t n);

// The larger (smaller): of a number and a NaN the number, with nan_ the NaN.
template <class T>  // half, float, int16, int32
void __bang_maximum(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_minimum(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>  // half, float
void __bang_nan_maximum(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_nan_minimum(T* dst, const T* a, const T* b, std::int64_t n);
/// value where it is larger (smaller) than a[i], else a[i]; as __bang_maxequal with NaN.
template <class T>  // half, float, int16, int32
void __bang_maxeq_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
template <class T>
void __bang_mineq_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);

// dst[i] = a[i] op b[i mod cycle], as the word without cycle_; half, float, int16, int32.
template <class T>
void __bang_cycle_and(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_eq(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_lt(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_le(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_maxequal(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_minequal(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
/// The bits of n lanes of any type.
template <class T>
void __bang_cycle_band(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);

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

// Logic on lanes: nonzero is true, the result 1 or 0 in T (half, float, int16, int32).
template <class T>
void __bang_and(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_or(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_not(T* dst, const T* a, std::int64_t n);

// The bits of n lanes of any type; kernels mostly take bytes.
template <class T>
void __bang_band(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_bor(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_bxor(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_bnot(T* dst, const T* a, std::int64_t n);

/// Bits of integer lanes.
template <class T>  // int32, uint32
void __bang_band_scalar(T* dst, const T* a, ValueOf<T> value, std::int64_t n);
/// To the right, zeros follow.
template <class T>  // int16, uint16, int32, uint32
void __bang_srl(T* dst, const T* a, std::int64_t bits, std::int64_t n);

// The vendor's mathematical functions, rounded once: the count comes first.
float __cn_scalar_sin_f32(float x);
float __cn_scalar_cos_f32(float x);
half __cn_scalar_sin_f16(half x);
half __cn_scalar_cos_f16(half x);
void __cn_vector_sin_f32(std::int64_t n, float* dst, const float* a);
void __cn_vector_cos_f32(std::int64_t n, float* dst, const float* a);
void __cn_vector_hypot_f32(std::int64_t n, float* dst, const float* a, const float* b);
/// Towards zero.
void __cn_vector_cast_f32_to_s32(std::int64_t n, std::int32_t* dst, const float* a);

/// dst [w,h] = transposed src [h,w]; h and w span multiples of 64 bytes; not in place.
template <class T>  // half, float, int16, int32
void __bang_transpose(T* dst, const T* src, std::int64_t h, std::int64_t w);
// dst = src [h,w] turned by that many degrees clockwise ([w,h] for 90 and 270), or each row back to front; not in
// place.
template <class T>
void __bang_rotate90(T* dst, const T* src, std::int64_t h, std::int64_t w);
template <class T>
void __bang_rotate180(T* dst, const T* src, std::int64_t h, std::int64_t w);
template <class T>
void __bang_rotate270(T* dst, const T* src, std::int64_t h, std::int64_t w);
template <class T>
void __bang_mirror(T* dst, const T* src, std::int64_t h, std::int64_t w);
/// dst [top+h+bottom, left+w+right, channel] = src [h,w,channel] with zeros around; not in place.
template <class T>
void __bang_pad(T* dst, const T* src, std::int64_t channel, std::int64_t h, std::int64_t w, std::int64_t top,
                std::int64_t bottom, std::int64_t left, std::int64_t right);
/// Sums over windows of src [height,width,channel] without dividing: dst [ho,wo,channel], ho = (height-kh)/sy + 1,
/// added in row order in T; dst may be src. channel spans a multiple of 128 bytes.
template <class T>  // half, float
void __bang_sumpool(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                    std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                    std::int64_t stride_y);
/// The largest (smallest) lane of each window; a NaN only where there is nothing else.
template <class T>  // half, bfloat16, float
void __bang_maxpool(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                    std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                    std::int64_t stride_y);
template <class T>
void __bang_minpool(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                    std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                    std::int64_t stride_y);
/// The largest lanes, and `index_offset` bytes behind dst their index in the window (the first of several), as uint32.
template <class T>
void __bang_maxpool_value_index(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                                std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                                std::int64_t stride_y, std::int64_t index_offset);
/// Sum of n lanes, one after the other in T; for the scalar core.
template <class T>  // half, float
T __bang_sum(const T* src, std::int64_t n);
// Counting and finding; half, float, int16, int32. Every lane read must be defined.
/// Lanes that are not zero.
template <class T>
std::uint32_t __bang_count(const T* src, std::int64_t n);
/// Index of the first (last) lane that is not zero; 2^32 - 1 when there is none.
template <class T>
std::uint32_t __bang_findfirst1(const T* src, std::int64_t n);
template <class T>
std::uint32_t __bang_findlast1(const T* src, std::int64_t n);
/// The largest (smallest) lane in dst[0], its index (the first of several) in the 32 bits at byte 4; writes 8 bytes. A
/// NaN is never better than the lane before it.
template <class T>
void __bang_argmax(T* dst, const T* src, std::int64_t n);
template <class T>
void __bang_argmin(T* dst, const T* src, std::int64_t n);
/// Packs the lanes of src whose mask is not zero to the front of dst; returns how many. dst may be src; what lies
/// behind the packed lanes stays.
template <class T>
std::uint32_t __bang_filter(T* dst, const T* src, const T* mask, std::int64_t n);
// Bit masks: lane 8k + i is bit i of byte k. Comparisons of n lanes (a multiple of 8) write n / 8 bytes.
template <class T>  // half, float
void __bang_eq_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_ne_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_lt_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_le_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_gt_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_ge_bitindex(T* dst, const T* a, const T* b, std::int64_t n);
/// As __bang_filter, with such a mask.
template <class T>
std::uint32_t __bang_filter_bitindex(T* dst, const T* src, const void* mask, std::int64_t n);
/// dst[i] = table[index[i]]; an index outside the table is a fault. Table length spans a multiple of 64 elements.
template <class T, class I>  // T int16, uint16, half, int32, uint32, float; I int16, uint16, int32, uint32
void __bang_lut(T* dst, const I* index, const T* table, std::int64_t n, std::int64_t table_n);

// Conversions; `position` is the fix-point position, 0. To integers: NaN gives 0, out of range saturates.
// How the names round: no suffix and _tz towards zero, _dn down, _up up, _rd to nearest with ties away from zero, _rn
// to nearest with ties to even. From integers: always ties to even.
enum class Rounding { kZero, kDown, kUp, kAwayFromTies, kEven };
#define MLUOPS_EMU_TO_INTEGERS(X)      \
  X(float, float, int8, std::int8_t)   \
  X(float, float, int16, std::int16_t) \
  X(float, float, int32, std::int32_t) \
  X(half, half, int8, std::int8_t)     \
  X(half, half, int16, std::int16_t)   \
  X(half, half, int32, std::int32_t)
#define MLUOPS_EMU_FROM_INTEGERS(X)    \
  X(int8, std::int8_t, float, float)   \
  X(int8, std::int8_t, half, half)     \
  X(int16, std::int16_t, float, float) \
  X(int16, std::int16_t, half, half)   \
  X(int32, std::int32_t, float, float) \
  X(int32, std::int32_t, half, half)
#define MLUOPS_EMU_CONVERSION(from, From, to, To)                                         \
  void __bang_##from##2##to(To* dst, const From* src, std::int64_t n, int position);      \
  void __bang_##from##2##to##_rd(To* dst, const From* src, std::int64_t n, int position); \
  void __bang_##from##2##to##_rn(To* dst, const From* src, std::int64_t n, int position);
#define MLUOPS_EMU_DIRECTED(from, From, to, To)                                           \
  void __bang_##from##2##to##_tz(To* dst, const From* src, std::int64_t n, int position); \
  void __bang_##from##2##to##_dn(To* dst, const From* src, std::int64_t n, int position); \
  void __bang_##from##2##to##_up(To* dst, const From* src, std::int64_t n, int position);
MLUOPS_EMU_TO_INTEGERS(MLUOPS_EMU_CONVERSION)
MLUOPS_EMU_TO_INTEGERS(MLUOPS_EMU_DIRECTED)
MLUOPS_EMU_FROM_INTEGERS(MLUOPS_EMU_CONVERSION)
#undef MLUOPS_EMU_CONVERSION
#undef MLUOPS_EMU_DIRECTED
void __bang_int322int16(std::int16_t* dst, const std::int32_t* src, std::int64_t n, int dst_position, int src_position);
void __bang_half2float(float* dst, const half* src, std::int64_t n);
void __bang_bfloat162float(float* dst, const bfloat16_t* src, std::int64_t n);
void __bang_float2half_rn(half* dst, const float* src, std::int64_t n);
void __bang_float2half_rd(half* dst, const float* src, std::int64_t n);
void __bang_float2half_dn(half* dst, const float* src, std::int64_t n);
void __bang_float2half_up(half* dst, const float* src, std::int64_t n);
void __bang_float2half_tz(half* dst, const float* src, std::int64_t n);
void __bang_float2bfloat16_rn(bfloat16_t* dst, const float* src, std::int64_t n);

// One number, rounded as the vector words of that suffix.
half __float2half_rn(float x);
std::int32_t __float2int32(float x);
std::int32_t __float2int32_tz(float x);
std::int32_t __float2int32_dn(float x);
std::int32_t __float2int32_up(float x);
std::int32_t __float2int32_rd(float x);
std::int32_t __float2int32_rn(float x);
std::int32_t __half2int32(half x);
std::int32_t __half2int32_tz(half x);
std::int32_t __half2int32_dn(half x);
std::int32_t __half2int32_up(half x);
std::int32_t __half2int32_rd(half x);
std::int32_t __half2int32_rn(half x);

// ---- memory in other ways ----------------------------------------------------------------------------------------

// Pieces of `bytes`. Gathers take piece i from base + offset[i] (bytes) to dst + i * stride, scatters from src + i *
// stride to base + offset[i]. With a mask only pieces whose bit is set move (bit i mod 8 of byte i / 8). The async ones
// are queued like __memcpy_async.
void __gather(void* dst, const void* base, const std::uint32_t* offset, std::int64_t bytes,
              mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __gather(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
              mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __gather_async(void* dst, const void* base, const std::uint32_t* offset, std::int64_t bytes,
                    mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __gather_async(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                    mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __scatter(void* base, const void* src, const std::uint32_t* offset, std::int64_t bytes,
               mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __scatter(void* base, const void* src, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
               mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __scatter_async(void* base, const void* src, const std::uint32_t* offset, std::int64_t bytes,
                     mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
void __scatter_async(void* base, const void* src, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                     mluMemcpyDirection_t direction, std::int64_t stride, std::int64_t n);
/// __gather_async from GDRAM with a mask.
void __bang_gather_async(void* dst, const void* base, const std::uint32_t* offset, const void* mask, std::int64_t bytes,
                         std::int64_t dst_stride, std::int64_t n);
/// Element i of src, `bytes` long, times[i] times; all of them one behind the other.
void __extension(void* dst, const void* src, const std::uint8_t* times, std::int64_t bytes,
                 mluMemcpyDirection_t direction, std::int64_t n);
/// n elements of GDRAM.
template <class T>
void __gdramset(T* dst, std::int64_t n, ValueOf<T> value);
/// n lanes of V in SRAM: the value's type selects the lane, as with __bang_write_value.
template <class V>
void __sramset(void* dst, std::int64_t n, V value);
/// Queued with the copies within NRAM: segments + 1 rows of n elements, `stride` bytes apart.
template <class T>
void __nramset_async(T* dst, std::int64_t n, ValueOf<T> value, std::int64_t stride, std::int64_t segments);
/// The address lies in device memory.
bool __is_dram(const void* address);
/// One number by the scalar core, checked.
template <class T>
T __load_gdram(const T* address);
template <class T>
T __load_sram(const T* address);
template <class T>
T __load_nram(const T* address);
template <class T>
void __store_gdram(T* address, ValueOf<T> value);
template <class T>
void __store_sram(T* address, ValueOf<T> value);
template <class T>
void __store_nram(T* address, ValueOf<T> value);

// ---- atomics -----------------------------------------------------------------------------------------------------

/// gdram[i] += nram[i], element-wise atomic, each sum rounded in T. No alignment rules.
template <class T>  // half, bfloat16, float, int32, uint32
void __bang_atomic_reduce_add(T* gdram, const T* nram, std::int64_t n);
template <class T>
void __bang_atomic_reduce_max(T* gdram, const T* nram, std::int64_t n);
template <class T>
void __bang_atomic_reduce_min(T* gdram, const T* nram, std::int64_t n);
/// The same for two nested rows of pieces of n elements (counts less 1, strides in bytes).
template <class T>
void __bang_atomic_reduce_add(T* gdram, const T* nram, std::int64_t n, std::int64_t segments1, std::int64_t segments2,
                              std::int64_t dst_stride1, std::int64_t dst_stride2, std::int64_t src_stride1,
                              std::int64_t src_stride2);
/// gdram[0] += value.
template <class T, class = std::enable_if_t<!std::is_pointer_v<T>>>
void __bang_atomic_reduce_add(T* gdram, T value);
/// gdram[i] += value, for n elements.
template <class T>
void __bang_atomic_reduce_add(T* gdram, ValueOf<T> value, std::int64_t n);

}  // namespace mluops::emu::bang
