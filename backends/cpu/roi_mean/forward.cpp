// Means of RoIs' bins, forward: output = the mean of bilinear samples in each bin of a RoI, channels innermost.
// input [batch,h,w,c], rois [rois,5], offset [rois,2,ph,pw], output [rois,ph,pw,c]. Two flops per value read, in cache.
// A task owns the outputs of some bins. Where RoIs overlap much, bins are sorted by the cell of the map they lie in, so
// that pixels are fetched once into the second cache and read there, or in the first one, by all their bins; else they
// come RoI by RoI.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/roi_mean/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/roi_mean/order.h"
#include "backends/cpu/roi_mean/pool_blocks-inl.h"
#include "backends/cpu/roi_mean/pool_planes-inl.h"
#include "backends/cpu/roi_mean/pool_points-inl.h"
#include "backends/cpu/roi_mean/pool_rows-inl.h"
#include "backends/cpu/roi_mean/taps-inl.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Input that stays in the second cache anyway needs no order of bins.
inline std::int64_t small_input_bytes() {
  return second_cache_bytes();
}
/// Bins are sorted by cells, small tiles of the map in strips: neighbours share pixels in the first cache, and those of
/// sixteen cells, a square as high as a strip, stay in the second.
template <class T>
Tiles cells_of(const Shape& s) {
  return {s, sizeof(Acc<T>), second_cache(1), 1024};
}
/// How many bins before its turn a bin's pixels are prefetched, and what tells which they are.
constexpr std::int64_t kPrefetchBins = 3, kPrefetchTaps = 8;
/// Bins that are prefetched or at hand, and as many RoIs at most.
constexpr std::int64_t kWaiting = kPrefetchBins + 1;

/// The working block of a call.
template <class A>
struct ForwardArrays {
  Roi<A>* rois;
  RoiTaps<A> taps;            ///< of all RoIs if bins are sorted, else of those a thread has at hand
  std::uint32_t* prefetched;  ///< per thread
  Buckets cells;              ///< if bins are sorted

  template <class T>
  ForwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, bool offset, const LargestBin<T>& most,
                const Tiles* c)
      : rois(allocator.allocate<Roi<A>>(s.rois)),
        taps(allocator, s, offset, most, c == nullptr ? call.threads * kWaiting : s.rois),
        prefetched(allocator.allocate<std::uint32_t>(call.threads, PrefetchedPixels::kSize)),
        cells(allocator, call, c == nullptr ? 0 : s.rois * s.pooled_h * s.pooled_w,
              c == nullptr ? 0 : c->count_in_strips(s)) {}
};

/// A bin's output, and the pixels it is the mean of: those of `rows` x `columns`, counted from the first one of
/// `image`.
template <class T>
struct Pooled {
  using Taps = std::span<const WeightTap<Acc<T>>>;

  T* out;
  const T* image;
  Acc<T> inverse_count;
  Taps rows, columns;
};

/// out[channel] = inverse_count * sum of weight * pixel.
template <bool kNonTemporal, class T>
void pool_bin(const Shape& s, const Pooled<T>& bin) {
  using A = Acc<T>;
  const T* HWY_RESTRICT const image = bin.image;
  T* HWY_RESTRICT const out = bin.out;
  const A inverse_count = bin.inverse_count;
  for_overlapping<A, kManySums>(s.c, [&](auto d, auto vectors, std::int64_t c, std::int64_t step) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    hn::Vec<decltype(d)> sum[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) sum[v] = hn::Zero(d);
    for (const WeightTap<A>& y : bin.rows) {
      const T* const row = image + y.index * s.w * s.c + c;
      for (const WeightTap<A>& x : bin.columns) {
        const auto weight = hn::Set(d, y.weight * x.weight);
        const T* const pixel = row + x.index * s.c;
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(weight, load(d, pixel + v * step), sum[v]);
      }
    }
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) {
      const auto mean = hn::Mul(sum[v], hn::Set(d, inverse_count));
      store<kNonTemporal && std::is_same_v<decltype(d), hn::ScalableTag<A>>>(mean, d, out + c + v * step);
    }
  });
}

/// One thread's walk over bins: some bins before its turn, a bin's samples are found and its pixels prefetched.
template <class T>
class Walk {
 public:
  using A = Acc<T>;

  /// `sorted`: bins come in an order of their own. `cached`: their output stays in the caches.
  Walk(const ForwardProblem& p, const Bins<T>& bins, const ForwardArrays<A>& arrays, int slot, bool sorted, bool cached)
      : p_(p),
        bins_(bins),
        sorted_(sorted),
        cached_(cached),
        taps_(arrays.taps),
        first_place_(slot * kWaiting),
        prefetched_(arrays.prefetched + slot * PrefetchedPixels::kSize) {}

  /// Runs the bins nth(begin) .. nth(end - 1), each by pool(shape, bin).
  template <class Nth, class Pool>
  void run(std::int64_t begin, std::int64_t end, const Nth& nth, Pool pool) {
    const auto ahead = [&](std::int64_t i) HWY_ATTR {
      if (sorted_ && i + kTapsBeforeBins < end) {
        const BinPlace later = bins_.place(nth(i + kTapsBeforeBins));
        taps_.prefetch_lists(later.roi, taps_.row_of(later), taps_.column_of(later));
      }
      if (i < end) prefetch_bin(waiting_[i % kWaiting], bins_.place(nth(i)));
    };
    for (std::int64_t i = begin; i < std::min(begin + kPrefetchBins, end); ++i) ahead(i);
    for (std::int64_t i = begin; i < end; ++i) {
      ahead(i + kPrefetchBins);
      pool(p_.shape, waiting_[i % kWaiting]);
    }
  }

