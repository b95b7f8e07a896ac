// BorderAlign: along each border of each box, the greatest of pool_size + 1 bilinear samples, channel by channel.
//
// A border lies between two lines of pixels: rows for top and bottom, columns for left and right. Borders are sorted by
// their line, so that the pixels of a line are fetched once into the second cache and read there by all borders on it.
// In grad_input each line of each border's channels has one owner, who sums it and writes it once: no prior zeroing,
// no atomics, the same bits for every number of threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/border_align.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/box_borders.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_ONCE_
namespace mluops::cpu::border_align {

using Shape = mluopsBorderAlignShape;

/// Tensors larger than this leave the caches before anyone reads them: write past them.
constexpr std::int64_t kStreamBytes = std::int64_t{12} << 20;
/// Borders of a line whose points are placed together before their channels are walked.
constexpr std::int64_t kGroup = 32;
/// Channels of a line that are packed at once: at most 4 vectors.
constexpr std::int64_t kPackedBytes = 256;
/// Cost in nanoseconds: of placing a point, and of one channel of one point.
constexpr double kPointNs = 4, kForwardNs = 0.15, kBackwardNs = 0.2;

/// Channels of a block of sums: one cache line. Neighbouring pixels are then neighbouring lines. With all channels of a
/// pixel together they would be kilobytes apart, and a load would wait for the store to a pixel 4 KB away.
template <class A>
constexpr std::int64_t kBlock = 64 / sizeof(A);

/// Where channel c of a pixel is in the sums of a line.
template <class A>
std::int64_t place_of(std::int64_t length, std::int64_t pixel, std::int64_t c) {
  return (c / kBlock<A> * length + pixel) * kBlock<A> + c % kBlock<A>;
}

/// The lines of all images and borders, each image and border having room for as many as the longer side.
struct Lines {
  std::int64_t each;

  explicit Lines(const Shape& s) : each(std::max(s.h, s.w)) {}
  std::int64_t count(const Shape& s) const { return s.n * 4 * each; }
  std::int64_t index(std::int64_t image, int border, std::int64_t line) const {
    return (image * 4 + border) * each + line;
  }
};

/// One border out of [n, k, 4], which is also its row of output and argmax.
struct Place {
  std::int64_t image;
  int border;

  Place(const Shape& s, std::int64_t row) : image(row / (4 * s.k)), border(static_cast<int>(row % 4)) {}
};

template <class T>
Border<Acc<T>> read_border(const Shape& s, const void* boxes, std::int64_t row) {
  return Border<Acc<T>>::read(static_cast<const T*>(boxes) + row / 4 * 4, static_cast<int>(row % 4), s.pool_size);
}

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

template <class A>
struct BackwardArrays {
  typename TouchedPixels<A>::Pixel* pixels;  ///< per thread: of one border
  A* weights;                                ///< per thread: of one border
  A* sums;                                   ///< per thread: one line of one border's channels
  Buckets lines;

  BackwardArrays(Carver& carver, const mluopsCall& call, const Shape& s)
      : pixels(carver.take<typename TouchedPixels<A>::Pixel>(call.threads * most(s))),
        weights(carver.take<A>(call.threads * most(s) * row_size(s))),
        sums(carver.take<A>(call.threads * line_size(s))),
        lines(carver, call, s.n * s.k * 4, Lines(s).count(s)) {}
  static std::int64_t most(const Shape& s) { return TouchedPixels<A>::most(s.pool_size); }
  /// Whole vectors, for look-ups.
  static std::int64_t row_size(const Shape& s) { return round_up(s.pool_size + 1, 16); }
  /// In blocks of a cache line of channels: [blocks, length, kBlock].
  static std::int64_t line_size(const Shape& s) { return Lines(s).each * round_up(s.c, kBlock<A>); }
};

}  // namespace mluops::cpu::border_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using border_align::BackwardArrays;
using border_align::ForwardArrays;
using border_align::Lines;
using border_align::Place;
using border_align::read_border;
using border_align::Shape;

/// int32 argmax as lanes as wide as the sums, and back.
template <class D>
using IndexTag = hn::RebindToSigned<D>;

template <class D>
HWY_INLINE hn::Vec<IndexTag<D>> load_index(D, const std::int32_t* p) {
  const IndexTag<D> di;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::LoadU(di, p);
  } else {
    return hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::int32_t, D>(), p));
  }
}

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

// ---- forward ---------------------------------------------------------------------------------

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

// ---- backward --------------------------------------------------------------------------------

/// For each lane the weight that the point of its index gives the pixel, kNone if that point does not touch it.
template <class D, class A>
HWY_INLINE hn::Vec<D> weight_of(D d, hn::Vec<IndexTag<D>> index, const TouchedPixels<A>& touched, std::int64_t i,
                                std::int64_t points) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::int64_t lanes = hn::MaxLanes(D());
  if constexpr (lanes >= 8) {
    if (points <= lanes) return hn::TableLookupLanes(hn::LoadU(d, touched.weights(i)), hn::IndicesFromVec(d, index));
  }
