// BorderAlign forward: along each border of each box, the greatest of pool_size + 1 bilinear samples, channel by
// channel. input [n,h,w,4*c], boxes [n,k,4], output and argmax [n,k,4,c].
//
// Borders are sorted by their line, and a thread takes whole lines. The pixels of a line and of the next are packed
// into consecutive memory once, in blocks of some vectors of channels, which share a point's weights; each block is
// pooled as soon as it is packed. In the map a line's pixels are often a multiple of 4 KB apart, where they displace
// each other in either cache. What was the next line is the first one afterwards, and is packed already. Every output
// is written by one thread. Four loads, four multiply-adds, a comparison and two choices per point and vector: bound by
// arithmetic.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/border_align/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/border_align/planes-inl.h"
#include "backends/cpu/kernels/border_align/points-inl.h"
#include "backends/cpu/kernels/border_align/pool-inl.h"
#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/partition.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
namespace mluops::cpu::border_align {

inline std::int64_t borders_of(const Shape& s) {
  return s.n * s.k * 4;
}
/// Borders of a line whose points are placed together before their channels are walked.
inline std::int64_t borders_at_once(const Shape& s) {
  constexpr std::int64_t kMost = 256, kMostPoints = 1 << 14;
  return std::clamp<std::int64_t>(kMostPoints / (s.pool_size + 1), 1, std::min(kMost, borders_of(s)));
}
/// The call on no more threads than there are borders: each has room of its own for the points of one.
inline mluopsCall with_useful_threads(mluopsCall call, const Shape& s) {
  call.threads = static_cast<int>(std::min<std::int64_t>(call.threads, borders_of(s)));
  return call;
}
/// Bytes of a block of channels of two lines, and of all blocks. A block need not fit the first cache: loads from the
/// second keep up, while one weight broadcast for each vector loaded does not.
inline std::int64_t block_bytes() {
  return second_cache(5);
}
inline std::int64_t chunk_bytes() {
  return second_cache(25);
}

/// All lines cut into runs of about the same cost. A run packs a line that the one before it has packed as well, so
/// there are few.
class LineRuns {
 public:
  LineRuns(std::span<const double> prefix_ns, int threads)
      : prefix_ns_(prefix_ns),
        count_(std::max<std::int64_t>(index_of(prefix_ns.back() / cost::kRun, std::int64_t{kPerThread} * threads + 1),
                                      1)) {}
  std::int64_t count() const { return count_; }
  double each_ns() const { return prefix_ns_.back() / static_cast<double>(count_); }
  std::int64_t first_line(std::int64_t run) const { return part_begin(prefix_ns_, run, count_); }

 private:
  static constexpr int kPerThread = 4;

  std::span<const double> prefix_ns_;
  std::int64_t count_;
};

/// Channels whose lines are packed at once.
template <class A>
std::int64_t chunk_of(const Shape& s) {
  constexpr std::int64_t whole = 256 / sizeof(A);
  const std::int64_t pixel = 2 * (Lines(s).each + kPlaces) * static_cast<std::int64_t>(sizeof(A));
  return std::min(s.c, std::max(whole, chunk_bytes() / pixel / whole * whole));
}

/// Per thread, except lines.
template <class A>
struct ForwardArrays {
  LinePoints<A> points;  ///< those of a group of borders
  A* packed;             ///< [2, channels, places]: two lines
  std::uint8_t* states;  ///< [3, places]: which pixels are packed, of two lines, and which the group touches
  Buckets lines;

  ForwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : points{allocator.allocate<A>(call.threads, points_per_thread(s)),
               allocator.allocate<std::int32_t>(call.threads, points_per_thread(s)),
               allocator.allocate<LineBlend<A>>(call.threads, borders_at_once(s))},
        packed(allocator.allocate<A>(call.threads, 2, packed_line(s))),
        states(allocator.allocate<std::uint8_t>(call.threads, 3, places(s))),
        lines(allocator, call, borders_of(s), Lines(s).count(s)) {}
  LinePoints<A> points_of(const Shape& s, int slot) const {
    const std::int64_t first = slot * points_per_thread(s);
    return {points.weights + first, points.pixels + first, points.borders + slot * borders_at_once(s)};
  }
  static std::int64_t points_per_thread(const Shape& s) { return borders_at_once(s) * (s.pool_size + 1); }
  static std::int64_t places(const Shape& s) { return Lines(s).each + kPlaces; }
  static std::int64_t packed_line(const Shape& s) { return round_up(chunk_of<A>(s) * places(s), 16); }
};

}  // namespace mluops::cpu::border_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Channels of pixels that are packed soon: prefetched while borders are pooled, some with each of them.
struct Ahead {
  const std::byte* map;
  std::int64_t pitch, bytes;
  const std::uint8_t* touched;
  std::int64_t pixel, end, step;

