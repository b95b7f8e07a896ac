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
//       __bang_mul_scalar(row, row, factor, n);   // 200 series: n * sizeof(T) a multiple of 128
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
// Counts are elements unless called bytes. Alignment of vector builtins (all but copies and atomics): addresses and
// lengths in bytes are multiples of 128 on the 200 series, free from the 300 series on. A fault unwinds the kernel
// with an exception of the emulator: kernels hold nothing that needs more than destructors, and never catch.
#pragma once

#include "backends/mlu_emu/bang/words.h"
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
/// This core's NRAM and its usable bytes; the same pointer the kernel was given.
char* nram_buffer();
std::int64_t nram_bytes();

}  // namespace mluops::emu::bang

namespace mluops::emu {
using namespace bang;  // kernels read as they would on the device
}
