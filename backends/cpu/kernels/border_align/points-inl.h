// Points of few boxes, gathered out of the planes of an NCHW map (border_align forward). Include after
// foreach_target.h, like simd-inl.h.
#include <array>

#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/border_align/lines-inl.h"
#include "backends/cpu/kernels/border_align/pool-inl.h"
#include "backends/cpu/sampling/point_planes-inl.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_BORDER_ALIGN_POINTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_POINTS_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_POINTS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {

/// Pixels before and behind the point on its line's nearer and on its farther line; weights of those before and
/// behind, and a LineBlend.
struct OnePoint {
  static constexpr int kPixels = 4, kNumbers = 4;

  template <class D>
  static HWY_INLINE hn::Vec<D> value(D d, const hn::Vec<D>* number, const hn::Vec<D>* pixel) {
    const auto scale = hn::Set(d, kPackedScale<hn::TFromD<D>>);
    const auto blended = [&](const hn::Vec<D>& near, const hn::Vec<D>& far)
                             HWY_ATTR { return hn::MulAdd(number[2], hn::Mul(scale, far), hn::Mul(scale, near)); };
    return hn::MulAdd(number[1], blended(pixel[1], pixel[3]), hn::Mul(number[0], blended(pixel[0], pixel[2])));
  }
};
struct Point {
  std::array<std::int64_t, 4> pixel;
  std::array<double, 4> weight;
};

/// An image as a RoI with a row of four bins for each box. Pixels count from the planes of the first border.
template <class T>
struct BordersOfImage {
  using A = Acc<T>;

  const ForwardProblem& p;
  std::int64_t of, image;
  static constexpr double inverse_count = 1;

  static RoiBins bins(const Shape& s) { return {s.n, s.k, 4, static_cast<double>(s.pool_size + 1)}; }
  template <class>
  static BordersOfImage read(const ForwardProblem& problem, std::int64_t n) {
    return {problem, n, 4 * n};
  }
  static double most_pixels(const RoiBins& bins) {
    return 4 * bins.samples * static_cast<double>(bins.rows * bins.columns);
  }
  template <class Visit>
  void for_each_sample(std::int64_t box, std::int64_t border, Visit&& visit) const {
    const Shape& s = p.shape;
    const BorderAxes axes(s, border, 1);
    const auto placed = PlacedBorder<A>::of(s, static_cast<const T*>(p.boxes), 4 * (of * s.k + box) + border);
    const LineBlend<A> blend(placed.weights);
    const std::int64_t first = border * s.c * s.h * s.w, line = first + placed.line * axes.line_pitch,
                       next = first + std::min(placed.line + 1, axes.lines - 1) * axes.line_pitch;
    const std::int64_t near = blend.next_is_near ? next : line, far = blend.next_is_near ? line : next;
    A coordinate = placed.start;
    for (std::int64_t k = 0; k <= s.pool_size; ++k, coordinate += placed.stride) {
      Point point{{-1, -1, -1, -1}, {1, 0, blend.ratio, blend.scale}};
      AxisSample<A> along;
      if (sample_axis(coordinate, axes.length, along)) {
        const std::int64_t before = along.low * axes.pixel_pitch, behind = along.high * axes.pixel_pitch;
        point.pixel = {near + before, near + behind, far + before, far + behind};
        point.weight[0] = along.low_weight;
        point.weight[1] = along.high_weight;
      }
      visit(point);
    }
  }
};

template <class T>
struct GreatestPoints {
  T* output;
  std::int32_t* argmax;

  template <class D, class Pooled, class Samples>
  HWY_INLINE void put(D d, const Pooled& pooled, const Samples& of, std::int64_t bin, std::int64_t at) const {
    store(hn::Mul(pooled.value, hn::LoadU(d, of.numbers_of(0) + 3 * of.bins + bin)), d, output + at);
    store_index(false, pooled.sample, d, argmax + at);
  }
};

inline Planes planes_of(const Shape& s) {
  return {4 * s.n, s.c, s.h * s.w};
}

template <class T>
mluOpStatus_t by_points(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  return pool_planes<T, BordersOfImage<T>, Greatest<OnePoint, true>>(
      context, call, p, planes_of(p.shape), GreatestPoints<T>{static_cast<T*>(p.output), p.argmax});
}

template <class T>
Fit few_boxes(const Context&, const mluopsCall&, const ForwardProblem& p) {
  const Planes map = planes_of(p.shape);
  const Fit few = few_pixels_of<T, BordersOfImage<T>>(p, map, 3);
  return 4 * map.channels * map.pixels <= INT32_MAX ? few : fit(false, false);
}

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
