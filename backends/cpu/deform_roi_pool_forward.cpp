// DeformRoiPool forward: output = the mean of bilinear samples in each bin of a RoI, channels innermost.
//
// A task owns the outputs of some bins. Bins are sorted by the tile of the map they begin on, so that the pixels of a
// tile are fetched once into the second cache and read there by all its bins.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/deform_roi_pool_forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/buckets.h"
#include "backends/cpu/deform_roi_pool.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_DEFORM_ROI_POOL_FORWARD_ONCE_
#define MLUOPS_CPU_DEFORM_ROI_POOL_FORWARD_ONCE_
namespace mluops::cpu::deform_roi_pool {

/// Input that stays in the second cache anyway needs no order of bins.
constexpr std::int64_t kSmallInputBytes = std::int64_t{1} << 20;

/// The working block of a call.
template <class A>
struct ForwardArrays {
  Roi<A>* rois;
  Tap<A>* taps;       ///< per thread, rows then columns
  double* prefix_ns;  ///< of bins in their order, where they differ
  Buckets tiles;      ///< if there are tiles

  ForwardArrays(Carver& carver, const mluopsCall& call, const Shape& s, std::int64_t items, const Tiles* t)
      : rois(carver.take<Roi<A>>(s.rois)),
        taps(carver.take<Tap<A>>(call.threads * BinTaps<A>::most(s))),
        prefix_ns(carver.take<double>(s.sampling_ratio > 0 ? 0 : items + 1)),
        tiles(carver, call, t == nullptr ? 0 : items, t == nullptr ? 0 : t->count(s)) {}
};

}  // namespace mluops::cpu::deform_roi_pool
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using deform_roi_pool::Bins;
using deform_roi_pool::BinTaps;
using deform_roi_pool::Shape;
using deform_roi_pool::Tiles;

/// The vectors of channels that are summed side by side.
constexpr int kWide = 8;

/// out[channel] = inverse_count * sum of weight * pixel; image is the first pixel of the RoI's.
template <bool kStream, class T>
void pool_bin(const Shape& s, const BinTaps<Acc<T>>& taps, Acc<T> inverse_count, const T* HWY_RESTRICT image,
              T* HWY_RESTRICT out) {
  using A = Acc<T>;
  for_wide<A, kWide>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> sum[count];
    for (int v = 0; v < count; ++v) sum[v] = hn::Zero(d);
    for (const Tap<A>& y : taps.y) {
      const T* const row = image + y.index * s.w * s.c + c;
      for (const Tap<A>& x : taps.x) {
        const auto weight = hn::Set(d, y.weight * x.weight);
        const T* const pixel = row + x.index * s.c;
        HWY_UNROLL(8)
        for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(weight, load(d, pixel + v * lanes), sum[v]);
      }
    }
    HWY_UNROLL(8)
    for (int v = 0; v < count; ++v) {
      const auto mean = hn::Mul(sum[v], hn::Set(d, inverse_count));
      if constexpr (kStream && std::is_same_v<decltype(d), hn::ScalableTag<A>>) {
        stream(mean, d, out + c + v * lanes);
      } else {
        store(mean, d, out + c + v * lanes);
      }
    }
  });
}

/// Puts each bin into the tile it begins on.
template <class T>
bool sort_by_home(Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& t, Buckets& tiles) {
  const Shape& s = bins.s;
  return tiles.fill(context, call, 40, 0, [&](std::int64_t bin, auto&& put) {
    const auto y = bins.y(bin).pixels(s.h), x = bins.x(bin).pixels(s.w);
    put(t.index(bins.roi(bin).batch, y.first / t.h, x.first / t.w), 0.0);
  });
}

/// Bins of a given sampling_ratio cost about the same; others are weighed one by one.
template <class Cost>
Loop loop_over(const Context& context, const mluopsCall& call, const Shape& s, std::int64_t items, double* prefix_ns,
               const Cost& cost) {
  if (s.sampling_ratio > 0) return Loop(context, call, items, cost(0));
  prefix_ns[0] = 0;
  for (std::int64_t i = 0; i < items; ++i) prefix_ns[i + 1] = prefix_ns[i] + cost(i);
  return Loop(context, call, {prefix_ns, static_cast<std::size_t>(items + 1)});
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t image = s.h * s.w * s.c, items = s.rois * s.pooled_h * s.pooled_w;
  const bool sorted = s.batch * image * static_cast<std::int64_t>(sizeof(T)) > deform_roi_pool::kSmallInputBytes;
  const Tiles t(s, sizeof(A));
  auto arrays = carve<deform_roi_pool::ForwardArrays<A>>(context.scratch, call, s, items, sorted ? &t : nullptr);
  if (!arrays) return no_memory(call);
  deform_roi_pool::read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins{s, static_cast<const T*>(p.offset), arrays->rois};
  const double pixel_ns = deform_roi_pool::kReadNs * static_cast<double>(s.c);

  const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  const auto put = streams(p.output, items * row_bytes, row_bytes) ? pool_bin<true, T> : pool_bin<false, T>;
  const auto pool = [&](std::int64_t bin, int slot) HWY_ATTR {
    const Roi<A>& roi = bins.roi(bin);
    const BinTaps<A> taps(bins, bin, arrays->taps + slot * BinTaps<A>::most(s));
    put(s, taps, roi.inverse_count(), static_cast<const T*>(p.input) + roi.batch * image,
        static_cast<T*>(p.output) + bin * s.c);
  };
  std::span<const std::int64_t> order;
  if (sorted) {
    if (!sort_by_home(context, call, bins, t, arrays->tiles)) return no_memory(call);
    order = arrays->tiles.all();
  }
  const auto nth = [&](std::int64_t i) { return sorted ? order[static_cast<std::size_t>(i)] : i; };
  const auto cost = [&](std::int64_t i) { return deform_roi_pool::kBinNs + pixel_ns * bins.pixels_read(nth(i)); };
  loop_over(context, call, s, items, arrays->prefix_ns, cost)
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        for (std::int64_t i = begin; i < end; ++i) pool(nth(i), slot);
        stream_fence();
      });
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t run_deform_roi_pool_forward(Context& context, const mluopsCall& call,
                                          const mluopsDeformRoiPoolForwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return forward<typename decltype(tag)::type>(context, call, p); });
}

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

HWY_EXPORT(run_deform_roi_pool_forward);

mluOpStatus_t deform_roi_pool_forward(Context& context, const mluopsCall& call,
                                      const mluopsDeformRoiPoolForwardProblem& p) {
  if (deform_roi_pool::too_many_samples(p.shape)) return deform_roi_pool::decline_samples(call);
  return MLUOPS_CPU_DISPATCH(context, run_deform_roi_pool_forward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
