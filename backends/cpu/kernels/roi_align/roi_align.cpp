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
#include "backends/cpu/layout/image_rows.h"
#include "backends/cpu/sampling/roi_gradient-inl.h"
#include "backends/cpu/simd/overlapping-inl.h"
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

  HWY_INLINE void begin(D d) {
    value = hn::Set(d, static_cast<A>(std::numeric_limits<float>::lowest()));
    y = x = hn::Set(d, A{-1});
  }
  HWY_INLINE void look_at(D d, hn::Vec<D> v, A at_y, A at_x) {
    const auto greater = hn::Gt(v, value);
    value = hn::IfThenElse(greater, v, value);
    y = hn::IfThenElse(greater, hn::Set(d, at_y), y);
    x = hn::IfThenElse(greater, hn::Set(d, at_x), x);
  }
};

/// Looks at the first sample outside the map, which is 0, where it comes after so many rows.
template <int kWide, class D, class A>
HWY_INLINE void look_outside(D d, const OutsideSample<A>& outside, std::int64_t after, Greatest<D> (&best)[kWide]) {
  if (!outside.any || outside.after_rows != after) return;
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) best[v].look_at(d, hn::Zero(d), outside.y, outside.x);
}

/// kWide vectors of channels of the image from c on, `step` apart.
template <int kWide, class T, class D>
HWY_INLINE void find_greatest(D d, const SampleRun<Acc<T>>& rows, const SampleRun<Acc<T>>& columns,
                              const OutsideSample<Acc<T>>& outside, const layout::PixelRows<T>& image, std::int64_t c,
                              std::int64_t step, Greatest<D> (&best)[kWide]) {
  using A = Acc<T>;
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) best[v].begin(d);
  AxisSample<A> ys, xs;
  look_outside(d, outside, 0, best);
  for (std::int64_t i = rows.first; i < rows.last; ++i) {
    const A y = rows.axis.coordinate(i);
    if (!sample_axis(y, rows.size, ys)) continue;
    for (std::int64_t k = columns.first; k < columns.last; ++k) {
      const A x = columns.axis.coordinate(k);
      if (!sample_axis(x, columns.size, xs)) continue;
      for (int v = 0; v < kWide; ++v) {
        const auto pixel = [&](std::int64_t row, std::int64_t column, A weight) HWY_ATTR {
          return hn::Mul(hn::Set(d, weight), load(d, image.at(row * columns.size + column) + c + v * step));
        };
        const auto low = hn::Add(pixel(ys.low, xs.low, ys.low_weight * xs.low_weight),
                                 pixel(ys.low, xs.high, ys.low_weight * xs.high_weight));
        const auto high = hn::Add(pixel(ys.high, xs.low, ys.high_weight * xs.low_weight),
                                  pixel(ys.high, xs.high, ys.high_weight * xs.high_weight));
        best[v].look_at(d, hn::Add(low, high), y, x);
      }
    }
    if (i == rows.first) look_outside(d, outside, 1, best);
  }
  if (outside.after_rows > 1) look_outside(d, outside, outside.after_rows, best);
}

/// The three results of bins.
template <class T>
struct Results {
  T *value, *y, *x;

  Results(T* output, T* argmax_y, T* argmax_x) : value(output), y(argmax_y), x(argmax_x) {}
  Results(Allocator& allocator, std::int64_t bins, std::int64_t channels)
      : value(allocator.allocate<T>(bins, channels)),
        y(allocator.allocate<T>(bins, channels)),
        x(allocator.allocate<T>(bins, channels)) {}
  Results from(std::int64_t element) const { return {value + element, y + element, x + element}; }
};

/// A row of a RoI's bins, each of `width` channels.
template <class T>
void greatest_of_row(const ForwardProblem& p, const layout::PixelRows<T>& image, std::int64_t width,
                     const Roi<Acc<T>>& roi, std::int64_t row, const Results<T>& to) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const SampleRun<A> rows(roi.y, row, s.h);
  for (std::int64_t col = 0; col < s.pooled_w; ++col) {
    const SampleRun<A> columns(roi.x, col, s.w);
    const OutsideSample<A> outside(rows, columns);
    const Results<T> bin = to.from(col * width);
    for_overlapping<A, 2>(width, [&](auto d, auto vectors, std::int64_t c, std::int64_t step) HWY_ATTR {
      Greatest<decltype(d)> best[decltype(vectors)::value];
      find_greatest(d, rows, columns, outside, image, c, step, best);
      for (const auto& each : best) {
        store(each.value, d, bin.value + c);
        store(each.y, d, bin.y + c);
        store(each.x, d, bin.x + c);
        c += step;
      }
    });
  }
}

template <class T>
struct ForwardArrays {
  layout::ImageRows<T> input;
  std::int64_t bins;  ///< of a RoI, in NCHW
  SlotScratch<Results<T>> rooms;

