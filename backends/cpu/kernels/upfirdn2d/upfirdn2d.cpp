// Upfirdn2d: pixels spread out, padded, filtered and thinned out, without making the zeros.
//
// input [N,H,W,C], filter [FH,FW], output [N,HO,WO,C]. An item is a row of output and owns it. An output sums the
// pixels that the filter's elements meet, every up-th element in each direction: FH/up_y FW/up_x multiply-adds, in one
// order, rows first. Where the channels of a pixel lie side by side they are the vectors. In planes the vectors are
// outputs of one phase, which meet the same elements: a thread keeps the few rows of pixels that a row of output needs,
// padded, in its scratch, split so that the pixels of a phase lie side by side. Bound by loads of pixels from the first
// cache for filters of 4 x 4, by memory for smaller ones.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/upfirdn2d/upfirdn2d.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/upfirdn2d/taps.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::upfirdn2d::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using Problem = mluopsUpfirdn2dProblem;

/// The filter as a correlation has it, times gain.
template <class T>
void read_filter(const Problem& p, Acc<T>* weights) {
  const std::int64_t taps = p.shape.fh * p.shape.fw;
  const T* const filter = static_cast<const T*>(p.filter);
  for (std::int64_t i = 0; i < taps; ++i) {
    weights[i] = to_acc(filter[p.shape.flip_filter != 0 ? i : taps - 1 - i]) * static_cast<Acc<T>>(p.gain);
  }
}

/// Planes are images of one channel.
Problem of_planes(const Problem& p) {
  Problem planes = p;
  planes.layout = MLUOP_LAYOUT_NHWC, planes.shape.n = p.shape.n * p.shape.c, planes.shape.c = 1;
  return planes;
}

/// Modelled time of a row of output: each of its pixels is a sum over as many taps as meet any pixel.
double row_ns(const Shape& s) {
  const double taps = static_cast<double>(rows_of(s).most()) * static_cast<double>(columns_of(s).most());
  return cost::kStep * static_cast<double>(s.out_w) + cost::kElement * taps * static_cast<double>(s.out_w * s.c);
}

// ---- channels side by side -------------------------------------------------------------------

/// kWide vectors of channels of one output.
template <int kWide, class T, class D>
HWY_INLINE void sum_pixels(D d, const Shape& s, const Acc<T>* weights, const Reach& y, const Reach& x, const T* image,
                           T* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[kWide];
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) sums[v] = hn::Zero(d);
  std::int64_t row = y.tap * s.fw + x.tap;
  for (std::int64_t i = y.first; i < y.end; ++i, row += s.up_y * s.fw) {
    std::int64_t tap = row;
    const T* pixel = image + (i * s.w + x.first) * s.c;
    for (std::int64_t j = x.first; j < x.end; ++j, tap += s.up_x, pixel += s.c) {
      const auto w = hn::Set(d, weights[tap]);
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) sums[v] = hn::MulAdd(w, load(d, pixel + v * lanes), sums[v]);
    }
  }
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) store(sums[v], d, to + v * lanes);
}

/// A row of output.
template <class T>
void filter_pixels(const Shape& s, const Acc<T>* weights, const Reach& y, const T* image, T* to) {
  const Axis columns = columns_of(s);
  for (std::int64_t o = 0; o < s.out_w; ++o, to += s.c) {
    const Reach x = columns.reach(o);
    for_wide<Acc<T>, 4>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      sum_pixels<decltype(vectors)::value>(d, s, weights, y, x, image + c, to + c);
    });
  }
}

template <class T>
mluOpStatus_t by_pixels(Context& context, const mluopsCall& call, const Problem& given) {
  const Problem p = given.layout == MLUOP_LAYOUT_NCHW ? of_planes(given) : given;
  const Shape& s = p.shape;
  Acc<T>* const weights = context.arena.reserve_array<Acc<T>>(s.fh, s.fw);
  if (weights == nullptr) return no_memory(call);
  read_filter<T>(p, weights);
  const Axis rows = rows_of(s);
  Loop(context, call, s.n * s.out_h, row_ns(s)).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const T* const image = static_cast<const T*>(p.input) + item / s.out_h * s.h * s.w * s.c;
      T* const to = static_cast<T*>(p.output) + item * s.out_w * s.c;
      filter_pixels(s, weights, rows.reach(item % s.out_h), image, to);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

// ---- planes ----------------------------------------------------------------------------------

/// Scratch of a thread: rows of pixels in runs, a row of pixels before it is split, the phases of a row of output, and
/// the row of output itself.
template <class A>
struct RowScratch {
  A *rows, *line, *phases, *output;

  RowScratch(Allocator& allocator, const Shape& s, const Phases& x)
      : rows(allocator.allocate<A>(rows_of(s).most(), x.step, x.run)),
        line(allocator.allocate<A>(x.step == 1 ? 0 : x.step, x.run)),
        phases(allocator.allocate<A>(x.whole == 1 ? 0 : x.count, run_of_phase(x))),
        output(allocator.allocate<A>(x.whole == 1 ? 0 : s.out_w)) {}

  static std::int64_t run_of_phase(const Phases& x) { return ceil_div(x.x.out, x.whole); }
};

template <class T>
struct RowArrays {
  Acc<T>* weights;
  Phase* phases;
  SlotScratch<RowScratch<Acc<T>>> scratch;

  RowArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, const Phases& x)
      : weights(allocator.allocate<Acc<T>>(s.fh, s.fw)),
        phases(allocator.allocate<Phase>(x.count)),
        scratch(allocator, call.threads, s, x) {}
};

