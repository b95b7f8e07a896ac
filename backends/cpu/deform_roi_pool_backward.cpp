// DeformRoiPool backward: gradients of the mean of bilinear samples in each bin of a RoI, channels innermost.
//
// Bins are sorted by the tiles of the map they lie on. Each tile has one owner, who lists for each pixel the bins that
// add to it, then sums pixel by pixel, all channels in registers, and writes grad_input once: no prior zeroing, no
// atomics, the same bits for every number of threads. What grad_offset needs, the product of the pixel with the
// gradient of the bin, comes from the same walk; a bin's parts on different tiles are added up in the order of the
// tiles.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/deform_roi_pool_backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/deform_roi_pool.h"
#include "backends/cpu/deform_roi_pool_lists.h"
#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_DEFORM_ROI_POOL_BACKWARD_ONCE_
#define MLUOPS_CPU_DEFORM_ROI_POOL_BACKWARD_ONCE_
namespace mluops::cpu::deform_roi_pool {

/// Bytes of grad_output that belong to a tile, about: what is read for it stays in the second cache.
constexpr std::int64_t kOwnerTileBytes = std::int64_t{512} << 10;

/// The working block of a call.
template <class A>
struct OwnerArrays {
  using Lists = PixelLists<A>;

  Roi<A>* rois;
  typename TapCache<A>::Room taps;  ///< per thread
  A* sums;                          ///< per thread: one tile
  std::int64_t lists_bytes;         ///< of a thread
  std::byte* lists;                 ///< per thread
  typename Lists::Move* moves;      ///< with offset: of all bins
  Buckets tiles;                    ///< with offset, each entry has room for a Move

  OwnerArrays(Carver& carver, const mluopsCall& call, const Shape& s, std::int64_t items, const Tiles& t, bool offset)
      : rois(carver.take<Roi<A>>(s.rois)),
        taps(carver, s, offset, call.threads),
        sums(carver.take<A>(call.threads * t.pixels() * s.c)),
        lists_bytes(bytes_of_lists(t, offset)),
        lists(carver.take<std::byte>(call.threads * lists_bytes)),
        moves(carver.take<typename Lists::Move>(offset ? items : 0)),
        tiles(carver, call, items, t.count(s), offset ? sizeof(typename Lists::Move) : 0) {}

 private:
  static std::int64_t bytes_of_lists(const Tiles& t, bool offset) {
    Carver measure;
    static_cast<void>(PixelPairs<A>(measure, t, !offset));
    static_cast<void>(Lists(measure, t, offset));
    return measure.bytes();
  }
};

template <class A>
struct AtomicArrays {
  Roi<A>* rois;
  Tap<A>* taps;  ///< per thread, rows then columns
  A* sums;       ///< of the whole map, where grad_input itself can't be added to

  AtomicArrays(Carver& carver, const mluopsCall& call, const Shape& s, std::int64_t sum_count)
      : rois(carver.take<Roi<A>>(s.rois)),
        taps(carver.take<Tap<A>>(call.threads * BinTaps<A>::most(s))),
        sums(carver.take<A>(sum_count)) {}
};

}  // namespace mluops::cpu::deform_roi_pool
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using deform_roi_pool::Area;
using deform_roi_pool::BinPlace;
using deform_roi_pool::Bins;
using deform_roi_pool::BinTaps;
using deform_roi_pool::prefetch;
using deform_roi_pool::Shape;
using deform_roi_pool::Tiles;

/// The vectors of channels that are summed side by side: AVX-512 has 32 registers, the others 16. With grad_offset
/// half as many, the others hold the pixel; types that are converted go without, converting costs more.
constexpr int kWide = HWY_TARGET <= HWY_AVX3 ? 16 : 8;

// ---- backward: grad_offset -------------------------------------------------------------------

template <class A>
struct OffsetGradient {
  A y, x;
};