  HWY_INLINE void prefetch_terms() {
    for (const std::int64_t stop = std::min(end, pixel + step); pixel < stop; ++pixel) {
      if (touched[pixel]) prefetch_bytes<2>(map + pixel * pitch, bytes);
    }
  }
};

/// Borders between prefetching a row of results and writing it; the first ones' are prefetched a block of channels
/// ahead.
constexpr std::size_t kPrefetchRows = 3;

/// Pools some channels of several borders of one line, whose results begin at output[rows[i] * row_size] and argmax.
template <int kVectors, class D, class T, class A = Acc<T>>
HWY_NOINLINE void pool_borders(bool non_temporal, D d, std::span<const std::int64_t> rows, std::int64_t row_size,
                               const LinePoints<A>& points, std::int64_t count, Block<A> block, Ahead ahead, T* output,
                               std::int32_t* argmax) {
  constexpr auto pitch = kVectors * static_cast<std::int64_t>(hn::MaxLanes(D()));
  const A* weights = points.weights;
  const std::int32_t* pixels = points.pixels;
  const LineBlend<A>* blend = points.borders;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t row = rows[i];
    ahead.prefetch_terms();
    if (!non_temporal && rows.size() > kPrefetchRows) {
      const bool same = i + kPrefetchRows < rows.size();
      const std::size_t later = same ? i + kPrefetchRows : i + kPrefetchRows - rows.size();
      const std::int64_t at = rows[later] * row_size + (same ? 0 : pitch);
      prefetch_to_write<pitch>(output + at);
      prefetch_to_write<pitch>(argmax + at);
    }
    pool_channels<kVectors>(non_temporal, d, weights, pixels, count, *blend++, block, output + row * row_size,
                            argmax + row * row_size);
    weights += count;
    pixels += count;
  }
}

/// Whole vectors of every row can be streamed.
template <class T>
Fit non_temporal_applies(const Context&, const mluopsCall&, const mluopsBorderAlignForwardProblem& p) {
  const Shape& s = p.shape;
  const auto row = s.c * static_cast<std::int64_t>(sizeof(T)), rows = s.n * s.k * 4;
  return fit(sizeof(T) <= 4 && whole_lines(p.output, row) && whole_lines(p.argmax, 4 * s.c),
             rows * (row + 4 * s.c) >= non_temporal_from::border_align_forward());
}

/// Some lines of the borders of all images, and all borders that lie between each of them and the next.
template <int kWide, class T>
class LinePool {
  using A = Acc<T>;
  using Arrays = ForwardArrays<A>;