/// Pixels next to each other into `step` runs.
template <class A>
void split(const A* from, std::int64_t step, std::int64_t run, A* to) {
  if (step == 2) {
    for_lanes<A>(run, [&](auto d, std::int64_t i) HWY_ATTR {
      hn::Vec<decltype(d)> even, odd;
      hn::LoadInterleaved2(d, from + 2 * i, even, odd);
      hn::StoreU(even, d, to + i);
      hn::StoreU(odd, d, to + run + i);
    });
    return;
  }
  for (std::int64_t k = 0; k < step; ++k) {
    for (std::int64_t i = 0; i < run; ++i) to[k * run + i] = from[i * step + k];
  }
}

/// Phases of `run` outputs each, the last ones perhaps of one less, into `n` outputs next to each other.
template <class A>
void merge(const A* from, std::int64_t whole, std::int64_t run, std::int64_t n, A* to) {
  if (whole == 2) {
    for_lanes<A>(n / 2, [&](auto d, std::int64_t i) HWY_ATTR {
      hn::StoreInterleaved2(hn::LoadU(d, from + i), hn::LoadU(d, from + run + i), d, to + 2 * i);
    });
    if (n % 2 != 0) to[n - 1] = from[n / 2];
    return;
  }
  for (std::int64_t q = 0; q < std::min(whole, n); ++q) {
    for (std::int64_t i = 0; q + i * whole < n; ++i) to[q + i * whole] = from[q * run + i];
  }
}

/// The rows of a plane that rows of output need, one after the other: filled as they come, kept as long as needed.
template <class T>
class PlaneRows {
 public:
  using A = Acc<T>;

  PlaneRows(const Shape& s, const Phases& x, const RowScratch<A>& scratch)
      : s_(s), x_(x), scratch_(scratch), slots_(rows_of(s).most()), size_(x.step * x.run) {
    std::fill_n(scratch.rows, slots_ * size_, A(0));
    if (x.step > 1) std::fill_n(scratch.line, size_, A(0));
  }

  /// Rows of pixels [first, end) of the plane, which follow those asked for before unless the plane is another.
  void need(std::int64_t plane, const T* pixels, const Reach& y) {
    if (plane != plane_) plane_ = plane, filled_ = 0;
    for (std::int64_t i = std::max(filled_, y.first); i < y.end; ++i) fill(pixels + i * s_.w, slot(i));
    filled_ = std::max(filled_, y.end);
  }
  /// The row that was filled with pixels of this one, and where the next row is.
  const A* of(std::int64_t row) const { return slot(row); }
  const A* after(const A* row) const {
    return row == scratch_.rows + (slots_ - 1) * size_ ? scratch_.rows : row + size_;
  }

 private:
  A* slot(std::int64_t row) const { return scratch_.rows + row % slots_ * size_; }
  /// Zeros beside the image are there already.
  void fill(const T* pixels, A* to) const {
    const std::int64_t first = std::max<std::int64_t>(0, x_.origin), end = std::min(s_.w, x_.origin + x_.pixels);
    if (first >= end) return;
    A* const line = x_.step == 1 ? to : scratch_.line;
    load_row(pixels + first, line + first - x_.origin, end - first);
    if (x_.step > 1) split(line, x_.step, x_.run, to);
  }

  const Shape& s_;
  const Phases& x_;
  RowScratch<A> scratch_;
  std::int64_t slots_, size_, plane_ = -1, filled_ = 0;
};

/// The rows that a row of output needs: as a plane has them, and the first of them.
template <class T>
struct NeededRows {
  const PlaneRows<T>& all;
  const Acc<T>* first;
  Reach y;
};

