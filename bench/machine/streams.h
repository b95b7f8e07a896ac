// The measured loops, compiled for every vector width and chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

/// XOR of all words: reads n floats (n a multiple of 1024), writes nothing.
std::uint32_t stream_read(const float* from, std::size_t n);
/// Non-temporal stores of one value to n floats (n a multiple of 1024).
void stream_fill(float* to, std::size_t n, float value);
/// stream_fill for n a multiple of 16, without waiting for the stores; stream_done() does.
void stream_part(float* to, std::size_t n, float value);
void stream_done();
/// Loads and non-temporal stores of n floats (n a multiple of 1024).
void stream_copy(const float* from, float* to, std::size_t n);
/// Independent chains of fused multiply-adds; adds the flops it did to *flops.
float fma_chains(std::int64_t rounds, double* flops);
/// Name of the chosen vector instructions.
const char* stream_target();

}  // namespace bench
