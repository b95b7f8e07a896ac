// Means of RoIs' bins, forward: output = the mean of bilinear samples in each bin of a RoI, channels innermost.
// input [batch,h,w,c], rois [rois,5], offset [rois,2,ph,pw], output [rois,ph,pw,c]. Two flops per value read, in cache.
// A task owns the outputs of some bins. Where RoIs overlap much, bins are sorted by the cell of the map they lie in, so
// that pixels are fetched once into the second cache and read there, or in the first one, by all their bins; else they
// come RoI by RoI.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sampling/roi_mean/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/roi_mean/geometry.h"
#include "backends/cpu/sampling/roi_mean/order.h"
#include "backends/cpu/sampling/roi_mean/pool_blocks-inl.h"
#include "backends/cpu/sampling/roi_mean/taps-inl.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

#ifndef MLUOPS_CPU_ROI_MEAN_FORWARD_ONCE_
#define MLUOPS_CPU_ROI_MEAN_FORWARD_ONCE_
namespace mluops::cpu::roi_mean {

/// Input that stays in the second cache anyway needs no order of bins.
inline std::int64_t small_input_bytes() {
  return second_cache_bytes();
}
/// The pixels of a square as high as a strip of cells stay in the second cache while its bins read them.
inline std::int64_t square_bytes() {
  return second_cache(16);
}
/// How many bins before its turn a bin's pixels are prefetched, and what tells which they are.
constexpr std::int64_t kPrefetchBins = 3, kPrefetchTaps = 8;
/// Bins that are prefetched or at hand, and as many RoIs at most.
constexpr std::int64_t kWaiting = kPrefetchBins + 1;

/// The working block of a call.
template <class A>
struct ForwardArrays {
  Roi<A>* rois;
  RoiTaps<A> roi_taps;        ///< of all RoIs if bins are sorted, else of those a thread has at hand
  WeightTap<A>* taps;         ///< per thread: of the bin at hand and of those prefetched, rows then columns
  std::uint32_t* prefetched;  ///< per thread
  Buckets cells;              ///< if bins may be sorted

  ForwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, bool offset, const MostSamples& most,
                const Cells* c)
      : rois(allocator.allocate<Roi<A>>(s.rois)),
        roi_taps(allocator, s, offset, most, std::max(c == nullptr ? 0 : s.rois, call.threads * kWaiting),
                 c != nullptr),
        taps(allocator.allocate<WeightTap<A>>(roi_taps.kept() ? 0 : call.threads, kWaiting, BinTaps<A>::most(s))),
        prefetched(allocator.allocate<std::uint32_t>(call.threads, PrefetchedPixels::kSize)),
        cells(allocator, call, c == nullptr ? 0 : sorted(s), c == nullptr ? 0 : c->count(s)) {}

  /// What is put into cells: a RoI's rows of bins, or single bins.
  std::int64_t sorted(const Shape& s) const { return s.rois * s.pooled_h * (roi_taps.kept() ? 1 : s.pooled_w); }
};

}  // namespace mluops::cpu::roi_mean
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// A bin's output, and the pixels it is the mean of: those of `rows` x `columns`, counted from the first one of
/// `image`.
template <class T>
struct Pooled {
  using Taps = std::span<const WeightTap<Acc<T>>>;

