// The owner of lines of pixels (border_align backward): sums what borders give to them and writes grad_input. Include
// after foreach_target.h, like simd-inl.h.
//
// A border adds to the two lines it lies between. Both are summed in one pass, as pairs: [channel, pixel, this line and
// the next]. The two pixels of a point are neighbours in there, so all that an element of grad_output adds is one run
// of four sums: one load, one addition, one store. The sums of kBlock channels stay in the first cache while all
// borders of a line go by; then the line is complete there and leaves, and the second half of the pairs is what the
// next line starts with. Sums of short lines are [this line and the next, pixel, channel] and stay in registers
// meanwhile.
#include <cmath>
#include <numeric>

#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"

#if defined(MLUOPS_CPU_BORDER_ALIGN_OWNER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_OWNER_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_OWNER_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Channels that are summed side by side, for all borders of a group.
constexpr int kBlock = 16;

/// For each channel what it adds to the pixel of its point and to the one behind it, not yet weighted by line, and
/// where in the sums.
template <class A>
struct ScatterTerms {
  alignas(64) A pairs[kBlock * 2];
  alignas(64) std::uint32_t places[kBlock];
};

/// grad_output and argmax: those of row r of [n, k, 4] are, or would be, at r * pitch.
template <class T>
struct GradRows {
  const T* grad_output;
  const std::int32_t* argmax;
  std::int64_t pitch;

  /// Channels from c on.
  GradRows from(std::int64_t c) const { return {grad_output + c, argmax + c, pitch}; }
};

/// grad_input of images from `image` on, [h, w, 4, channels].
template <class T>
struct GradMap {
  T* grad_input;
  std::int64_t image, channels;
  bool non_temporal;
};

/// Sums of a channel, two for each pixel. The last ones are no pixels: what a point on the last pixel gives to the one
/// behind it goes to the first of them, and what belongs to no pixel goes there too.
inline std::int64_t sums_pitch(std::int64_t length) {
  return 2 * round_up(length + 2, 16);
}

/// Channels whose sums are in the second cache together: a multiple of 32, and about the same for all.
template <class A>
std::int64_t summed_channels(const Shape& s, std::int64_t channels) {
  constexpr std::int64_t kLine = 32;
  const std::int64_t pitch = sums_pitch(std::max(s.h, s.w)) * static_cast<std::int64_t>(sizeof(A));
  const std::int64_t most = std::max(second_cache(24) / (pitch * kLine), std::int64_t{1}) * kLine;
  return round_up(ceil_div(channels, ceil_div(channels, most)), kLine);
}

/// Pixels of a short line at most, whose sums on both lines fit 32 registers.
constexpr int kShort = 10;
/// Whether a vector is a block of channels and there are 32 registers.
template <class A>
inline constexpr bool kShortLines = kLanes<A> == kBlock;

/// The points that argmax names, for a vector of channels of a border.
template <class A>
struct NamedPoints {
  using D = hn::ScalableTag<A>;
  using DI = hn::Rebind<std::int32_t, D>;
  using DU = hn::Rebind<std::uint32_t, D>;

  hn::Vec<D> low, behind;  ///< the pixel before the point, and the weight of the next
  hn::Mask<D> inside;      ///< whether there is such a point, on the map

  /// On a line of `length` pixels.
  HWY_INLINE NamedPoints(const PlacedBorder<A>& border, const std::int32_t* argmax, std::int64_t pool_size,
                         std::int64_t length) {
    const D d;
    const auto index = hn::LoadU(DI(), argmax);
    const auto end = hn::Set(d, static_cast<A>(length));
    hn::Vec<D> x;
    if constexpr (sizeof(A) == 8) {
      x = hn::PromoteTo(d, index);
      inside = hn::And(hn::Ge(x, hn::Zero(d)), hn::Le(x, hn::Set(d, static_cast<A>(pool_size))));
    } else {
      x = hn::ConvertTo(d, index);
      const auto points = hn::Set(DU(), static_cast<std::uint32_t>(pool_size) + 1);
      inside = hn::RebindMask(d, hn::Lt(hn::BitCast(DU(), index), points));
    }
    x = hn::Add(hn::Mul(x, hn::Set(d, border.stride)), hn::Set(d, border.start));
    inside = hn::And(inside, hn::And(hn::Ge(x, hn::Set(d, A{-1})), hn::Le(x, end)));
    x = hn::Min(hn::Max(x, hn::Zero(d)), hn::Set(d, static_cast<A>(length - 1)));
    low = hn::Floor(x);
    behind = hn::Sub(x, low);
  }

