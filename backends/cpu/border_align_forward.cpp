// BorderAlign forward: along each border of each box, the greatest of pool_size + 1 bilinear samples, channel by
// channel.
//
// Borders are sorted by their line, and a thread takes whole lines. The pixels of a line and of the next are packed
// into consecutive memory once, in blocks of some vectors of channels, which share a point's weights; each block is
// pooled as soon as it is packed. In the map a line's pixels are often a multiple of 4 KB apart, where they displace
// each other in either cache. What was the next line is the first one afterwards, and is packed already. Every output
// is written by one thread. Four loads, four multiply-adds, a comparison and two choices per point and vector: bound by
// arithmetic.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/border_align_forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/border_align.h"
#include "backends/cpu/border_points.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/prefetch.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
namespace mluops::cpu::border_align {

/// Results larger than this are written past the caches.
constexpr std::int64_t kStreamBytes = std::int64_t{1} << 18;
/// Borders of a line whose points are placed together before their channels are walked.
constexpr std::int64_t kGroup = 256;
/// Bytes of a block of channels of two lines, and of all blocks. A block need not fit the first cache: loads from the
/// second keep up, while one weight broadcast for each vector loaded does not.
constexpr std::int64_t kBlock = 80 << 10, kSecondCache = 400 << 10;
/// Cost in nanoseconds of one channel of one point.
constexpr double kForwardNs = 0.11;

/// All lines cut into runs of about the same cost. A run packs a line that the one before it has packed as well, so
/// there are few.
class LineRuns {
 public:
  LineRuns(std::span<const double> prefix_ns, int threads)
      : prefix_ns_(prefix_ns),
        count_(std::clamp<std::int64_t>(static_cast<std::int64_t>(prefix_ns.back() / kWorthNs), 1,
                                        std::int64_t{kPerThread} * threads)) {}
  std::int64_t count() const { return count_; }
  double each_ns() const { return prefix_ns_.back() / static_cast<double>(count_); }
  std::int64_t first_line(std::int64_t run) const {
    if (run == 0) return 0;
    if (run == count_) return static_cast<std::int64_t>(prefix_ns_.size()) - 1;
    const auto line = std::lower_bound(prefix_ns_.begin(), prefix_ns_.end() - 1, each_ns() * static_cast<double>(run));
    return line - prefix_ns_.begin();
  }

 private:
  static constexpr int kPerThread = 4;
  static constexpr double kWorthNs = 10'000;

  std::span<const double> prefix_ns_;
  std::int64_t count_;
};

/// Channels whose lines are packed at once.
template <class A>
std::int64_t chunk_of(const Shape& s) {
  constexpr std::int64_t whole = 256 / sizeof(A);
  const std::int64_t pixel = 2 * (Lines(s).each + kPlaces) * static_cast<std::int64_t>(sizeof(A));
  return std::min(s.c, std::max(whole, kSecondCache / pixel / whole * whole));
}

/// Per thread, except lines.
template <class A>
struct ForwardArrays {
  LinePoints<A> points;  ///< those of a group of borders
  A* packed;             ///< [2, channels, places]: two lines
  std::uint8_t* states;  ///< [3, places]: which pixels are packed, of two lines, and which the group touches
  Buckets lines;

  ForwardArrays(Carver& carver, const mluopsCall& call, const Shape& s)
      : points{carver.take<A>(call.threads * points_per_thread(s)),
               carver.take<std::int32_t>(call.threads * points_per_thread(s)),
               carver.take<LineBlend<A>>(call.threads * kGroup)},
        packed(carver.take<A>(call.threads * 2 * packed_line(s))),
        states(carver.take<std::uint8_t>(call.threads * 3 * places(s))),
        lines(carver, call, s.n * s.k * 4, Lines(s).count(s)) {}
  LinePoints<A> points_of(const Shape& s, int slot) const {
    const std::int64_t first = slot * points_per_thread(s);
    return {points.weights + first, points.pixels + first, points.borders + slot * kGroup};
  }
  static std::int64_t points_per_thread(const Shape& s) { return kGroup * (s.pool_size + 1); }
  static std::int64_t places(const Shape& s) { return Lines(s).each + kPlaces; }
  static std::int64_t packed_line(const Shape& s) { return round_up(chunk_of<A>(s) * places(s), 16); }
};

}  // namespace mluops::cpu::border_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using border_align::ForwardArrays;
using border_align::kPlacesBefore;
using border_align::LineBlend;
using border_align::LinePoints;
using border_align::Lines;
using border_align::Place;
using border_align::read_border;
using border_align::Shape;