/// kWide vectors of outputs of a phase, from output m of it on.
template <int kWide, class T, class O, class D>
HWY_INLINE void sum_phase(D d, const Shape& s, const Phases& x, const Phase& phase, const Acc<T>* weights,
                          const NeededRows<T>& rows, std::int64_t m, O* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[kWide];
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) sums[v] = hn::Zero(d);
  const std::int64_t place = phase.run * x.run + phase.place + m;
  const Acc<T>* pixels = rows.first;
  std::int64_t row = rows.y.tap * s.fw + phase.tap;
  for (std::int64_t i = rows.y.first; i < rows.y.end; ++i, row += s.up_y * s.fw) {
    const Acc<T>* from = pixels + place;
    std::int64_t tap = row, run = phase.run;
    for (std::int64_t k = 0; k < phase.taps; ++k, tap += s.up_x) {
      const auto w = hn::Set(d, weights[tap]);
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) sums[v] = hn::MulAdd(w, hn::LoadU(d, from + v * lanes), sums[v]);
      from += x.run;
      if (++run == x.step) run = 0, from += 1 - x.step * x.run;
    }
    pixels = rows.all.after(pixels);
  }
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) store(sums[v], d, to + m + v * lanes);
}

/// A row of output from the rows of pixels it needs.
template <class T>
void filter_row(const Shape& s, const Phases& x, const RowArrays<T>& arrays, const NeededRows<T>& rows,
                const RowScratch<Acc<T>>& scratch, T* output) {
  using A = Acc<T>;
  const auto filter_phase = [&](std::int64_t q, auto* to) HWY_ATTR {
    const Phase& phase = arrays.phases[q];
    for_wide<A, 4>(phase.outputs, [&](auto d, auto vectors, std::int64_t m) HWY_ATTR {
      sum_phase<decltype(vectors)::value>(d, s, x, phase, arrays.weights, rows, m, to);
    });
  };
  if (x.whole == 1) return filter_phase(0, output);
  const std::int64_t run = RowScratch<A>::run_of_phase(x);
  for (std::int64_t q = 0; q < x.count; ++q) filter_phase(q, scratch.phases + q * run);
  merge(scratch.phases, x.whole, run, s.out_w, scratch.output);
  store_row(scratch.output, output, s.out_w);
}

template <class T>
mluOpStatus_t by_rows(Context& context, const mluopsCall& call, const Problem& images) {
  const Problem p = of_planes(images);
  const Shape& s = p.shape;
  const Axis across_rows = rows_of(s);
  const Phases x(columns_of(s));
  const auto arrays = allocate<RowArrays<T>>(context.arena, call, s, x);
  if (!arrays) return no_memory(call);
  read_filter<T>(p, arrays->weights);
  for (std::int64_t q = 0; q < x.count; ++q) arrays->phases[q] = x.of(q);
  Loop(context, call, s.n * s.out_h, row_ns(s)).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const RowScratch<Acc<T>> scratch = arrays->scratch.of(slot, s, x);
    PlaneRows<T> rows(s, x, scratch);
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t plane = item / s.out_h;
      const Reach y = across_rows.reach(item % s.out_h);
      rows.need(plane, static_cast<const T*>(p.input) + plane * s.h * s.w, y);
      filter_row(s, x, *arrays, {rows, rows.of(y.first), y}, scratch, static_cast<T*>(p.output) + item * s.out_w);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Planes whose rows of pixels stay in the caches, and phases that fill a vector.
template <class T>
Fit fits_rows(const Context&, const mluopsCall&, const Problem& p) {
  const Shape& s = p.shape;
  const Axis x = columns_of(s);
  const std::int64_t common = std::gcd(x.up, x.down), phases = x.up / common;
  // The pixels that Phases would count for a row, rounded up.
  const std::int64_t width = s.out_w * x.down / x.up + x.filter / x.up + x.down / common + 3;
  const bool kept = size_product(rows_of(s).most() + 1, width) <= second_cache(32) / std::int64_t{sizeof(Acc<T>)};
  return fit(p.layout == MLUOP_LAYOUT_NCHW && kept, phases <= 8 && s.out_w >= phases * 4);
}

template <class T>
mluOpStatus_t run(Context& context, const mluopsCall& call, const Problem& p) {
  static constexpr Path<Problem> kPaths[] = {{"rows", fits_rows<T>, by_rows<T>},
                                             {"pixels", always<Problem>, by_pixels<T>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::upfirdn2d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(upfirdn2d, upfirdn2d, run, mluopsUpfirdn2dProblem, with_element)