/// Sum over pixels and channels of g * pixel * what moving the samples does to the pixel's weight.
template <class T>
OffsetGradient<Acc<T>> offset_gradient(const Shape& s, const BinTaps<Acc<T>>& taps, const T* HWY_RESTRICT image,
                                       const T* HWY_RESTRICT grad_output) {
  using A = Acc<T>;
  OffsetGradient<A> sum{0, 0};
  for_wide<A, kWide>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> g[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) g[v] = load(d, grad_output + c + v * lanes);
    auto sum_y = hn::Zero(d), sum_x = hn::Zero(d);
    for (const Tap<A>& y : taps.y) {
      const T* const row = image + y.index * s.w * s.c + c;
      for (const Tap<A>& x : taps.x) {
        const T* const pixel = row + x.index * s.c;
        hn::Vec<decltype(d)> dot[2] = {hn::Mul(g[0], load(d, pixel)), hn::Zero(d)};
        MLUOPS_UNROLL
        for (int v = 1; v < count; ++v) dot[v % 2] = hn::MulAdd(g[v], load(d, pixel + v * lanes), dot[v % 2]);
        const auto both = hn::Add(dot[0], dot[1]);
        sum_y = hn::MulAdd(hn::Set(d, y.sign * x.lever), both, sum_y);
        sum_x = hn::MulAdd(hn::Set(d, y.lever * x.sign), both, sum_x);
      }
    }
    sum.y += hn::GetLane(hn::SumOfLanes(d, sum_y));
    sum.x += hn::GetLane(hn::SumOfLanes(d, sum_x));
  });
  return sum;
}

template <class T>
void put_offset_gradient(const mluopsDeformRoiPoolBackwardProblem& p, const Bins<T>& bins, const BinPlace& at,
                         const BinTaps<Acc<T>>& taps) {
  const Shape& s = p.shape;
  const Roi<Acc<T>>& roi = bins.roi(at);
  const auto sum = offset_gradient(s, taps, static_cast<const T*>(p.input) + roi.batch * s.h * s.w * s.c,
                                   static_cast<const T*>(p.grad_output) + at.bin * s.c);
  T* const out = static_cast<T*>(p.grad_offset) + bins.offset_index(at);
  out[0] = from_acc<T>(sum.x * roi.inverse_count * bins.reach(roi.x.size));
  out[bins.plane()] = from_acc<T>(sum.y * roi.inverse_count * bins.reach(roi.y.size));
}

// ---- backward: grad_input --------------------------------------------------------------------

/// Rows of an area into grad_input; nothing but zeros where there are no sums.
template <class T>
void write_area(const Shape& s, const Area& area, const Acc<T>* sums, bool streams, T* grad_input) {
  const std::int64_t row_size = (area.x1 - area.x0) * s.c;
  for (std::int64_t y = area.y0; y < area.y1; ++y) {
    T* const out = grad_input + ((area.batch * s.h + y) * s.w + area.x0) * s.c;
    const std::int64_t bytes = row_size * static_cast<std::int64_t>(sizeof(T));
    if (sums == nullptr && streams) {
      stream_zero(out, bytes);
    } else if (sums == nullptr) {
      std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(bytes));
    } else if (streams) {
      stream_row(sums + (y - area.y0) * row_size, out, row_size);
    } else {
      store_row(sums + (y - area.y0) * row_size, out, row_size);
    }
  }
}

/// Puts each bin into all tiles it may add to.
template <class T>
bool sort_by_tiles(Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& t, bool no_offset,
                   Buckets& tiles) {
  const Shape& s = bins.s;
  const double channels = static_cast<double>(s.c);
  const double pixel_ns = channels * (deform_roi_pool::kAddNs + (no_offset ? 0 : deform_roi_pool::kReadNs));
  const double base_ns = 0.1 * static_cast<double>(t.pixels()) * channels;
  return tiles.fill_runs(context, call, 40, base_ns, [&](std::int64_t begin, std::int64_t end, auto&& put) {
    PixelRange y{};
    double roi_ns = 0;
    std::int64_t roi = -1;
    bins.for_each(begin, end, [&](const BinPlace& at) {
      if (at.roi != roi) roi_ns = bins.pixels_read(at) * pixel_ns;
      if (at.roi != roi || at.col == 0 || !bins.aligned()) y = bins.y(at).pixels(s.h);
      roi = at.roi;
      const PixelRange x = bins.x(at).pixels(s.w);
      const std::int64_t row_begin = t.row_of(y.first), row_end = t.row_end(y.last);
      const std::int64_t col_begin = t.col_of(x.first), col_end = t.col_end(x.last);
      const std::int64_t touched = std::max<std::int64_t>(1, (row_end - row_begin) * (col_end - col_begin));
      const double cost = deform_roi_pool::kBinNs + roi_ns / static_cast<double>(touched);
      const std::int64_t batch = bins.roi(at).batch;
      for (std::int64_t row = row_begin; row < row_end; ++row) {
        for (std::int64_t col = col_begin; col < col_end; ++col) put(at.bin, t.index(batch, row, col), cost);
      }
    });
  });
}