  ForwardArrays(Allocator& allocator, int slots, const ForwardProblem& p)
      : input(allocator, p.layout, p.shape.batch, p.shape.h * p.shape.w, p.shape.c),
        bins(input.planes() ? p.shape.pooled_h * p.shape.pooled_w : 0),
        rooms(allocator, slots, bins, input.width()) {}
};

template <class T>
Roi<Acc<T>> read_roi(const ForwardProblem& p, std::int64_t r) {
  const roi_mean::Shape grid = mean_shape(p);
  return Roi<Acc<T>>::read(static_cast<const T*>(p.rois) + r * 5, grid, grid.aligned);
}

/// The pixels under all samples of a RoI.
template <class T, class Touch>
void touch_samples(const Shape& s, const Roi<Acc<T>>& roi, Touch touch) {
  AxisSample<Acc<T>> y, x;
  const auto samples = [](const RoiAxis<Acc<T>>& axis, std::int64_t bin, std::int64_t pixels, auto&& visit) {
    const SampleRun<Acc<T>> run(axis, bin, pixels);
    for (std::int64_t i = run.first; i < run.last; ++i) visit(run.axis.coordinate(i));
  };
  for (std::int64_t row = 0; row < s.pooled_h; ++row) {
    samples(roi.y, row, s.h, [&](Acc<T> down) {
      if (!sample_axis(down, s.h, y)) return;
      for (std::int64_t col = 0; col < s.pooled_w; ++col) {
        samples(roi.x, col, s.w, [&](Acc<T> across) {
          if (!sample_axis(across, s.w, x)) return;
          touch(roi.batch, y.low * s.w + x.low, y.low * s.w + x.high + 1);
          touch(roi.batch, y.high * s.w + x.low, y.high * s.w + x.high + 1);
        });
      }
    });
  }
}

template <class T>
void find_touched(const Context& context, const mluopsCall& call, const ForwardProblem& p, layout::Touched& touched) {
  const double roi_ns = 8 * cost::kStep * static_cast<double>(p.shape.pooled_h * p.shape.pooled_w);
  touched.find(context, call, p.shape.rois, roi_ns,
               [&](std::int64_t r, auto touch) { touch_samples<T>(p.shape, read_roi<T>(p, r), touch); });
}

/// What a RoI's bins are, channel by channel.
template <class T>
void put_planes(const ForwardProblem& p, std::int64_t r, const Results<T>& rows, const layout::ImageRows<T>& input) {
  using M = Moved<T>;
  const layout::Channels& of = input.channels();
  const std::int64_t bins = p.shape.pooled_h * p.shape.pooled_w, first = (r * of.all + of.first) * bins;
  const auto put = [&](const T* from, void* to) HWY_ATTR {
    transpose_panel(reinterpret_cast<const M*>(from), input.width(), bins, of.count, static_cast<M*>(to) + first, bins);
  };
  put(rows.value, p.output);
  put(rows.y, p.argmax_y);
  put(rows.x, p.argmax_x);
}

/// Items are rows of bins; in NCHW RoIs.
template <class T>
mluOpStatus_t greatest_of_bins(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t rows = p.layout == MLUOP_LAYOUT_NCHW ? s.pooled_h : 1, size = s.pooled_w * s.c;
  const Loop loop(context, call, s.rois * s.pooled_h / rows, 4 * static_cast<double>(rows * size));
  auto arrays = allocate<ForwardArrays<T>>(context.arena, loop.slots(), p);
  if (!arrays) return no_memory(call);
  const layout::ImageRows<T>& input = arrays->input;
  const auto find = [&](layout::Touched& touched) HWY_ATTR { find_touched<T>(context, call, p, touched); };
  if (!arrays->input.make_room(context, call, 0, find)) return no_memory(call);
  const Results<T> output(static_cast<T*>(p.output), static_cast<T*>(p.argmax_y), static_cast<T*>(p.argmax_x));
  const auto run_rows = [&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const Results<T> own = arrays->rooms.of(slot, arrays->bins, input.width());
    for (std::int64_t row = begin * rows; row < end * rows; ++row) {
      const std::int64_t r = row / s.pooled_h, of_roi = row % s.pooled_h, width = input.width();
      const auto roi = read_roi<T>(p, r);
      greatest_of_row(p, input.of(roi.batch), width, roi, of_roi,
                      input.planes() ? own.from(of_roi * s.pooled_w * width) : output.from(row * size));
      if (input.planes() && of_roi + 1 == s.pooled_h) put_planes(p, r, own, input);
    }
  };
  arrays->input.each_group(context, call, p.input, [&] { loop.run(run_rows); });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  static constexpr Path<ForwardProblem> kPaths[] = {{"greatest", always<ForwardProblem>, greatest_of_bins<T>}};
  return run_path(context, call, p, kPaths);
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
