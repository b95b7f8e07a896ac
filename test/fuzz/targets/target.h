// The fuzz targets: each makes calls from the bytes given and ends the program where something is wrong, as libFuzzer
// wants it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace mluops::test {

/// Sequences of calls of the C API.
void fuzz_api(const std::uint8_t* data, std::size_t size);
/// One operator with hostile data and lies about its arguments.
void fuzz_operators(const std::uint8_t* data, std::size_t size);
/// Prepared calls with other arguments each time, thousands a second.
void fuzz_calls(const std::uint8_t* data, std::size_t size);
/// What cncc makes of a file.
void fuzz_cncc(const std::uint8_t* data, std::size_t size);
/// Instructions of inline MLISA.
void fuzz_mlisa(const std::uint8_t* data, std::size_t size);
/// Files of mluops_replay.
void fuzz_replay(const std::uint8_t* data, std::size_t size);
/// One valid call on cpu, mlu_emu and the reference.
void fuzz_differential(const std::uint8_t* data, std::size_t size);

/// Ends the program where the text is not empty: libFuzzer then keeps the input.
inline void require_harmless(const std::string& harm, const std::string& what) {
  if (harm.empty()) return;
  std::fprintf(stderr, "finding: %s\n  %s\n", what.c_str(), harm.c_str());
  std::abort();
}

}  // namespace mluops::test
