// BorderAlign forward: along each border of each box, the greatest of pool_size + 1 bilinear samples, channel by
// channel.
//
// Borders are sorted by their line, and a thread takes whole lines. The pixels of a line and of the next are packed
// into consecutive memory once, in blocks of some vectors of channels, which share a point's weights. In the map a
// line's pixels are often a multiple of 4 KB apart, where they displace each other in either cache. What was the next
// line is the first one afterwards, and is packed already. Every output is written by one thread. Four loads, four
// multiply-adds, a comparison and two choices per point and vector: bound by arithmetic.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/border_align_forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/border_align.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
namespace mluops::cpu::border_align {

/// Results larger than this leave the second cache before anyone reads them: write past it.
constexpr std::int64_t kStreamBytes = std::int64_t{1} << 20;
/// Borders of a line whose points are placed together before their channels are walked.
constexpr std::int64_t kGroup = 128;
/// Bytes of a block of channels of two lines, and of all blocks. A block need not fit the first cache: loads from the
/// second keep up, while one weight broadcast for each vector loaded does not.
constexpr std::int64_t kBlock = 80 << 10, kSecondCache = 400 << 10;
/// Cost in nanoseconds of one channel of one point.
constexpr double kForwardNs = 0.11;

/// Channels whose lines are packed at once.
template <class A>
std::int64_t chunk_of(const Shape& s) {
  constexpr std::int64_t whole = 256 / sizeof(A);
  const std::int64_t pixel = 2 * (Lines(s).each + kPlacesBehind) * static_cast<std::int64_t>(sizeof(A));
  return std::min(s.c, std::max(whole, kSecondCache / pixel / whole * whole));
}

/// Per thread, except lines.
template <class A>
struct ForwardArrays {
  PackedPoint<A>* points;  ///< those of a group of borders
  A* packed;               ///< [2, channels, places]: two lines
  std::uint8_t* states;    ///< [3, places]: which pixels are packed, of two lines, and which the group touches
  Buckets lines;

  ForwardArrays(Carver& carver, const mluopsCall& call, const Shape& s)
      : points(carver.take<PackedPoint<A>>(call.threads * points_per_thread(s))),
        packed(carver.take<A>(call.threads * 2 * packed_line(s))),
        states(carver.take<std::uint8_t>(call.threads * 3 * places(s))),
        lines(carver, call, s.n * s.k * 4, Lines(s).count(s)) {}
  static std::int64_t points_per_thread(const Shape& s) { return kGroup * (s.pool_size + 1); }
  static std::int64_t places(const Shape& s) { return Lines(s).each + kPlacesBehind; }
  static std::int64_t packed_line(const Shape& s) { return round_up(chunk_of<A>(s) * places(s), 16); }
};

}  // namespace mluops::cpu::border_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using border_align::ForwardArrays;
using border_align::Lines;
using border_align::Place;
using border_align::read_border;
using border_align::Shape;

/// int32 argmax as lanes as wide as the sums.
template <class D>
using IndexTag = hn::RebindToSigned<D>;

template <bool kStream, class D>
HWY_INLINE void store_index(hn::Vec<IndexTag<D>> v, D, std::int32_t* p) {
  const IndexTag<D> di;
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    HWY_ALIGN std::int64_t wide[hn::MaxLanes(D())];
    hn::Store(v, di, wide);
    for (std::size_t i = 0; i < hn::Lanes(di); ++i) p[i] = static_cast<std::int32_t>(wide[i]);
  } else if constexpr (kStream) {
    hn::Stream(v, di, p);
  } else {
    hn::StoreU(v, di, p);
  }
}

/// How far apart the four pixels of a point are: the neighbours to the right and below.
struct Corners {
  std::int64_t right, lower;
};

