// BorderAlign forward: along each border of each box, the greatest of pool_size + 1 bilinear samples, channel by
// channel. input [n,h,w,4*c], boxes [n,k,4], output and argmax [n,k,4,c]; in NCHW [n,4*c,h,w] and [n,c,k,4].
//
// Borders are sorted by their line; the pixels of a line and of the next lie in consecutive memory, in blocks of some
// vectors of channels, which share a point's weights. In the map a line's pixels are often a multiple of 4 KB apart,
// where they displace each other in either cache. Four loads, four multiply-adds, a comparison and two choices per
// point and vector: bound by arithmetic. Every output is written by one thread.
//
// A thread takes a run of lines and packs each of them when its borders come.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/border_align/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/border_align/pool-inl.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
namespace mluops::cpu::border_align {

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

/// Channels whose lines are packed at once.
template <class A>
std::int64_t channels_at_once(const Shape& s) {
  constexpr std::int64_t whole = 256 / sizeof(A);
  const std::int64_t pixel = 2 * (std::max(s.h, s.w) + kPlaces) * static_cast<std::int64_t>(sizeof(A));
  return std::min(s.c, std::max(whole, second_cache(25) / pixel / whole * whole));
}

/// A thread's scratch.
template <class A>
struct LineScratch {
  LinePoints<A> points;
  std::int64_t places;
  A* packed[2];  ///< [channels, places]: two lines

  LineScratch(Allocator& allocator, const Shape& s)
      : points(allocate_points<A>(allocator, s)), places(std::max(s.h, s.w) + kPlaces) {
    for (A*& line : packed) line = allocator.allocate<A>(channels_at_once<A>(s), places);
  }
};

}  // namespace mluops::cpu::border_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class T>
bool outputs_leave_caches(const Shape& s) {
  return borders_of(s) * s.c * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) >=
         pooled_non_temporal_from();
}

/// A line of the map and the next, packed as far as points have touched them.
template <int kWide, class T>
class PackedLines {
  using A = Acc<T>;

 public:
  PackedLines(const ForwardProblem& p, const Lines& lines, const LineScratch<A>& scratch)
      : p_(p), s_(p.shape), lines_(lines), places_(scratch.places) {
    for (int i = 0; i < 2; ++i) held_[i].packed = scratch.packed[i];
  }
  std::int64_t places() const { return places_; }

  /// Begins with channels [first, first + channels), and zeros for what is outside.
  void begin(std::int64_t first, std::int64_t channels) {
    first_ = first;
    channels_ = channels;
    for (Held& line : held_) {
      line.index = -1;
      for_wide<A, kWide>(channels, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
        const std::int64_t pitch = decltype(vectors)::value * static_cast<std::int64_t>(hn::Lanes(d));
        std::fill_n(line.packed + c * places_, kPlacesBefore * pitch, A{0});
      });
    }
  }

  Block<A> hold(std::int64_t index, PixelRange range, std::int64_t borders) {
    const Lines::Place place = lines_.place(index);
    const BorderAxes axes(s_, place.border, 4 * s_.c);
    const T* const map = static_cast<const T*>(p_.input) + (place.image * s_.h * s_.w * 4 + place.border) * s_.c +
                         first_ + place.line * axes.line_pitch;
    const A* const here = hold(index, map, axes, range);
    const bool last = place.line + 1 == axes.lines, two_more = place.line + 2 < axes.lines;
    const A* const next = last ? here : hold(index + 1, map + axes.line_pitch, axes, range);
    ahead_ = PrefetchPlanes(map + 2 * axes.line_pitch + range.begin * axes.pixel_pitch, axes.pixel_pitch,
                            two_more ? std::min(range.end, axes.length) - range.begin : 0, channels_, borders);
    return {here, next - here};
  }
  HWY_INLINE void prefetch() { ahead_.step(); }

 private:
  struct Held {
    std::int64_t index;
    PixelRange done;
    A* packed;
  };

  const A* hold(std::int64_t index, const T* map, const BorderAxes& axes, PixelRange range) {
    Held& line = held_[index % 2];
    if (line.index != index) line = {index, {range.begin, range.begin}, line.packed};
    pack(line.packed, map, axes, {range.begin, line.done.begin});
    pack(line.packed, map, axes, {line.done.end, range.end});
    line.done = {std::min(range.begin, line.done.begin), std::max(range.end, line.done.end)};
    return line.packed;
  }

  void pack(A* packed, const T* map, const BorderAxes& axes, PixelRange range) {
    for_wide<A, kWide>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      constexpr int count = decltype(vectors)::value;
      constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d)), pitch = count * lanes;
      const auto scale = hn::Set(d, kPackedScale<A>);
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const T* const pixel = map + std::min(i, axes.length - 1) * axes.pixel_pitch + c;
        A* const to = packed + c * places_ + (kPlacesBefore + i) * pitch;
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) hn::StoreU(hn::Mul(scale, load(d, pixel + v * lanes)), d, to + v * lanes);
      }
    });
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const Lines& lines_;
  const std::int64_t places_;
  Held held_[2];
  PrefetchPlanes ahead_;
  std::int64_t first_ = 0, channels_ = 0;
};

/// Pools borders of lines, as many side by side as have room.
template <int kWide, class T>
class BorderPool {
  using A = Acc<T>;

 public:
  BorderPool(const ForwardProblem& p, const SortedBorders<A>& sorted, const LineScratch<A>& scratch)
      : p_(p),
        s_(p.shape),
        sorted_(sorted),
        points_(scratch.points),
        packed_(p, sorted.lines(), scratch),
        non_temporal_(sizeof(T) <= 4 && outputs_leave_caches<T>(s_) &&
                      whole_lines(p.output, s_.c * static_cast<std::int64_t>(sizeof(T))) &&
                      whole_lines(p.argmax, 4 * s_.c)) {}

