// RoiAlign by the greatest of a bin's bilinear samples; its gradient goes to the pixels of that sample.
//
// Input and grad_input [batch,h,w,c], rois [rois,5], output, grad_output, argmax_x and argmax_y
// [rois,pooled_h,pooled_w,c]. Forward a task owns rows of bins. Samples are looked at row by row of a bin; a later one
// must be greater. Samples outside the map are all worth 0: of these only the first counts, so the others are skipped,
// however many there are. Per element and sample 9 flops on 4 loads from the caches. Backward
// sampling/roi_gradient-inl.h says who owns what: four additions for each element read, bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align/roi_align.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align/geometry.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/roi_align.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

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

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  static constexpr Path<ForwardProblem> kPaths[] = {{"greatest", always<ForwardProblem>, greatest_of_bins<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
      layout::kTransposed<operators::roi_align_forward, ForwardProblem>};
  return run_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

// ---- backward --------------------------------------------------------------------------------

/// What the RoIs add to grad_input.
template <class T>
struct Rois {
  static constexpr bool kOwnPixels = true;
  const BackwardProblem& p;

  std::int64_t count() const { return p.shape.rois; }
  double additions() const { return 4 * static_cast<double>(p.shape.pooled_h * p.shape.pooled_w); }
  PlacedRoi place(std::int64_t r) const {
    using A = Acc<T>;
    const roi_mean::Shape grid = mean_shape(p);
    const auto roi = Roi<A>::read(static_cast<const T*>(p.rois) + 5 * r, grid, grid.aligned);
    return {roi.batch, BinAxis<A>(roi.y, A{0}, 0).middle(grid.h), BinAxis<A>(roi.x, A{0}, 0).middle(grid.w), r};
  }
  /// to(pixel, channel, value) for channels [first, end) of a RoI's bins that have a greatest sample.
  template <class Add>
  HWY_INLINE void add(std::int64_t roi, std::int64_t first, std::int64_t end, Add&& to) const {
    using A = Acc<T>;
    const Shape& s = p.shape;
    const auto* const grad = static_cast<const T*>(p.grad_output);
    const auto *const ys = static_cast<const T*>(p.argmax_y), *const xs = static_cast<const T*>(p.argmax_x);
    const layout::Elements bins = elements();
    for (std::int64_t bin = 0; bin < bins.pixels; ++bin) {
      for (std::int64_t c = first; c < end; ++c) {
        const std::int64_t element = bins.at(roi, c) + bin * bins.pixel();
        const A at_y = to_acc(ys[element]), g = to_acc(grad[element]);
        AxisSample<A> y, x;
        if (at_y == A{-1} || !sample_axis(at_y, s.h, y) || !sample_axis(to_acc(xs[element]), s.w, x)) continue;
        to(y.low * s.w + x.low, c, y.low_weight * x.low_weight * g);
        to(y.low * s.w + x.high, c, y.low_weight * x.high_weight * g);
        to(y.high * s.w + x.low, c, y.high_weight * x.low_weight * g);
        to(y.high * s.w + x.high, c, y.high_weight * x.high_weight * g);
      }
    }
  }
  HWY_INLINE void fetch(std::int64_t roi, std::int64_t first, std::int64_t end) const {
    for (const void* const read : {p.grad_output, p.argmax_y, p.argmax_x}) {
      elements().fetch_run(static_cast<const T*>(read), roi, first, end);
    }
  }

 private:
  layout::Elements elements() const {
    return {p.shape.pooled_h * p.shape.pooled_w, p.shape.c, p.layout == MLUOP_LAYOUT_NCHW};
  }
};

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  return roi_gradient<T, Rois<T>>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::roi_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_FUNCTION(roi_align::greatest_forward, roi_align, forward, mluopsRoiAlignForwardProblem, with_element)
MLUOPS_CPU_FUNCTION(roi_align::greatest_backward, roi_align, backward, mluopsRoiAlignBackwardProblem, with_element)