/// Where the sums of a pixel go: past the caches, through them, or to sums of the tile that are not complete yet.
enum class Target { kPastCaches, kCaches, kTile };

/// One thread and the tiles it owns.
template <class T>
class Owner {
 public:
  using A = Acc<T>;
  using Lists = deform_roi_pool::PixelLists<A>;
  using Pairs = deform_roi_pool::PixelPairs<A>;
  using Move = typename Lists::Move;

  Owner(const mluopsDeformRoiPoolBackwardProblem& p, const Bins<T>& bins, const Tiles& t,
        const deform_roi_pool::OwnerArrays<A>& arrays, int slot)
      : p_(p),
        s_(p.shape),
        bins_(bins),
        row_bytes_(s_.c * static_cast<std::int64_t>(sizeof(T))),
        all_bytes_(s_.batch * s_.h * s_.w * row_bytes_),
        taps_(s_, p.offset != nullptr, arrays.taps, slot),
        sums_(arrays.sums + slot * t.pixels() * s_.c),
        carver_(arrays.lists + slot * arrays.lists_bytes),
        pairs_(carver_, t, p.offset == nullptr),
        lists_(carver_, t, p.offset != nullptr) {}

  /// Writes the tile; moves[k] is this tile's part of what grad_offset needs for bins[k]. Meanwhile the gradients of
  /// the bins of the next tile are asked for.
  void run(const Area& area, std::span<const std::int64_t> bins, std::span<const std::int64_t> next, Move* moves) {
    if (bins.empty()) return write_area(s_, area, static_cast<A*>(nullptr), large(), grad_input());
    area_ = area;
    moves_ = moves;
    std::fill_n(moves, p_.offset == nullptr ? 0 : bins.size(), Move{0, 0});
    clear_lists();
    taps_.restrict_to({area.y0, area.y1}, {area.x0, area.x1});
    bool complete = true;
    for (const std::int64_t bin : bins) {
      const BinPlace at = bins_.place(bin);
      const BinTaps<A> taps = taps_.find(bins_, at);
      const std::int64_t links = taps.y.size() * taps.x.size();
      if (p_.offset == nullptr ? !pairs_.has_room_for(links) : !lists_.has_room_for(links)) {
        if (complete) std::fill_n(sums_, area.pixels() * s_.c, A{0});
        complete = false;
        empty_lists(Target::kTile, bins);
      }
      link(at.bin, taps, bins_.roi(at).inverse_count);
    }
    const bool direct = complete && (!large() || streams(p_.grad_input, all_bytes_, row_bytes_));
    if (complete && !direct) std::fill_n(sums_, area.pixels() * s_.c, A{0});
    next_ = next;
    const std::int64_t pixels = std::max<std::int64_t>(1, (rows_.last - rows_.first) * area.width());
    next_per_pixel_ = 1 + static_cast<std::int64_t>(next.size()) / pixels;
    empty_lists(!direct ? Target::kTile : large() ? Target::kPastCaches : Target::kCaches, bins);
    if (!direct) write_area(s_, area, sums_, large(), grad_input());
  }

 private:
  static constexpr std::uint32_t kLinksAhead = 3;

  bool large() const { return all_bytes_ > kStreamBytes; }
  T* grad_input() const { return static_cast<T*>(p_.grad_input); }
  const T* grad_output() const { return static_cast<const T*>(p_.grad_output); }
  const T* gradient(std::uint32_t bin) const { return grad_output() + static_cast<std::int64_t>(bin) * s_.c; }

