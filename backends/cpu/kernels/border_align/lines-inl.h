// Lines of the map, packed when their borders come (border_align forward). Include after foreach_target.h, like
// simd-inl.h.
#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/border_align/pool-inl.h"
#include "backends/cpu/layout/image_rows.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_BORDER_ALIGN_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_LINES_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_LINES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

using ForwardProblem = mluopsBorderAlignForwardProblem;

/// Borders whose points are placed together before their channels are walked.
inline std::int64_t borders_at_once(const Shape& s) {
  constexpr std::int64_t kMost = 256, kMostPoints = 1 << 14;
  return std::clamp<std::int64_t>(kMostPoints / (s.pool_size + 1), 1, std::min(kMost, borders_of(s)));
}
template <class A>
LinePoints<A> allocate_points(Allocator& allocator, const Shape& s) {
  const std::int64_t borders = borders_at_once(s), points = borders * (s.pool_size + 1);
  return {allocator.allocate<A>(points), allocator.allocate<std::int32_t>(points),
          allocator.allocate<LineBlend<A>>(borders), allocator.allocate<PixelRange>(borders)};
}

/// Channels whose lines are packed at once, of those of a border.
template <class A>
std::int64_t channels_at_once(const Shape& s, std::int64_t channels) {
  constexpr std::int64_t whole = 256 / sizeof(A);
  const std::int64_t pixel = 2 * (std::max(s.h, s.w) + kPlaces) * static_cast<std::int64_t>(sizeof(A));
  return std::min(channels, std::max(whole, second_cache(25) / pixel / whole * whole));
}

/// A thread's scratch for lines.
template <class A>
struct LineScratch {
  LinePoints<A> points;
  std::int64_t places;
  A* packed[2];  ///< [channels, places]: two lines

  LineScratch(Allocator& allocator, const Shape& s, std::int64_t channels)
      : points(allocate_points<A>(allocator, s)), places(std::max(s.h, s.w) + kPlaces) {
    const std::int64_t whole_vectors = round_up(channels_at_once<A>(s, channels), kLanes<A>);
    for (A*& line : packed) line = allocator.allocate<A>(whole_vectors, places);
  }
};

/// Vectors of channels from `first` on, `step` apart; in a packed line `before` lanes come before them.
struct PackedPart {
  std::int64_t first, step, before;
};

/// for_overlapping of channels whose vectors are packed one after the other, those that two share twice.
/// f(d, vectors, part).
template <class A, int kWide, class F>
HWY_INLINE void for_packed(std::int64_t channels, F&& f) {
  std::int64_t before = 0;
  for_overlapping<A, kWide>(channels, [&](auto d, auto vectors, std::int64_t first, std::int64_t step) HWY_ATTR {
    f(d, vectors, PackedPart{first, step, before});
    before += decltype(vectors)::value * static_cast<std::int64_t>(hn::Lanes(d));
  });
}

/// The maps of borders, each with channels of its own: four of an image.
template <class T>
class BorderMaps {
 public:
  BorderMaps(Allocator& allocator, const ForwardProblem& p)
      : p_(p),
        planes_(allocator, p.layout, p.layout == MLUOP_LAYOUT_NCHW ? 4 * p.shape.n : 0, p.shape.h * p.shape.w,
                p.shape.c) {}

  /// False when there is no memory.
  bool read(Context& context, const mluopsCall& call, const SortedBorders<Acc<T>>& sorted) {
    if (!planes()) return true;
    return planes_.read(context, call, p_.input,
                        [&](layout::Touched& touched) { find(context, call, sorted, touched); });
  }
  bool planes() const { return p_.layout == MLUOP_LAYOUT_NCHW; }
  std::int64_t width() const { return planes_.width(); }
  layout::PixelRows<T> of(std::int64_t image, std::int64_t border) const {
    if (planes()) return planes_.of(4 * image + border);
    const Shape& s = p_.shape;
    return {static_cast<const T*>(p_.input) + (image * s.h * s.w * 4 + border) * s.c, 4 * s.c, layout::RowPlaces()};
  }

 private:
  using A = Acc<T>;