  T* out;
  const T* image;
  std::int64_t first_row;  ///< of the image, among those of all
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
  for_wide<A, kManySums>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> sum[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) sum[v] = hn::Zero(d);
    for (const WeightTap<A>& y : bin.rows) {
      const T* const row = image + y.index * s.w * s.c + c;
      for (const WeightTap<A>& x : bin.columns) {
        const auto weight = hn::Set(d, y.weight * x.weight);
        const T* const pixel = row + x.index * s.c;
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(weight, load(d, pixel + v * lanes), sum[v]);
      }
    }
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) {
      const auto mean = hn::Mul(sum[v], hn::Set(d, inverse_count));
      store<kNonTemporal && std::is_same_v<decltype(d), hn::ScalableTag<A>>>(mean, d, out + c + v * lanes);
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
        taps_(arrays.roi_taps.kept() ? &arrays.roi_taps : nullptr),
        first_place_(slot * kWaiting),
        room_(arrays.taps + slot * kWaiting * BinTaps<A>::most(p.shape)),
        prefetched_(arrays.prefetched + slot * PrefetchedPixels::kSize) {}

  /// Runs the bins nth(begin) .. nth(end - 1), each by pool(shape, bin).
  template <class Nth, class Pool>
  void run(std::int64_t begin, std::int64_t end, const Nth& nth, Pool pool) {
    const auto ahead = [&](std::int64_t i) HWY_ATTR {
      if (sorted_ && i + kTapsBeforeBins < end) prefetch_taps(bins_.place(nth(i + kTapsBeforeBins)));
      if (i < end) prefetch_bin(i, bins_.place(nth(i)));
    };
    for (std::int64_t i = begin; i < std::min(begin + kPrefetchBins, end); ++i) ahead(i);
    for (std::int64_t i = begin; i < end; ++i) {
      ahead(i + kPrefetchBins);
      pool(p_.shape, waiting_[i % kWaiting]);
    }
  }

 private:
  static constexpr std::int64_t kTapsBeforeBins = kPrefetchTaps - kPrefetchBins;

  HWY_INLINE void prefetch_taps(const BinPlace& at) const {
    taps_ != nullptr ? taps_->prefetch_bin(at) : bins_.prefetch_bin(at);
  }

  HWY_INLINE void prefetch_bin(std::int64_t i, const BinPlace& at) {
    const Shape& s = p_.shape;
    Pooled<T>& bin = waiting_[i % kWaiting];
    find(bin, at, room_ + i % kWaiting * BinTaps<A>::most(s));
    if (cached_) prefetch<2>(bin.out, s.c);
    prefetched_.prefetch(s, input(), bin.first_row, bin.rows, bin.columns);
  }

  HWY_INLINE void find(Pooled<T>& bin, const BinPlace& at, WeightTap<A>* room) {
    const Shape& s = p_.shape;
    bin.out = static_cast<T*>(p_.output) + at.bin * s.c;
    if (taps_ != nullptr) {
      bin.first_row = 0;
      bin.inverse_count = bins_.roi(at).inverse_count;
      const BinPlace kept = kept_at(at);
      bin.rows = taps_->rows_of(kept);
      bin.columns = taps_->columns_of(kept);
    } else {
      bin.first_row = bins_.roi(at).batch * s.h;
      bin.inverse_count = bins_.roi(at).inverse_count;
      const BinTaps<A, WeightTap<A>> taps(bins_, at, room);
      bin.rows = {taps.y.begin(), taps.y.end()};
      bin.columns = {taps.x.begin(), taps.x.end()};
    }
    bin.image = input() + bin.first_row * s.w * s.c;
  }

  /// The bin whose taps these are in roi_taps. If bins are not sorted, a RoI's are found when its first bin is
  /// prefetched.
  HWY_INLINE BinPlace kept_at(const BinPlace& at) {
    if (sorted_) return at;
    if (at.roi != roi_) {
      roi_ = at.roi;
      place_ = first_place_ + (place_ + 1) % kWaiting;
      find_taps(bins_, Wanted<RoiTaps<A>>{roi_, *taps_, place_, nullptr});
    }
    return {at.bin + (place_ - roi_) * bins_.plane(), place_, at.row, at.col};
  }

  const T* input() const { return static_cast<const T*>(p_.input); }

  const ForwardProblem& p_;
  const Bins<T>& bins_;
  bool sorted_, cached_;
  const RoiTaps<A>* taps_;  ///< if they are kept
  std::int64_t first_place_, place_ = 0, roi_ = -1;
  WeightTap<A>* room_;
  PrefetchedPixels prefetched_;
  Pooled<T> waiting_[kWaiting];
};