  void link(std::int64_t bin, const BinTaps<A>& taps, A inverse_count) {
    if (taps.x.size() == 0) return;
    for (const Tap<A>& y : taps.y) {
      rows_.first = std::min<std::int64_t>(rows_.first, y.index);
      rows_.last = std::max<std::int64_t>(rows_.last, y.index + 1);
      const std::int64_t row = (y.index - area_.y0) * area_.width() - area_.x0;
      const A weight = y.weight * inverse_count;
      if (p_.offset == nullptr) {
        add_pairs(row, static_cast<std::uint32_t>(bin), weight, taps.x);
      } else {
        for (const Tap<A>& x : taps.x) {
          lists_.add(row + x.index, bin, weight * x.weight, {y.sign * x.lever, y.lever * x.sign});
        }
      }
    }
  }
  void add_pairs(std::int64_t row, std::uint32_t bin, A weight, const TapList<A>& taps) {
    for (const Tap<A>* x = taps.begin(); x != taps.end(); ++x) {
      if (x + 1 != taps.end() && x[1].index == x[0].index + 1) {
        pairs_.add(row + x->index, Pairs::kPair, {bin, weight * x[0].weight, weight * x[1].weight});
        ++x;
      } else {
        pairs_.add(row + x->index, Pairs::kSingle, {bin, weight * x->weight, 0});
      }
    }
  }

  void empty_lists(Target target, std::span<const std::int64_t> bins) {
    if (rows_.first > rows_.last) rows_ = {area_.y0, area_.y0};
    const auto walk = [&](auto to) HWY_ATTR {
      constexpr Target kTo = decltype(to)::value;
      p_.offset == nullptr ? sum_rows<kTo>() : sum_and_multiply_rows<kTo>(bins);
    };
    if (target == Target::kTile) {
      walk(std::integral_constant<Target, Target::kTile>{});
    } else {
      target == Target::kPastCaches ? walk(std::integral_constant<Target, Target::kPastCaches>{})
                                    : walk(std::integral_constant<Target, Target::kCaches>{});
      write_zeros({area_.y0, rows_.first});
      write_zeros({rows_.last, area_.y1});
    }
    clear_lists();
  }
  void clear_lists() {
    p_.offset == nullptr ? pairs_.clear() : lists_.clear();
    rows_ = {area_.y1, area_.y0};
  }
  /// Rows of the tile that nothing is added to.
  void write_zeros(PixelRange rows) const {
    Area part = area_;
    part.y0 = rows.first;
    part.y1 = rows.last;
    write_area(s_, part, static_cast<A*>(nullptr), large(), grad_input());
  }

  // ---- grad_input alone ----

  template <Target kTarget>
  void sum_rows() {
    pairs_.sort((rows_.first - area_.y0) * area_.width(), (rows_.last - area_.y0) * area_.width());
    for (std::int64_t y = rows_.first; y < rows_.last; ++y) {
      for_wide<A, kWide / 2>(
          s_.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR { sum_row<kTarget>(d, vectors, y, c); });
    }
  }

