// The owner of tiles of the map (backward): sums what bins give to their pixels and writes grad_input.
#if defined(MLUOPS_CPU_ROI_MEAN_OWNER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_OWNER_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_OWNER_INL_H_
#endif

#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/roi_mean/lists.h"
#include "backends/cpu/roi_mean/offset-inl.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
using namespace layout::HWY_NAMESPACE;

/// grad_input larger than this leaves the caches before anyone reads it. Not the machine's: it decides in which order
/// sums are added.
constexpr std::int64_t kCachedBytes = 8 * kUsualSecondCacheBytes;

/// Rows of an area into grad_input; nothing but zeros where there are no sums.
template <class T>
void write_area(const Shape& s, const Area& area, const Acc<T>* sums, bool non_temporal, T* grad_input) {
  const std::int64_t row_size = (area.x1 - area.x0) * s.c;
  for (std::int64_t y = area.y0; y < area.y1; ++y) {
    T* const out = grad_input + ((area.batch * s.h + y) * s.w + area.x0) * s.c;
    const std::int64_t bytes = row_size * static_cast<std::int64_t>(sizeof(T));
    if (sums == nullptr) {
      zero_bytes(non_temporal, out, bytes);
    } else {
      store_row(non_temporal, sums + (y - area.y0) * row_size, out, row_size);
    }
  }
}

/// write_area in NCHW. Runs of a plane that are not whole cache lines go into the caches: the tile beside it has the
/// rest of the line.
template <class T>
void write_planes(const Shape& s, const Area& area, const T* pixels, bool non_temporal, T* grad_input) {
  using E = Moved<T>;
  const std::int64_t plane = s.h * s.w, bytes = area.width() * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t y = area.y0; y < area.y1; ++y) {
    T* const out = grad_input + area.batch * s.c * plane + y * s.w + area.x0;
    const bool lines = whole_lines(out, plane * static_cast<std::int64_t>(sizeof(T))) && bytes % kCacheLineBytes == 0;
    if (pixels == nullptr) {
      for (std::int64_t c = 0; c < s.c; ++c) zero_bytes(non_temporal && lines, out + c * plane, bytes);
    } else {
      const T* const row = pixels + (y - area.y0) * area.width() * s.c;
      transpose_panel(non_temporal && lines, reinterpret_cast<const E*>(row), s.c, area.width(), s.c,
                      reinterpret_cast<E*>(out), plane);
    }
  }
}

/// Where the sums of a pixel go: out with non-temporal stores, into the caches, or to sums of the tile that are not
/// complete yet.
enum class Target { kNonTemporal, kCaches, kTile };

/// Sums what is listed for the pixels of a tile, all channels in registers.
template <class T>
class TileSums {
 public:
  using A = Acc<T>;
  using Pairs = PixelPairs<A>;
  static constexpr std::int64_t kWide = kManySums / 2 * kLanes<A>;  ///< channels summed side by side

  TileSums(const BackwardProblem& p, A* sums, Pairs& pairs) : p_(p), s_(p.shape), sums_(sums), pairs_(pairs) {}

  /// Pixels of input, laid out as the tile is, that are prefetched meanwhile; nullptr for none.
  void prefetch_meanwhile(const T* pixels) { ahead_ = pixels; }

  /// Pixels in `rows` of the tile: those that links are on.
  void run(Target target, const Area& area, PixelRange rows) {
    target_ = target;
    area_ = area;
    rows_ = rows;
    target == Target::kTile ? sum_rows<true>() : sum_rows<false>();
  }

 private:
  T* grad_input() const { return static_cast<T*>(p_.grad_input); }
  const T* gradient(std::uint32_t bin) const {
    return static_cast<const T*>(p_.grad_output) + static_cast<std::int64_t>(bin) * s_.c;
  }

