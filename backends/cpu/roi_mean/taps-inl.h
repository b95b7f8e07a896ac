// The taps of all bins of a RoI, found for a vector of bins at a time (forward).
#if defined(MLUOPS_CPU_ROI_MEAN_TAPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_TAPS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_TAPS_INL_H_
#endif

#include <bit>
#include <cstring>

#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/roi_mean/order.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/bits-inl.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Lists the taps of bins along one axis of a RoI, kLanes<A> bins at most in a call.
template <class A>
class BinLister {
 public:
  BinLister(const RoiAxis<A>& axis, std::int64_t size) : axis_(axis), size_(size) {}

  /// Lists the taps of the first `count` bins of those that begin at `starts`, kLanes<A> numbers.
  void list(const A* starts, std::int64_t count, const TapLists<A>& to) const {
    std::uint32_t left = (1U << count) - 1;
    if constexpr (std::is_same_v<A, float> && 1 < kLanes<A>) {
      if (axis_.bin >= 0) left &= ~list_simple(starts, count, to);
    }
    for (; left != 0; left &= left - 1) {
      const int bin = std::countr_zero(left);
      to.list(bin, {axis_, starts[bin]}, size_);
    }
  }

 private:
  using D = hn::ScalableTag<A>;

  /// Bins whose samples are all between the first and the last pixel, as most are, but for those with a weight of
  /// zero, which must not be merged; returns which, bit by bit. No branch depends on where samples lie.
  HWY_INLINE std::uint32_t list_simple(const A* starts, std::int64_t count, const TapLists<A>& to) const {
    const D d;
    const hn::RebindToSigned<D> di;
    HWY_ALIGN A pairs[4 * kLanes<A>];
    HWY_ALIGN std::int32_t sizes[kLanes<A>] = {};
    const auto start = hn::Load(d, starts), none = hn::Zero(d);
    const auto inside = hn::And(hn::Gt(hn::Add(start, hn::Set(d, axis_.first)), none),
                                hn::Lt(hn::Add(start, hn::Set(d, axis_.last)), hn::Set(d, static_cast<A>(size_ - 1))));
    if (hn::AllFalse(d, inside)) return 0;  // or samples far away, 2^31 of a bin, would be looked at one by one
    auto simple = inside;
    auto low_weight = none, high_weight = none;  // of the sample before, its pixels' sums
    auto below = hn::Set(di, -2), size = hn::Zero(di);
    for (std::int64_t i = 0; i < axis_.grid; ++i) {
      const auto at = hn::IfThenElseZero(inside, hn::Add(start, hn::Set(d, axis_.sample(i))));
      const auto low = hn::ConvertTo(di, at);
      const auto high_part = hn::Sub(at, hn::ConvertTo(d, low));
      const auto step = hn::Sub(low, below);
      const auto same = hn::RebindMask(d, hn::Eq(step, hn::Zero(di)));
      const auto next = hn::RebindMask(d, hn::Eq(step, hn::Set(di, 1)));
      const auto known = hn::IfThenElse(same, low_weight, hn::IfThenElseZero(next, high_weight));
      low_weight = hn::Add(hn::Sub(hn::Set(d, 1), high_part), known);
      high_weight = hn::Add(high_part, hn::IfThenElseZero(same, high_weight));
      simple = hn::And(simple, hn::Ne(high_part, none));
      below = low;
      size = hn::Add(size, hn::Min(step, hn::Set(di, 2)));
      hn::Store(size, di, sizes);
      const auto above = hn::Add(low, hn::Set(di, 1));
      hn::StoreInterleaved4(hn::BitCast(d, low), low_weight, hn::BitCast(d, above), high_weight, d, pairs);
      for (std::int64_t bin = 0; bin < count; ++bin) to.put_last_two(bin, sizes[bin], pairs + 4 * bin);
    }
    for (std::int64_t bin = 0; bin < count; ++bin) to.set_size(bin, sizes[bin]);
    return bits_of(D(), simple);
  }

  const RoiAxis<A>& axis_;
  std::int64_t size_;
};

/// Lists the taps of `bins` bins along one axis of a RoI, which begin at start_of(bin).
template <class A, class StartOf>
HWY_INLINE void list_taps(const RoiAxis<A>& axis, std::int64_t size, std::int64_t bins, const TapLists<A>& to,
                          StartOf start_of) {
  const BinLister<A> lister(axis, size);
  HWY_ALIGN A starts[kLanes<A>] = {};
  for (std::int64_t first = 0; first < bins; first += kLanes<A>) {
    const std::int64_t count = std::min<std::int64_t>(kLanes<A>, bins - first);
    for (std::int64_t i = 0; i < count; ++i) starts[i] = start_of(first + i);
    lister.list(starts, count, to.from(first));
  }
}

/// Finds the taps of a RoI.
template <class T>
void find_taps(const Bins<T>& bins, std::int64_t roi, const RoiTaps<Acc<T>>& taps, std::int64_t place) {
  const Shape& s = bins.s;
  const Roi<Acc<T>>& r = bins.roi({0, roi, 0, 0});
  const auto rows = taps.rows(place), columns = taps.columns(place);
  if (taps.shared()) {
    list_taps(r.y, s.h, s.pooled_h, rows, [&](std::int64_t i) { return bins.y({0, roi, i, 0}).start; });
    list_taps(r.x, s.w, s.pooled_w, columns, [&](std::int64_t i) { return bins.x({0, roi, 0, i}).start; });
  } else {
    const auto at = [&](std::int64_t i) { return bins.place(roi * bins.plane() + i); };
    list_taps(r.y, s.h, bins.plane(), rows, [&](std::int64_t i) { return bins.y(at(i)).start; });
    list_taps(r.x, s.w, bins.plane(), columns, [&](std::int64_t i) { return bins.x(at(i)).start; });
  }
}

/// Finds the taps of all RoIs, each at the place of its number; then(roi).
template <class T, class Then>
void find_all_taps(const Context& context, const mluopsCall& call, const Bins<T>& bins, const RoiTaps<Acc<T>>& taps,
                   Then then) {
  const Shape& s = bins.s;
  const std::int64_t axes = taps.shared() ? s.pooled_h + s.pooled_w : 2 * bins.plane();
  const double roi_ns = cost::kStep * static_cast<double>(axes * std::max(s.sampling_ratio, 4));
  Loop(context, call, s.rois, roi_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t roi = begin; roi < end; ++roi) {
      find_taps(bins, roi, taps, roi);
      then(roi);
    }
  });
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
