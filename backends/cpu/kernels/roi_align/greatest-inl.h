// The greatest sample of each bin and where it is (roi_align forward, pool_mode 0).
//
// Samples are looked at row by row of a bin; a later one must be greater. Samples outside the map are all worth 0: of
// these only the first counts, so the others are skipped, however many there are.
#include "backends/cpu/kernels/roi_align/geometry.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_ROI_ALIGN_GREATEST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_ALIGN_GREATEST_INL_H_
#else
#define MLUOPS_CPU_ROI_ALIGN_GREATEST_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// The samples of a bin along one axis that lie on the map: [first, last) of `grid`.
template <class A>
struct SampleRun {
  BinAxis<A> axis;
  std::int64_t size, first, last;

  SampleRun(const RoiAxis<A>& roi, std::int64_t bin, std::int64_t pixels) : axis(roi, A{0}, bin), size(pixels) {
    const auto range = axis.on_map(size);
    first = range.first;
    last = std::max(range.first, range.last);
    AxisSample<A> s;
    while (first < last && !sample_axis(axis.coordinate(first), size, s)) ++first;
    while (first < last && !sample_axis(axis.coordinate(last - 1), size, s)) --last;
  }
  std::int64_t grid() const { return axis.grid; }
  bool all_inside() const { return first == 0 && last == grid(); }
  /// The first sample outside the map; all_inside() is false.
  std::int64_t first_outside() const { return first == 0 ? last : 0; }
};

/// The first sample of a bin that is outside the map, and after how many rows of samples on the map it comes.
template <class A>
struct OutsideSample {
  bool any;
  std::int64_t after_rows = 0;
  A y = 0, x = 0;

  OutsideSample(const SampleRun<A>& rows, const SampleRun<A>& columns) {
    const std::int64_t row_count = rows.last - rows.first;
    const bool row_0_outside = rows.grid() > 0 && (row_count == 0 || rows.first > 0);
    any = rows.grid() > 0 && columns.grid() > 0 && !(rows.all_inside() && columns.all_inside());
    if (!any) return;
    // Row 0 from its first sample on; else its first column outside; else the first row outside.
    const bool in_row_0 = row_0_outside || !columns.all_inside();
    const std::int64_t column = row_0_outside || columns.all_inside() ? 0 : columns.first_outside();
    y = rows.axis.coordinate(in_row_0 ? 0 : rows.first_outside());
    x = columns.axis.coordinate(column);
    after_rows = !in_row_0 ? row_count : column > 0 ? 1 : 0;
  }
};

/// The greatest samples of a vector of channels so far.
template <class D>
struct Greatest {
  using A = hn::TFromD<D>;
  hn::Vec<D> value, y, x;

  explicit Greatest(D d)
      : value(hn::Set(d, static_cast<A>(std::numeric_limits<float>::lowest()))),
        y(hn::Set(d, A{-1})),
        x(hn::Set(d, A{-1})) {}
  HWY_INLINE void look_at(D d, hn::Vec<D> v, A at_y, A at_x) {
    const auto greater = hn::Gt(v, value);
    value = hn::IfThenElse(greater, v, value);
    y = hn::IfThenElse(greater, hn::Set(d, at_y), y);
    x = hn::IfThenElse(greater, hn::Set(d, at_x), x);
  }
};

/// Neighbouring channels from `image` on, `d` of them; a pixel is `step` elements from the next.
template <class T, class D>
HWY_INLINE Greatest<D> greatest_of(D d, const SampleRun<Acc<T>>& rows, const SampleRun<Acc<T>>& columns,
                                   const OutsideSample<Acc<T>>& outside, const T* image, std::int64_t step) {
  using A = Acc<T>;
  Greatest<D> best(d);
  AxisSample<A> ys, xs;
  const auto look_outside = [&](std::int64_t after) HWY_ATTR {
    if (outside.any && outside.after_rows == after) best.look_at(d, hn::Zero(d), outside.y, outside.x);
  };
  look_outside(0);
  for (std::int64_t i = rows.first; i < rows.last; ++i) {
    const A y = rows.axis.coordinate(i);
    if (!sample_axis(y, rows.size, ys)) continue;
    for (std::int64_t k = columns.first; k < columns.last; ++k) {
      const A x = columns.axis.coordinate(k);
      if (!sample_axis(x, columns.size, xs)) continue;
      const auto pixel = [&](std::int64_t row, std::int64_t column, A weight) HWY_ATTR {
        return hn::Mul(hn::Set(d, weight), load(d, image + (row * columns.size + column) * step));
      };
      const auto low = hn::Add(pixel(ys.low, xs.low, ys.low_weight * xs.low_weight),
                               pixel(ys.low, xs.high, ys.low_weight * xs.high_weight));
      const auto high = hn::Add(pixel(ys.high, xs.low, ys.high_weight * xs.low_weight),
                                pixel(ys.high, xs.high, ys.high_weight * xs.high_weight));
      best.look_at(d, hn::Add(low, high), y, x);
    }
    if (i == rows.first) look_outside(1);
  }
  if (outside.after_rows > 1) look_outside(outside.after_rows);
  return best;
}

/// One bin, all channels.
template <class T>
void greatest_of_bin(const ForwardProblem& p, const Roi<Acc<T>>& roi, std::int64_t bin, std::int64_t row,
                     std::int64_t col) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const SampleRun<A> rows(roi.y, row, s.h), columns(roi.x, col, s.w);
  const OutsideSample<A> outside(rows, columns);
  const T* const image = static_cast<const T*>(p.input) + roi.batch * s.h * s.w * s.c;
  for_lanes<A>(s.c, [&](auto d, std::int64_t c) HWY_ATTR {
    const auto best = greatest_of<T>(d, rows, columns, outside, image + c, s.c);
    store(best.value, d, static_cast<T*>(p.output) + bin * s.c + c);
    store(best.y, d, static_cast<T*>(p.argmax_y) + bin * s.c + c);
    store(best.x, d, static_cast<T*>(p.argmax_x) + bin * s.c + c);
  });
}

/// Items are rows of bins.
template <class T>
mluOpStatus_t greatest_of_bins(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const roi_mean::Shape grid = mean_shape(p);
  const double row_ns = 4 * static_cast<double>(s.pooled_w * s.c);
  Loop(context, call, s.rois * s.pooled_h, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const auto roi = Roi<Acc<T>>::read(static_cast<const T*>(p.rois) + item / s.pooled_h * 5, grid, grid.aligned);
      for (std::int64_t col = 0; col < s.pooled_w; ++col) {
        greatest_of_bin<T>(p, roi, item * s.pooled_w + col, item % s.pooled_h, col);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::roi_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
