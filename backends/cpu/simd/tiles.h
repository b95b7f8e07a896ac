// Products of bfloat16 matrices, summed in float: in the register tiles of AMX, or in vectors by the dot products of
// AVX512-BF16.
#pragma once

#include <cstdint>

#include "backends/cpu/simd/element.h"

namespace mluops::cpu::tiles {

/// Rows of the left matrix and columns of the right one are multiples of kEdge, the depth a multiple of kDepth.
inline constexpr std::int64_t kEdge = 16, kDepth = 32;

enum class Unit { kNone, kVectors, kTiles };

/// Whether there is this one: tiles are there if the system grants this process their registers, too. The system is
/// asked once.
bool has(Unit unit);
/// The fastest there is.
Unit unit();

/// left [rows,depth] times right [depth,width], added to sums [rows,width]. In `packed` a block of kEdge columns is
/// contiguous and two rows are interleaved: column c of row k of a block is element k / 2 * 2 * kEdge + 2 * c + k % 2.
/// Subnormal numbers count as zero.
struct Product {
  std::int64_t rows, depth, width;
  const Bfloat16* left;
  std::int64_t left_stride;
  const Bfloat16* packed;
  float* sums;
  std::int64_t sums_stride;
  bool overwrite = false;  ///< the sums, in place of adding to them
  /// A matrix of more precise numbers is the sum of two parts: elements from a part to the next one, 0 for a matrix
  /// that has only one.
  std::int64_t left_part = 0, packed_part = 0;
};

/// Only by one that is not kNone, and is there.
void multiply(const Product& p, Unit by = unit());

}  // namespace mluops::cpu::tiles
