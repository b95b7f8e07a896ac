// One RoI after the other, those that share pixels next to each other, on a map with the channels of a pixel side by
// side: NHWC's, or a transposed one of NCHW. Include after foreach_target.h, like simd-inl.h.
#include <optional>

#include "backends/cpu/kernels/prroi_pool/geometry.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_PRROI_POOL_ROIS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PRROI_POOL_ROIS_INL_H_
#else
#define MLUOPS_CPU_PRROI_POOL_ROIS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::prroi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// What a thread has: the shares of a RoI, its bins as rows of channels and as planes.
template <class A, bool kSlopes>
struct Scratch {
  Shares<A, kSlopes> y, x;
  A *rows, *planes;

  Scratch(Allocator& allocator, const Shape& s)
      : y(allocator, s.pooled_h, s.h),
        x(allocator, s.pooled_w, s.w),
        rows(allocator.allocate<A>(s.c, s.pooled_h, s.pooled_w)),
        planes(allocator.allocate<A>(s.c, s.pooled_h, s.pooled_w)) {}
};

template <class A, bool kSlopes>
struct Arrays {
  RoiOrder order;
  SlotScratch<Scratch<A, kSlopes>> scratch;

  Arrays(Allocator& allocator, const Shape& s, int slots) : order(allocator, s.rois), scratch(allocator, slots, s) {}
};

/// Pixels of all bins of a usual RoI.
inline double usual_pixels(const Shape& s) {
  constexpr double kOfBin = 12;
  return kOfBin * static_cast<double>(s.pooled_h * s.pooled_w);
}

/// Makes room when it is made, so that a call can end before it writes anything.
template <class T, bool kSlopes, class Problem>
class RoiLoop {
 public:
  RoiLoop(Context& context, const mluopsCall& call, const Problem& p)
      : context_(context),
        call_(call),
        p_(p),
        loop_(context, call, p.shape.rois, cost::kElement * usual_pixels(p.shape) * static_cast<double>(p.shape.c)),
        arrays_(allocate<Arrays<Acc<T>, kSlopes>>(context.entries, p.shape, loop_.slots())) {
    if (!in_place()) rows_ = context.images.reserve_array<T>(p.shape.batch, p.shape.h, p.shape.w, p.shape.c);
  }

  bool has_room() const { return arrays_ && (in_place() || rows_ != nullptr); }
  /// body(scratch, r, map) for each RoI; map is its image, nullptr for a RoI without area, else the shares are found.
  template <class Body>
  void run(Body&& body) {
    const Shape& s = p_.shape;
    if (!in_place()) layout::transpose(context_, call_, image().from_nchw(), p_.input, rows_);
    const T* const input = in_place() ? static_cast<const T*>(p_.input) : rows_;
    arrays_->order.sort([&](std::int64_t r) {
      const Roi roi = Roi::read<T>(p_, r);
      return PlacedRoi{roi.image, roi.y.first(0), roi.x.first(0), r};
    });
    loop_.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      Scratch<Acc<T>, kSlopes> scratch = arrays_->scratch.of(slot, s);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t r = arrays_->order.all()[static_cast<std::size_t>(i)].roi;
        const Roi roi = Roi::read<T>(p_, r);
        if (!roi.empty()) {
          scratch.y.find(roi.y, s.pooled_h);
          scratch.x.find(roi.x, s.pooled_w);
        }
        body(scratch, r, roi.empty() ? nullptr : input + roi.image * s.h * s.w * s.c);
      }
      non_temporal_fence();
    });
  }

 private:
  layout::Image image() const {
    return {p_.shape.batch, p_.shape.h * p_.shape.w, p_.shape.c, static_cast<std::int64_t>(sizeof(T))};
  }
  bool in_place() const { return p_.layout != MLUOP_LAYOUT_NCHW || image().same() || p_.shape.rois == 0; }

  const Context& context_;
  const mluopsCall& call_;
  const Problem& p_;
  Loop loop_;
  std::optional<Arrays<Acc<T>, kSlopes>> arrays_;
  T* rows_ = nullptr;
};

}  // namespace mluops::cpu::prroi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