  /// `vectors` vectors of channels from c on, of all pixels in row y of the tile.
  template <Target kTarget, class D, class Vectors>
  HWY_INLINE void sum_row(D d, Vectors, std::int64_t y, std::int64_t c) {
    constexpr int count = Vectors::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t in_map = (area_.batch * s_.h + y) * s_.w + area_.x0, in_tile = (y - area_.y0) * area_.width();
    const auto begin_with = [&](std::int64_t x, hn::Vec<D>* HWY_RESTRICT sum) HWY_ATTR {
      const A* const from = sums_ + (in_tile + x) * s_.c + c;
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) {
        sum[v] = kTarget == Target::kTile && x < area_.width() ? hn::LoadU(d, from + v * lanes) : hn::Zero(d);
      }
    };
    hn::Vec<D> sum[count], next[count];
    begin_with(0, sum);
    for (std::int64_t x = 0; x < area_.width(); ++x) {
      begin_with(x + 1, next);
      std::uint32_t i = pairs_.begin(in_tile + x, Pairs::kPair);
      const std::uint32_t singles = pairs_.begin(in_tile + x, Pairs::kSingle);
      const std::uint32_t end = pairs_.begin(in_tile + x + 1, Pairs::kPair);
      for (; i != singles; ++i) {
        const auto link = pairs_[i];
        const T* const g = gradient(link.bin) + c;
        ask_for_gradient(i + kLinksAhead, c, count * lanes);
        const auto weight = hn::Set(d, link.weight), next_weight = hn::Set(d, link.next_weight);
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) {
          const auto gv = load(d, g + v * lanes);
          sum[v] = hn::MulAdd(weight, gv, sum[v]);
          next[v] = hn::MulAdd(next_weight, gv, next[v]);
        }
      }
      for (; i != end; ++i) {
        const T* const g = gradient(pairs_[i].bin) + c;
        const auto weight = hn::Set(d, pairs_[i].weight);
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(weight, load(d, g + v * lanes), sum[v]);
      }
      T* const out = grad_input() + (in_map + x) * s_.c + c;
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) {
        put_sum<kTarget>(d, sum[v], sums_ + (in_tile + x) * s_.c + c + v * lanes, out + v * lanes);
        sum[v] = next[v];
      }
      if (c == 0) ask_for_next();
    }
  }

  /// Some links before its turn, what a link needs of its gradient is on its way to the first cache.
  HWY_INLINE void ask_for_gradient(std::uint32_t link, std::int64_t c, std::int64_t n) const {
    constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
    const T* const g = gradient(pairs_[link].bin) + c;
    for (std::int64_t i = 0; i < n; i += kLine) __builtin_prefetch(g + i, 0, 3);
  }

  template <Target kTarget, class D>
  HWY_INLINE void put_sum(D d, hn::Vec<D> sum, A* HWY_RESTRICT tile_sum, T* HWY_RESTRICT out) const {
    if constexpr (kTarget == Target::kTile) {
      hn::StoreU(sum, d, tile_sum);
    } else if constexpr (kTarget == Target::kPastCaches && std::is_same_v<D, FullTag<T>>) {
      stream(sum, d, out);
    } else {
      store(sum, d, out);
    }
  }

  // ---- with grad_offset ----

  template <Target kTarget>
  void sum_and_multiply_rows(std::span<const std::int64_t> bins) {
    constexpr int kSums = kAddsInPlace<T> ? kWide / 2 : kWide;
    for (std::int64_t x = 0; x < area_.width() && rows_.first < rows_.last; ++x) ask_for_input(rows_.first, x);
    for (std::int64_t y = rows_.first; y < rows_.last; ++y) {
      for_wide<A, kSums>(s_.c, [&](auto d, auto vectors, std::int64_t c)
                                   HWY_ATTR { sum_and_multiply_row<kTarget>(d, vectors, y, c); });
    }
    lists_.add_up_moves(bins, moves_);
  }

  /// As sum_row.
  template <Target kTarget, class D, class Vectors>
  HWY_INLINE void sum_and_multiply_row(D d, Vectors, std::int64_t y, std::int64_t c) {
    constexpr int count = Vectors::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t in_map = (area_.batch * s_.h + y) * s_.w + area_.x0;
    for (std::int64_t x = 0; x < area_.width(); ++x) {
      const std::int64_t in_tile = (y - area_.y0) * area_.width() + x;
      hn::Vec<D> sum[count];
      A* const tile_sum = sums_ + in_tile * s_.c + c;
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) {
        if constexpr (kTarget == Target::kTile) {
          sum[v] = hn::LoadU(d, tile_sum + v * lanes);
        } else {
          sum[v] = hn::Zero(d);
        }
      }
      const std::uint32_t first = lists_.first(in_tile);
      const T* const input = static_cast<const T*>(p_.input) + (in_map + x) * s_.c + c;
      if (first != Lists::kEnd) sum_and_multiply(d, Vectors(), first, c, input, sum);
      T* const out = grad_input() + (in_map + x) * s_.c + c;
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) put_sum<kTarget>(d, sum[v], tile_sum + v * lanes, out + v * lanes);
      if (c != 0) continue;
      ask_for_next();
      if (y + 1 < rows_.last && lists_.first(in_tile + area_.width()) != Lists::kEnd) ask_for_input(y + 1, x);
    }
  }

  template <class D, class Vectors>
  HWY_INLINE void sum_and_multiply(D d, Vectors, std::uint32_t first, std::int64_t c, const T* HWY_RESTRICT input,
                                   hn::Vec<D>* HWY_RESTRICT total) {
    constexpr int count = Vectors::value, kDots = count < 4 ? 1 : 4;
    constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
    HWY_ALIGN A pixel[count * lanes];
    HWY_ALIGN A parts[4 * lanes];
    HWY_ALIGN A four[4];
    std::uint32_t waiting[4];
    int ready = 0;
    hn::Vec<D> sum[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) {
      sum[v] = total[v];
      hn::Store(load(d, input + v * lanes), d, pixel + v * lanes);
    }
    for (std::uint32_t link = first; link != Lists::kEnd; link = lists_[link].next) {
      const T* const g = gradient(lists_[link].bin) + c;
      const auto weight = hn::Set(d, lists_[link].weight);
      hn::Vec<D> dot[kDots];
      MLUOPS_UNROLL
      for (int v = 0; v < kDots; ++v) dot[v] = hn::Zero(d);
      MLUOPS_UNROLL
      for (int v = 0; v < count; ++v) {
        const auto gradient = load(d, g + v * lanes);
        sum[v] = hn::MulAdd(weight, gradient, sum[v]);
        dot[v % kDots] = hn::MulAdd(gradient, hn::Load(d, pixel + v * lanes), dot[v % kDots]);
      }
      if constexpr (kDots == 4) dot[0] = hn::Add(hn::Add(dot[0], dot[1]), hn::Add(dot[2], dot[3]));
      hn::Store(dot[0], d, parts + ready * lanes);
      waiting[ready++] = link;
      if (ready == 4 || lists_[link].next == Lists::kEnd) {
        sum_4_vectors(d, hn::Load(d, parts), hn::Load(d, parts + lanes), hn::Load(d, parts + 2 * lanes),
                      hn::Load(d, parts + 3 * lanes), four);
        for (int k = 0; k < ready; ++k) lists_.dot(waiting[k]) = c == 0 ? four[k] : lists_.dot(waiting[k]) + four[k];
        ready = 0;
      }
    }
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) total[v] = sum[v];
  }

  /// Called once for each pixel of a tile: spreads what the next tile needs over this one's pixels.
  void ask_for_next() {
    for (std::int64_t i = 0; i < next_per_pixel_ && !next_.empty(); ++i) {
      prefetch(grad_output() + next_.front() * s_.c, s_.c);
      next_ = next_.subspan(1);
    }
  }

  void ask_for_input(std::int64_t y, std::int64_t x) const {
    const std::int64_t pixel = (area_.batch * s_.h + y) * s_.w + area_.x0 + x;
    prefetch(static_cast<const T*>(p_.input) + pixel * s_.c, s_.c);
  }

  const mluopsDeformRoiPoolBackwardProblem& p_;
  const Shape& s_;
  const Bins<T>& bins_;
  const std::int64_t row_bytes_, all_bytes_;
  deform_roi_pool::TapCache<A> taps_;
  A* sums_;
  Carver carver_;
  Pairs pairs_;  ///< without offset
  Lists lists_;  ///< with offset
  Area area_{};
  PixelRange rows_{};  ///< of the tile, those that links are on
  Move* moves_ = nullptr;
  std::span<const std::int64_t> next_;
  std::int64_t next_per_pixel_ = 0;
};