/// Some vectors of channels of a line, and how far away those of the next line are.
template <class A>
struct Block {
  const A* packed;
  std::int64_t next;
};

/// Some channels of one border: greatest value and its point.
template <bool kStream, int kVectors, class D, class T, class A = Acc<T>>
HWY_INLINE void pool_channels(D d, const A* HWY_RESTRICT weights, const std::int32_t* HWY_RESTRICT pixels,
                              std::int64_t count, LineBlend<A> blend, Block<A> block, T* HWY_RESTRICT output,
                              std::int32_t* HWY_RESTRICT argmax) {
  const IndexTag<D> di;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const A* const near = block.packed + (blend.next_is_near ? block.next : 0);
  const std::int64_t far = blend.next_is_near ? -block.next : block.next;
  const auto ratio = hn::Set(d, blend.ratio), one = hn::Set(d, A{1});
  const auto evaluate = [&](std::int64_t i, hn::Vec<D>* value) HWY_ATTR {
    const A* const pixel = near + std::int64_t{pixels[i]} * (kVectors * lanes);
    const auto high = hn::Set(d, weights[i]);
    const auto low = hn::Sub(one, high);
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const A* const before = pixel + v * lanes;
      const A* const after = before + kVectors * lanes;
      const auto r0 = hn::MulAdd(ratio, hn::LoadU(d, before + far), hn::LoadU(d, before));
      const auto r1 = hn::MulAdd(ratio, hn::LoadU(d, after + far), hn::LoadU(d, after));
      value[v] = hn::MulAdd(high, r1, hn::Mul(low, r0));
    }
  };
  hn::Vec<D> greatest[kVectors];
  hn::Vec<IndexTag<D>> where[kVectors];
  evaluate(0, greatest);
  MLUOPS_UNROLL
  for (int v = 0; v < kVectors; ++v) where[v] = hn::Zero(di);
  // Strictly greater: the first of equals wins, and NaN stays where it comes first and nowhere else.
  auto index = hn::Zero(di);
  for (std::int64_t i = 1; i < count; ++i) {
    hn::Vec<D> candidate[kVectors];
    evaluate(i, candidate);
    index = hn::Add(index, hn::Set(di, 1));
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const auto more = hn::Gt(candidate[v], greatest[v]);
      greatest[v] = hn::IfThenElse(more, candidate[v], greatest[v]);
      where[v] = hn::IfThenElse(hn::RebindMask(di, more), index, where[v]);
    }
  }
  MLUOPS_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const auto value = hn::Mul(greatest[v], hn::Set(d, blend.scale));
    if constexpr (kStream) {
      stream(value, d, output + v * lanes);
    } else {
      store(value, d, output + v * lanes);
    }
    store_index<kStream>(where[v], d, argmax + v * lanes);
  }
}

/// Channels of pixels that are packed soon: asked for while borders are pooled, some with each of them.
struct Ahead {
  const std::byte* map;
  std::int64_t pitch, bytes;
  const std::uint8_t* touched;
  std::int64_t pixel, end, step;

  HWY_INLINE void ask() {
    for (const std::int64_t stop = std::min(end, pixel + step); pixel < stop; ++pixel) {
      if (touched[pixel]) prefetch_bytes<2>(map + pixel * pitch, bytes);
    }
  }
};

/// Asks for the cache lines of elements that are written soon.
template <std::int64_t kCount, class E>
HWY_INLINE void ask_to_write(E* at) {
  constexpr std::int64_t step = 64 / sizeof(E);
  for (std::int64_t i = 0; i < kCount; i += step) __builtin_prefetch(at + i, 1);
}

/// Borders between asking for a row of results and writing it; the first ones' are asked for a block of channels ahead.
constexpr std::size_t kWriteAhead = 3;

/// The same channels of several borders of one line, whose channels begin at output[rows[i] * row_size] and argmax.
template <bool kStream, int kVectors, class D, class T, class A = Acc<T>>
HWY_NOINLINE void pool_borders(D d, std::span<const std::int64_t> rows, std::int64_t row_size,
                               const LinePoints<A>& points, std::int64_t count, Block<A> block, Ahead ahead, T* output,
                               std::int32_t* argmax) {
  constexpr auto pitch = kVectors * static_cast<std::int64_t>(hn::MaxLanes(D()));
  const A* weights = points.weights;
  const std::int32_t* pixels = points.pixels;
  const LineBlend<A>* blend = points.borders;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t row = rows[i];
    ahead.ask();
    if (!kStream && rows.size() > kWriteAhead) {
      const bool same = i + kWriteAhead < rows.size();
      const std::size_t later = same ? i + kWriteAhead : i + kWriteAhead - rows.size();
      const std::int64_t at = rows[later] * row_size + (same ? 0 : pitch);
      ask_to_write<pitch>(output + at);
      ask_to_write<pitch>(argmax + at);
    }
    pool_channels<kStream, kVectors>(d, weights, pixels, count, *blend++, block, output + row * row_size,
                                     argmax + row * row_size);
    weights += count;
    pixels += count;
  }
}

