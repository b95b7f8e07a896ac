// BorderAlign backward: the gradient of each channel of each border goes to the four pixels of the point argmax names.
//
// Each line of each border's channels has one owner, who sums it and writes it once: no prior zeroing, no atomics, the
// same bits for every number of threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/border_align_backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/border_align.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_BACKWARD_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_BACKWARD_ONCE_
namespace mluops::cpu::border_align {

/// Cost in nanoseconds of one channel of one point.
constexpr double kBackwardNs = 0.2;

/// Channels of a block of sums: one cache line. Neighbouring pixels are then neighbouring lines. With all channels of a
/// pixel together they would be kilobytes apart, and a load would wait for the store to a pixel 4 KB away.
template <class A>
constexpr std::int64_t kBlock = 64 / sizeof(A);

/// Where channel c of a pixel is in the sums of a line.
template <class A>
std::int64_t place_of(std::int64_t length, std::int64_t pixel, std::int64_t c) {
  return (c / kBlock<A> * length + pixel) * kBlock<A> + c % kBlock<A>;
}

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
using border_align::Lines;
using border_align::Place;
using border_align::read_border;
using border_align::Shape;

/// int32 argmax as lanes as wide as the sums.
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

HWY_EXPORT(run_border_align_backward);

mluOpStatus_t border_align_backward(Context& context, const mluopsCall& call,
                                    const mluopsBorderAlignBackwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_border_align_backward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
