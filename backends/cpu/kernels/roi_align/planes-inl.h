// The mean of samples in maps [batch,c,h,w] (roi_align, both directions): for one RoI, a window of each channel's
// plane.
//
// A row of bins is the product of a weighted sum of the window's rows of pixels with a matrix of column weights,
// [pixel, bin]. Both parts are vector work on what is contiguous in memory. The matrix is mostly zeros; a zero times a
// pixel that is not finite would reach bins that do not read it, so a row of bins that comes out NaN is summed again
// tap by tap, and so are windows much wider than the pixels they read.
#include "backends/cpu/kernels/roi_align/geometry.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_ROI_ALIGN_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_ALIGN_PLANES_INL_H_
#else
#define MLUOPS_CPU_ROI_ALIGN_PLANES_INL_H_
#endif

#ifndef MLUOPS_CPU_ROI_ALIGN_PLANES_ONCE_
#define MLUOPS_CPU_ROI_ALIGN_PLANES_ONCE_
namespace mluops::cpu::roi_align {

/// Channels that share a walk over RoIs: their planes together stay in the second cache.
constexpr int kPlanes = 4;
/// Lanes of the widest vector: bins and pixels of a row are padded to whole vectors.
constexpr std::int64_t kPad = 16;

/// One thread's room for a RoI.
template <class A>
struct PlaneRoom {
  std::int64_t pixels, bins;  ///< padded lengths of a row
  A* weights;                 ///< [pixels, bins] forward, [bins, pixels] backward
  A* row;                     ///< [kPlanes, pixels]
  A* tile;                    ///< [kPlanes, pooled_h * pooled_w], padded

  PlaneRoom(Allocator& allocator, const Shape& s)
      : pixels(round_up(s.w, kPad) + kPad),
        bins(round_up(s.pooled_w, kPad)),
        weights(allocator.allocate<A>(pixels * bins)),
        row(allocator.allocate<A>(kPlanes * pixels)),
        tile(allocator.allocate<A>(kPlanes * (s.pooled_h * s.pooled_w + kPad))) {}
};

/// The rooms of all threads; none where `used` is false.
template <class A>
class PlaneRooms {
 public:
  PlaneRooms(Allocator& allocator, const mluopsCall& call, const Shape& s, bool used)
      : s_(s), bytes_(used ? measured(s) : 0), rooms_(allocator.allocate<std::byte>(call.threads * bytes_)) {}

  PlaneRoom<A> operator[](int slot) const {
    Allocator allocator(rooms_ + slot * bytes_);
    return PlaneRoom<A>(allocator, s_);
  }

 private:
  static std::int64_t measured(const Shape& s) {
    Allocator allocator;
    static_cast<void>(PlaneRoom<A>(allocator, s));
    return allocator.bytes();
  }

  const Shape& s_;
  std::int64_t bytes_;
  std::byte* rooms_;
};

/// The columns of pixels that a RoI's bins read: [first, first + width), the matrix dense enough or not.
struct Window {
  std::int64_t first = 0, width = 0, taps = 0;
  bool whole_vectors = false;

  /// `lanes` of a vector: where the map is wide enough, the window is made a whole number of vectors.
  template <class A>
  Window(const Shape& s, const RoiTable<A>& rois, std::int64_t roi, std::int64_t lanes) {
    std::int64_t low = s.w, high = 0;
    for (std::int64_t i = 0; i < s.pooled_w; ++i) {
      for (const WeightTap<A>& tap : rois.columns(roi, i)) {
        low = std::min<std::int64_t>(low, tap.index);
        high = std::max<std::int64_t>(high, tap.index + 1);
        ++taps;
      }
    }
    if (high <= low) return;
    const std::int64_t wide = round_up(high - low, lanes);
    whole_vectors = wide <= s.w;
    first = whole_vectors ? std::min(low, s.w - wide) : low;
    width = whole_vectors ? wide : high - low;
  }
  bool empty() const { return width == 0; }
  /// Tap by tap a bin costs about kTapCost times a pixel of the matrix.
  bool dense(std::int64_t bins, std::int64_t lanes) const {
    constexpr std::int64_t kTapCost = 2;
    return width * ceil_div(bins, lanes) <= kTapCost * taps;
  }
};

}  // namespace mluops::cpu::roi_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// f(d, i) over the pixels of a window.
template <class A, class F>
HWY_INLINE void for_window(const Window& window, F&& f) {
  const hn::ScalableTag<A> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (!window.whole_vectors) return for_lanes<A>(window.width, f);
  for (std::int64_t i = 0; i < window.width; i += lanes) f(d, i);
}

