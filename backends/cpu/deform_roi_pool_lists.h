// For each pixel of a tile: which bins add to it, with which weight (deform_roi_pool backward). Pairs are for
// grad_input alone; with grad_offset each pixel's product with each bin is wanted, and sorting as many links does not
// pay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/cpu/buckets.h"
#include "backends/cpu/deform_roi_pool.h"
#include "backends/cpu/scratch.h"

namespace mluops::cpu::deform_roi_pool {

/// Along one axis a bin has at most two taps per pixel, so that one bin always fits.
inline std::int64_t most_links(const Tiles& t, std::int64_t usual) {
  return std::max<std::int64_t>(4 * t.pixels(), usual);
}

/// What the bins of a RoI's row do along x on the columns [first, last) of a tile, the same for all rows of the RoI
/// without offset: pairs of neighbouring columns, and columns that stay single, bin by bin.
template <class A>
class ColumnPairs {
 public:
  struct Pair {
    std::uint32_t key;  ///< twice the column counted from the tile's first one, + 1 for a single one
    std::uint32_t bin;  ///< counted from the first one of the row
    A weight, next_weight;
  };

  ColumnPairs(Carver& carver, const Shape& s, bool used)
      : most_taps_(most_taps(s.w, s.sampling_ratio)),
        most_bins_(s.pooled_w * most_taps_ > 4096 ? 1 : s.pooled_w),
        pairs_(carver.take<Pair>(used ? most_bins_ * most_taps_ : 0)),
        begin_(carver.take<std::int64_t>(used ? most_bins_ + 1 : 0)) {}

  /// So many bins are found at once: all of a row, unless that is much.
  std::int64_t most_bins() const { return most_bins_; }

  void restrict_to(PixelRange columns) {
    columns_ = columns;
    roi_ = -1;
  }
  /// Finds the pairs of `first` and the bins behind it; `room` is for the taps of a bin.
  template <class T>
  void find(const Bins<T>& bins, const BinPlace& first, Tap<A>* room) {
    if (first.roi == roi_ && most_bins_ == bins.s.pooled_w) return;
    roi_ = first.roi;
    count_ = std::min(most_bins_, bins.s.pooled_w - first.col);
    begin_[0] = 0;
    BinPlace at = first;
    for (std::int64_t i = 0; i < count_; ++i, ++at.col) begin_[i + 1] = add(bins, at, begin_[i], room);
  }
  std::int64_t bins() const { return count_; }
  std::span<const Pair> operator[](std::int64_t bin) const { return {pairs_ + begin_[bin], pairs_ + begin_[bin + 1]}; }
  std::span<const Pair> all() const { return {pairs_, pairs_ + begin_[count_]}; }

 private:
  template <class T>
  std::int64_t add(const Bins<T>& bins, const BinPlace& at, std::int64_t count, Tap<A>* room) {
    const BinAxis<A> axis = bins.x(at);
    const PixelRange touched = axis.pixels(bins.s.w);
    if (touched.first >= columns_.last || touched.last <= columns_.first) return count;
    const TapList<A> taps(room, axis, bins.s.w, columns_);
    const auto bin = static_cast<std::uint32_t>(at.col);
    for (const Tap<A>* x = taps.begin(); x != taps.end(); ++x) {
      const auto key = static_cast<std::uint32_t>(2 * (x->index - columns_.first));
      const bool pair = x + 1 != taps.end() && x[1].index == x[0].index + 1;
      pairs_[count++] = pair ? Pair{key, bin, x[0].weight, x[1].weight} : Pair{key + 1, bin, x->weight, 0};
      if (pair) ++x;
    }
    return count;
  }

  std::int64_t most_taps_, most_bins_;
  Pair* pairs_;
  std::int64_t* begin_;
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
  static constexpr std::int64_t kBeyond = 4;

  PixelPairs(Carver& carver, const Tiles& t, bool used)
      : keys_(2 * t.pixels()),
        most_links_(most_links(t, 7168)),
        begin_(carver.take<std::uint32_t>(used ? keys_ + 2 : 0)),
        key_(carver.take<std::uint16_t>(used ? most_links_ : 0)),
        added_(carver.take<Link>(used ? most_links_ : 0)),
        links_(carver.take<Link>(used ? most_links_ + kBeyond : 0)) {}

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

