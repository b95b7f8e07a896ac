// One RoI after the other, those that share pixels next to each other, on rows of channels in either layout. Include
// after foreach_target.h, like simd-inl.h.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/layout/image_rows.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/simd/element.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/prroi_pool.h"

#if defined(MLUOPS_CPU_PRROI_POOL_ROIS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PRROI_POOL_ROIS_INL_H_
#else
#define MLUOPS_CPU_PRROI_POOL_ROIS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::prroi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

using Shape = mluopsPrRoiPoolShape;

/// What a pixel is of the mean over a bin along an axis, and the derivatives of that by the RoI's two ends.
struct Share {
  double value, low, high;
};

/// One axis of a RoI.
class Axis {
 public:
  Axis(double low, double high, double scale, std::int64_t bins, std::int64_t pixels)
      : start_(low * scale), size_(high * scale - start_), scale_(scale), bins_(bins), pixels_(pixels) {}

  /// Whether it has no length, or none that is a number.
  bool empty() const {
    return !(size_ / static_cast<double>(bins_) > 0 && std::isfinite(size_) && std::isfinite(start_));
  }
  /// Pixels [first(bin), end(bin)) are those less than one away from the bin.
  std::int64_t first(std::int64_t bin) const { return index_of(std::floor(edge(bin)), pixels_ + 1); }
  std::int64_t end(std::int64_t bin) const { return index_of(std::ceil(edge(bin + 1)) + 1, pixels_ + 1); }

  /// The pixels of the first `bins` bins, added up; a pixel counts for each bin that it is in.
  std::int64_t pixels(std::int64_t bins) const {
    std::int64_t sum = 0;
    for (std::int64_t bin = 0; bin < bins; ++bin) sum += std::max<std::int64_t>(0, end(bin) - first(bin));
    return sum;
  }

  /// A pixel's hat rises for one, then falls for one: the bin's part in either is its length and its middle. What lies
  /// at part s of the RoI moves with s of its high end and with 1 - s of the low one, so the derivatives are integrals
  /// of the hat's slope; differences of hats would cancel in small bins.
  Share share(std::int64_t bin, std::int64_t pixel) const {
    const auto at = static_cast<double>(pixel);
    const double from = edge(bin) - at, to = edge(bin + 1) - at, size = size_ / static_cast<double>(bins_);
    const double rise_from = std::clamp(from, -1.0, 0.0), rise_to = std::clamp(to, -1.0, 0.0);
    const double fall_from = std::clamp(from, 0.0, 1.0), fall_to = std::clamp(to, 0.0, 1.0);
    const double rise = (rise_to - rise_from) / size, fall = (fall_to - fall_from) / size;
    const double rise_middle = (rise_from + rise_to) / 2, fall_middle = (fall_from + fall_to) / 2;
    const auto part = [&](double middle) { return (middle + at - start_) / size_; };
    const double high = scale_ * (rise * part(rise_middle) - fall * part(fall_middle));
    return {rise * (1 + rise_middle) + fall * (1 - fall_middle), scale_ * (rise - fall) - high, high};
  }

 private:
  double edge(std::int64_t i) const { return start_ + size_ * (static_cast<double>(i) / static_cast<double>(bins_)); }

  double start_, size_, scale_;
  std::int64_t bins_, pixels_;
};

struct Roi {
  std::int64_t image;
  Axis y, x;

  PlacedRoi place(std::int64_t r) const { return {image, y.first(0), x.first(0), r}; }

  /// Row r of p.rois.
  template <class T, class Problem>
  static Roi read(const Problem& p, std::int64_t r) {
    const T* const roi = static_cast<const T*>(p.rois) + 5 * r;
    const auto number = [&](int i) { return static_cast<double>(to_acc(roi[i])); };
    const Shape& s = p.shape;
    const double scale = p.exact_spatial_scale;
    return {index_of(number(0), s.batch), Axis(number(2), number(4), scale, s.pooled_h, s.h),
            Axis(number(1), number(3), scale, s.pooled_w, s.w)};
  }
  bool empty() const { return y.empty() || x.empty(); }
};

/// The shares of all bins along an axis, with kSlopes their derivatives too.
template <class A, bool kSlopes>
class Shares {
 public:
  struct Bin {
    std::int64_t first, count;
    const A *value, *low, *high;  ///< of each pixel; without kSlopes the first alone
  };

  /// Bins cut the axis, and one reaches three pixels beyond its length.
  Shares(Allocator& allocator, std::int64_t bins, std::int64_t pixels)
      : bins_(allocator.allocate<Bin>(bins)),
        capacity_(size_sum(size_product(4, bins), pixels)),
        shares_(allocator.allocate<A>(kSlopes ? 3 : 1, capacity_)) {}

