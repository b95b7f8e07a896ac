// Means of RoIs' bins, forward in NCHW of few RoIs: from rows of the pixels under them (layout/image_rows.h).
#if defined(MLUOPS_CPU_ROI_MEAN_POOL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_POOL_ROWS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_POOL_ROWS_INL_H_
#endif

#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/layout/image_rows.h"
#include "backends/cpu/roi_mean/order.h"
#include "backends/cpu/roi_mean/taps-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

template <class T>
struct RowArrays {
  using A = Acc<T>;

  Roi<A>* rois;
  RoiTaps<A> taps;  ///< of all RoIs
  layout::ImageRows<T> input;
  T* pooled;  ///< per slot: a RoI's bins, rows of channels

  RowArrays(Allocator& allocator, int slots, const ForwardProblem& p, const LargestBin<T>& most)
      : rois(allocator.allocate<Roi<A>>(p.shape.rois)),
        taps(allocator, p.shape, p.offset != nullptr, most, p.shape.rois),
        input(allocator, p.layout, p.shape.batch, p.shape.h * p.shape.w, p.shape.c),
        pooled(allocator.allocate<T>(slots, p.shape.pooled_h, p.shape.pooled_w, input.width())) {}
};

/// visit(rows, columns, bin): the taps of each bin of a RoI.
template <class A, class Visit>
HWY_INLINE void for_each_bin(const Shape& s, const RoiTaps<A>& taps, std::int64_t roi, Visit&& visit) {
  BinPlace at{0, roi, 0, 0};
  for (; at.row < s.pooled_h; ++at.row) {
    for (at.col = 0; at.col < s.pooled_w; ++at.col, ++at.bin) {
      visit(taps.rows(roi).taps(taps.row_of(at)), taps.columns(roi).taps(taps.column_of(at)), at.bin);
    }
  }
}

/// out[channel] = inverse_count * sum of weight * pixel.
template <class T, class Taps>
HWY_INLINE void pool_rows(const layout::PixelRows<T>& map, std::int64_t w, const Taps& rows, const Taps& columns,
                          Acc<T> inverse_count, std::int64_t width, T* out) {
  using A = Acc<T>;
  for_wide<A, 4>(width, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> sum[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) sum[v] = hn::Zero(d);
    for (const auto& y : rows) {
      for (const auto& x : columns) {
        const auto weight = hn::Set(d, y.weight * x.weight);
        const T* const pixel = map.at(y.index * w + x.index) + c;
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(weight, load(d, pixel + v * lanes), sum[v]);
      }
    }
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) store(hn::Mul(sum[v], hn::Set(d, inverse_count)), d, out + c + v * lanes);
  });
}

/// Items are RoIs, of a group of channels.
template <class T>
mluOpStatus_t forward_by_rows(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t bins_of_roi = s.pooled_h * s.pooled_w;
  const Loop loop(context, call, s.rois, 16 * cost::kElement * static_cast<double>(bins_of_roi * s.c));
  auto arrays = allocate<RowArrays<T>>(context.arena, loop.slots(), p, LargestBin<T>(s, p.rois));
  if (!arrays) return no_memory(call);
  if (!read_rois<T>(s, p.rois, arrays->rois)) return too_many_samples(call);
  const Bins<T> bins(s, p.offset, arrays->rois);
  const RoiTaps<A>& taps = arrays->taps;
  layout::ImageRows<T>& input = arrays->input;
  find_all_taps(context, call, bins, taps, [](std::int64_t) {});
  const auto find = [&](layout::Touched& touched) {
    touched.find(context, call, s.rois, 16 * cost::kStep * static_cast<double>(bins_of_roi),
                 [&](std::int64_t r, auto touch) {
                   for_each_bin(s, taps, r, [&](const auto& rows, const auto& columns, std::int64_t) {
                     for (const auto& y : rows) {
                       const std::int64_t row = y.index * s.w;
                       for (const auto& x : columns) touch(arrays->rois[r].batch, row + x.index, row + x.index + 1);
                     }
                   });
                 });
  };
  if (!input.make_room(context, call, 0, find)) return no_memory(call);
  const std::int64_t room = bins_of_roi * input.width();
  const auto pool = [&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    using M = Moved<T>;
    T* const pooled = arrays->pooled + slot * room;
    for (std::int64_t r = begin; r < end; ++r) {
      const layout::PixelRows<T> map = input.of(arrays->rois[r].batch);
      for_each_bin(s, taps, r, [&](const auto& rows, const auto& columns, std::int64_t bin) HWY_ATTR {
        pool_rows(map, s.w, rows, columns, arrays->rois[r].inverse_count, input.width(), pooled + bin * input.width());
      });
      layout::HWY_NAMESPACE::rows_to_planes(
          false, reinterpret_cast<const M*>(pooled), input.width(), bins_of_roi, input.channels().count,
          static_cast<M*>(p.output) + (r * s.c + input.channels().first) * bins_of_roi, bins_of_roi);
    }
  };
  input.each_group(context, call, p.input, [&] { loop.run(pool); });
  return MLUOP_STATUS_SUCCESS;
}

/// Preferred for RoIs that do not cover the map and have not many more pixels than those of which the caches hold rows:
/// with more, blocks of channels are faster.
template <class T>
Fit few_rois(const Context&, const mluopsCall&, const ForwardProblem& p) {
  constexpr double kFew = 2.5;
  const Shape& s = p.shape;
  const double covered = covered_pixels<T>(s, p.rois), of_bin = 4.0 * s.sampling_ratio * s.sampling_ratio;
  const double taps = of_bin * static_cast<double>(s.rois * s.pooled_h * s.pooled_w);
  const double pixels = s.sampling_ratio > 0 ? std::min(taps, covered) : covered;
  return fit(
      s.c > 1 && taps_fit<T>(s, p.rois, p.offset != nullptr),
      covered <= static_cast<double>(s.batch * s.h * s.w) && pixels <= kFew * layout::ImageRows<T>::pixels_at_hand());
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