/// Forward: kCount planes of one RoI into bins [pooled_h, pooled_w] each.
template <class T, int kCount>
class PlanesForward {
 public:
  using A = Acc<T>;
  using D = hn::ScalableTag<A>;

  PlanesForward(const Shape& s, const RoiTable<A>& rois, const PlaneRoom<A>& room) : s_(s), rois_(rois), room_(room) {}

  /// `planes`: the first of kCount planes of pixels; `out`: the first of as many of bins.
  void run(std::int64_t roi, const T* planes, T* out) {
    const Window window(s_, rois_, roi, kLanes<A>);
    const bool dense = window.dense(s_.pooled_w, kLanes<A>);
    if (dense && !window.empty()) make_weights(roi, window);
    const A inverse_count = rois_[roi].inverse_count;
    for (std::int64_t y = 0; y < s_.pooled_h; ++y) {
      sum_rows(rois_.rows(roi, y), window, planes);
      A* const bins = room_.tile + y * s_.pooled_w;
      if (!dense || window.empty() || !multiply(window, inverse_count, bins))
        add_taps(roi, window, inverse_count, bins);
    }
    const std::int64_t count = s_.pooled_h * s_.pooled_w;
    for (int p = 0; p < kCount; ++p) store_row(room_.tile + p * tile_step(), out + p * count, count);
  }

 private:
  std::int64_t tile_step() const { return s_.pooled_h * s_.pooled_w + kPad; }

  void make_weights(std::int64_t roi, const Window& window) {
    std::fill_n(room_.weights, window.width * room_.bins, A{0});
    for (std::int64_t bin = 0; bin < s_.pooled_w; ++bin) {
      for (const WeightTap<A>& tap : rois_.columns(roi, bin)) {
        room_.weights[(tap.index - window.first) * room_.bins + bin] += tap.weight;
      }
    }
  }

  /// row[p] = the weighted sum of rows of pixels.
  HWY_INLINE void sum_rows(typename RoiTable<A>::Taps rows, const Window& window, const T* planes) {
    for_window<A>(window, [&](auto d, std::int64_t i) HWY_ATTR {
      hn::Vec<decltype(d)> sum[kCount];
      MLUOPS_UNROLL
      for (int p = 0; p < kCount; ++p) sum[p] = hn::Zero(d);
      for (const WeightTap<A>& tap : rows) {
        const auto weight = hn::Set(d, tap.weight);
        const T* const from = planes + tap.index * s_.w + window.first + i;
        MLUOPS_UNROLL
        for (int p = 0; p < kCount; ++p) sum[p] = hn::MulAdd(weight, load(d, from + p * s_.h * s_.w), sum[p]);
      }
      MLUOPS_UNROLL
      for (int p = 0; p < kCount; ++p) hn::StoreU(sum[p], d, room_.row + p * room_.pixels + i);
    });
  }

  /// bins[p] = inverse_count * row[p] x weights. False when one of them is NaN.
  HWY_INLINE bool multiply(const Window& window, A inverse_count, A* bins) {
    const D d;
    auto nan = hn::Zero(d);
    for (std::int64_t b = 0; b < s_.pooled_w; b += kLanes<A>) {
      hn::Vec<D> sum[kCount];
      MLUOPS_UNROLL
      for (int p = 0; p < kCount; ++p) sum[p] = hn::Zero(d);
      for (std::int64_t x = 0; x < window.width; ++x) {
        const auto weight = hn::LoadU(d, room_.weights + x * room_.bins + b);
        MLUOPS_UNROLL
        for (int p = 0; p < kCount; ++p) {
          sum[p] = hn::MulAdd(hn::Set(d, room_.row[p * room_.pixels + x]), weight, sum[p]);
        }
      }
      MLUOPS_UNROLL
      for (int p = 0; p < kCount; ++p) {
        nan = hn::Add(nan, hn::Sub(sum[p], sum[p]));
        hn::StoreU(hn::Mul(sum[p], hn::Set(d, inverse_count)), d, bins + p * tile_step() + b);
      }
    }
    return hn::AllTrue(d, hn::Eq(nan, hn::Zero(d)));
  }

