// BorderAlign forward: along each border of each box, the greatest of pool_size + 1 bilinear samples, channel by
// channel.
//
// Borders are sorted by their line, so that the pixels of a line are fetched once into the second cache and read there
// by all borders on it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/border_align_forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/border_align.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_FORWARD_ONCE_
namespace mluops::cpu::border_align {

/// Tensors larger than this leave the caches before anyone reads them: write past them.
constexpr std::int64_t kStreamBytes = std::int64_t{12} << 20;
/// Borders of a line whose points are placed together before their channels are walked.
constexpr std::int64_t kGroup = 32;
/// Channels of a line that are packed at once: at most 4 vectors.
constexpr std::int64_t kPackedBytes = 256;
/// Cost in nanoseconds of one channel of one point.
constexpr double kForwardNs = 0.15;

template <class A>
struct ForwardArrays {
  BorderPoint<A>* points;  ///< per thread: those of a group of borders
  A* packed;               ///< per thread: some channels of the pixels of two lines
  std::uint8_t* touched;   ///< per thread: which pixels of a line the group touches
  Buckets lines;

  ForwardArrays(Carver& carver, const mluopsCall& call, const Shape& s)
      : points(carver.take<BorderPoint<A>>(call.threads * points_per_thread(s))),
        packed(carver.take<A>(call.threads * packed_per_thread(s))),
        touched(carver.take<std::uint8_t>(call.threads * Lines(s).each)),
        lines(carver, call, s.n * s.k * 4, Lines(s).count(s)) {}
  static std::int64_t points_per_thread(const Shape& s) { return kGroup * (s.pool_size + 1); }
  static std::int64_t packed_per_thread(const Shape& s) {
    return 2 * Lines(s).each * kPackedBytes / static_cast<std::int64_t>(sizeof(A));
  }
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

/// Some channels of one border: greatest value and its point. lines are those channels, packed.
template <bool kStream, int kVectors, class D, class T>
HWY_INLINE void pool_channels(D d, const BorderPoint<Acc<T>>* HWY_RESTRICT points, std::int64_t count,
                              const Acc<T>* HWY_RESTRICT lines, T* HWY_RESTRICT output,
                              std::int32_t* HWY_RESTRICT argmax) {
  const IndexTag<D> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  using Index = hn::TFromD<IndexTag<D>>;
  hn::Vec<D> greatest[kVectors];
  hn::Vec<IndexTag<D>> where[kVectors];
  const auto value = [&](const BorderPoint<Acc<T>>& point, std::int64_t v) HWY_ATTR {
    auto sum = hn::Mul(hn::Set(d, point.weight[0]), hn::LoadU(d, lines + point.pixel[0] + v * lanes));
    sum = hn::MulAdd(hn::Set(d, point.weight[1]), hn::LoadU(d, lines + point.pixel[1] + v * lanes), sum);
    sum = hn::MulAdd(hn::Set(d, point.weight[2]), hn::LoadU(d, lines + point.pixel[2] + v * lanes), sum);
    return hn::MulAdd(hn::Set(d, point.weight[3]), hn::LoadU(d, lines + point.pixel[3] + v * lanes), sum);
  };
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    greatest[v] = points[0].inside() ? value(points[0], v) : hn::Zero(d);
    where[v] = hn::Zero(di);
  }
  // Strictly greater: the first of equals wins, and NaN stays where it comes first and nowhere else.
  for (std::int64_t i = 1; i < count; ++i) {
    const bool inside = points[i].inside();
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const auto candidate = inside ? value(points[i], v) : hn::Zero(d);
      const auto more = hn::Gt(candidate, greatest[v]);
      greatest[v] = hn::IfThenElse(more, candidate, greatest[v]);
      where[v] = hn::IfThenElse(hn::RebindMask(di, more), hn::Set(di, static_cast<Index>(i)), where[v]);
    }
  }
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    if constexpr (kStream) {
      stream(greatest[v], d, output + v * lanes);
    } else {
      store(greatest[v], d, output + v * lanes);
    }
    store_index<kStream>(where[v], d, argmax + v * lanes);
  }
}