  void find(const Axis& axis, std::int64_t bins) {
    A* value = shares_;
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      const std::int64_t first = axis.first(bin), count = axis.end(bin) - first;
      bins_[bin] = {first, count, value, value + (kSlopes ? capacity_ : 0), value + (kSlopes ? 2 * capacity_ : 0)};
      for (std::int64_t i = 0; i < count; ++i, ++value) {
        const Share share = axis.share(bin, first + i);
        value[0] = static_cast<A>(share.value);
        if constexpr (kSlopes) {
          value[capacity_] = static_cast<A>(share.low);
          value[2 * capacity_] = static_cast<A>(share.high);
        }
      }
    }
  }
  const Bin& of(std::int64_t bin) const { return bins_[bin]; }

 private:
  Bin* bins_;
  std::int64_t capacity_;
  A* shares_;
};

/// Scratch of a thread: the shares of a RoI, its bins as rows of channels and as planes.
template <class A, bool kSlopes>
struct Scratch {
  Shares<A, kSlopes> y, x;
  A *rows, *planes;

  Scratch(Allocator& allocator, const Shape& s, std::int64_t width)
      : y(allocator, s.pooled_h, s.h),
        x(allocator, s.pooled_w, s.w),
        rows(allocator.allocate<A>(width, s.pooled_h, s.pooled_w)),
        planes(allocator.allocate<A>(s.c, s.pooled_h, s.pooled_w)) {}
};

template <class T, bool kSlopes>
struct Arrays {
  layout::ImageRows<T> input;
  RoiOrder order;
  SlotScratch<Scratch<Acc<T>, kSlopes>> scratch;

  Arrays(Allocator& allocator, const Shape& s, mluOpTensorLayout_t layout, int slots)
      : input(allocator, layout, s.batch, s.h * s.w, s.c),
        order(allocator, s.rois),
        scratch(allocator, slots, s, input.width()) {}
};

/// Pixels of all bins of a usual RoI.
inline double usual_pixels(const Shape& s) {
  constexpr double kOfBin = 12;
  return kOfBin * static_cast<double>(s.pooled_h * s.pooled_w);
}

/// Makes room when it is made, so that a call can end before it writes anything. With kSlopes, which are sums over
/// channels, all of these are read together.
template <class T, bool kSlopes, class Problem>
class RoiLoop {
 public:
  RoiLoop(Context& context, const mluopsCall& call, const Problem& p)
      : context_(context),
        call_(call),
        p_(p),
        loop_(context, call, p.shape.rois, cost::kElement * usual_pixels(p.shape) * static_cast<double>(p.shape.c)),
        arrays_(allocate<Arrays<T, kSlopes>>(context.entries, p.shape, p.layout, loop_.slots())) {
    const double reads = kSlopes ? layout::ImageRows<T>::kAllTogether : 0;
    has_room_ = arrays_ && arrays_->input.make_room(context, call, reads, [&](layout::Touched& touched) {
      find_touched(context, call, touched);
    });
  }

  bool has_room() const { return has_room_; }
  /// Channels of a pixel of the map, and which they are.
  std::int64_t width() const { return arrays_->input.width(); }
  const layout::Channels& channels() const { return arrays_->input.channels(); }
  /// body(scratch, r, map) for each RoI and group of channels; map is its image, nullptr for a RoI without area, else
  /// the shares are found.
  template <class Body>
  void run(Body&& body) {
    const Shape& s = p_.shape;
    arrays_->order.sort([&](std::int64_t r) { return Roi::read<T>(p_, r).place(r); });
    const auto run_rois = [&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      Scratch<Acc<T>, kSlopes> scratch = arrays_->scratch.of(slot, s, width());
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t r = arrays_->order.all()[static_cast<std::size_t>(i)].roi;
        const Roi roi = Roi::read<T>(p_, r);
        const layout::PixelRows<T> map = arrays_->input.of(roi.image);
        if (!roi.empty()) {
          scratch.y.find(roi.y, s.pooled_h);
          scratch.x.find(roi.x, s.pooled_w);
        }
        body(scratch, r, roi.empty() ? nullptr : &map);
      }
      non_temporal_fence();
    };
    arrays_->input.each_group(context_, call_, p_.input, [&] { loop_.run(run_rois); });
  }

 private:
  void find_touched(const Context& context, const mluopsCall& call, layout::Touched& touched) const {
    const Shape& s = p_.shape;
    touched.find(context, call, s.rois, cost::kStep * static_cast<double>(s.h), [&](std::int64_t r, auto touch) {
      const Roi roi = Roi::read<T>(p_, r);
      const std::int64_t left = roi.x.first(0), right = roi.x.end(s.pooled_w - 1), end = roi.y.end(s.pooled_h - 1);
      for (std::int64_t y = roi.y.first(0); !roi.empty() && left < right && y < end; ++y) {
        touch(roi.image, y * s.w + left, y * s.w + right);
      }
    });
  }

  const Context& context_;
  const mluopsCall& call_;
  const Problem& p_;
  Loop loop_;
  std::optional<Arrays<T, kSlopes>> arrays_;
  bool has_room_;
};

}  // namespace mluops::cpu::prroi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