  /// To be called when all links are added, which are on the pixels [first, last): only those are asked about after it.
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

/// Lists through one array, in the order links were added. Each link also has what moving its bin does to the weight,
/// and a place for the product of the pixel with the bin's gradient.
template <class A>
class PixelLists {
 public:
  struct Link {
    std::uint32_t next, bin;
    A weight;
  };
  struct Move {
    A y, x;
  };
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  PixelLists(Carver& carver, const Tiles& t, bool used)
      : pixels_(t.pixels()),
        most_links_(most_links(t, 8192)),
        lists_(carver.take<List>(used ? pixels_ : 0)),
        links_(carver.take<Link>(used ? most_links_ : 0)),
        moves_(carver.take<Move>(used ? most_links_ : 0)),
        dots_(carver.take<A>(used ? most_links_ : 0)) {}

  void clear() {
    std::fill_n(lists_, pixels_, List{kEnd, kEnd});
    count_ = 0;
  }
  bool has_room_for(std::int64_t links) const { return count_ + links <= most_links_; }

  void add(std::int64_t pixel, std::int64_t bin, A weight, Move move) {
    moves_[count_] = move;
    const auto link = static_cast<std::uint32_t>(count_++);
    links_[link] = {kEnd, static_cast<std::uint32_t>(bin), weight};
    List& list = lists_[pixel];
    (list.first == kEnd ? list.first : links_[list.last].next) = link;
    list.last = link;
  }

  std::uint32_t first(std::int64_t pixel) const { return lists_[pixel].first; }
  const Link& operator[](std::uint32_t link) const { return links_[link]; }
  A& dot(std::uint32_t link) { return dots_[link]; }

  /// sums[k] += move * dot over the links of bins[k]; links lie in the order of the bins.
  void add_up_moves(std::span<const std::int64_t> bins, Move* sums) const {
    std::size_t k = 0;
    for (std::int64_t link = 0; link < count_; ++link) {
      while (static_cast<std::uint32_t>(bins[k]) != links_[link].bin) ++k;
      sums[k].y += moves_[link].y * dots_[link];
      sums[k].x += moves_[link].x * dots_[link];
    }
  }

 private:
  struct List {
    std::uint32_t first, last;
  };
  std::int64_t pixels_, most_links_;
  List* lists_;
  Link* links_;
  Move* moves_;
  A* dots_;
  std::int64_t count_ = 0;
};

/// Nanoseconds for a byte of grad_input that nothing is added to, written past the caches.
constexpr double kZeroNs = 0.0115;

/// Bytes of grad_output that belong to a tile, about: what is read for it stays in the second cache.
constexpr std::int64_t kOwnerTileBytes = std::int64_t{512} << 10;

/// The working block of a call of backward by owners.
template <class A>
struct OwnerArrays {
  using Lists = PixelLists<A>;

  Roi<A>* rois;
  Tap<A>* taps;                 ///< per thread, of a bin: rows then columns
  A* sums;                      ///< per thread: one tile
  std::int64_t lists_bytes;     ///< of a thread
  std::byte* lists;             ///< per thread
  typename Lists::Move* moves;  ///< with offset: of all bins
  Buckets tiles;                ///< with offset, each entry has room for a Move

  OwnerArrays(Carver& carver, const mluopsCall& call, const Shape& s, std::int64_t items, const Tiles& t, bool offset)
      : rois(carver.take<Roi<A>>(s.rois)),
        taps(carver.take<Tap<A>>(call.threads * BinTaps<A>::most(s))),
        sums(carver.take<A>(call.threads * t.pixels() * s.c)),
        lists_bytes(bytes_of_lists(s, t, offset)),
        lists(carver.take<std::byte>(call.threads * lists_bytes)),
        moves(carver.take<typename Lists::Move>(offset ? items : 0)),
        tiles(carver, call, items, t.count(s), offset ? sizeof(typename Lists::Move) : 0) {}

 private:
  static std::int64_t bytes_of_lists(const Shape& s, const Tiles& t, bool offset) {
    Carver measure;
    static_cast<void>(ColumnPairs<A>(measure, s, !offset));
    static_cast<void>(PixelPairs<A>(measure, t, !offset));
    static_cast<void>(Lists(measure, t, offset));
    return measure.bytes();
  }
};

}  // namespace mluops::cpu::deform_roi_pool