  /// The same tap by tap.
  void add_taps(std::int64_t roi, const Window& window, A inverse_count, A* bins) {
    for (std::int64_t bin = 0; bin < s_.pooled_w; ++bin) {
      A sum[kCount] = {};
      for (const WeightTap<A>& tap : rois_.columns(roi, bin)) {
        const A* const pixel = room_.row + tap.index - window.first;
        for (int p = 0; p < kCount; ++p) sum[p] += tap.weight * pixel[p * room_.pixels];
      }
      for (int p = 0; p < kCount; ++p) bins[p * tile_step() + bin] = sum[p] * inverse_count;
    }
  }

  const Shape& s_;
  const RoiTable<A>& rois_;
  const PlaneRoom<A>& room_;
};

/// Backward: adds the bins of one RoI to one plane of sums.
template <class T>
class PlaneBackward {
 public:
  using A = Acc<T>;

  PlaneBackward(const Shape& s, const RoiTable<A>& rois, const PlaneRoom<A>& room) : s_(s), rois_(rois), room_(room) {}

  void run(std::int64_t roi, const T* grad_output, A* plane) {
    const Window window(s_, rois_, roi, kLanes<A>);
    if (window.empty()) return;
    const bool dense = window.dense(s_.pooled_w, kLanes<A>);
    if (dense) make_weights(roi, window);
    for (std::int64_t y = 0; y < s_.pooled_h; ++y) {
      const auto rows = rois_.rows(roi, y);
      if (rows.empty()) continue;
      const T* const bins = grad_output + y * s_.pooled_w;
      if (!dense || !multiply(window, bins)) add_taps(roi, window, bins);
      add_rows(rows, window, rois_[roi].inverse_count, plane);
    }
  }

 private:
  void make_weights(std::int64_t roi, const Window& window) {
    for (std::int64_t bin = 0; bin < s_.pooled_w; ++bin) {
      A* const row = room_.weights + bin * room_.pixels;
      std::fill_n(row, window.width, A{0});
      for (const WeightTap<A>& tap : rois_.columns(roi, bin)) row[tap.index - window.first] += tap.weight;
    }
  }

  /// row = bins x weights. False when a pixel is NaN.
  HWY_INLINE bool multiply(const Window& window, const T* bins) {
    bool finite = true;
    for_window<A>(window, [&](auto d, std::int64_t i) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (std::int64_t bin = 0; bin < s_.pooled_w; ++bin) {
        const auto weight = hn::LoadU(d, room_.weights + bin * room_.pixels + i);
        sum = hn::MulAdd(hn::Set(d, to_acc(bins[bin])), weight, sum);
      }
      finite = finite && hn::AllTrue(d, hn::Eq(sum, sum));
      hn::StoreU(sum, d, room_.row + i);
    });
    return finite;
  }

  /// The same tap by tap.
  void add_taps(std::int64_t roi, const Window& window, const T* bins) {
    std::fill_n(room_.row, window.width, A{0});
    for (std::int64_t bin = 0; bin < s_.pooled_w; ++bin) {
      for (const WeightTap<A>& tap : rois_.columns(roi, bin)) {
        room_.row[tap.index - window.first] += tap.weight * to_acc(bins[bin]);
      }
    }
  }

  HWY_INLINE void add_rows(typename RoiTable<A>::Taps rows, const Window& window, A inverse_count, A* plane) {
    for (const WeightTap<A>& tap : rows) {
      A* const to = plane + tap.index * s_.w + window.first;
      const A factor = tap.weight * inverse_count;
      for_window<A>(window, [&](auto d, std::int64_t i) HWY_ATTR {
        const auto sum = hn::MulAdd(hn::Set(d, factor), hn::LoadU(d, room_.row + i), hn::LoadU(d, to + i));
        hn::StoreU(sum, d, to + i);
      });
    }
  }

  const Shape& s_;
  const RoiTable<A>& rois_;
  const PlaneRoom<A>& room_;
};

}  // namespace mluops::cpu::roi_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