/// Puts each bin into the cell its middle lies in.
template <class T>
bool sort_bins(Context& context, const mluopsCall& call, const Bins<T>& bins, const Cells& cells, Buckets& sorted) {
  return sorted.fill(context, call, 10 * cost::kStep, 0, [&](std::int64_t begin, std::int64_t end, auto&& put) {
    bins.for_each(begin, end, [&](const BinPlace& at) {
      const std::int64_t row = cells.of_row(bins.roi(at).batch, bins.y(at).middle(bins.s.h));
      put(at.bin, row + cells.of_column(bins.x(at).middle(bins.s.w)), 0.0);
    });
  });
}

/// Puts each bin into the cell its middle lies in, where cells are known row by row and column by column. An item is a
/// RoI's row of bins.
template <class A>
bool sort_rows(Context& context, const mluopsCall& call, const Shape& s, const RoiTaps<A>& taps, Buckets& sorted) {
  return sorted.fill(context, call, 10 * cost::kStep, 0, [&](std::int64_t begin, std::int64_t end, auto&& put) {
    for (std::int64_t item = begin, roi = begin / s.pooled_h, row = begin % s.pooled_h; item < end; ++item) {
      taps.for_each_cell(roi, row, [&](std::int64_t bin, std::int64_t cell) { put(bin, cell, 0.0); });
      if (++row == s.pooled_h) {
        row = 0;
        ++roi;
      }
    }
  });
}

template <class T>
bool sort(Context& context, const mluopsCall& call, const Bins<T>& bins, const Cells& cells,
          ForwardArrays<Acc<T>>& arrays) {
  return arrays.roi_taps.kept() ? sort_rows(context, call, bins.s, arrays.roi_taps, arrays.cells)
                                : sort_bins(context, call, bins, cells, arrays.cells);
}

/// Finds the taps of all RoIs.
template <class T>
void find_all_taps(const Context& context, const mluopsCall& call, const Bins<T>& bins, const Cells& cells,
                   const RoiTaps<Acc<T>>& taps) {
  const Shape& s = bins.s;
  const std::int64_t axes = taps.shared() ? s.pooled_h + s.pooled_w : 2 * s.pooled_h * s.pooled_w;
  const double roi_ns = cost::kStep * static_cast<double>(axes * std::max(s.sampling_ratio, 2));
  Loop(context, call, s.rois, roi_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t roi = begin; roi < end; ++roi) {
      find_taps(bins, Wanted<RoiTaps<Acc<T>>>{roi, taps, roi, &cells});
    }
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
  return fit(true, large && crowded<T>(s, p.rois));
}

template <bool sorted, class T>
mluOpStatus_t forward_by(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  const Cells cells(s, s.c * static_cast<std::int64_t>(sizeof(A)), square_bytes());
  auto arrays = allocate<ForwardArrays<A>>(context.arena, call, s, p.offset != nullptr, most_samples<T>(s, p.rois),
                                           sorted ? &cells : nullptr);
  if (!arrays) return no_memory(call);
  if (!read_rois<T>(s, p.rois, arrays->rois)) return too_many_samples(call);
  const Bins<T> bins(s, p.offset, arrays->rois);
  if (sorted && arrays->roi_taps.kept()) find_all_taps(context, call, bins, cells, arrays->roi_taps);
  if (sorted && !sort(context, call, bins, cells, *arrays)) return no_memory(call);

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
    {"nchw_blocks", blocks_apply<T>, forward_by_blocks<T>},
#endif
    layout::kTransposed<roi_mean::forward, ForwardProblem>,
  };
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(forward, ForwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu::roi_mean {

HWY_EXPORT(run_forward);

mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  return HWY_DISPATCH_TABLE(run_forward)[context.isa.index](context, call, p);
}

}  // namespace mluops::cpu::roi_mean
#endif