/// Some channels of one border: greatest value and its point. packed are those channels of its lines.
template <bool kStream, int kVectors, class D, class T>
HWY_INLINE void pool_channels(D d, const PackedPoint<Acc<T>>* HWY_RESTRICT points, std::int64_t count, Corners corners,
                              const Acc<T>* HWY_RESTRICT packed, T* HWY_RESTRICT output,
                              std::int32_t* HWY_RESTRICT argmax) {
  const IndexTag<D> di;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  hn::Vec<D> greatest[kVectors];
  hn::Vec<IndexTag<D>> where[kVectors];
  const std::int64_t diagonal = corners.right + corners.lower;
  const auto evaluate = [&](const PackedPoint<Acc<T>>& point, hn::Vec<D>* value) HWY_ATTR {
    const Acc<T>* const pixel = packed + point.pixel * (kVectors * lanes);
    const auto w0 = hn::Set(d, point.weight[0]), w1 = hn::Set(d, point.weight[1]);
    const auto w2 = hn::Set(d, point.weight[2]), w3 = hn::Set(d, point.weight[3]);
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const Acc<T>* const at = pixel + v * lanes;
      auto sum = hn::Mul(w0, hn::LoadU(d, at));
      sum = hn::MulAdd(w1, hn::LoadU(d, at + corners.right), sum);
      sum = hn::MulAdd(w2, hn::LoadU(d, at + corners.lower), sum);
      value[v] = hn::MulAdd(w3, hn::LoadU(d, at + diagonal), sum);
    }
  };
  evaluate(points[0], greatest);
  MLUOPS_UNROLL
  for (int v = 0; v < kVectors; ++v) where[v] = hn::Zero(di);
  // Strictly greater: the first of equals wins, and NaN stays where it comes first and nowhere else.
  auto index = hn::Zero(di);
  for (std::int64_t i = 1; i < count; ++i) {
    hn::Vec<D> candidate[kVectors];
    evaluate(points[i], candidate);
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
    if constexpr (kStream) {
      stream(greatest[v], d, output + v * lanes);
    } else {
      store(greatest[v], d, output + v * lanes);
    }
    store_index<kStream>(where[v], d, argmax + v * lanes);
  }
}

/// The same channels of several borders of one line, whose channels begin at output[rows[i] * row_size] and argmax.
template <bool kStream, int kVectors, class D, class T>
HWY_NOINLINE void pool_borders(D d, std::span<const std::int64_t> rows, std::int64_t row_size,
                               const PackedPoint<Acc<T>>* points, std::int64_t count, Corners corners,
                               const Acc<T>* packed, T* output, std::int32_t* argmax) {
  for (const std::int64_t row : rows) {
    pool_channels<kStream, kVectors>(d, points, count, corners, packed, output + row * row_size,
                                     argmax + row * row_size);
    points += count;
  }
}

/// Whether whole vectors of every row may be streamed.
template <class T>
bool may_stream(const Shape& s, const void* output, const void* argmax) {
  const auto row = s.c * static_cast<std::int64_t>(sizeof(T)), rows = s.n * s.k * 4;
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; };
  return sizeof(T) <= 4 && aligned(output) && aligned(argmax) && row % 64 == 0 && s.c % 16 == 0 &&
         rows * (row + 4 * s.c) >= border_align::kStreamBytes;
}

/// Some lines of the borders of all images, and all borders that lie between each of them and the next.
template <bool kStream, int kWide, class T>
class LinePool {
  using A = Acc<T>;
  using Arrays = ForwardArrays<A>;

