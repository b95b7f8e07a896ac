// The BANG C words of the emulated MLU: what a kernel may say.
//
// A kernel is a callable run once per task. It gets its core's NRAM as a byte buffer of exactly as many bytes as the
// architecture has, cuts it up itself, and holds plain pointers: into NRAM, and into GDRAM (the tensors its launch
// named). Every copy, intrinsic and atomic recognises both by address and checks them; scalar code may index NRAM and
// read GDRAM directly, unseen by the checks (a scalar store into NRAM counts as written: the byte lost its poison).
//
//   namespace mluops::emu {
//   namespace {                       // names collide across kernel files: keep them in here
//   template <class T>
//   void scale_rows(const T* in, T* out, std::int64_t rows, std::int64_t n, T factor, char* nram) {
//     T* row = reinterpret_cast<T*>(nram);
//     for (std::int64_t r = taskId; r < rows; r += taskDim) {
//       __memcpy(row, in + r * n, n * sizeof(T), GDRAM2NRAM);
//       __bang_mul_scalar(row, row, factor, n);   // n * sizeof(T) a multiple of the vector alignment
//       __memcpy(out + r * n, row, n * sizeof(T), NRAM2GDRAM);
//     }
//   }
//   }  // namespace
//
//   mluOpStatus_t scale_forward(Context& context, const mluopsCall& call, const Problem& p) {
//     const auto plan = plan::plan_scale_forward(p.shape, machine_of(context));
//     if (!plan.ok()) return not_supported(call, plan.refusal);
//     return launch(context, call, "scale_forward", plan,
//                   {reads("input", p.input, in_bytes), writes("output", p.output, out_bytes)},
//                   [&](char* nram) { scale_rows<float>(..., nram); });
//   }
//   }  // namespace mluops::emu
// The launch half of this (Context, machine_of, launch, reads, writes, fill) is backends/mlu_emu/operators.h.
//
// Counts are elements unless called bytes. Alignment of vector words (all but copies and atomics): addresses and
// lengths in bytes are multiples of 128 on the 200 series, of 64 from the 300 series on. A fault unwinds the kernel
// with an exception of the emulator: kernels hold nothing that needs more than destructors, and never catch.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/device/task.h"

namespace mluops::emu::bang {

// ---- the task: who am I ------------------------------------------------------------------------------------------

/// Built-ins of the task this thread runs.
const TaskBuiltins& task_builtins();

#define MLUOPS_EMU_BUILTIN(name)                                                \
  inline const struct name##Builtin {                                           \
    operator int() const { return task_builtins().name; } /* NOLINT implicit */ \
  } name {                                                                      \
  }
MLUOPS_EMU_BUILTIN(taskId);
MLUOPS_EMU_BUILTIN(taskIdX);
MLUOPS_EMU_BUILTIN(taskIdY);
MLUOPS_EMU_BUILTIN(taskIdZ);
MLUOPS_EMU_BUILTIN(taskDim);
MLUOPS_EMU_BUILTIN(taskDimX);
MLUOPS_EMU_BUILTIN(taskDimY);
MLUOPS_EMU_BUILTIN(taskDimZ);
MLUOPS_EMU_BUILTIN(coreId);
MLUOPS_EMU_BUILTIN(coreDim);
MLUOPS_EMU_BUILTIN(clusterId);
MLUOPS_EMU_BUILTIN(clusterDim);
#undef MLUOPS_EMU_BUILTIN

/// Number of the architecture, as __BANG_ARCH__ has it (372 ...).
inline int bang_arch() {
  return task_builtins().arch;
}
/// The memory core never runs a kernel here.
inline constexpr bool __is_mpu() {
  return false;
}
/// This core's NRAM and its usable bytes; the same pointer the kernel was given.
char* nram_buffer();
std::int64_t nram_bytes();

// ---- copies and barriers -----------------------------------------------------------------------------------------

enum mluMemcpyDirection_t { GDRAM2NRAM, NRAM2GDRAM, NRAM2NRAM, GDRAM2GDRAM };

/// Copies, seen by everything after it. No alignment rules. NRAM2NRAM may overlap: memmove per segment.
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction);
/// segments + 1 pieces of `bytes`, in ascending order; strides in bytes (32 bits on the device).
void __memcpy(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction, std::int64_t dst_stride,
              std::int64_t src_stride, std::int64_t segments);
/// Queues a copy: it happens at the next __sync(), __sync_io() (GDRAM) or __sync_move() (NRAM2NRAM). Until then neither
/// side may be touched, except by later async copies of the same engine, which keep their order.
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction);
void __memcpy_async(void* dst, const void* src, std::int64_t bytes, mluMemcpyDirection_t direction,
                    std::int64_t dst_stride, std::int64_t src_stride, std::int64_t segments);

void __sync();
void __sync_io();
void __sync_move();
void __sync_compute();
void __sync_io_move_compute();

// ---- vector words ------------------------------------------------------------------------------------------------
// All operands lie in NRAM; element-wise unless said otherwise; each operation is rounded in T; dst may be a source.

template <class T>
using ValueOf = std::type_identity_t<T>;  // converts to the pointer's element type

