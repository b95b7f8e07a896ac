// For each pixel of a tile: which bins add to it, with which weight (backward).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/scatter/buckets.h"

namespace mluops::cpu::roi_mean {

/// What a bin does along one axis: to a pixel and the next one, or to a single one.
template <class A>
struct AxisPair {
  std::uint32_t key;  ///< twice the pixel counted from the tile's first one, + 1 for a single one
  std::uint32_t bin;
  A weight, next_weight;
};

/// Neighbours among the taps of a bin, and those that stay single; `first` is the tile's first pixel. Returns how many.
template <class A>
std::int64_t pair_up(const TapList<A>& taps, std::int64_t first, std::uint32_t bin, AxisPair<A>* pairs) {
  std::int64_t count = 0;
  for (const Tap<A>* tap = taps.begin(); tap != taps.end(); ++tap) {
    const auto key = static_cast<std::uint32_t>(2 * (tap->index - first));
    const bool pair = tap + 1 != taps.end() && tap[1].index == tap[0].index + 1;
    pairs[count++] =
        pair ? AxisPair<A>{key, bin, tap[0].weight, tap[1].weight} : AxisPair<A>{key + 1, bin, tap->weight, 0};
    if (pair) ++tap;
  }
  return count;
}

/// What bins do along x on the columns [first, last) of a tile, those of a RoI's row the same for all its rows without
/// offset: pairs of neighbouring columns, and columns that stay single, bin by bin.
template <class A>
class ColumnPairs {
 public:
  using Pair = AxisPair<A>;
  static constexpr std::int64_t kMostBins = 64;  ///< found at once

  ColumnPairs(Allocator& allocator, const Shape& s, const Tiles& t)
      : pairs_(allocator.allocate<Pair>(most(s, t), std::int64_t{1})) {}

  /// Pairs that are found at once, at most: a bin has up to two taps a pixel.
  static std::int64_t most(const Shape& s, const Tiles& t) { return std::min(kMostBins, s.pooled_w) * 2 * t.w(); }

  void restrict_to(PixelRange columns) {
    columns_ = columns;
    roi_ = -1;
  }
  /// The pairs of `first` and of kMostBins - 1 bins behind it in its row; `scratch` is for the taps of a bin.
  template <class T>
  std::span<const Pair> of_bins(const Bins<T>& bins, const BinPlace& first, Tap<A>* scratch) {
    if (first.roi == roi_ && bins.s.pooled_w <= kMostBins) return {pairs_, static_cast<std::size_t>(count_)};
    roi_ = first.roi;
    count_ = 0;
    BinPlace at = first;
    for (const std::int64_t end = std::min(bins.s.pooled_w, first.col + kMostBins); at.col < end; ++at.col) {
      const BinAxis<A> axis = bins.x(at);
      const PixelRange touched = axis.pixels(bins.s.w);
      if (touched.first >= columns_.last || touched.last <= columns_.first) continue;
      const TapList<A> taps(scratch, axis, bins.s.w, columns_);
      count_ += pair_up(taps, columns_.first, static_cast<std::uint32_t>(at.col), pairs_ + count_);
    }
    return {pairs_, static_cast<std::size_t>(count_)};
  }
  /// The pairs of one bin whose taps are known.
  std::span<const Pair> of(const TapList<A>& taps) {
    return {pairs_, static_cast<std::size_t>(pair_up(taps, columns_.first, 0, pairs_))};
  }

 private:
  Pair* pairs_;
  PixelRange columns_{};
  std::int64_t roi_ = -1, count_ = 0;
};

/// Links sorted by pixel. Where a bin adds to a pixel and to the next one in the row, the two are one link, a pair,
/// listed with the first; the others are single.
template <class A>
class PixelPairs {
 public:
  struct Link {
    std::uint32_t bin;
    A weight, next_weight;  ///< of the pixel, and in a pair of the next one
  };
  enum Kind { kPair = 0, kSingle = 1 };
  using Columns = std::span<const typename ColumnPairs<A>::Pair>;
  /// So many links may be read behind the last one.
  static constexpr std::int64_t kBeyond = 9;

  PixelPairs(Allocator& allocator, const Shape& s, const Tiles& t)
      : keys_(2 * t.pixels()),
        most_links_(std::max<std::int64_t>(7168, ColumnPairs<A>::most(s, t))),
        begin_(allocator.allocate<std::uint32_t>(keys_ + 2)),
        key_(allocator.allocate<std::uint16_t>(most_links_)),
        added_(allocator.allocate<Link>(most_links_)),
        links_(allocator.allocate<Link>(most_links_ + kBeyond)) {}