 public:
  LinePool(const mluopsBorderAlignForwardProblem& p, const Arrays& arrays, int slot)
      : p_(p), s_(p.shape), sorted_(arrays.lines), points_(arrays.points + slot * Arrays::points_per_thread(s_)) {
    const std::int64_t places = Arrays::places(s_);
    std::uint8_t* const states = arrays.states + slot * 3 * places;
    touched_ = states + 2 * places;
    for (int i = 0; i < 2; ++i) {
      lines_[i].packed = arrays.packed + (2 * slot + i) * Arrays::packed_line(s_);
      lines_[i].done = states + i * places;
    }
  }

  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t chunk = border_align::chunk_of<A>(s_);
    for (first_ = 0; first_ < s_.c; first_ += chunk) {
      channels_ = std::min(chunk, s_.c - first_);
      for (Line& line : lines_) line.index = -1;
      for (std::int64_t line = begin; line < end; ++line) pool_line(line);
    }
  }

 private:
  struct Line {
    std::int64_t index;
    A* packed;
    std::uint8_t* done;
  };

  void pool_line(std::int64_t index) {
    const auto rows = sorted_[index];
    if (rows.empty()) return;
    const Place place(s_, rows[0]);
    const BorderAxes axes(s_, place.border % 2 == 0);
    const std::int64_t line = index % Lines(s_).each;
    const bool last = line + 1 >= axes.lines;
    const T* const map = static_cast<const T*>(p_.input) + place.image * s_.h * s_.w * 4 * s_.c + place.border * s_.c +
                         first_ + line * axes.line_pitch;
    const Line& here = hold(index, axes.length);
    const Line& next = last ? here : hold(index + 1, axes.length);
    const auto all = static_cast<std::int64_t>(rows.size());
    const std::int64_t groups = (all + border_align::kGroup - 1) / border_align::kGroup;
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t begin = all * i / groups, end = all * (i + 1) / groups;
      const auto group = rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
      place_group(group, axes);
      pack(here, map, axes);
      if (!last) pack(next, map + axes.line_pitch, axes);
      pool_group(group, axes, here.packed, next.packed - here.packed);
    }
  }

  /// The packed line of that index; if it has to begin, with nothing but zeros for what is outside.
  const Line& hold(std::int64_t index, std::int64_t length) {
    Line& line = lines_[index % 2];
    if (line.index == index) return line;
    line.index = index;
    std::fill_n(line.done, length + 1, std::uint8_t{0});
    const std::int64_t places = length + kPlacesBehind;
    for_wide<A, kWide>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      const std::int64_t pitch = decltype(vectors)::value * static_cast<std::int64_t>(hn::Lanes(d));
      std::fill_n(line.packed + c * places + (length + 1) * pitch, 2 * pitch, A{0});
    });
    return line;
  }

  void place_group(std::span<const std::int64_t> rows, const BorderAxes& axes) {
    std::fill_n(touched_, axes.length + kPlacesBehind, std::uint8_t{0});
    PackedPoint<A>* points = points_;
    for (const std::int64_t row : rows) {
      place_points(read_border<T>(s_, p_.boxes, row), axes, s_.pool_size, points, touched_);
      points += s_.pool_size + 1;
    }
  }

  /// The pixels touched and not yet there.
  void pack(const Line& line, const T* HWY_RESTRICT map, const BorderAxes& axes) {
    const std::int64_t places = axes.length + kPlacesBehind;
    for (std::int64_t i = 0; i <= axes.length; ++i) {
      if (!touched_[i] || line.done[i]) continue;
      line.done[i] = 1;
      const T* const pixel = map + std::min(i, axes.length - 1) * axes.pixel_pitch;
      for_wide<A, kWide>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
        const std::int64_t pitch = decltype(vectors)::value * lanes;
        A* const to = line.packed + c * places + i * pitch;
        for (std::int64_t v = 0; v < pitch; v += lanes) hn::StoreU(load(d, pixel + c + v), d, to + v);
      });
    }
  }

  void pool_group(std::span<const std::int64_t> rows, const BorderAxes& axes, const A* packed, std::int64_t next) {
    const std::int64_t places = axes.length + kPlacesBehind, points = s_.pool_size + 1;
    const bool horizontal = Place(s_, rows[0]).border % 2 == 0;
    for_wide<A, kWide>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      constexpr bool whole = std::is_same_v<decltype(d), hn::ScalableTag<A>>;
      constexpr int count_vectors = decltype(vectors)::value;
      const std::int64_t pitch = count_vectors * static_cast<std::int64_t>(hn::Lanes(d));
      const Corners corners = horizontal ? Corners{pitch, next} : Corners{next, pitch};
      pool_borders<kStream && whole, count_vectors>(d, rows, s_.c, points_, points, corners, packed + c * places,
                                                    static_cast<T*>(p_.output) + first_ + c, p_.argmax + first_ + c);
    });
  }

  const mluopsBorderAlignForwardProblem& p_;
  const Shape& s_;
  const Buckets& sorted_;
  PackedPoint<A>* const points_;
  std::uint8_t* touched_;
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
  const Lines lines(s);
  auto arrays = carve<ForwardArrays<A>>(context.scratch, call, s);
  if (!arrays) return no_memory(call);
  const double cost = static_cast<double>(s.pool_size + 1) *
                      (border_align::kPointNs + border_align::kForwardNs * static_cast<double>(s.c));
  const bool filled = arrays->lines.fill(context, call, 15, 0, [&](std::int64_t row, auto&& put) {
    const auto border = read_border<T>(s, p.boxes, row);
    AxisSample<A> line;
    const bool inside = sample_axis(border.fixed, BorderAxes(s, border.horizontal).lines, line);
    const Place place(s, row);
    put(lines.index(place.image, place.border, inside ? line.low : 0), cost);
  });
  if (!filled) return no_memory(call);

  const auto run = may_stream<T>(s, p.output, p.argmax) ? pool_lines<true, T> : pool_lines<false, T>;
  Loop(context, call, arrays->lines.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    run(p, *arrays, slot, begin, end);
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