/// dst[i] = value for n lanes of V: the VALUE's type selects the lane (an int32 through a half* fills n int32 lanes).
template <class V>  // half, float, int16, uint16, int32, uint32, int8, uint8
void __bang_write_value(void* dst, std::int64_t n, V value);
/// dst[i] = value for n lanes of T.
template <class T>  // as __bang_write_value
void __memset_nram(T* dst, std::int64_t n, ValueOf<T> value);
/// Copies `bytes` within NRAM on the vector unit; ranges may not overlap, except exactly.
void __bang_move(void* dst, const void* src, std::int64_t bytes);

// Arithmetic: half, float; add, sub, mul and their scalar forms also int16, int32 (wrapping).
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
/// dst[i] = a[i] op b[i mod cycle]; n is a multiple of cycle, cycle's length obeys the alignment.
template <class T>
void __bang_cycle_add(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_sub(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);
template <class T>
void __bang_cycle_mul(T* dst, const T* a, const T* b, std::int64_t n, std::int64_t cycle);

enum FusionMode { FUSION_FMA };
/// dst[i] = a[i] * scale + c[i mod cycle], rounded once from the 300 series on, after each step on the 200 series.
template <class T>  // half, float
void __bang_fusion(FusionMode mode, T* dst, const T* a, ValueOf<T> scale, const T* c, std::int64_t n,
                   std::int64_t cycle);

/// b[i] where it is larger (smaller) than a[i], else a[i]: a NaN in a stays, a NaN in b loses.
template <class T>  // half, float, int16, int32
void __bang_maxequal(T* dst, const T* a, const T* b, std::int64_t n);
template <class T>
void __bang_minequal(T* dst, const T* a, const T* b, std::int64_t n);

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

// Bits, `bytes` of them.
void __bang_band(void* dst, const void* a, const void* b, std::int64_t bytes);
void __bang_bor(void* dst, const void* a, const void* b, std::int64_t bytes);
void __bang_bxor(void* dst, const void* a, const void* b, std::int64_t bytes);
void __bang_bnot(void* dst, const void* a, std::int64_t bytes);

/// dst [w,h] = transposed src [h,w]; h and w span multiples of 64 bytes; not in place.
template <class T>  // half, float, int16, int32
void __bang_transpose(T* dst, const T* src, std::int64_t h, std::int64_t w);
/// Sums over windows of src [height,width,channel] without dividing: dst [ho,wo,channel], ho = (height-kh)/sy + 1,
/// added in row order in T; dst may be src. channel spans a multiple of 128 bytes.
template <class T>  // half, float
void __bang_sumpool(T* dst, const T* src, std::int64_t channel, std::int64_t height, std::int64_t width,
                    std::int64_t kernel_height, std::int64_t kernel_width, std::int64_t stride_x,
                    std::int64_t stride_y);
/// Sum of n lanes, one after the other in T; for the scalar core.
template <class T>  // half, float
T __bang_sum(const T* src, std::int64_t n);
/// dst[i] = table[index[i]]; an index outside the table is a fault. Table length spans a multiple of 64 elements.
template <class T, class I>  // T int16, uint16, half, int32, uint32, float; I int16, uint16, int32, uint32
void __bang_lut(T* dst, const I* index, const T* table, std::int64_t n, std::int64_t table_n);

// Conversions; `position` is the fix-point position, 0. To integers: NaN gives 0, out of range saturates.
// No suffix: towards zero; _rd: down; _rn: nearest even.
void __bang_int322float(float* dst, const std::int32_t* src, std::int64_t n, int position);
void __bang_int162float(float* dst, const std::int16_t* src, std::int64_t n, int position);
void __bang_int162half(half* dst, const std::int16_t* src, std::int64_t n, int position);
void __bang_int322half(half* dst, const std::int32_t* src, std::int64_t n, int position);
void __bang_float2int32(std::int32_t* dst, const float* src, std::int64_t n, int position);
void __bang_float2int32_rd(std::int32_t* dst, const float* src, std::int64_t n, int position);
void __bang_half2int32(std::int32_t* dst, const half* src, std::int64_t n, int position);
void __bang_half2int32_rd(std::int32_t* dst, const half* src, std::int64_t n, int position);
void __bang_float2int16_rd(std::int16_t* dst, const float* src, std::int64_t n, int position);
void __bang_half2int16_rd(std::int16_t* dst, const half* src, std::int64_t n, int position);
void __bang_int322int16(std::int16_t* dst, const std::int32_t* src, std::int64_t n, int dst_position, int src_position);
void __bang_half2float(float* dst, const half* src, std::int64_t n);
void __bang_float2half_rn(half* dst, const float* src, std::int64_t n);

// ---- atomics -----------------------------------------------------------------------------------------------------

/// gdram[i] += nram[i], element-wise atomic, each sum rounded in T. No alignment rules.
template <class T>  // half, float, int32
void __bang_atomic_reduce_add(T* gdram, const T* nram, std::int64_t n);
/// gdram[0] += value.
template <class T, class = std::enable_if_t<!std::is_pointer_v<T>>>
void __bang_atomic_reduce_add(T* gdram, T value);

}  // namespace mluops::emu::bang

namespace mluops::emu {
using namespace bang;  // kernels read as they would on the device
}