/// grad_offset of all bins from the parts on the tiles, in the order of the tiles.
template <class T>
void put_offset_gradients(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolBackwardProblem& p,
                          const Bins<T>& bins, const Buckets& tiles,
                          typename deform_roi_pool::PixelLists<Acc<T>>::Move* moves) {
  using Move = typename deform_roi_pool::PixelLists<Acc<T>>::Move;
  std::fill_n(moves, bins.count(), Move{0, 0});
  const auto* part = static_cast<const Move*>(tiles.more());
  for (const std::int64_t bin : tiles.all()) {
    moves[bin].y += part->y;
    moves[bin].x += part++->x;
  }
  // A bin that nothing was added to has no gradient, also where its RoI is not finite.
  const auto scaled = [](Acc<T> sum, Acc<T> by) { return from_acc<T>(sum == 0 ? Acc<T>{0} : sum * by); };
  Loop(context, call, bins.count(), 10).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t bin = begin; bin < end; ++bin) {
      const BinPlace at = bins.place(bin);
      const Roi<Acc<T>>& roi = bins.roi(at);
      T* const out = static_cast<T*>(p.grad_offset) + bins.offset_index(at);
      out[0] = scaled(moves[bin].x, roi.inverse_count * bins.reach(roi.x.size));
      out[bins.plane()] = scaled(moves[bin].y, roi.inverse_count * bins.reach(roi.y.size));
    }
  });
}