/// Whether whole vectors of every row may be streamed.
template <class T>
bool may_stream(const Shape& s, const void* output, const void* argmax) {
  const auto row = s.c * static_cast<std::int64_t>(sizeof(T)), rows = s.n * s.k * 4;
  return sizeof(T) <= 4 && whole_lines(output, row) && whole_lines(argmax, 4 * s.c) &&
         rows * (row + 4 * s.c) >= border_align::kStreamBytes;
}

/// Some lines of the borders of all images, and all borders that lie between each of them and the next.
template <bool kStream, int kWide, class T>
class LinePool {
  using A = Acc<T>;
  using Arrays = ForwardArrays<A>;

 public:
  LinePool(const mluopsBorderAlignForwardProblem& p, const Arrays& arrays, int slot)
      : p_(p),
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
    const std::int64_t chunk = border_align::chunk_of<A>(s_);
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
    const std::int64_t groups = ceil_div(all, border_align::kGroup);
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
      constexpr bool whole = std::is_same_v<decltype(d), hn::ScalableTag<A>>;
      constexpr auto pitch = count * static_cast<std::int64_t>(hn::MaxLanes(d));
      pack<count>(d, *pair.here, pair.map + c, pair.axes, c);
      if (pair.next != pair.here) pack<count>(d, *pair.next, pair.map + pair.axes.line_pitch + c, pair.axes, c);
      const Block<A> block = {pair.here->packed + c * places_ + kPlacesBefore * pitch,
                              pair.next->packed - pair.here->packed};
      pool_borders<kStream && whole, count>(d, rows, s_.c, points_, s_.pool_size + 1, block,
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
    const auto scale = hn::Set(d, border_align::kPackedScale<A>);
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

  const mluopsBorderAlignForwardProblem& p_;
  const Shape& s_;
  const Buckets& sorted_;
  const LinePoints<A> points_;
  const std::int64_t places_;
  std::uint8_t* const touched_;
  Line lines_[2];

  std::int64_t first_ = 0, channels_ = 0;  // of the chunk
};

template <bool kStream, class T>
void pool_lines(const mluopsBorderAlignForwardProblem& p, const ForwardArrays<Acc<T>>& arrays, int slot,
                std::int64_t begin, std::int64_t end) {
  using A = Acc<T>;
  constexpr std::int64_t vector = kLanes<A> * static_cast<std::int64_t>(sizeof(A));
  constexpr int most = vector >= 64 ? 4 : 2;  // 32 registers, or 16
  const std::int64_t fitting = border_align::kBlock / (2 * ForwardArrays<A>::places(p.shape) * vector);
  if (fitting >= most) return LinePool<kStream, most, T>(p, arrays, slot).run(begin, end);
  if (fitting >= 2) return LinePool<kStream, 2, T>(p, arrays, slot).run(begin, end);
  LinePool<kStream, 1, T>(p, arrays, slot).run(begin, end);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsBorderAlignForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  auto arrays = carve<ForwardArrays<A>>(context.scratch, call, s);
  if (!arrays) return no_memory(call);
  const double cost = static_cast<double>(s.pool_size + 1) *
                      (border_align::kPointNs + border_align::kForwardNs * static_cast<double>(s.c));
  const auto sort = [&](std::int64_t begin, std::int64_t end, auto&& put) {
    border_align::sort_borders<T>(s, p.boxes, begin, end,
                                  [&](std::int64_t row, std::int64_t line, bool) { put(row, line, cost); });
  };
  if (!arrays->lines.fill(context, call, border_align::kSortNs, 0, sort)) return no_memory(call);

  const auto pool = may_stream<T>(s, p.output, p.argmax) ? pool_lines<true, T> : pool_lines<false, T>;
  const border_align::LineRuns runs(arrays->lines.prefix_ns(), call.threads);
  Loop(context, call, runs.count(), runs.each_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    pool(p, *arrays, slot, runs.first_line(begin), runs.first_line(end));
    stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_CPU_KERNEL(border_align_forward, mluopsBorderAlignForwardProblem, forward, with_element)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(border_align_forward, mluopsBorderAlignForwardProblem)

}  // namespace mluops::cpu
#endif