#endif
  (void)points;
  const IndexTag<D> di;
  const auto& pixel = touched[i];
  auto weight = hn::Set(d, TouchedPixels<A>::kNone);
  for (std::int64_t point = pixel.first; point <= pixel.last; ++point) {
    const auto here = hn::Eq(index, hn::Set(di, static_cast<hn::TFromD<IndexTag<D>>>(point)));
    weight = hn::IfThenElse(hn::RebindMask(d, here), hn::Set(d, touched.weights(i)[point]), weight);
  }
  return weight;
}

/// sums[pixel of the line, channel] += line_weight * weight * grad_output, at the points argmax names.
template <class T>
void add_border(const Shape& s, std::int64_t length, const TouchedPixels<Acc<T>>& touched, Acc<T> line_weight,
                const T* HWY_RESTRICT grad_output, const std::int32_t* HWY_RESTRICT argmax, Acc<T>* HWY_RESTRICT sums) {
  using A = Acc<T>;
  const std::int64_t points = s.pool_size + 1;
  for_lanes<A>(s.c, [&](auto d, std::int64_t c) HWY_ATTR {
    const IndexTag<decltype(d)> di;
    using Index = hn::TFromD<IndexTag<decltype(d)>>;
    const auto given = load_index(d, argmax + c);
    const auto valid =
        hn::And(hn::Gt(given, hn::Set(di, Index{-1})), hn::Lt(given, hn::Set(di, static_cast<Index>(points))));
    const auto index = hn::IfThenElseZero(valid, given);
    const auto own = hn::IfThenElseZero(hn::RebindMask(d, valid), load(d, grad_output + c));
    const auto g = hn::Mul(own, hn::Set(d, line_weight));
    A* const block = sums + border_align::place_of<A>(length, 0, c);
    for (std::int64_t i = 0; i < touched.size(); ++i) {
      const auto weight = weight_of(d, index, touched, i, points);
      // Cleared, not multiplied by 0: an infinite gradient reaches only the pixels of its own point. (A masked store
      // would do as well, but is slow on some processors.)
      const auto chosen = hn::IfThenElseZero(hn::Ge(weight, hn::Zero(d)), g);
      A* const sum = block + touched[i].position * border_align::kBlock<A>;
      hn::StoreU(hn::MulAdd(weight, chosen, hn::LoadU(d, sum)), d, sum);
    }
  });
}

/// A line of one border's channels into grad_input; nothing but zeros where there are no sums.
template <class T>
void write_line(const Shape& s, const BorderAxes& axes, const Acc<T>* sums, bool past_caches, T* line) {
  using A = Acc<T>;
  const std::int64_t bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < axes.length; ++i) {
    T* const out = line + i * axes.pixel_pitch;
    if (sums == nullptr && past_caches) {
      stream_zero(out, bytes);
    } else if (sums == nullptr) {
      std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(bytes));
    } else {
      for_lanes<A>(s.c, [&](auto d, std::int64_t c) HWY_ATTR {
        const auto sum = hn::LoadU(d, sums + border_align::place_of<A>(axes.length, i, c));
        if constexpr (std::is_same_v<decltype(d), hn::ScalableTag<A>>) {
          if (past_caches) return stream(sum, d, out + c);
        }
        store(sum, d, out + c);
      });
    }
  }
}

/// Puts each border into the two lines it lies between.
template <class T>
bool sort_by_lines(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p,
                   Buckets& sorted) {
  const Shape& s = p.shape;
  const Lines lines(s);
  const double channels = static_cast<double>(s.c);
  const double cost =
      static_cast<double>(s.pool_size + 1) * (border_align::kPointNs + border_align::kBackwardNs * channels);
  return sorted.fill(context, call, 15, 0.1 * channels * static_cast<double>(lines.each),
                     [&](std::int64_t row, auto&& put) {
                       const auto border = read_border<T>(s, p.boxes, row);
                       AxisSample<Acc<T>> line;
                       if (!sample_axis(border.fixed, BorderAxes(s, border.horizontal).lines, line)) return;
                       const Place place(s, row);
                       put(lines.index(place.image, place.border, line.low), cost);
                       if (line.high != line.low) put(lines.index(place.image, place.border, line.high), cost);
                     });
}

