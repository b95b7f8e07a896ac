// Means of RoIs' bins, forward in NCHW of few channels: from the planes where they lie.
#if defined(MLUOPS_CPU_ROI_MEAN_POOL_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_POOL_PLANES_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_POOL_PLANES_INL_H_
#endif

#include "backends/cpu/roi_mean/order.h"
#include "backends/cpu/roi_mean/taps-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Some rows of bins of a RoI. Where bins share their columns of taps, the rows of pixels of a row of bins are first
/// added up, all columns side by side in vectors.
template <class T>
class PlanePool {
 public:
  using A = Acc<T>;
  using Taps = std::span<const WeightTap<A>>;

  /// line: as many sums as the map has columns.
  PlanePool(const ForwardProblem& p, const Bins<T>& bins, const RoiTaps<A>& taps, std::int64_t place, A* line)
      : p_(p), s_(p.shape), bins_(bins), taps_(taps), place_(place), line_(line) {}

  void run(std::int64_t roi, std::int64_t first_row, std::int64_t end_row) {
    find_taps(bins_, roi, taps_, place_);
    find_columns();
    const std::int64_t plane = s_.h * s_.w, image = bins_.roi({0, roi, 0, 0}).batch;
    for (std::int64_t c = 0; c < s_.c; ++c) {
      const T* const pixels = static_cast<const T*>(p_.input) + (image * s_.c + c) * plane;
      T* const out = static_cast<T*>(p_.output) + (roi * s_.c + c) * bins_.plane();
      for (std::int64_t row = first_row; row < end_row; ++row) pool_row(pixels, roi, row, out + row * s_.pooled_w);
    }
  }

 private:
  /// The columns of pixels under all bins, if they are worth being added up side by side.
  void find_columns() {
    columns_ = {0, 0};
    if (!taps_.shared()) return;
    constexpr std::int64_t kSideBySide = 8;
    PixelRange range{s_.w, 0};
    std::int64_t count = 0;
    for (std::int64_t col = 0; col < s_.pooled_w; ++col) {
      for (const WeightTap<A>& tap : taps_.columns(place_).taps(col)) {
        range = {std::min<std::int64_t>(range.first, tap.index), std::max<std::int64_t>(range.last, tap.index + 1)};
        ++count;
      }
    }
    if (range.last - range.first <= kSideBySide * count) columns_ = range;
  }

  void pool_row(const T* pixels, std::int64_t roi, std::int64_t row, T* out) const {
    const A inverse_count = bins_.roi({0, roi, 0, 0}).inverse_count;
    const bool side_by_side = columns_.first < columns_.last;
    BinPlace at{0, roi, row, 0};
    if (side_by_side) add_rows(pixels, taps_.rows(place_).taps(row));
    for (; at.col < s_.pooled_w; ++at.col) {
      const Taps columns = taps_.columns(place_).taps(taps_.column_of(at));
      const A sum =
          side_by_side ? weighted(columns, line_) : mean_of(pixels, taps_.rows(place_).taps(taps_.row_of(at)), columns);
      out[at.col] = from_acc<T>(sum * inverse_count);
    }
  }

  /// line[column] = the rows of pixels added up.
  HWY_INLINE void add_rows(const T* pixels, Taps rows) const {
    for_lanes<A>(columns_.last - columns_.first, [&](auto d, std::int64_t i) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (const WeightTap<A>& y : rows) {
        sum = hn::MulAdd(hn::Set(d, y.weight), load(d, pixels + y.index * s_.w + columns_.first + i), sum);
      }
      hn::StoreU(sum, d, line_ + columns_.first + i);
    });
  }
  template <class E>
  static A weighted(Taps columns, const E* row) {
    A sum = 0;
    for (const WeightTap<A>& x : columns) sum += x.weight * to_acc(row[x.index]);
    return sum;
  }
  A mean_of(const T* pixels, Taps rows, Taps columns) const {
    A sum = 0;
    for (const WeightTap<A>& y : rows) sum += y.weight * weighted(columns, pixels + y.index * s_.w);
    return sum;
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const Bins<T>& bins_;
  const RoiTaps<A>& taps_;
  const std::int64_t place_;
  A* const line_;
  PixelRange columns_{};
};

template <class A>
struct PlaneArrays {
  Roi<A>* rois;
  RoiTaps<A> taps;  ///< of a RoI a thread
  A* lines;

  template <class T>
  PlaneArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, bool offset, const LargestBin<T>& most)
      : rois(allocator.allocate<Roi<A>>(s.rois)),
        taps(allocator, s, offset, most, call.threads),
        lines(allocator.allocate<A>(call.threads, s.w)) {}
};

template <class T>
mluOpStatus_t forward_by_planes(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  constexpr std::int64_t kRows = 16;
  const Shape& s = p.shape;
  auto arrays = allocate<PlaneArrays<A>>(context.arena, call, s, p.offset != nullptr, LargestBin<T>(s, p.rois));
  if (!arrays) return no_memory(call);
  if (!read_rois<T>(s, p.rois, arrays->rois)) return too_many_samples(call);
  const Bins<T> bins(s, p.offset, arrays->rois);
  const std::int64_t parts = ceil_div(s.pooled_h, kRows);
  const double item_ns = 4 * cost::kStep * static_cast<double>(std::min(kRows, s.pooled_h) * s.pooled_w * s.c);
  Loop(context, call, s.rois * parts, item_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    PlanePool<T> pool(p, bins, arrays->taps, slot, arrays->lines + slot * s.w);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % parts * kRows;
      pool.run(i / parts, first, std::min(s.pooled_h, first + kRows));
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Beyond these channels a block of them, most of it empty, is faster.
inline Fit planes_apply(const Context&, const mluopsCall&, const ForwardProblem& p) {
  constexpr std::int64_t kFewChannels = 4;
  return fit(true, p.shape.c <= kFewChannels);
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