 public:
  LinePool(bool non_temporal, const mluopsBorderAlignForwardProblem& p, const Arrays& arrays, int slot)
      : non_temporal_(non_temporal),
        p_(p),
        s_(p.shape),
        sorted_(arrays.lines),
        points_(arrays.points_of(s_, slot)),
        places_(Arrays::places(s_)),
        touched_(arrays.states + slot * 3 * places_ + kPlacesBefore) {
    for (int i = 0; i < 2; ++i) {
      lines_[i].packed = arrays.packed + (2 * slot + i) * Arrays::packed_line(s_);
      lines_[i].done = touched_ + (i + 1) * places_;
    }
  }

  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t chunk = chunk_of<A>(s_);
    for (first_ = 0; first_ < s_.c; first_ += chunk) {
      channels_ = std::min(chunk, s_.c - first_);
      for (Line& line : lines_) clear(line);
      for (std::int64_t line = begin; line < end; ++line) {
        if (!sorted_[line].empty()) pool_line(line);
      }
    }
  }

 private:
  struct Line {
    std::int64_t index;
    A* packed;
    std::uint8_t* done;
  };

  /// A line's borders, the line and the next.
  struct Pair {
    BorderAxes axes;
    const T* map;
    Line *here, *next;  ///< the same at the end of the map
  };

  /// No line, and zeros for what is outside.
  void clear(Line& line) {
    line.index = -1;
    for_wide<A, kWide>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      const std::int64_t pitch = decltype(vectors)::value * static_cast<std::int64_t>(hn::Lanes(d));
      std::fill_n(line.packed + c * places_, kPlacesBefore * pitch, A{0});
    });
  }

  void pool_line(std::int64_t index) {
    const auto rows = sorted_[index];
    const Place place(s_, rows[0]);
    const BorderAxes axes(s_, place.border % 2 == 0);
    const std::int64_t line = index % Lines(s_).each;
    Line* const here = hold(index, axes);
    Line* const next = line + 1 < axes.lines ? hold(index + 1, axes) : here;
    const Pair pair = {axes,
                       static_cast<const T*>(p_.input) + place.image * s_.h * s_.w * 4 * s_.c + place.border * s_.c +
                           first_ + line * axes.line_pitch,
                       here, next};
    const auto all = static_cast<std::int64_t>(rows.size());
    const std::int64_t groups = ceil_div(all, borders_at_once(s_));
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t begin = all * i / groups, end = all * (i + 1) / groups;
      pool_group(rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)), pair);
    }
  }

  /// The line of that index; if it has to begin, with nothing packed.
  Line* hold(std::int64_t index, const BorderAxes& axes) {
    Line& line = lines_[index % 2];
    if (line.index != index) std::fill_n(line.done, axes.length + 1, std::uint8_t{0});
    line.index = index;
    return &line;
  }

  /// Borders of one line, block of channels by block.
  void pool_group(std::span<const std::int64_t> rows, const Pair& pair) {
    std::fill_n(touched_, pair.axes.length + 1, std::uint8_t{0});
    place_points<T>(s_, p_.boxes, rows, pair.axes, points_, touched_);
    for_wide<A, kWide>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      constexpr int count = decltype(vectors)::value;
      constexpr auto pitch = count * static_cast<std::int64_t>(hn::MaxLanes(d));
      pack<count>(d, *pair.here, pair.map + c, pair.axes, c);
      if (pair.next != pair.here) pack<count>(d, *pair.next, pair.map + pair.axes.line_pitch + c, pair.axes, c);
      const Block<A> block = {pair.here->packed + c * places_ + kPlacesBefore * pitch,
                              pair.next->packed - pair.here->packed};
      pool_borders<count>(non_temporal_, d, rows, s_.c, points_, s_.pool_size + 1, block,
                          ahead(pair, c + pitch, static_cast<std::int64_t>(rows.size())),
                          static_cast<T*>(p_.output) + first_ + c, p_.argmax + first_ + c);
    });
    for (std::int64_t i = 0; i <= pair.axes.length; ++i) {
      pair.here->done[i] |= touched_[i];
      pair.next->done[i] |= touched_[i];
    }
  }

  /// Channels of the pixels touched and not yet there.
  template <int kVectors, class D>
  void pack(D d, const Line& line, const T* HWY_RESTRICT map, const BorderAxes& axes, std::int64_t c) {
    constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D())), pitch = kVectors * lanes;
    const auto scale = hn::Set(d, kPackedScale<A>);
    A* const packed = line.packed + c * places_ + kPlacesBefore * pitch;
    for (std::int64_t i = 0; i <= axes.length; ++i) {
      if (!touched_[i] || line.done[i]) continue;
      const T* const pixel = map + std::min(i, axes.length - 1) * axes.pixel_pitch;
      A* const to = packed + i * pitch;
      MLUOPS_UNROLL
      for (int v = 0; v < kVectors; ++v) hn::StoreU(hn::Mul(scale, load(d, pixel + v * lanes)), d, to + v * lanes);
    }
  }

  /// What is packed after the block before channel c: this one, of the next line or, behind the last, of the line after
  /// it from the first channel on. Borders of neighbouring lines touch about the same pixels.
  Ahead ahead(const Pair& pair, std::int64_t c, std::int64_t rows) const {
    const BorderAxes& axes = pair.axes;
    const bool behind = c >= channels_;
    const T* const map = pair.map + (behind ? 2 * axes.line_pitch : axes.line_pitch + c);
    const std::int64_t channels = std::min(kWide * std::int64_t{kLanes<A>}, behind ? channels_ : channels_ - c);
    const bool in_map = pair.next->index % Lines(s_).each + (behind ? 1 : 0) < axes.lines;
    const auto size = static_cast<std::int64_t>(sizeof(T));
    return {reinterpret_cast<const std::byte*>(map),
            axes.pixel_pitch * size,
            channels * size,
            touched_,
            0,
            in_map ? axes.length : 0,
            ceil_div(axes.length, rows)};
  }

  const bool non_temporal_;
  const mluopsBorderAlignForwardProblem& p_;
  const Shape& s_;
  const Buckets& sorted_;
  const LinePoints<A> points_;
  const std::int64_t places_;
  std::uint8_t* const touched_;
  Line lines_[2];

  std::int64_t first_ = 0, channels_ = 0;  // of the chunk
};