/// One line of one border of one image: all that its borders add to it, then its pixels of grad_input.
template <class T>
void backward_line(const mluopsBorderAlignBackwardProblem& p, std::int64_t index, std::span<const std::int64_t> rows,
                   bool past_caches, const BackwardArrays<Acc<T>>& arrays, int slot) {
  using A = Acc<T>;
  using Sizes = BackwardArrays<A>;
  const Shape& s = p.shape;
  const Lines lines(s);
  const std::int64_t line = index % lines.each, which = index / lines.each;
  const BorderAxes axes(s, which % 2 == 0);
  if (line >= axes.lines) return;
  A* const sums = arrays.sums + slot * Sizes::line_size(s);
  std::fill_n(sums, rows.empty() ? 0 : axes.length * round_up(s.c, border_align::kBlock<A>), A{0});
  for (const std::int64_t row : rows) {
    const auto border = read_border<T>(s, p.boxes, row);
    AxisSample<A> across;
    if (!sample_axis(border.fixed, axes.lines, across)) continue;
    const TouchedPixels<A> touched(border, axes.length, s.pool_size, Sizes::row_size(s),
                                   arrays.pixels + slot * Sizes::most(s),
                                   arrays.weights + slot * Sizes::most(s) * Sizes::row_size(s));
    add_border(s, axes.length, touched, across.low == line ? across.low_weight : across.high_weight,
               static_cast<const T*>(p.grad_output) + row * s.c, p.argmax + row * s.c, sums);
  }
  T* const image = static_cast<T*>(p.grad_input) + which / 4 * s.h * s.w * 4 * s.c;
  write_line(s, axes, rows.empty() ? nullptr : sums, past_caches, image + which % 4 * s.c + line * axes.line_pitch);
}

template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  const Shape& s = p.shape;
  auto arrays = carve<BackwardArrays<Acc<T>>>(context.scratch, call, s);
  if (!arrays) return no_memory(call);
  if (!sort_by_lines<T>(context, call, p, arrays->lines)) return no_memory(call);
  const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  const bool past_caches = streams(p.grad_input, s.n * s.h * s.w * 4 * row_bytes, row_bytes);
  Loop(context, call, arrays->lines.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t line = begin; line < end; ++line) {
      backward_line<T>(p, line, arrays->lines[line], past_caches, *arrays, slot);
    }
    stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// grad_input of one border, channel by channel, added atomically to sums of the whole map.
template <class T>
void add_border_atomically(const mluopsBorderAlignBackwardProblem& p, std::int64_t row, Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const auto border = read_border<T>(s, p.boxes, row);
  const BorderAxes axes(s, border.horizontal);
  const Place place(s, row);
  A* const map = sums + place.image * s.h * s.w * 4 * s.c + place.border * s.c;
  AxisSample<A> line, along;
  if (!sample_axis(border.fixed, axes.lines, line)) return;
  for (std::int64_t c = 0; c < s.c; ++c) {
    const std::int32_t point = p.argmax[row * s.c + c];
    if (point < 0 || point > s.pool_size) continue;
    if (!sample_axis(border.start + border.stride * static_cast<A>(point), axes.length, along)) continue;
    const auto corners = BorderPoint<A>::between(border.horizontal, axes.line_pitch, axes.pixel_pitch, line, along);
    const A g = to_acc(static_cast<const T*>(p.grad_output)[row * s.c + c]);
    for (int i = 0; i < 4; ++i) atomic_add(map + corners.pixel[i] + c, corners.weight[i] * g);
  }
}

/// Tasks over borders of boxes.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t total = s.n * s.h * s.w * 4 * s.c;
  A* sums = nullptr;
  if constexpr (kAddsInPlace<T>) {
    sums = static_cast<A*>(p.grad_input);
  } else {
    sums = reinterpret_cast<A*>(context.scratch.reserve(total * static_cast<std::int64_t>(sizeof(A))));
  }
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, total);
  Loop(context, call, s.n * s.k * 4, 60.0 * static_cast<double>(s.c))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t row = begin; row < end; ++row) add_border_atomically<T>(p, row, sums);
      });
  store_sums(context, call, sums, static_cast<T*>(p.grad_input), total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  // Four compare-and-swaps per channel never beat plain additions to a line somebody owns.
  return choose_scatter(context, call, false) == Scatter::kAtomic ? backward_by_atomics<T>(context, call, p)
                                                                  : backward_by_owner<T>(context, call, p);
}

mluOpStatus_t run_border_align_forward(Context& context, const mluopsCall& call,
                                       const mluopsBorderAlignForwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return forward<typename decltype(tag)::type>(context, call, p); });
}

mluOpStatus_t run_border_align_backward(Context& context, const mluopsCall& call,
                                        const mluopsBorderAlignBackwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return backward<typename decltype(tag)::type>(context, call, p); });
}

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

HWY_EXPORT(run_border_align_forward);
HWY_EXPORT(run_border_align_backward);

mluOpStatus_t border_align_forward(Context& context, const mluopsCall& call, const mluopsBorderAlignForwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_border_align_forward)(context, call, p);
}

mluOpStatus_t border_align_backward(Context& context, const mluopsCall& call,
                                    const mluopsBorderAlignBackwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_border_align_backward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
