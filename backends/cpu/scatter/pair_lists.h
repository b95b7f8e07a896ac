// Pairs of rows sorted by tiles of the rows they are added to: which task adds what.
//
// A counting sort, each offset of the filter by itself: inside a tile the pairs of an offset keep their order, whatever
// the number of threads, so sums over a tile are bitwise equal every time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"
#include "mluops/problem/indice_convolution.h"

namespace mluops::cpu {

struct RowPair {
  std::int32_t from, to;
};

/// Pairs that are given of all offsets.
inline std::int64_t all_pairs(const mluopsIndicePairs& pairs) {
  return std::accumulate(pairs.indice_num, pairs.indice_num + pairs.offsets, std::int64_t{0});
}

/// Pairs of all offsets; an offset may have none in a tile. Pairs that lead outside are left out.
class PairLists {
 public:
  /// Rows of a tile: as many sums as the second cache holds for 128 channels. Not the machine's, for the bits.
  static constexpr std::int64_t kTileRows = 512;

  static std::int64_t tiles(std::int64_t rows) { return ceil_div(rows, kTileRows); }

  /// Rows are read by the first number of a pair and added to by the second; swap: the other way round. Takes 8 bytes
  /// for each pair and 16 for each offset of a tile.
  PairLists(Allocator& allocator, const mluopsIndicePairs& pairs, std::int64_t from_rows, std::int64_t to_rows,
            bool swap)
      : pairs_(pairs),
        from_rows_(from_rows),
        to_rows_(to_rows),
        swap_(swap),
        tiles_(tiles(to_rows)),
        begin_(allocator.allocate<std::int64_t>(size_sum(size_product(tiles_, pairs.offsets), 1))),
        next_(allocator.allocate<std::int64_t>(tiles_, pairs.offsets)),
        entries_(allocator.allocate<RowPair>(all_pairs(pairs))) {}

  void fill(const Context& context, const mluopsCall& call) {
    const double offset_ns = cost::kStep * static_cast<double>(all_pairs(pairs_)) / static_cast<double>(pairs_.offsets);
    const Loop loop(context, call, pairs_.offsets, offset_ns);
    loop.run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t k = first; k < last; ++k) count(k);
    });
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < tiles_ * pairs_.offsets; ++i) {
      begin_[i] = place;
      place += std::exchange(next_[i], place);
    }
    begin_[tiles_ * pairs_.offsets] = place;
    loop.run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t k = first; k < last; ++k) {
        each_pair(k, [&](RowPair pair, std::int64_t at) { entries_[next_[at]++] = pair; });
      }
    });
  }

  std::int64_t first_row(std::int64_t tile) const { return tile * kTileRows; }
  std::int64_t rows(std::int64_t tile) const { return std::min(kTileRows, to_rows_ - tile * kTileRows); }
  std::span<const RowPair> operator()(std::int64_t tile, std::int64_t offset) const {
    const std::int64_t* const begin = begin_ + tile * pairs_.offsets + offset;
    return {entries_ + begin[0], entries_ + begin[1]};
  }

 private:
  /// f(pair, its tile and offset as one number)
  template <class F>
  void each_pair(std::int64_t k, const F& f) const {
    const std::int32_t* const first = pairs_.indice_pairs + 2 * k * pairs_.places;
    const std::int32_t* const second = first + pairs_.places;
    const std::int32_t* const from = swap_ ? second : first;
    const std::int32_t* const to = swap_ ? first : second;
    const std::int64_t from_rows = from_rows_, to_rows = to_rows_;
    for (std::int64_t i = 0; i < pairs_.indice_num[k]; ++i) {
      const auto row = static_cast<std::uint32_t>(to[i]);
      if (static_cast<std::uint32_t>(from[i]) >= from_rows || row >= to_rows) continue;
      f(RowPair{from[i], to[i]}, row / kTileRows * pairs_.offsets + k);
    }
  }

  void count(std::int64_t k) {
    for (std::int64_t tile = 0; tile < tiles_; ++tile) next_[tile * pairs_.offsets + k] = 0;
    each_pair(k, [&](RowPair, std::int64_t at) { ++next_[at]; });
  }

  mluopsIndicePairs pairs_;
  std::int64_t from_rows_, to_rows_;
  bool swap_;
  std::int64_t tiles_;
  std::int64_t* begin_;
  std::int64_t* next_;
  RowPair* entries_;
};

}  // namespace mluops::cpu