  /// What is packed of a line and of the next: all between the first and the last point of its borders, and of those of
  /// the line before.
  void find(const Context& context, const mluopsCall& call, const SortedBorders<A>& sorted,
            layout::Touched& touched) const {
    const Lines& lines = sorted.lines();
    const double line_ns = 10 * cost::kStep;
    touched.find(context, call, p_.shape.n * lines.of_chunk(), line_ns, [&](std::int64_t line, auto touch) {
      const Lines::Place place = lines.place(line);
      const BorderAxes axes(p_.shape, place.border, 1);
      if (place.line >= axes.lines) return;
      PixelRange range = range_of(sorted, line, axes.length);
      if (place.line > 0) range = range.joined(range_of(sorted, line - 1, axes.length));
      const std::int64_t end = std::min(range.end, axes.length), first = place.line * axes.line_pitch;
      if (range.begin >= end) return;
      if (axes.pixel_pitch == 1) return touch(4 * place.image + place.border, first + range.begin, first + end);
      for (std::int64_t i = range.begin; i < end; ++i) {
        const std::int64_t pixel = first + i * axes.pixel_pitch;
        touch(4 * place.image + place.border, pixel, pixel + 1);
      }
    });
  }
  PixelRange range_of(const SortedBorders<A>& sorted, std::int64_t line, std::int64_t length) const {
    PixelRange all{length, 0};
    for (std::int64_t i = sorted.begin(line); i < sorted.begin(line + 1); ++i) {
      A last = sorted[i].start;
      for (std::int64_t k = 0; k < p_.shape.pool_size; ++k) last += sorted[i].stride;
      const PixelRange one = PixelRange::between(sorted[i].start, last, length);
      all = all.joined({one.begin, std::max(one.begin, one.end)});
    }
    return all;
  }

  const ForwardProblem& p_;
  layout::ImageRows<T> planes_;
};

/// A line of the map and the next, packed as far as points have touched them.
template <int kWide, class T>
class PackedLines {
  using A = Acc<T>;

 public:
  PackedLines(const ForwardProblem& p, const BorderMaps<T>& maps, const Lines& lines, const LineScratch<A>& scratch)
      : maps_(maps), s_(p.shape), lines_(lines), places_(scratch.places) {
    for (int i = 0; i < 2; ++i) held_[i].packed = scratch.packed[i];
  }
  std::int64_t places() const { return places_; }

  /// Begins with channels [first, first + channels), and zeros for what is outside.
  void begin(std::int64_t first, std::int64_t channels) {
    first_ = first;
    channels_ = channels;
    for (Held& line : held_) {
      line.index = -1;
      for_packed<A, kWide>(channels, [&](auto d, auto vectors, PackedPart part) HWY_ATTR {
        const std::int64_t pitch = decltype(vectors)::value * static_cast<std::int64_t>(hn::Lanes(d));
        std::fill_n(line.packed + part.before * places_, kPlacesBefore * pitch, A{0});
      });
    }
  }

  Block<A> hold(std::int64_t index, PixelRange range, std::int64_t borders) {
    const Lines::Place place = lines_.place(index);
    const BorderAxes axes(s_, place.border, 1);
    layout::PixelRows<T> map = maps_.of(place.image, place.border);
    map.first += first_;
    const std::int64_t first = place.line * axes.line_pitch;
    const A* const here = hold(index, map, first, axes, range);
    const bool last = place.line + 1 == axes.lines, two_more = place.line + 2 < axes.lines && !maps_.planes();
    const A* const next = last ? here : hold(index + 1, map, first + axes.line_pitch, axes, range);
    ahead_ = PrefetchPlanes(map.first + (first + 2 * axes.line_pitch + range.begin * axes.pixel_pitch) * map.pitch,
                            axes.pixel_pitch * map.pitch, two_more ? std::min(range.end, axes.length) - range.begin : 0,
                            channels_, borders);
    return {here, next - here};
  }
  HWY_INLINE void prefetch() { ahead_.step(); }

 private:
  struct Held {
    std::int64_t index;
    PixelRange done;
    A* packed;
  };

  const A* hold(std::int64_t index, const layout::PixelRows<T>& map, std::int64_t first, const BorderAxes& axes,
                PixelRange range) {
    Held& line = held_[index % 2];
    if (line.index != index) line = {index, {range.begin, range.begin}, line.packed};
    pack(line.packed, map, first, axes, {range.begin, line.done.begin});
    pack(line.packed, map, first, axes, {line.done.end, range.end});
    line.done = {std::min(range.begin, line.done.begin), std::max(range.end, line.done.end)};
    return line.packed;
  }

  /// `first`: the first pixel of the line.
  void pack(A* packed, const layout::PixelRows<T>& map, std::int64_t first, const BorderAxes& axes, PixelRange range) {
    for_packed<A, kWide>(channels_, [&](auto d, auto vectors, PackedPart part) HWY_ATTR {
      constexpr int count = decltype(vectors)::value;
      constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d)), pitch = count * lanes;
      const auto scale = hn::Set(d, kPackedScale<A>);
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const T* const pixel = map.at(first + std::min(i, axes.length - 1) * axes.pixel_pitch) + part.first;
        A* const to = packed + part.before * places_ + (kPlacesBefore + i) * pitch;
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) hn::StoreU(hn::Mul(scale, load(d, pixel + v * part.step)), d, to + v * lanes);
      }
    });
  }

  const BorderMaps<T>& maps_;
  const Shape& s_;
  const Lines& lines_;
  const std::int64_t places_;
  Held held_[2];
  PrefetchPlanes ahead_;
  std::int64_t first_ = 0, channels_ = 0;
};

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
