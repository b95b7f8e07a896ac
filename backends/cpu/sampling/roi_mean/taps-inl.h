// The taps of all bins of a RoI, found for a vector of bins at a time (forward).
#if defined(MLUOPS_CPU_ROI_MEAN_TAPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_TAPS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_TAPS_INL_H_
#endif

#include <bit>
#include <cstring>

#include "backends/cpu/sampling/roi_mean/geometry.h"
#include "backends/cpu/sampling/roi_mean/order.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Lists the taps of bins along one axis of a RoI, kLanes<A> bins at most in a call.
template <class A>
class BinLister {
 public:
  /// Pixels are counted from `before` pixels earlier.
  BinLister(const RoiAxis<A>& axis, std::int64_t size, std::int64_t before)
      : axis_(axis), size_(size), before_(static_cast<std::int32_t>(before)) {}

  /// Lists the taps of the first `count` bins of those that begin at `starts`, kLanes<A> numbers.
  template <class Lists>
  void list(const A* starts, std::int64_t count, const Lists& to) const {
    std::uint32_t left = (1U << count) - 1;
    if constexpr (std::is_same_v<A, float> && 1 < kLanes<A> && std::is_same_v<typename Lists::Tap, WeightTap<A>>) {
      if (axis_.bin >= 0) left &= ~list_simple(starts, count, to);
    }
    for (; left != 0; left &= left - 1) {
      const int bin = std::countr_zero(left);
      to.list(bin, {axis_, starts[bin]}, size_, before_);
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
      const auto index = hn::Add(low, hn::Set(di, before_)), above = hn::Add(index, hn::Set(di, 1));
      hn::StoreInterleaved4(hn::BitCast(d, index), low_weight, hn::BitCast(d, above), high_weight, d, pairs);
      for (std::int64_t bin = 0; bin < count; ++bin) to.put_last_two(bin, sizes[bin], pairs + 4 * bin);
    }
    for (std::int64_t bin = 0; bin < count; ++bin) to.set_size(bin, sizes[bin]);
    return bits(simple);
  }

  template <class M>
  static HWY_INLINE std::uint32_t bits(M mask) {
    std::uint8_t bytes[8] = {};  // what StoreMaskBits may write
    hn::StoreMaskBits(D(), mask, bytes);
    return bytes[0] | std::uint32_t{bytes[1]} << 8;
  }

  const RoiAxis<A>& axis_;
  std::int64_t size_;
  std::int32_t before_;
};

/// f(first, count) for runs of kLanes<A> items at most.
template <class A, class F>
HWY_INLINE void for_vectors(std::int64_t items, F f) {
  for (std::int64_t i = 0; i < items; i += kLanes<A>) f(i, std::min<std::int64_t>(kLanes<A>, items - i));
}

/// What of a RoI is found: its taps, to a place of RoiTaps or of another such table, and unless nullptr its cells.
template <class Table>
struct Wanted {
  std::int64_t roi;
  const Table& taps;
  std::int64_t place;
  const Cells* cells;
};

/// Taps of a RoI whose bins have their rows of pixels in common with those beside them, their columns with those below.
template <class T, class Table>
void find_shared_taps(const Bins<T>& bins, const Wanted<Table>& wanted) {
  using A = Acc<T>;
  const Shape& s = bins.s;
  const Roi<A>& r = bins.roi({0, wanted.roi, 0, 0});
  std::int32_t* cell = wanted.taps.cells(wanted.roi);
  HWY_ALIGN A starts[kLanes<A>] = {};
  const auto list = [&](const BinLister<A>& lister, std::int64_t items, const auto& to, auto axis_of, auto cell_of) {
    for_vectors<A>(items, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        const BinAxis<A> axis = axis_of(first + i);
        starts[i] = axis.start;
        if (wanted.cells != nullptr) *cell++ = static_cast<std::int32_t>(cell_of(axis));
      }
      lister.list(starts, count, to.from(first));
    });
  };
  list(
      {r.y, s.h, wanted.taps.first_row(r.batch)}, s.pooled_h, wanted.taps.rows(wanted.place),
      [&](std::int64_t row) {
        return bins.y({0, wanted.roi, row, 0});
      },
      [&](const BinAxis<A>& y) { return wanted.cells->of_row(r.batch, y.middle(s.h)); });
  list(
      {r.x, s.w, 0}, s.pooled_w, wanted.taps.columns(wanted.place),
      [&](std::int64_t column) {
        return bins.x({0, wanted.roi, 0, column});
      },
      [&](const BinAxis<A>& x) { return wanted.cells->of_column(x.middle(s.w)); });
}

/// Taps of a RoI whose bins an offset has moved apart.
template <class T, class Table>
void find_own_taps(const Bins<T>& bins, const Wanted<Table>& wanted) {
  using A = Acc<T>;
  const Shape& s = bins.s;
  const Roi<A>& r = bins.roi({0, wanted.roi, 0, 0});
  const BinLister<A> rows(r.y, s.h, wanted.taps.first_row(r.batch)), columns(r.x, s.w, 0);
  std::int32_t* cell = wanted.taps.cells(wanted.roi);
  HWY_ALIGN A y_starts[kLanes<A>] = {}, x_starts[kLanes<A>] = {};
  for_vectors<A>(bins.plane(), [&](std::int64_t first, std::int64_t count) {
    const std::int64_t first_bin = wanted.roi * bins.plane() + first;
    bins.for_each(first_bin, first_bin + count, [&](const BinPlace& at) {
      const BinAxis<A> y = bins.y(at), x = bins.x(at);
      y_starts[at.bin - first_bin] = y.start;
      x_starts[at.bin - first_bin] = x.start;
      if (wanted.cells == nullptr) return;
      const std::int64_t row = wanted.cells->of_row(r.batch, y.middle(s.h));
      *cell++ = static_cast<std::int32_t>(row + wanted.cells->of_column(x.middle(s.w)));
    });
    rows.list(y_starts, count, wanted.taps.rows(wanted.place).from(first));
    columns.list(x_starts, count, wanted.taps.columns(wanted.place).from(first));
  });
}

template <class T, class Table>
void find_taps(const Bins<T>& bins, const Wanted<Table>& wanted) {
  wanted.taps.shared() ? find_shared_taps(bins, wanted) : find_own_taps(bins, wanted);
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