  /// Numbers of pixels; the one behind the line for what is not inside.
  HWY_INLINE hn::Vec<DI> pixels(std::int64_t length) const {
    const D d;
    const DI di;
    if constexpr (sizeof(A) == 8) {
      return hn::DemoteTo(di, hn::IfThenElse(inside, low, hn::Set(d, static_cast<A>(length))));
    } else {
#if HWY_TARGET <= HWY_AVX3
      const hn::Vec<DI> pixel{_mm512_cvttps_epi32(low.raw)};  // without a look at what does not fit
#else
      const auto pixel = hn::ConvertTo(di, low);
#endif
      const auto last = hn::Set(di, static_cast<std::int32_t>(length - 1)), none = hn::Add(last, hn::Set(di, 1));
      return hn::IfThenElse(hn::RebindMask(di, inside), hn::Min(pixel, last), none);
    }
  }
};

/// Stores pairs of lanes, those of lane i at pair_at<D>(i): lanes are interleaved in blocks of 16 bytes, and the lower
/// halves of all blocks come before the upper ones.
template <class D>
HWY_INLINE void store_pairs(D d, hn::Vec<D> a, hn::Vec<D> b, hn::TFromD<D>* to) {
#if HWY_TARGET == HWY_SCALAR
  hn::StoreInterleaved2(a, b, d, to);
#else
  hn::Store(hn::InterleaveLower(d, a, b), d, to);
  hn::Store(hn::InterleaveUpper(d, a, b), d, to + hn::MaxLanes(d));
#endif
}
template <class D>
constexpr int pair_at(int lane) {
  constexpr int lanes = static_cast<int>(hn::MaxLanes(D())), half = 8 / static_cast<int>(sizeof(hn::TFromD<D>));
  if (lanes == 1) return 2 * lane;
  const int in_block = lane % (2 * half), before = lane % lanes - in_block;
  return 2 * (lane - lane % lanes) + (in_block < half ? 0 : lanes) + before + in_block % half * 2;
}

/// Finds the terms of kBlock channels, whose sums lie `pitch` apart.
template <class T, class A = Acc<T>>
HWY_INLINE void find_terms(std::int64_t pool_size, const PlacedBorder<A>& border, const T* HWY_RESTRICT grad_output,
                           const std::int32_t* HWY_RESTRICT argmax, std::int64_t length, std::int64_t pitch,
                           ScatterTerms<A>& to) {
  const hn::ScalableTag<A> d;
  const typename NamedPoints<A>::DU du;
  MLUOPS_UNROLL
  for (int i = 0; i < kBlock; i += kLanes<A>) {
    const NamedPoints<A> points(border, argmax + i, pool_size, length);
    const auto pixel = hn::BitCast(du, points.pixels(length));
    const auto channel =
        hn::Mul(hn::Iota(du, static_cast<std::uint32_t>(i)), hn::Set(du, static_cast<std::uint32_t>(pitch)));
    hn::Store(hn::Add(channel, hn::Add(pixel, pixel)), du, to.places + i);
    const auto gradient = load(d, grad_output + i);
    const auto here = hn::Mul(gradient, hn::Sub(hn::Set(d, A{1}), points.behind));
    store_pairs(d, here, hn::Mul(gradient, points.behind), to.pairs + 2 * i);
  }
}

