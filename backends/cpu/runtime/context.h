// What the cpu backend keeps per handle.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/isa.h"
#include "mluops/call.h"

namespace mluops::cpu {

enum class Threading { kOpenmp, kTbb, kThreads, kSimulated };
enum class ScatterChoice { kAuto, kOwner, kAtomic };

struct Context {
  Isa isa = {};
  Threading threading = Threading::kThreads;
  ScatterChoice scatter = ScatterChoice::kAuto;
  std::string path;               ///< the path that every kernel has to take; empty: it chooses
  const char* last_scatter = "";  ///< strategy of the last call that had a choice
  const char* last_path = "";     ///< the path of the last call (runtime/path.h)
  static constexpr std::size_t kMostPaths = 8;
  std::array<const char*, kMostPaths> paths = {};  ///< those that could have run the last call
  std::size_t paths_known = 0;
  Arena arena;
  Arena entries;  ///< lists whose length is known only after counting
  Arena images;   ///< image tensors of an NCHW call in NHWC, or those of their pixels that it reads
  Arena sums;     ///< of gradients, whose pixels are found first

  template <class Visit>
  void for_each_arena(Visit visit) {
    for (Arena* const one : {&arena, &entries, &images, &sums}) visit(*one);
  }
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

/// The paths that could have run the last call, in the order of the kernel's list.
inline std::string path_names(const Context& context) {
  std::string names;
  for (std::size_t i = 0; i < context.paths_known; ++i) names.append(i == 0 ? "" : ", ").append(context.paths[i]);
  return names;
}

inline mluOpStatus_t path_not_found(const Context& context, const mluopsCall& call) {
  const std::string text = "option path: wanted one of " + path_names(context) + ", got \"" + context.path + "\"";
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, text.c_str());
}

}  // namespace mluops::cpu