/// Whether whole vectors of every row may be streamed.
template <class T>
bool may_stream(const Shape& s, const void* output, const void* argmax) {
  const auto row = s.c * static_cast<std::int64_t>(sizeof(T)), rows = s.n * s.k * 4;
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; };
  return sizeof(T) <= 4 && aligned(output) && aligned(argmax) && row % 64 == 0 && s.c % 16 == 0 &&
         rows * row >= border_align::kStreamBytes;
}

/// Packs channels of two neighbouring lines: [2, length, pitch] sums from the pixels touched. A line of the map has its
/// pixels kilobytes apart, where they would fight for the same few places of the first cache.
template <class D, class T>
HWY_INLINE void pack_lines(D d, int vectors, const T* HWY_RESTRICT line, std::int64_t next_line, const BorderAxes& axes,
                           const std::uint8_t* touched, std::int64_t pitch, Acc<T>* HWY_RESTRICT packed) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t side = 0; side < 2; ++side, line += next_line) {
    for (std::int64_t i = 0; i < axes.length; ++i, packed += pitch) {
      if (!touched[i]) continue;
      for (std::int64_t v = 0; v < vectors * lanes; v += lanes) {
        hn::StoreU(load(d, line + i * axes.pixel_pitch + v), d, packed + v);
      }
    }
  }
}

/// Up to kGroup borders of one line: all points first, then some channels of the line packed, then those channels of
/// each border.
template <bool kStream, class T>
void pool_group(const mluopsBorderAlignForwardProblem& p, std::span<const std::int64_t> rows, std::int64_t line,
                const ForwardArrays<Acc<T>>& arrays, int slot) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t count = s.pool_size + 1;
  constexpr int wide = kLanes<A> * static_cast<int>(sizeof(A)) >= 64 ? 4 : 2;  // 32 registers, or 16
  constexpr std::int64_t pitch = wide * kLanes<A>;
  const Place place(s, rows[0]);
  const BorderAxes axes(s, place.border % 2 == 0);
  BorderPoint<A>* const points = arrays.points + slot * ForwardArrays<A>::points_per_thread(s);
  A* const packed = arrays.packed + slot * ForwardArrays<A>::packed_per_thread(s);
  std::uint8_t* const touched = arrays.touched + slot * Lines(s).each;
  std::fill_n(touched, axes.length, std::uint8_t{0});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    place_points(read_border<T>(s, p.boxes, rows[i]), axes, s.pool_size, pitch,
                 points + static_cast<std::int64_t>(i) * count, touched);
  }
  const T* const first =
      static_cast<const T*>(p.input) + place.image * s.h * s.w * 4 * s.c + place.border * s.c + line * axes.line_pitch;
  const std::int64_t next_line = line + 1 < axes.lines ? axes.line_pitch : 0;
  for_wide<A, wide>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr bool whole = std::is_same_v<decltype(d), hn::ScalableTag<A>>;
    pack_lines(d, decltype(vectors)::value, first + c, next_line, axes, touched, pitch, packed);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t out = rows[i] * s.c + c;
      pool_channels<kStream && whole, decltype(vectors)::value>(d, points + static_cast<std::int64_t>(i) * count, count,
                                                                packed, static_cast<T*>(p.output) + out,
                                                                p.argmax + out);
    }
  });
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

  const auto run = may_stream<T>(s, p.output, p.argmax) ? pool_group<true, T> : pool_group<false, T>;
  const Buckets& sorted = arrays->lines;
  Loop(context, call, sorted.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t line = begin; line < end; ++line) {
      auto rest = sorted[line];
      while (!rest.empty()) {
        const std::size_t group = std::min<std::size_t>(rest.size(), border_align::kGroup);
        run(p, rest.first(group), line % lines.each, *arrays, slot);
        rest = rest.subspan(group);
      }
    }
    stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t run_border_align_forward(Context& context, const mluopsCall& call,
                                       const mluopsBorderAlignForwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return forward<typename decltype(tag)::type>(context, call, p); });
}

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

HWY_EXPORT(run_border_align_forward);

mluOpStatus_t border_align_forward(Context& context, const mluopsCall& call, const mluopsBorderAlignForwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_border_align_forward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