template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolBackwardProblem& p) {
  using A = Acc<T>;
  using Move = typename Owner<T>::Move;
  const Shape& s = p.shape;
  const bool offset = p.offset != nullptr;
  const Tiles t(s, sizeof(A), deform_roi_pool::kOwnerTileBytes);
  const std::int64_t items = s.rois * s.pooled_h * s.pooled_w;
  auto arrays = carve<deform_roi_pool::OwnerArrays<A>>(context.scratch, call, s, items, t, offset);
  if (!arrays) return no_memory(call);
  deform_roi_pool::read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins(s, p.offset, arrays->rois);
  if (!sort_by_tiles(context, call, bins, t, !offset, arrays->tiles)) return no_memory(call);

  const Buckets& tiles = arrays->tiles;
  Loop(context, call, tiles.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Owner<T> owner(p, bins, t, *arrays, slot);
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const auto next = tile + 1 < end ? tiles[tile + 1] : std::span<const std::int64_t>();
      Move* const moves = offset ? static_cast<Move*>(tiles.more()) + tiles.begin(tile) : nullptr;
      owner.run(Area(t, s, tile), tiles[tile], next, moves);
    }
    stream_fence();
  });
  if (offset) put_offset_gradients(context, call, p, bins, tiles, arrays->moves);
  return MLUOP_STATUS_SUCCESS;
}

/// grad_input of one bin, added atomically to sums of the whole map.
template <class T>
void add_bin_atomically(const Bins<T>& bins, const BinPlace& at, const BinTaps<Acc<T>>& taps, const T* grad_output,
                        Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = bins.s;
  const Roi<A>& roi = bins.roi(at);
  for (const Tap<A>& y : taps.y) {
    for (const Tap<A>& x : taps.x) {
      A* const sum = sums + ((roi.batch * s.h + y.index) * s.w + x.index) * s.c;
      const A weight = y.weight * roi.inverse_count * x.weight;
      for (std::int64_t c = 0; c < s.c; ++c) atomic_add(sum + c, weight * to_acc(grad_output[c]));
    }
  }
}

/// Tasks over bins.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call,
                                  const mluopsDeformRoiPoolBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t total = s.batch * s.h * s.w * s.c;
  const std::int64_t room = kAddsInPlace<T> ? 0 : total;
  auto arrays = carve<deform_roi_pool::AtomicArrays<A>>(context.scratch, call, s, room);
  if (!arrays) return no_memory(call);
  A* sums = arrays->sums;
  if constexpr (kAddsInPlace<T>) sums = static_cast<A*>(p.grad_input);
  deform_roi_pool::read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins(s, p.offset, arrays->rois);
  clear_sums(context, call, sums, total);
  Loop(context, call, bins.count(), 100.0 * static_cast<double>(s.c))
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        for (std::int64_t bin = begin; bin < end; ++bin) {
          const BinPlace at = bins.place(bin);
          const BinTaps<A> taps(bins, at, arrays->taps + slot * BinTaps<A>::most(s));
          if (p.offset != nullptr) put_offset_gradient(p, bins, at, taps);
          add_bin_atomically(bins, at, taps, static_cast<const T*>(p.grad_output) + bin * s.c, sums);
        }
      });
  store_sums(context, call, sums, static_cast<T*>(p.grad_input), total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolBackwardProblem& p) {
  if (const char* const reason = deform_roi_pool::declined(p.shape)) {
    return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  }
  return choose_scatter(context, call) == Scatter::kAtomic ? backward_by_atomics<T>(context, call, p)
                                                           : backward_by_owner<T>(context, call, p);
}

MLUOPS_CPU_KERNEL(deform_roi_pool_backward, mluopsDeformRoiPoolBackwardProblem, backward, with_element)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(deform_roi_pool_backward, mluopsDeformRoiPoolBackwardProblem)

}  // namespace mluops::cpu
#endif