  template <bool kTile>
  void sum_rows() {
    pairs_.sort((rows_.first - area_.y0) * area_.width(), (rows_.last - area_.y0) * area_.width());
    for (std::int64_t y = rows_.first; y < rows_.last; ++y) {
      std::int64_t wide = 0;
      for (; wide + kWide <= s_.c; wide += kWide) {
        sum_row<kTile>(FullTag<T>(), std::integral_constant<int, kManySums / 2>(), y, wide, kLanes<A>);
      }
      for_few<kTile>(s_.c - wide, [&](auto d, auto vectors, std::int64_t c, std::int64_t step)
                                      HWY_ATTR { sum_row<kTile>(d, vectors, y, wide + c, step); });
    }
  }
  /// f(d, vectors, c, step). Sums of a tile are read again, so its vectors do not overlap.
  template <bool kTile, class F>
  static HWY_INLINE void for_few(std::int64_t n, F&& f) {
    constexpr int kVectors = kManySums / 8;
    if constexpr (kTile) {
      for_wide<A, kVectors>(n, [&](auto d, auto vectors, std::int64_t c)
                                   HWY_ATTR { f(d, vectors, c, static_cast<std::int64_t>(hn::Lanes(d))); });
    } else {
      for_overlapping<A, kVectors>(n, f);
    }
  }

  /// `vectors` vectors of channels from c on, `step` apart, of all pixels in row y of the tile.
  template <bool kTile, class D, class Vectors>
  HWY_INLINE void sum_row(D d, Vectors, std::int64_t y, std::int64_t c, std::int64_t step) {
    constexpr int count = Vectors::value;
    const std::int64_t in_map = (area_.batch * s_.h + y) * s_.w + area_.x0, in_tile = (y - area_.y0) * area_.width();
    const auto begin_with = [&](std::int64_t x, hn::Vec<D>* HWY_RESTRICT sum) HWY_ATTR {
      const A* const from = sums_ + (in_tile + x) * s_.c + c;
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) {
        sum[v] = kTile && x < area_.width() ? hn::LoadU(d, from + v * step) : hn::Zero(d);
      }
    };
    hn::Vec<D> sum[count], next[count];
    begin_with(0, sum);
    for (std::int64_t x = 0; x < area_.width(); ++x) {
      begin_with(x + 1, next);
      const std::uint32_t first = pairs_.begin(in_tile + x, Pairs::kPair);
      const std::uint32_t singles = pairs_.begin(in_tile + x, Pairs::kSingle);
      const std::uint32_t end = pairs_.begin(in_tile + x + 1, Pairs::kPair);
      for (std::uint32_t i = first; i != singles; ++i) add_pair<count>(d, i, c, step, sum, next);
      for (std::uint32_t i = singles; i != end; ++i) add_single<count>(d, i, c, step, sum);
      put_sums<kTile, count>(d, step, sum, sums_ + (in_tile + x) * s_.c + c, grad_input() + (in_map + x) * s_.c + c);
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) sum[v] = next[v];
      if (ahead_ != nullptr)
        prefetch_part<count * hn::MaxLanes(D()) * sizeof(T), 2>(ahead_ + ((y - area_.y0) * s_.w + x) * s_.c + c);
    }
  }

  /// A link's gradient, from channel c on, to the sums of its pixel and of the next one.
  template <int kCount, class D>
  HWY_INLINE void add_pair(D d, std::uint32_t i, std::int64_t c, std::int64_t step, hn::Vec<D>* HWY_RESTRICT sum,
                           hn::Vec<D>* HWY_RESTRICT next) {
    constexpr std::size_t kBytes = kCount * hn::MaxLanes(D()) * sizeof(T);
    const auto& link = pairs_[i];
    const T* const g = gradient(link.bin) + c;
    // Some links before its turn, what a link needs of its gradient is on its way to the first cache, and what the next
    // channels will need to the second.
    const T* const later = value_barrier(gradient(pairs_[i + kLinksAhead].bin) + c);
    prefetch_part<kBytes>(later);
    prefetch_part<kBytes, 2>(later + kCount * step);
    const auto weight = hn::Set(d, link.weight), next_weight = hn::Set(d, link.next_weight);
    MLUOPS_UNROLL
    for (int v = 0; v < kCount; ++v) {
      const auto gv = vector_barrier(load(d, g + v * step));
      sum[v] = hn::MulAdd(weight, gv, sum[v]);
      next[v] = hn::MulAdd(next_weight, gv, next[v]);
    }
  }
  /// Adds a link with one pixel.
  template <int kCount, class D>
  HWY_INLINE void add_single(D d, std::uint32_t i, std::int64_t c, std::int64_t step, hn::Vec<D>* HWY_RESTRICT sum) {
    const T* const g = gradient(pairs_[i].bin) + c;
    const auto weight = hn::Set(d, pairs_[i].weight);
    MLUOPS_UNROLL
    for (int v = 0; v < kCount; ++v) sum[v] = hn::MulAdd(weight, load(d, g + v * step), sum[v]);
  }

  template <bool kTile, int kCount, class D>
  HWY_INLINE void put_sums(D d, std::int64_t step, const hn::Vec<D>* HWY_RESTRICT sum, A* HWY_RESTRICT tile_sum,
                           T* HWY_RESTRICT out) const {
    if constexpr (kTile) {
      MLUOPS_UNROLL
      for (int v = 0; v < kCount; ++v) hn::StoreU(sum[v], d, tile_sum + v * step);
    } else if (std::is_same_v<D, FullTag<T>> && target_ == Target::kNonTemporal) {
      MLUOPS_UNROLL
      for (int v = 0; v < kCount; ++v) store(true, sum[v], d, out + v * step);
    } else {
      MLUOPS_UNROLL
      for (int v = 0; v < kCount; ++v) store(sum[v], d, out + v * step);
    }
  }

  static constexpr std::uint32_t kLinksAhead = 8;

  const BackwardProblem& p_;
  const Shape& s_;
  A* const sums_;
  Pairs& pairs_;
  const T* ahead_ = nullptr;
  Target target_{};
  Area area_{};
  PixelRange rows_{};
};

