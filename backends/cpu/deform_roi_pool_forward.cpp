// DeformRoiPool forward: output = the mean of bilinear samples in each bin of a RoI, channels innermost.
//
// A task owns the outputs of some bins. Where RoIs overlap much, bins are sorted by the tile of the map they lie on, so
// that the pixels of a tile are fetched once into the second cache and read there by all its bins; else they come RoI
// by RoI.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/deform_roi_pool_forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/buckets.h"
#include "backends/cpu/deform_roi_pool.h"
#include "backends/cpu/deform_roi_pool_runs.h"
#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/prefetch.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_DEFORM_ROI_POOL_FORWARD_ONCE_
#define MLUOPS_CPU_DEFORM_ROI_POOL_FORWARD_ONCE_
namespace mluops::cpu::deform_roi_pool {

/// Input that stays in the second cache anyway needs no order of bins.
constexpr std::int64_t kSmallInputBytes = std::int64_t{1} << 20;
/// The pixels of a tile stay in the second cache while its bins read them.
constexpr std::int64_t kHomeTileBytes = std::int64_t{256} << 10;
/// How many bins before its turn a bin's pixels are asked for.
constexpr std::int64_t kBinsAhead = 3;

/// The pixels a thread asked for lately, about as many as its second cache holds: only others are asked for. What it
/// forgets or takes for known costs time, no more.
class Asked {
 public:
  static constexpr std::int64_t kSize = 2048;
  explicit Asked(std::uint32_t* pixels) : pixels_(pixels) { std::fill_n(pixels, kSize, ~std::uint32_t{0}); }
  bool is_new(std::int64_t pixel) {
    const auto id = static_cast<std::uint32_t>(pixel);
    return std::exchange(pixels_[id % kSize], id) != id;
  }

 private:
  std::uint32_t* pixels_;
};

/// The working block of a call.
template <class A>
struct ForwardArrays {
  Roi<A>* rois;
  RoiTaps<A> roi_taps;
  Tap<A>* taps;          ///< per thread: of the bin at hand and of those asked for, rows then columns
  std::uint32_t* asked;  ///< per thread
  double* prefix_ns;     ///< of bins in their order, where they differ
  Buckets tiles;         ///< if there are tiles

  ForwardArrays(Carver& carver, const mluopsCall& call, const Shape& s, bool offset, const Tiles* t)
      : rois(carver.take<Roi<A>>(s.rois)),
        roi_taps(carver, s, offset),
        taps(carver.take<Tap<A>>(roi_taps.kept() ? 0 : call.threads * (kBinsAhead + 1) * BinTaps<A>::most(s))),
        asked(carver.take<std::uint32_t>(call.threads * Asked::kSize)),
        prefix_ns(carver.take<double>(s.sampling_ratio > 0 ? 0 : s.rois * s.pooled_h * s.pooled_w + 1)),
        tiles(carver, call, t == nullptr ? 0 : sorted(s), t == nullptr ? 0 : t->count(s)) {}

  /// What is put into tiles: a RoI's rows of bins, or single bins.
  std::int64_t sorted(const Shape& s) const { return s.rois * s.pooled_h * (roi_taps.kept() ? 1 : s.pooled_w); }
};

}  // namespace mluops::cpu::deform_roi_pool
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using deform_roi_pool::Asked;
using deform_roi_pool::BinPlace;
using deform_roi_pool::BinRun;
using deform_roi_pool::Bins;
using deform_roi_pool::BinTaps;
using deform_roi_pool::ForwardArrays;
using deform_roi_pool::RoiTaps;
using deform_roi_pool::Shape;
using deform_roi_pool::Tiles;

