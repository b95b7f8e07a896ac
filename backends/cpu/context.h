// What the cpu backend keeps per handle.
#pragma once

#include "backends/cpu/isa.h"
#include "backends/cpu/scratch.h"
#include "mluops/backend.h"

namespace mluops::cpu {

enum class Threading { kOpenmp, kTbb };
enum class ScatterChoice { kAuto, kOwner, kAtomic };

struct Context {
  Isa isa = {};
  Threading threading = Threading::kOpenmp;
  ScatterChoice scatter = ScatterChoice::kAuto;
  const char* last_scatter = "";  ///< strategy of the last call that had a choice
  Scratch scratch;
  Scratch entries;  ///< lists whose length is known only after counting
};

/// Ends a call with a text for the caller.
inline mluOpStatus_t fail(const mluopsCall& call, mluOpStatus_t status, const char* text) {
  call.set_error(text);
  return status;
}

inline mluOpStatus_t no_memory(const mluopsCall& call) {
  return fail(call, MLUOP_STATUS_ALLOC_FAILED, "no memory for the working block of this call");
}

inline mluOpStatus_t dtype_not_supported(const mluopsCall& call) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "dtype: wanted HALF, FLOAT, BFLOAT16 or DOUBLE");
}

}  // namespace mluops::cpu