/// One thread and the tiles it owns.
template <class T>
class Owner {
 public:
  using A = Acc<T>;
  using Pairs = PixelPairs<A>;

  Owner(const BackwardProblem& p, const Bins<T>& bins, const Tiles& t, const OwnerArrays<A>& arrays, int slot)
      : p_(p),
        s_(p.shape),
        bins_(bins),
        row_bytes_(s_.c * static_cast<std::int64_t>(sizeof(T))),
        all_bytes_(s_.batch * s_.h * s_.w * row_bytes_),
        non_temporal_(large() && whole_lines(p.grad_input, row_bytes_)),
        taps_(arrays.taps + slot * BinTaps<A>::most(s_)),
        prefetched_(arrays.prefetched + slot * PrefetchedPixels::kSize),
        sums_(arrays.sums + slot * t.pixels() * s_.c),
        tile_(reinterpret_cast<T*>(arrays.elements + slot * arrays.tile_bytes)),
        cleared_(arrays.cleared),
        allocator_(arrays.lists + slot * arrays.lists_bytes),
        columns_(allocator_, s_, t),
        pairs_(allocator_, s_, t),
        tile_sums_(p, sums_, pairs_) {}

  /// Writes the tile. `items` add to it: with offset bins, moves[k] is this tile's part of what grad_offset needs for
  /// items[k]; without, the first bins of RoIs' rows.
  void run(const Area& area, std::span<const std::int64_t> items, Move<A>* moves) {
    if (items.empty()) {
      expected_ = false;
      return write_zeros(area);
    }
    area_ = area;
    items_ = items;
    complete_ = true;
    clear_lists();
    p_.offset == nullptr ? list_rows() : list_bins(moves);
    const bool direct = complete_ && !planes() && (non_temporal_ || all_bytes_ <= kCachedBytes);
    const Area part =
        cleared_ && complete_ ? area_.part(rows_.first <= rows_.last ? rows_ : PixelRange{area_.y0, area_.y0}) : area_;
    if (complete_ && !direct) std::fill_n(sums_ + in_tile(part.y0), (part.y1 - part.y0) * area.width() * s_.c, A{0});
    empty_lists(!direct ? Target::kTile : non_temporal_ ? Target::kNonTemporal : Target::kCaches);
    if (!direct) write_sums(part);
  }

