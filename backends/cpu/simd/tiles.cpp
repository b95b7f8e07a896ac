#include "backends/cpu/simd/tiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace mluops::cpu::tiles {
namespace {

bool has_tiles() {
  constexpr unsigned kBfloat16 = 1u << 22, kTile = 1u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBfloat16) != 0 && (d & kTile) != 0;
}

/// Linux saves tile registers only for processes that ask for them; one that knows no tiles refuses.
bool system_grants_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// What LDTILECFG reads.
struct alignas(64) Shapes {
  std::uint8_t palette, start_row, reserved[14];
  std::uint16_t row_bytes[16];
  std::uint8_t rows[16];
};
constexpr Shapes kShapes = {1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

#define MLUOPS_TILES __attribute__((target("amx-tile,amx-bf16")))

/// Tiles 0 to 3 hold sums, 4 and 5 rows of the left matrix, 6 and 7 columns of the right one. kTall, kWide: two tiles
/// of rows, of columns.
template <bool kTall, bool kWide>
MLUOPS_TILES void multiply_block(const Product& p, std::int64_t row, std::int64_t column) {
  float* const sums = p.sums + row * p.sums_stride + column;
  float* const lower = sums + kEdge * p.sums_stride;
  const std::int64_t sums_step = 4 * p.sums_stride, left_step = 2 * p.left_stride;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  if (!p.overwrite) {
    _tile_loadd(0, sums, sums_step);
    if constexpr (kWide) _tile_loadd(1, sums + kEdge, sums_step);
    if constexpr (kTall) _tile_loadd(2, lower, sums_step);
    if constexpr (kTall && kWide) _tile_loadd(3, lower + kEdge, sums_step);
  }
  const std::int64_t parts = p.left_part != 0 || p.packed_part != 0 ? 2 : 1;
  for (std::int64_t part = 0; part < parts; ++part) {
    const Bfloat16* left = p.left + part * p.left_part + row * p.left_stride;
    const Bfloat16* right = p.packed + part * p.packed_part + column * p.depth;
    for (std::int64_t k = 0; k < p.depth; k += kDepth, left += kDepth, right += kDepth * kEdge) {
      _tile_loadd(4, left, left_step);
      _tile_loadd(6, right, 64);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (kWide) {
        _tile_loadd(7, right + kEdge * p.depth, 64);
        _tile_dpbf16ps(1, 4, 7);
      }
      if constexpr (kTall) {
        _tile_loadd(5, left + kEdge * p.left_stride, left_step);
        _tile_dpbf16ps(2, 5, 6);
        if constexpr (kWide) _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
  _tile_stored(0, sums, sums_step);
  if constexpr (kWide) _tile_stored(1, sums + kEdge, sums_step);
  if constexpr (kTall) _tile_stored(2, lower, sums_step);
  if constexpr (kTall && kWide) _tile_stored(3, lower + kEdge, sums_step);
}

MLUOPS_TILES void multiply_in_tiles(const Product& p) {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // compilers do not know that loads of tiles read memory
  _tile_loadconfig(&kShapes);
  for (std::int64_t column = 0; column < p.width; column += 2 * kEdge) {
    const bool wide = column + kEdge < p.width;
    for (std::int64_t row = 0; row < p.rows; row += 2 * kEdge) {
      const bool tall = row + kEdge < p.rows;
      if (tall) {
        wide ? multiply_block<true, true>(p, row, column) : multiply_block<true, false>(p, row, column);
      } else {
        wide ? multiply_block<false, true>(p, row, column) : multiply_block<false, false>(p, row, column);
      }
    }
  }
  _tile_release();
}

#define MLUOPS_DOT_PRODUCTS __attribute__((target("avx512f,avx512bf16")))

constexpr int kRows = 8;  ///< that are multiplied together, of sums in registers

/// kRows rows from `row` on, kBlocks blocks of columns from `column` on.
template <int kBlocks>
MLUOPS_DOT_PRODUCTS void multiply_rows(const Product& p, std::int64_t row, std::int64_t column) {
  __m512 sums[kRows][kBlocks];
  float* const to = p.sums + row * p.sums_stride + column;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) {
      sums[r][b] = p.overwrite ? _mm512_setzero_ps() : _mm512_loadu_ps(to + r * p.sums_stride + b * kEdge);
    }
  }
  const std::int64_t parts = p.left_part != 0 || p.packed_part != 0 ? 2 : 1;
  for (std::int64_t part = 0; part < parts; ++part) {
    const Bfloat16* const left = p.left + part * p.left_part + row * p.left_stride;
    const Bfloat16* const right = p.packed + part * p.packed_part + column * p.depth;
    for (std::int64_t k = 0; k < p.depth; k += 2) {
      __m512bh columns[kBlocks];
#pragma GCC unroll 4
      for (int b = 0; b < kBlocks; ++b) {
        columns[b] = (__m512bh)_mm512_loadu_si512(right + b * kEdge * p.depth + k * kEdge);
      }
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        std::int32_t pair;
        std::memcpy(&pair, left + r * p.left_stride + k, sizeof pair);
        const auto factors = (__m512bh)_mm512_set1_epi32(pair);
#pragma GCC unroll 4
        for (int b = 0; b < kBlocks; ++b) sums[r][b] = _mm512_dpbf16_ps(sums[r][b], factors, columns[b]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) _mm512_storeu_ps(to + r * p.sums_stride + b * kEdge, sums[r][b]);
  }
}

void multiply_in_vectors(const Product& p) {
  constexpr std::int64_t kMostBlocks = 3;
  for (std::int64_t column = 0, blocks = 0; column < p.width; column += blocks * kEdge) {
    blocks = std::min(kMostBlocks, (p.width - column) / kEdge);
    for (std::int64_t row = 0; row < p.rows; row += kRows) {
      if (blocks == 3) multiply_rows<3>(p, row, column);
      if (blocks == 2) multiply_rows<2>(p, row, column);
      if (blocks == 1) multiply_rows<1>(p, row, column);
    }
  }
}

}  // namespace

bool has(Unit unit) {
  static const bool tiles = has_tiles() && system_grants_tiles();
  return unit == Unit::kTiles ? tiles : unit == Unit::kNone || __builtin_cpu_supports("avx512bf16") != 0;
}

Unit unit() {
  return has(Unit::kTiles) ? Unit::kTiles : has(Unit::kVectors) ? Unit::kVectors : Unit::kNone;
}

void multiply(const Product& p, Unit by) {
  by == Unit::kTiles ? multiply_in_tiles(p) : multiply_in_vectors(p);
}

}  // namespace mluops::cpu::tiles

#else

namespace mluops::cpu::tiles {

bool has(Unit unit) {
  return unit == Unit::kNone;
}
Unit unit() {
  return Unit::kNone;
}
void multiply(const Product&, Unit) {}

}  // namespace mluops::cpu::tiles

#endif