/// Adds to the sums of kBlock channels: of the pixel on both lines, and of the one behind it.
template <class A>
HWY_INLINE void add_terms(const ScatterTerms<A>& terms, const A* HWY_RESTRICT weights, A* HWY_RESTRICT sums) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(A) == 4) {
    const hn::CappedTag<A, 4> d;
    double both;  // one load
    std::memcpy(&both, weights, sizeof(both));
    const auto lines = hn::BitCast(d, hn::Set(hn::Repartition<double, decltype(d)>(), both));
    const auto add = [&](hn::Vec<decltype(d)> term, A* sum)
                         HWY_ATTR { hn::StoreU(hn::MulAdd(term, lines, hn::LoadU(d, sum)), d, sum); };
    MLUOPS_UNROLL
    for (int c = 0; c < kBlock; c += 2) {
      const auto pairs = hn::LoadU(d, terms.pairs + pair_at<hn::ScalableTag<A>>(c));
      std::uint64_t places;  // one load for both
      std::memcpy(&places, terms.places + c, sizeof(places));
      places = value_barrier(places);  // and not another load for its half
      add(hn::InterleaveLower(d, pairs, pairs), sums + static_cast<std::uint32_t>(places));
      add(hn::InterleaveUpper(d, pairs, pairs), sums + (places >> 32));
    }
    return;
  }
#endif
  for (int c = 0; c < kBlock; ++c) {
    for (int i = 0; i < 4; ++i)
      sums[terms.places[c] + i] += terms.pairs[pair_at<hn::ScalableTag<A>>(c) + i / 2] * weights[i % 2];
  }
}

/// The first of each pair for kLanes pixels, which the second one replaces.
template <class A>
HWY_INLINE hn::Vec<hn::ScalableTag<A>> take_first(A* pairs) {
  const hn::ScalableTag<A> d;
  hn::Vec<decltype(d)> first, second;
  hn::LoadInterleaved2(d, pairs, first, second);
  hn::StoreInterleaved2(second, hn::Zero(d), d, pairs);
  return first;
}

/// Lines of the borders of images, and all that is added to them.
template <class T>
class LineOwner {
  using A = Acc<T>;
  using D = hn::ScalableTag<A>;
  /// Channels of a line that leave together: whole cache lines, and whole blocks.
  static constexpr std::int64_t kLeave = std::max<std::int64_t>(64 / sizeof(T), kBlock);
  /// Borders whose terms are found before they are added. A store of a whole vector is not forwarded to loads of its
  /// lanes; some dozen additions later it has reached the cache.
  static constexpr int kPrepared = 4;
  static constexpr std::int64_t kMostBorders = 512, kShortBorders = 24;

 public:
  LineOwner(const Shape& s, const SortedBorders<A>& sorted, const GradRows<T>& rows, const GradMap<T>& map, A* sums)
      : s_(s),
        sorted_(sorted),
        rows_(rows),
        map_(map),
        non_temporal_(map.non_temporal && map.channels % kLeave == 0),
        sums_(sums) {}