  void clear() {
    std::fill_n(begin_, keys_ + 2, 0);
    count_ = 0;
  }
  bool has_room_for(std::int64_t links) const { return count_ + links <= most_links_; }

  /// What the bins of a RoI's row add to one row of pixels that begins with `pixel`.
  void add(std::int64_t pixel, std::uint32_t first_bin, A weight, Columns columns) {
    std::uint16_t* const keys = key_ + count_;  // a tile has 8192 pixels at most
    Link* const added = added_ + count_;
    const auto first_key = static_cast<std::uint32_t>(2 * pixel);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& column = columns[i];
      keys[i] = static_cast<std::uint16_t>(first_key + column.key);
      added[i] = {first_bin + column.bin, weight * column.weight, weight * column.next_weight};
      ++begin_[first_key + column.key + 2];
    }
    count_ += static_cast<std::int64_t>(columns.size());
  }

  /// To be called when all links are added, which are on the pixels [first, last): only those are looked up
  /// after it.
  void sort(std::int64_t first, std::int64_t last) {
    for (std::int64_t key = 2 * first + 2; key < 2 * last + 1; ++key) begin_[key + 1] += begin_[key];
    for (std::int64_t i = 0; i < count_; ++i) links_[begin_[key_[i] + 1]++] = added_[i];
    std::fill_n(links_ + count_, kBeyond, count_ > 0 ? links_[count_ - 1] : Link{});
  }

  /// The links of a pixel are [begin(pixel, kPair), begin(pixel, kSingle)) and from there to begin(pixel + 1, kPair).
  std::uint32_t begin(std::int64_t pixel, Kind kind) const { return begin_[2 * pixel + kind]; }
  const Link& operator[](std::uint32_t link) const { return links_[link]; }

 private:
  std::int64_t keys_, most_links_;
  std::uint32_t* begin_;
  std::uint16_t* key_;
  Link *added_, *links_;
  std::int64_t count_ = 0;
};

/// What grad_offset needs of a bin, or of its part on a tile: what moving its samples along y and x does to the sum
/// over pixels of weight * pixel * gradient.
template <class A>
struct Move {
  A y, x;
};

/// Bytes of grad_output that belong to a tile, about: what is read for it stays in the second cache.
constexpr std::int64_t kOwnerTileBytes = kUsualSecondCacheBytes / 2;
/// A small map has so many tiles: the fewer they are, the fewer bins lie on several.
constexpr std::int64_t kOwnerTiles = 24;

/// The working block of a call of backward by owners.
template <class A>
struct OwnerArrays {
  Roi<A>* rois;
  Tap<A>* taps;               ///< per thread, of a bin: rows then columns
  std::uint32_t* prefetched;  ///< per thread
  A* sums;                    ///< per thread: one tile
  std::int64_t tile_bytes;    ///< of a thread
  std::byte* elements;        ///< per thread, in NCHW: one tile, channels innermost
  bool cleared = false;       ///< grad_input is zero already
  std::int64_t lists_bytes;   ///< of a thread
  std::byte* lists;           ///< per thread
  Move<A>* moves;             ///< with offset: of all bins
  Buckets tiles;              ///< with offset, each entry has room for a Move

  OwnerArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t items, const Tiles& t,
              bool offset, std::int64_t bytes_of_tile)
      : rois(allocator.allocate<Roi<A>>(s.rois)),
        taps(allocator.allocate<Tap<A>>(call.threads, BinTaps<A>::most(s))),
        prefetched(allocator.allocate<std::uint32_t>(call.threads, PrefetchedPixels::kSize)),
        sums(allocator.allocate<A>(call.threads, t.pixels(), s.c)),
        tile_bytes(bytes_of_tile),
        elements(allocator.allocate<std::byte>(call.threads, tile_bytes)),
        lists_bytes(bytes_of_lists(s, t)),
        lists(allocator.allocate<std::byte>(call.threads, lists_bytes)),
        moves(allocator.allocate<Move<A>>(offset ? items : 0)),
        tiles(allocator, call, items, t.count(s), offset ? sizeof(Move<A>) : 0) {}

 private:
  static std::int64_t bytes_of_lists(const Shape& s, const Tiles& t) {
    Allocator measure;
    static_cast<void>(ColumnPairs<A>(measure, s, t));
    static_cast<void>(PixelPairs<A>(measure, s, t));
    return measure.bytes();
  }
};

}  // namespace mluops::cpu::roi_mean