/// out[channel] = inverse_count * sum of weight * pixel; image is the first pixel of the RoI's.
template <bool kStream, class T>
void pool_bin(const Shape& s, const BinTaps<Acc<T>>& taps, Acc<T> inverse_count, const T* HWY_RESTRICT image,
              T* HWY_RESTRICT out) {
  using A = Acc<T>;
  for_wide<A, kManySums>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> sum[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) sum[v] = hn::Zero(d);
    for (const Tap<A>& y : taps.y) {
      const T* const row = image + y.index * s.w * s.c + c;
      for (const Tap<A>& x : taps.x) {
        const auto weight = hn::Set(d, y.weight * x.weight);
        const T* const pixel = row + x.index * s.c;
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(weight, load(d, pixel + v * lanes), sum[v]);
      }
    }
    MLUOPS_UNROLL
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

/// One thread's walk over bins: some bins before its turn, a bin's samples are found and its pixels asked for.
template <class T>
class Walk {
 public:
  using A = Acc<T>;

  Walk(const mluopsDeformRoiPoolForwardProblem& p, const Bins<T>& bins, const ForwardArrays<A>& arrays, int slot)
      : p_(p),
        bins_(bins),
        roi_taps_(arrays.roi_taps),
        room_(arrays.taps + slot * kWaiting * BinTaps<A>::most(p.shape)),
        asked_(arrays.asked + slot * Asked::kSize) {}

  /// Runs nth(begin) .. nth(end - 1), each bin by pool(shape, taps, inverse count, image, output).
  template <class Nth, class Pool>
  void run(std::int64_t begin, std::int64_t end, const Nth& nth, Pool pool) {
    deform_roi_pool::BinSequence<T, Nth> bins(bins_, roi_taps_, nth, begin, end);
    BinPlace at;
    int asked = 0;  // bins waiting behind the one at hand
    while (asked < kBinsAhead && bins.next(at)) ask_for(asked++, at);
    for (int i = 0; asked > 0; i = (i + 1) % kWaiting) {
      if (bins.next(at)) {
        ask_for((i + kBinsAhead) % kWaiting, at);
      } else {
        --asked;
      }
      const Bin& bin = waiting_[i];
      pool(p_.shape, bin.taps, bin.roi->inverse_count, image(*bin.roi),
           static_cast<T*>(p_.output) + bin.index * p_.shape.c);
    }
  }

 private:
  static constexpr int kBinsAhead = deform_roi_pool::kBinsAhead, kWaiting = kBinsAhead + 1;
  struct Bin {
    std::int64_t index;
    const Roi<A>* roi;
    BinTaps<A> taps;
  };

  const T* image(const Roi<A>& roi) const {
    return static_cast<const T*>(p_.input) + roi.batch * p_.shape.h * p_.shape.w * p_.shape.c;
  }

  void ask_for(int i, const BinPlace& at) {
    const Shape& s = p_.shape;
    const Roi<A>& roi = bins_.roi(at);
    Bin& bin = waiting_[i];
    bin.index = at.bin;
    bin.roi = &roi;
    bin.taps = roi_taps_.kept() ? roi_taps_.of(at) : BinTaps<A>(bins_, at, room_ + i * BinTaps<A>::most(s));
    for (const Tap<A>& y : bin.taps.y) {
      const std::int64_t row = (roi.batch * s.h + y.index) * s.w;
      for (const Tap<A>& x : bin.taps.x) {
        if (asked_.is_new(row + x.index)) prefetch<2>(static_cast<const T*>(p_.input) + (row + x.index) * s.c, s.c);
      }
    }
  }

  const mluopsDeformRoiPoolForwardProblem& p_;
  const Bins<T>& bins_;
  const RoiTaps<A>& roi_taps_;
  Tap<A>* room_;
  Asked asked_;
  Bin waiting_[kWaiting];
};

/// Puts each bin into the tile its middle lies on.
template <class T>
bool sort_bins(Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& t, Buckets& tiles) {
  return tiles.fill_runs(context, call, 20, 0, [&](std::int64_t begin, std::int64_t end, auto&& put) {
    bins.for_each(begin, end, [&](const BinPlace& at) {
      const std::int64_t row = t.row_of(bins.y(at).middle(bins.s.h)), col = t.col_of(bins.x(at).middle(bins.s.w));
      put(BinRun{at.bin, 1}.packed(), t.index(bins.roi(at).batch, row, col), 0.0);
    });
  });
}

/// The same run by run. An item is a RoI's row of bins.
template <class T>
bool sort_runs(Context& context, const mluopsCall& call, const Bins<T>& bins, const RoiTaps<Acc<T>>& taps,
               const Tiles& t, Buckets& tiles) {
  return tiles.fill_runs(context, call, 20, 0, [&](std::int64_t begin, std::int64_t end, auto&& put) {
    const std::int64_t rows = bins.s.pooled_h;
    for (std::int64_t item = begin, roi = begin / rows, row = begin % rows; item < end; ++item) {
      const std::int64_t batch = bins.roi({0, roi, 0, 0}).batch;
      taps.for_each_run(roi, row, [&](const BinRun& run, std::int64_t tile_row, std::int64_t tile_col) {
        put(run.packed(), t.index(batch, tile_row, tile_col), 0.0);
      });
      if (++row == rows) {
        row = 0;
        ++roi;
      }
    }
  });
}

template <class T>
bool sort(Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& t,
          ForwardArrays<Acc<T>>& arrays) {
  return arrays.roi_taps.kept() ? sort_runs(context, call, bins, arrays.roi_taps, t, arrays.tiles)
                                : sort_bins(context, call, bins, t, arrays.tiles);
}

/// Finds the taps of all RoIs.
template <class T>
void find_taps(const Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& t,
               const RoiTaps<Acc<T>>& taps) {
  constexpr double kSampleNs = 8;
  const double roi_ns = kSampleNs * static_cast<double>((bins.s.pooled_h + bins.s.pooled_w) * bins.s.sampling_ratio);
  Loop(context, call, bins.s.rois, roi_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t roi = begin; roi < end; ++roi) taps.find(bins, t, roi);
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
  if (const char* const reason = deform_roi_pool::declined(p.shape)) {
    return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  }
  using A = Acc<T>;
  const Shape& s = p.shape;
  const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  const bool large = s.batch * s.h * s.w * row_bytes > deform_roi_pool::kSmallInputBytes;
  const Tiles t(s, sizeof(A), deform_roi_pool::kHomeTileBytes);
  auto arrays = carve<ForwardArrays<A>>(context.scratch, call, s, p.offset != nullptr, large ? &t : nullptr);
  if (!arrays) return no_memory(call);
  deform_roi_pool::read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins(s, p.offset, arrays->rois);
  if (arrays->roi_taps.kept()) find_taps(context, call, bins, t, arrays->roi_taps);
  const bool sorted = large && deform_roi_pool::crowded(s, arrays->rois);
  if (sorted && !sort(context, call, bins, t, *arrays)) return no_memory(call);

  const auto order = sorted ? arrays->tiles.all() : std::span<const std::int64_t>();
  const std::int64_t whole = arrays->roi_taps.kept() ? s.pooled_w : 1;
  const std::int64_t runs = sorted ? static_cast<std::int64_t>(order.size()) : bins.count() / whole;
  const auto nth = [&](std::int64_t i) {
    return sorted ? BinRun::unpacked(order[static_cast<std::size_t>(i)]) : BinRun{i * whole, whole};
  };
  const double pixel_ns = deform_roi_pool::kReadNs * static_cast<double>(s.c);
  const double bins_of_run = static_cast<double>(bins.count()) / static_cast<double>(runs);
  const auto cost = [&](std::int64_t i) {
    return bins_of_run * (deform_roi_pool::kBinNs + pixel_ns * bins.pixels_read(bins.place(nth(i).first)));
  };
  const auto pool = streams(p.output, bins.count() * row_bytes, row_bytes) ? pool_bin<true, T> : pool_bin<false, T>;
  loop_over(context, call, s, runs, arrays->prefix_ns, cost)
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        Walk<T>(p, bins, *arrays, slot).run(begin, end, nth, pool);
        stream_fence();
      });
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_CPU_KERNEL(deform_roi_pool_forward, mluopsDeformRoiPoolForwardProblem, forward, with_element)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(deform_roi_pool_forward, mluopsDeformRoiPoolForwardProblem)

}  // namespace mluops::cpu
#endif