  /// What run() is called with after the next time. Meanwhile all pixels of input there are prefetched, if its bins
  /// read about as many.
  void expect(const Area& area, std::span<const std::int64_t> items) {
    const bool dense = p_.offset != nullptr && !planes() && 16 * std::ssize(items) >= area.pixels();
    const std::int64_t first = (area.batch * s_.h + area.y0) * s_.w + area.x0;
    tile_sums_.prefetch_meanwhile(dense ? static_cast<const T*>(p_.input) + first * s_.c : nullptr);
    at_hand_ = std::exchange(expected_, dense);
  }

 private:
  static constexpr std::size_t kPrefetchBins = 4;

  bool large() const { return all_bytes_ > summed_non_temporal_from(); }
  bool planes() const { return p_.layout == MLUOP_LAYOUT_NCHW; }
  T* grad_input() const { return static_cast<T*>(p_.grad_input); }

  // ---- listing ----

  /// With offset each bin is listed by itself, and what its samples do to grad_offset found at once.
  void list_bins(Move<A>* moves) {
    columns_.restrict_to({area_.x0, area_.x1});
    if (planes()) take_pixels();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (i + kPrefetchBins < items_.size()) {
        bins_.prefetch_bin(bins_.place(items_[i + kPrefetchBins]));
        prefetch<2>(gradient(items_[i + kPrefetchBins]), s_.c);
      }
      const BinPlace at = bins_.place(items_[i]);
      const BinTaps<A> taps(bins_, at, {area_.y0, area_.y1}, {area_.x0, area_.x1}, taps_);
      prefetch(gradient(at.bin), s_.c);
      if (!planes() && !at_hand_)
        prefetched_.prefetch(s_, static_cast<const T*>(p_.input), area_.batch * s_.h, taps.y, taps.x);
      moves[i] = offset_gradient(s_, taps, image(), width(), gradient(at.bin));
      list(at, taps.y, columns_.of(taps.x));
    }
  }
  const T* gradient(std::int64_t bin) const { return static_cast<const T*>(p_.grad_output) + bin * s_.c; }

  void list_rows() {
    columns_.restrict_to({area_.x0, area_.x1});
    for (const std::int64_t first : items_) {
      BinPlace at = bins_.place(first);
      const TapList<A> y(taps_, bins_.y(at), s_.h, {area_.y0, area_.y1});
      for (; y.size() > 0 && at.col < s_.pooled_w; at.col += ColumnPairs<A>::kMostBins) {
        const auto columns = columns_.of_bins(bins_, at, taps_ + BinTaps<A>::most_rows(s_));
        // The channels behind these are prefetched while these are summed.
        constexpr std::int64_t kWide = TileSums<T>::kWide;
        for (const auto& pair : columns) prefetch<2>(gradient(first + pair.bin), std::min(s_.c, kWide));
        list(at, y, columns);
      }
    }
  }
  /// `columns` of `at`, or of the row of bins that it is the first of.
  void list(const BinPlace& at, const TapList<A>& y, typename Pairs::Columns columns) {
    if (columns.empty()) return;
    const A inverse_count = bins_.roi(at).inverse_count;
    for (const Tap<A>& tap : y) {
      if (!pairs_.has_room_for(std::ssize(columns))) make_room();
      pairs_.add(row_of(tap), static_cast<std::uint32_t>(at.bin), tap.weight * inverse_count, columns);
    }
  }

  /// Where a row of pixels that is added to begins in the tile.
  std::int64_t row_of(const Tap<A>& y) {
    rows_.first = std::min<std::int64_t>(rows_.first, y.index);
    rows_.last = std::max<std::int64_t>(rows_.last, y.index + 1);
    return (y.index - area_.y0) * area_.width();
  }

  /// Sums what is listed so far.
  void make_room() {
    if (complete_) std::fill_n(sums_, area_.pixels() * s_.c, A{0});
    complete_ = false;
    empty_lists(Target::kTile);
  }

  // ---- emptying ----

  void empty_lists(Target target) {
    if (rows_.first > rows_.last) rows_ = {area_.y0, area_.y0};
    tile_sums_.run(target, area_, rows_);
    if (target != Target::kTile) {
      write_zeros({area_.y0, rows_.first});
      write_zeros({rows_.last, area_.y1});
    }
    clear_lists();
  }
  void clear_lists() {
    pairs_.clear();
    rows_ = {area_.y1, area_.y0};
  }
  /// Where a row begins in a tile of pixels.
  std::int64_t in_tile(std::int64_t y) const { return (y - area_.y0) * area_.width() * s_.c; }
  /// Rows of the tile that nothing is added to.
  void write_zeros(PixelRange rows) const { write_zeros(area_.part(rows)); }
  void write_zeros(const Area& area) const {
    if (cleared_) return;
    planes() ? write_planes<T>(s_, area, nullptr, large(), grad_input())
             : write_area<T>(s_, area, nullptr, large(), grad_input());
  }
  /// Rows of the tile, which have all sums.
  void write_sums(const Area& part) const {
    if (!planes()) return write_area(s_, part, sums_, large(), grad_input());
    const std::int64_t first = in_tile(part.y0);
    const T* pixels = tile_;
    if constexpr (std::is_same_v<T, A>) {
      pixels = sums_;
    } else {
      store_row(sums_ + first, tile_ + first, in_tile(part.y1) - first);
    }
    write_planes(s_, part, pixels + first, large(), grad_input());
  }

  // ---- grad_offset ----

  /// Where the image's first pixel is, or would be, in NHWC that of the map, and pixels of a row.
  const T* image() const {
    if (planes()) return tile_ - (area_.y0 * area_.width() + area_.x0) * s_.c;
    return static_cast<const T*>(p_.input) + area_.batch * s_.h * s_.w * s_.c;
  }
  std::int64_t width() const { return planes() ? area_.width() : s_.w; }
  /// The tile's pixels out of input's planes.
  void take_pixels() const {
    using E = Moved<T>;
    const std::int64_t plane = s_.h * s_.w;
    const auto* const planes = static_cast<const E*>(p_.input) + area_.batch * s_.c * plane + area_.x0;
    PixelRange rows{area_.y1, area_.y0};
    for (const std::int64_t bin : items_) {
      const PixelRange read = bins_.y(bins_.place(bin)).pixels(s_.h);
      rows = {std::max(area_.y0, std::min(rows.first, read.first)), std::min(area_.y1, std::max(rows.last, read.last))};
    }
    for (std::int64_t y = rows.first; y < rows.last; ++y) {
      const E* const row = planes + y * s_.w;
      transpose_strip(row, row + s_.w, area_.width(), s_.c, area_.width(), plane, false,
                      reinterpret_cast<E*>(tile_) + in_tile(y), s_.c);
    }
  }

  const BackwardProblem& p_;
  const Shape& s_;
  const Bins<T>& bins_;
  const std::int64_t row_bytes_, all_bytes_;
  const bool non_temporal_;  ///< whole vectors of sums, straight out of the registers
  Tap<A>* taps_;             ///< of a bin
  PrefetchedPixels prefetched_;
  A* sums_;
  T* tile_;             ///< in NCHW: pixels of input, then of grad_input, channels innermost
  const bool cleared_;  ///< grad_input is zero where nothing is written
  Allocator allocator_;
  ColumnPairs<A> columns_;
  Pairs pairs_;
  TileSums<T> tile_sums_;
  Area area_{};
  PixelRange rows_{};  ///< of the map that links are on
  std::span<const std::int64_t> items_;
  bool at_hand_ = false, expected_ = false;  ///< all pixels of input on this tile, and on the next, are prefetched
  bool complete_ = true;                     ///< nothing was added to sums_ so far
};

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