  /// All borders on lines [begin, end).
  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t chunk = channels_at_once<A>(s_);
    for (first_ = 0; first_ < s_.c; first_ += chunk) {
      channels_ = std::min(chunk, s_.c - first_);
      packed_.begin(first_, channels_);
      for (std::int64_t line = begin, stop; line < end; line = stop) {
        stop = std::min(end, round_up(line + 1, sorted_.lines().each()));
        pool_lines(line, stop);
      }
    }
  }

 private:
  /// Lines of one border of an image.
  void pool_lines(std::int64_t begin, std::int64_t end) {
    const BorderAxes axes(s_, sorted_.lines().place(begin).border, 1);
    const std::int64_t last = sorted_.begin(end), most = borders_at_once(s_);
    std::int64_t placed = sorted_.begin(begin), placed_end = placed;
    for (std::int64_t line = begin; line < end; ++line) {
      for (std::int64_t i = sorted_.begin(line), stop; i < sorted_.begin(line + 1); i = stop) {
        if (i == placed_end) {
          placed = i;
          placed_end = std::min(i + most, last);
          place_points(sorted_, placed, placed_end, s_.pool_size, axes.length, points_);
        }
        stop = std::min(placed_end, sorted_.begin(line + 1));
        pool_line(line, i, stop, points_.from(i - placed, s_.pool_size + 1));
      }
    }
  }

  /// Borders [begin, end), all on one line.
  void pool_line(std::int64_t line, std::int64_t begin, std::int64_t end, const LinePoints<A>& points) {
    PixelRange touched = points.touched[0];
    for (std::int64_t i = 1; i < end - begin; ++i) touched = touched.joined(points.touched[i]);
    const Block<A> lines = packed_.hold(line, touched, end - begin);
    const std::span<const PlacedBorder<A>> borders(&sorted_[begin], &sorted_[end]);
    for_wide<A, kWide>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      constexpr int count = decltype(vectors)::value;
      const std::int64_t before = kPlacesBefore * count * static_cast<std::int64_t>(hn::Lanes(d));
      pool_borders<count>(d, borders, points, {lines.line + c * packed_.places() + before, lines.next}, first_ + c);
    });
  }

  /// kVectors vectors of channels from c on.
  template <int kVectors, class D>
  HWY_NOINLINE void pool_borders(D d, std::span<const PlacedBorder<A>> borders, LinePoints<A> points, Block<A> block,
                                 std::int64_t c) {
    const std::int64_t count = s_.pool_size + 1, channels = s_.c;
    T* const output = static_cast<T*>(p_.output) + c;
    std::int32_t* const argmax = p_.argmax + c;
    const bool non_temporal = non_temporal_;
    for (const PlacedBorder<A>& border : borders) {
      packed_.prefetch();
      const std::int64_t at = border.row * channels;
      pool_channels<kVectors>(non_temporal, d, points.weights, points.pixels, count, *points.blends++, block,
                              output + at, argmax + at);
      points.weights += count;
      points.pixels += count;
    }
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const SortedBorders<A>& sorted_;
  const LinePoints<A> points_;
  PackedLines<kWide, T> packed_;
  const bool non_temporal_;
  std::int64_t first_ = 0, channels_ = 0;
};

/// What all threads read, and the scratch of each.
template <class A>
struct ForwardArrays {
  SortedBorders<A> sorted;
  SlotScratch<LineScratch<A>> rooms;

  ForwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : sorted(allocator, call, s), rooms(allocator, call.threads, s) {}
};

template <int kWide, class T>
void pool_lines(const ForwardProblem& p, const ForwardArrays<Acc<T>>& arrays, int slot, std::int64_t begin,
                std::int64_t end) {
  BorderPool<kWide, T>(p, arrays.sorted, arrays.rooms.of(slot, p.shape)).run(begin, end);
}

template <class T>
mluOpStatus_t by_lines(Context& context, const mluopsCall& given, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  mluopsCall call = given;
  call.threads = static_cast<int>(std::min<std::int64_t>(given.threads, borders_of(s)));
  auto arrays = allocate<ForwardArrays<A>>(context.arena, call, s);
  const double points = static_cast<double>(s.pool_size + 1);
  const double border_ns = points * (2 * cost::kStep + cost::kElement * static_cast<double>(s.c));
  if (!arrays || !arrays->sorted.fill(context, call, s, static_cast<const T*>(p.boxes), true, border_ns, 0)) {
    return no_memory(call);
  }
  // A block of two lines need not fit the first cache: loads from the second keep up, while one weight broadcast for
  // each vector loaded does not.
  constexpr std::int64_t vector = kLanes<A> * static_cast<std::int64_t>(sizeof(A));
  constexpr int most = vector >= 64 ? 4 : 2;  // 32 registers, or 16
  const std::int64_t fitting = second_cache(5) / (2 * (arrays->sorted.lines().each() + kPlaces) * vector);
  const auto pool = fitting >= most ? pool_lines<most, T> : fitting >= 2 ? pool_lines<2, T> : pool_lines<1, T>;
  const LineRuns runs(arrays->sorted.prefix_ns(), call.threads);
  Loop(context, call, runs.count(), runs.each_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    pool(p, *arrays, slot, runs.first_line(begin), runs.first_line(end));
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"lines", always<ForwardProblem>, by_lines<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
      layout::kTransposed<operators::border_align_forward, ForwardProblem>};
  return run_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

MLUOPS_CPU_KERNEL(forward, mluopsBorderAlignForwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
MLUOPS_CPU_ENTRY(border_align_forward, border_align, forward, mluopsBorderAlignForwardProblem)
#endif
