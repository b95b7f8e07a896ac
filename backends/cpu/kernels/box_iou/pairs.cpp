// BboxOverlaps and BoxIouRotated: IoU of each of N boxes with each of M, or of N pairs.
//
// bbox1 [N,4|5], bbox2 [M,4|5], ious [N,M] or [N]. What a pair needs of each box is made once, as lists. An item is a
// box of bbox1 and owns its row, or aligned a pair; lanes are boxes of bbox2. Upright: bound by what is written;
// rotated: by arithmetic, some 150 flops a pair, 8 where all of a vector are far apart.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/box_iou/pairs.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/box_iou/boxes-inl.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::box_iou::HWY_NAMESPACE {
namespace {

using Problem = mluopsBoxIouProblem;
using Shape = mluopsBoxIouShape;

template <class Kind>
struct Arrays {
  Lists<Kind> a, b;

  Arrays(Allocator& allocator, const Shape& s) : a(allocator, s.n), b(allocator, s.m) {}
};

template <class T, class Kind>
void read(const Context& context, const mluopsCall& call, const void* boxes, std::int64_t count, std::int32_t offset,
          const Lists<Kind>& lists) {
  Loop(context, call, count, cost::kTurnBox).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      lists.read(i, static_cast<const T*>(boxes) + i * Kind::kNumbers, static_cast<typename Kind::A>(offset));
    }
  });
}

/// Stores lanes that are wider than the sums of T one by one.
template <class T, class D>
HWY_INLINE void put(hn::Vec<D> v, D d, T* out) {
  if constexpr (std::is_same_v<hn::TFromD<D>, Acc<T>>) {
    store(v, d, out);
  } else {
    HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
    hn::Store(v, d, lanes);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) out[i] = from_acc<T>(static_cast<Acc<T>>(lanes[i]));
  }
}

template <class T, class Kind>
mluOpStatus_t run(Context& context, const mluopsCall& call, const Problem& p) {
  using A = typename Kind::A;
  const Shape& s = p.shape;
  const auto arrays = allocate<Arrays<Kind>>(context.arena, s);
  if (!arrays) return no_memory(call);
  read<T>(context, call, p.bbox1, s.n, s.offset, arrays->a);
  read<T>(context, call, p.bbox2, s.m, s.offset, arrays->b);
  T* const ious = static_cast<T*>(p.ious);
  const auto offset = static_cast<A>(s.offset);
  const auto row = [&](std::int64_t columns, auto&& first, std::int64_t b_from, T* out) HWY_ATTR {
    for_lanes<A>(columns, [&](auto d, std::int64_t j) HWY_ATTR {
      using D = decltype(d);
      const auto b = Boxes<Kind, D>::of(d, arrays->b, b_from + j);
      put(iou<Kind>(d, first(d, j), b, hn::Set(d, offset), s.mode != 0), d, out + j);
    });
  };
  const double item_ns = Kind::kPairNs * static_cast<double>(s.aligned != 0 ? 1 : s.m);
  Loop(context, call, s.n, item_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    if (s.aligned != 0) {
      const auto own = [&](auto d, std::int64_t j)
                           HWY_ATTR { return Boxes<Kind, decltype(d)>::of(d, arrays->a, begin + j); };
      row(end - begin, own, begin, ious + begin);
      return;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const auto one = [&](auto d, std::int64_t) HWY_ATTR { return Boxes<Kind, decltype(d)>::all(d, arrays->a, i); };
      row(s.m, one, 0, ious + i * s.m);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t upright(Context& context, const mluopsCall& call, const Problem& p) {
  return run<T, Upright<Acc<T>>>(context, call, p);
}
template <class T>
mluOpStatus_t rotated(Context& context, const mluopsCall& call, const Problem& p) {
  return run<T, Rotated>(context, call, p);
}

MLUOPS_CPU_KERNEL(upright, mluopsBoxIouProblem, with_element)
MLUOPS_CPU_KERNEL(rotated, mluopsBoxIouProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::box_iou::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(bbox_overlaps, box_iou, upright, mluopsBoxIouProblem)
MLUOPS_CPU_ENTRY(box_iou_rotated, box_iou, rotated, mluopsBoxIouProblem)

}  // namespace mluops::cpu
#endif