template <class T>
void pool_lines(bool non_temporal, const mluopsBorderAlignForwardProblem& p, const ForwardArrays<Acc<T>>& arrays,
                int slot, std::int64_t begin, std::int64_t end) {
  using A = Acc<T>;
  constexpr std::int64_t vector = kLanes<A> * static_cast<std::int64_t>(sizeof(A));
  constexpr int most = vector >= 64 ? 4 : 2;  // 32 registers, or 16
  const std::int64_t fitting = block_bytes() / (2 * ForwardArrays<A>::places(p.shape) * vector);
  if (fitting >= most) return LinePool<most, T>(non_temporal, p, arrays, slot).run(begin, end);
  if (fitting >= 2) return LinePool<2, T>(non_temporal, p, arrays, slot).run(begin, end);
  LinePool<1, T>(non_temporal, p, arrays, slot).run(begin, end);
}

template <class T>
mluOpStatus_t forward_by_lines(bool non_temporal, Context& context, const mluopsCall& given,
                               const mluopsBorderAlignForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const mluopsCall call = with_useful_threads(given, s);
  auto arrays = allocate<ForwardArrays<A>>(context.arena, call, s);
  if (!arrays) return no_memory(call);
  const double cost =
      static_cast<double>(s.pool_size + 1) * (cost::kPlacePoint + cost::kPool * static_cast<double>(s.c));
  const auto sort = [&](std::int64_t begin, std::int64_t end, auto&& put) {
    sort_borders<T>(s, p.boxes, begin, end, [&](std::int64_t row, std::int64_t line, bool) { put(row, line, cost); });
  };
  if (!arrays->lines.fill(context, call, cost::kFindLine, 0, sort)) return no_memory(call);

  const LineRuns runs(arrays->lines.prefix_ns(), call.threads);
  Loop(context, call, runs.count(), runs.each_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    pool_lines<T>(non_temporal, p, *arrays, slot, runs.first_line(begin), runs.first_line(end));
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <bool kNonTemporal, class T>
mluOpStatus_t forward_of_lines(Context& context, const mluopsCall& call, const mluopsBorderAlignForwardProblem& p) {
  return forward_by_lines<T>(kNonTemporal, context, call, p);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsBorderAlignForwardProblem& p) {
  using Problem = mluopsBorderAlignForwardProblem;
  static constexpr Path<Problem> kPaths[] = {
      {"non_temporal", non_temporal_applies<T>, forward_of_lines<true, T>},
      {"cached", always<Problem>, forward_of_lines<false, T>},
  };
  static constexpr Path<Problem> kNchwPaths[] = {
#if HWY_TARGET != HWY_SCALAR
    {"nchw_planes", planes_apply<Problem>, forward_of_planes<T>},
#endif
    layout::kTransposed<operators::border_align_forward, Problem>,
  };
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(forward, mluopsBorderAlignForwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(border_align_forward, border_align, forward, mluopsBorderAlignForwardProblem)

}  // namespace mluops::cpu
#endif