  /// Lines [begin, end). The line before is summed again, for what it gives to the first one.
  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t chunk = summed_channels<A>(s_, map_.channels);
    for (first_ = 0; first_ < map_.channels; first_ += chunk) {
      channels_ = std::min(chunk, map_.channels - first_);
      carried_ = false;
      if (begin % sorted_.lines().each() != 0 && sorted_.begin(begin - 1) < sorted_.begin(begin)) own(begin - 1, false);
      for (std::int64_t line = begin; line < end; ++line) own(line, true);
    }
  }

 private:
  void own(std::int64_t index, bool write) {
    const Lines::Place place = sorted_.lines().place(index);
    const BorderAxes axes(s_, place.border, 4 * map_.channels);
    if (place.line >= axes.lines) return;
    T* const image = map_.grad_input + (place.image - map_.image) * s_.h * s_.w * 4 * map_.channels;
    T* const out = write ? image + place.border * map_.channels + first_ + place.line * axes.line_pitch : nullptr;
    const std::int64_t begin = sorted_.begin(index), end = sorted_.begin(index + 1);
    if (begin == end && !carried_) return write_zeros(axes, out);
    if (!carried_) std::fill_n(sums_, round_up(channels_, kLeave) * sums_pitch(axes.length), A{0});
    // Rows of a group wait in the second cache while one block of channels after the other is summed.
    const std::int64_t row_bytes = channels_ * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t));
    const std::int64_t most = std::clamp(second_cache(8) / row_bytes, std::int64_t{1}, kMostBorders);
    const std::int64_t groups =
        std::max(ceil_div(end - begin, is_short(axes.length) ? kShortBorders : most), std::int64_t{1});
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t first = begin + (end - begin) * i / groups, last = begin + (end - begin) * (i + 1) / groups;
      if constexpr (kShortLines<A>) {
        if (is_short(axes.length)) weigh(first, last, axes.length);
      }
      add_group(first, last, axes, i + 1 == groups, out);
    }
    carried_ = begin < end && place.line + 1 < axes.lines;
    to_next_ = -to_next_;
  }

  void add_group(std::int64_t begin, std::int64_t end, const BorderAxes& axes, bool last, T* out) {
    for (std::int64_t first = 0; first < channels_; first += kLeave) {
      const std::int64_t n = std::min(kLeave, channels_ - first);
      for (std::int64_t c = first; c < first + n && begin < end; c += kBlock) {
        add_block(begin, end, c, std::min<std::int64_t>(kBlock, first + n - c), axes.length);
      }
      if (last) take_line(axes, first, n, out);
    }
  }

  /// The sums of the line, of one block, where lines are short.
  A* short_line(A* sums) const { return sums - std::min<std::int64_t>(to_next_, 0); }

  /// Blocks of a short line are whole.
  bool is_short(std::int64_t length) const {
    return kShortLines<A> && length <= kShort && s_.pool_size < kBlock && map_.channels % kBlock == 0;
  }

  void add_block(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t n, std::int64_t length) const {
    A* const sums = sums_ + c * sums_pitch(length);
    if constexpr (kShortLines<A>) {
      if (is_short(length) && length <= 7) return add_to_short_line<7>(begin, end, c, length, sums);
      if (is_short(length)) return add_to_short_line<kShort>(begin, end, c, length, sums);
    }
    if (n == kBlock) return add_to_line(begin, end, c, length, sums);
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t k = 0; k < n; ++k) {
        add_channel(sorted_[i], c + k, length, 2, 1, sums + k * sums_pitch(length));
      }
    }
  }

  /// One channel of a border, whose sums lie so far apart from a pixel to the next and to the same one of the next
  /// line.
  void add_channel(const PlacedBorder<A>& border, std::int64_t c, std::int64_t length, std::int64_t to_pixel,
                   std::int64_t to_next, A* sums) const {
    const GradRows<T> rows = rows_.from(border.row * rows_.pitch + first_ + c);
    const A gradient = to_acc(*rows.grad_output);
    border.for_each_pixel(s_, *rows.argmax, length, [&](int next, std::int64_t pixel, A weight) {
      sums[next * to_next + pixel * to_pixel] += weight * gradient;
    });
  }

  /// Prefetches what a block reads of a border that is added soon, and of one of the next group.
  HWY_INLINE static void prefetch_rows(const GradRows<T>& rows, const PlacedBorder<A>* border, std::int64_t later) {
    const std::int64_t soon = border[SortedBorders<A>::kBehind].row * rows.pitch, then = border[later].row * rows.pitch;
    __builtin_prefetch(rows.grad_output + soon, 0, 3);
    __builtin_prefetch(rows.argmax + soon, 0, 3);
    __builtin_prefetch(rows.grad_output + then, 0, 2);
    __builtin_prefetch(rows.argmax + then, 0, 2);
  }
  /// From a border to the same one of the next group.
  std::int64_t to_next_group(std::int64_t begin, std::int64_t end) const {
    return 2 * end - begin <= sorted_.count() ? end - begin : 0;
  }

  /// kBlock channels from c on of borders [begin, end).
  HWY_NOINLINE void add_to_line(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t length,
                                A* HWY_RESTRICT sums) const {
    constexpr int kRing = 2 * kPrepared;
    const std::int64_t pitch = sums_pitch(length), later = to_next_group(begin, end), pool_size = s_.pool_size;
    const GradRows<T> rows = rows_.from(first_ + c);
    const PlacedBorder<A>* const border = &sorted_[begin];
    ScatterTerms<A> ring[kRing];
    const std::int64_t count = end - begin;
    const auto find = [&](std::int64_t i) HWY_ATTR {
      const PlacedBorder<A>& one = border[std::min(i, count - 1)];
      const std::int64_t at = one.row * rows.pitch;
      find_terms(pool_size, one, rows.grad_output + at, rows.argmax + at, length, pitch, ring[i % kRing]);
    };
    for (int i = 0; i < kPrepared; ++i) find(i);
    for (std::int64_t i = 0; i < count; ++i) {
      prefetch_rows(rows, border + i, later);
      find(i + kPrepared);
      add_terms(ring[i % kRing], border[i].weights, sums);
    }
  }

  /// kBlock channels from c on of borders [begin, end), the sums of kPixels pixels in registers. For each pixel a
  /// border has a vector of weights, one for each of its points, 0 where the point is elsewhere; argmax permutes it.
  template <int kPixels>
  HWY_NOINLINE void add_to_short_line(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t length,
                                      A* HWY_RESTRICT sums) const {
    const D d;
    const typename NamedPoints<A>::DU du;
    const auto points = hn::Set(du, static_cast<std::uint32_t>(s_.pool_size) + 1);
    const std::int64_t later = to_next_group(begin, end);
    const GradRows<T> rows = rows_.from(first_ + c);
    hn::Vec<D> line[kPixels], next[kPixels];
    MLUOPS_UNROLL
    for (int j = 0; j < kPixels; ++j) line[j] = next[j] = hn::Zero(d);
    for (std::int64_t i = begin; i < end; ++i) {
      const PlacedBorder<A>& border = sorted_[i];
      prefetch_rows(rows, &border, later);
      const std::int64_t at = border.row * rows.pitch;
      const auto point = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(rows.argmax + at));
      const auto lane = hn::IndicesFromVec(d, hn::And(point, hn::Set(du, kBlock - 1)));
      auto gradient = load(d, rows.grad_output + at);
      const auto finite = hn::IsFinite(gradient);
      if (!hn::AllTrue(d, finite)) add_rest(border, c, length, sums);
      gradient = hn::IfThenElseZero(hn::And(finite, hn::RebindMask(d, hn::Lt(point, points))), gradient);
      const auto to_line = hn::Mul(gradient, hn::Set(d, border.weights[0]));
      const auto to_next = hn::Mul(gradient, hn::Set(d, border.weights[1]));
      MLUOPS_UNROLL
      for (int j = 0; j < kPixels; ++j) {
        const auto weight = hn::TableLookupLanes(hn::Load(d, weights_[i - begin].of[j]), lane);
        line[j] = hn::MulAdd(weight, to_line, line[j]);
        next[j] = hn::MulAdd(weight, to_next, next[j]);
      }
    }
    MLUOPS_UNROLL
    for (int j = 0; j < kPixels; ++j) {
      A* const sum = short_line(sums) + j * kBlock;
      hn::Store(hn::Add(hn::Load(d, sum), line[j]), d, sum);
      hn::Store(hn::Add(hn::Load(d, sum + to_next_), next[j]), d, sum + to_next_);
    }
  }

  /// What is not finite: 0 times it is a NaN where nothing should be added.
  HWY_NOINLINE void add_rest(const PlacedBorder<A>& border, std::int64_t c, std::int64_t length, A* sums) const {
    for (std::int64_t k = 0; k < kBlock; ++k) {
      if (std::isfinite(to_acc(rows_.grad_output[border.row * rows_.pitch + first_ + c + k]))) continue;
      add_channel(border, c + k, length, kBlock, to_next_, short_line(sums) + k);
    }
  }

  /// Finds what each point of borders [begin, end) on a short line weighs at each pixel of it.
  void weigh(std::int64_t begin, std::int64_t end, std::int64_t length) {
    const D d;
    alignas(64) std::int32_t numbers[kBlock];
    std::iota(numbers, numbers + kBlock, 0);
    for (std::int64_t i = begin; i < end; ++i) {
      const NamedPoints<A> points(sorted_[i], numbers, s_.pool_size, length);
      const auto low = hn::IfThenElse(points.inside, points.low, hn::Set(d, A{-2}));
      const auto before = hn::Sub(hn::Set(d, A{1}), points.behind);
      for (int j = 0; j < kShort; ++j) {
        const auto here = hn::Eq(low, hn::Set(d, static_cast<A>(j)));
        const auto after = hn::Eq(low, hn::Set(d, static_cast<A>(j - 1)));
        const auto weight = hn::IfThenElse(here, before, hn::IfThenElseZero(after, points.behind));
        hn::Store(weight, d, weights_[i - begin].of[j]);
      }
    }
  }

  /// Writes n channels from c on of a line that is complete, unless out is nullptr, and goes on to the next one.
  void take_line(const BorderAxes& axes, std::int64_t c, std::int64_t n, T* out) {
    if constexpr (kShortLines<A>) {
      if (is_short(axes.length)) return take_short_line(axes, c, n, out);
    }
    const std::int64_t pitch = sums_pitch(axes.length);
    alignas(64) T stage[kLanes<A> * kLeave];
    for (std::int64_t i = 0; i < axes.length; i += kLanes<A>) {
      for (std::int64_t k = 0; k < n; k += kLanes<A>) take_tile(sums_ + (c + k) * pitch + 2 * i, pitch, stage + k);
      const std::int64_t pixels = out == nullptr ? 0 : std::min<std::int64_t>(kLanes<A>, axes.length - i);
      for (std::int64_t k = 0; k < pixels; ++k) {
        T* const to = out + (i + k) * axes.pixel_pitch + c;
        if (non_temporal_) {
          copy_lines_non_temporal<kLeave * sizeof(T)>(stage + k * kLeave, to);
        } else if (n == kLeave) {  // without a call
          std::memcpy(to, stage + k * kLeave, kLeave * sizeof(T));
        } else {
          std::copy_n(stage + k * kLeave, n, to);
        }
      }
    }
  }

  /// kLanes channels of as many pixels.
  HWY_INLINE void take_tile(A* pairs, std::int64_t pitch, T* stage) const {
    hn::Vec<D> v[kLanes<A>];
    MLUOPS_UNROLL
    for (int c = 0; c < kLanes<A>; ++c) v[c] = take_first(pairs + c * pitch);
    transpose_square<A>(v);
    MLUOPS_UNROLL
    for (int i = 0; i < kLanes<A>; ++i) store(v[i], D(), stage + i * kLeave);
  }

  void take_short_line(const BorderAxes& axes, std::int64_t c, std::int64_t n, T* out) {
    const D d;
    for (std::int64_t k = c; k < c + n; k += kBlock) {
      A* line = short_line(sums_ + k * sums_pitch(axes.length));
      for (std::int64_t i = 0; i < axes.length; ++i, line += kBlock) {
        // A block of half is a part of a cache line, which is not stored past the caches.
        if (out != nullptr)
          store(non_temporal_ && std::is_same_v<T, A>, hn::Load(d, line), d, out + i * axes.pixel_pitch + k);
        hn::Store(hn::Zero(d), d, line);
      }
    }
  }

  void write_zeros(const BorderAxes& axes, T* out) const {
    if (out == nullptr) return;
    const std::int64_t bytes = channels_ * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < axes.length; ++i) zero_bytes(non_temporal_, out + i * axes.pixel_pitch, bytes);
  }

  const Shape& s_;
  const SortedBorders<A>& sorted_;
  const GradRows<T> rows_;
  const GradMap<T> map_;
  const bool non_temporal_;
  A* const sums_;

  struct alignas(64) PointWeights {
    A of[kShort][kBlock];
  };
  PointWeights weights_[kShortBorders];
  std::int64_t first_ = 0, channels_ = 0;   // of the chunk
  std::int64_t to_next_ = kShort * kBlock;  // from sums of a short line to the next one's, which take their turns
  bool carried_ = false;                    // whether the sums hold something for the line that comes
};

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
