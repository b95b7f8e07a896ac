// Which of the compiled instruction-set levels a handle's calls run.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mluops::cpu {

struct Isa {
  std::size_t index;  ///< row of the dispatch tables (MLUOPS_CPU_ENTRY)
  const char* name;   ///< SSE2 (what every x86-64 has), SSE4, AVX2 or AVX512
};

/// The best level of this machine that does not exceed the cap: sse2, sse4, avx2, avx512 or auto, in any case of
/// letters. avx3, Highway's word for avx512, is understood as well. nullopt: no such name.
std::optional<Isa> choose_isa(std::string_view cap);

/// What choose_isa takes, for error texts.
#if defined(__aarch64__)
inline constexpr const char* kIsaNames = "neon, auto";
#else
inline constexpr const char* kIsaNames = "sse2, sse4, avx2, avx512, auto";
#endif

}  // namespace mluops::cpu