 private:
  static constexpr std::int64_t kTapsBeforeBins = kPrefetchTaps - kPrefetchBins;

  HWY_INLINE void prefetch_bin(Pooled<T>& bin, const BinPlace& at) {
    const Shape& s = p_.shape;
    const Roi<A>& roi = bins_.roi(at);
    const std::int64_t place = place_of(at.roi), first_row = roi.batch * s.h;
    const auto* const input = static_cast<const T*>(p_.input);
    bin = {static_cast<T*>(p_.output) + at.bin * s.c, input + first_row * s.w * s.c, roi.inverse_count,
           taps_.rows(place).taps(taps_.row_of(at)), taps_.columns(place).taps(taps_.column_of(at))};
    if (cached_) prefetch<2>(bin.out, s.c);
    prefetched_.prefetch(s, input, first_row, bin.rows, bin.columns);
  }

  /// Where the taps of a RoI are. If bins are not sorted, they are found when its first bin is prefetched.
  HWY_INLINE std::int64_t place_of(std::int64_t roi) {
    if (sorted_) return roi;
    if (roi != roi_) {
      roi_ = roi;
      place_ = first_place_ + (place_ + 1) % kWaiting;
      find_taps(bins_, roi_, taps_, place_);
    }
    return place_;
  }

  const ForwardProblem& p_;
  const Bins<T>& bins_;
  bool sorted_, cached_;
  const RoiTaps<A>& taps_;
  std::int64_t first_place_, place_ = 0, roi_ = -1;
  PrefetchedPixels prefetched_;
  Pooled<T> waiting_[kWaiting];
};

/// Puts each bin into the cell its middle lies in.
template <class T>
bool sort_bins(Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& cells, Buckets& sorted) {
  return sorted.fill(context, call, 5 * cost::kStep, 0, [&](std::int64_t begin, std::int64_t end, auto&& put) {
    bins.for_each(begin, end, [&](const BinPlace& at) {
      const std::int64_t row = cells.row_of(bins.y(at).middle(bins.s.h)),
                         col = cells.col_of(bins.x(at).middle(bins.s.w));
      put(at.bin, cells.index_in_strips(bins.roi(at).batch, row, col), 0.0);
    });
  });
}

/// Nanoseconds of a bin, in the mean over RoIs.
template <class T>
double mean_bin_ns(const Bins<T>& bins) {
  double pixels = 0;
  for (std::int64_t roi = 0; roi < bins.s.rois; ++roi) pixels += bins.pixels_read({0, roi, 0, 0});
  return 30 * cost::kStep +
         cost::kElement / 4 * static_cast<double>(bins.s.c) * pixels / static_cast<double>(bins.s.rois);
}

/// Whether RoIs overlap so much, as if they covered the map more than once, that the order of their bins decides how
/// often pixels are fetched; a small map stays in the second cache anyway.
template <class T>
Fit sorted_applies(const Context&, const mluopsCall&, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const bool large = s.batch * s.h * s.w * s.c * static_cast<std::int64_t>(sizeof(T)) > small_input_bytes();
  return fit(taps_fit<T>(s, p.rois, p.offset != nullptr), large && crowded<T>(s, p.rois));
}

template <bool sorted, class T>
mluOpStatus_t forward_by(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  const Tiles cells = cells_of<T>(s);
  auto arrays = allocate<ForwardArrays<A>>(context.arena, call, s, p.offset != nullptr, LargestBin<T>(s, p.rois),
                                           sorted ? &cells : nullptr);
  if (!arrays) return no_memory(call);
  if (!read_rois<T>(s, p.rois, arrays->rois)) return too_many_samples(call);
  const Bins<T> bins(s, p.offset, arrays->rois);
  if (sorted) find_all_taps(context, call, bins, arrays->taps, [](std::int64_t) {});
  if (sorted && !sort_bins(context, call, bins, cells, arrays->cells)) return no_memory(call);

  const auto order = sorted ? arrays->cells.all() : std::span<const std::int64_t>();
  const auto nth = [&](std::int64_t i) { return sorted ? order[static_cast<std::size_t>(i)] : i; };
  const bool non_temporal = bins.count() * row_bytes >= pooled_non_temporal_from() && whole_lines(p.output, row_bytes);
  const auto pool = non_temporal ? pool_bin<true, T> : pool_bin<false, T>;
  Loop(context, call, bins.count(), mean_bin_ns(bins))
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        Walk<T>(p, bins, *arrays, slot, sorted, !non_temporal).run(begin, end, nth, pool);
        non_temporal_fence();
      });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  static constexpr Path<ForwardProblem> kPaths[] = {
      {"sorted", sorted_applies<T>, forward_by<true, T>},
      {"in_order", always<ForwardProblem>, forward_by<false, T>},
  };
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
#if HWY_TARGET != HWY_SCALAR
    {"nchw_planes", planes_apply, forward_by_planes<T>},
    {"nchw_points", few_points<T, SampledRois, 60, ForwardProblem>, sum_planes<T, SampledRois, ForwardProblem>},
    {"nchw_rois", few_rois<T>, forward_by_rows<T>},
    {"nchw_blocks", blocks_apply<T>, forward_by_blocks<T>},
#endif
    layout::kTransposed<roi_mean::forward, ForwardProblem>,
  };
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_FUNCTION(roi_mean::forward, roi_mean, forward, roi_mean::ForwardProblem, with_element)
