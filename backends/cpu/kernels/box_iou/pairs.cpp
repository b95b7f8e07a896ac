// BboxOverlaps and BoxIouRotated: IoU of each of N boxes with each of M, or of N pairs.
//
// bbox1 [N,4|5], bbox2 [M,4|5], ious [N,M] or [N]. What a pair needs of each box is made once, as lists. An item is a
// box of bbox1 and owns its row, or aligned a pair; lanes are boxes of bbox2. Upright: bound by what is written;
// rotated: by arithmetic, some 150 flops a pair, 8 where all of a vector are far apart.
#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/box_iou/pairs.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/box_pairs-inl.h"
#include "mluops/problem/box_iou.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::box_iou::HWY_NAMESPACE {
using namespace box_pairs::HWY_NAMESPACE;
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
  Loop(context, call, count, 30 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      lists.read(i, static_cast<const T*>(boxes) + i * Kind::kNumbers, static_cast<typename Kind::A>(offset));
    }
  });
}

/// Stores lanes, which may be wider than the sums of T.
template <class T, class D>
HWY_INLINE void put(hn::Vec<D> v, D d, T* out) {
  if constexpr (std::is_same_v<hn::TFromD<D>, Acc<T>>) {
    store(v, d, out);
  } else {
    const hn::Rebind<Acc<T>, D> narrow;
    store(hn::DemoteTo(narrow, v), narrow, out);
  }
}

/// IoU of first(d, j) with box j of b, j from 0 to columns - 1.
template <class T, class Kind, class First>
HWY_INLINE void row(const Shape& s, std::int64_t columns, const First& first, const Lists<Kind>& b, T* out) {
  using A = typename Kind::A;
  for_lanes<A>(columns, [&](auto d, std::int64_t j) HWY_ATTR {
    const auto second = Boxes<Kind, decltype(d)>::of(d, b, j);
    const auto offset = hn::Set(d, static_cast<A>(s.offset));
    put(iou<Kind>(d, first(d, j), second, offset, s.mode != 0), d, out + j);
  });
}

/// Each box with the one of its own number: lists of a few at a time.
template <class T, class Kind>
mluOpStatus_t run_aligned(Context& context, const mluopsCall& call, const Problem& p) {
  using A = typename Kind::A;
  constexpr std::int64_t kBlock = 64;
  const Shape& s = p.shape;
  Loop(context, call, s.n, Kind::kPairCost + 60 * cost::kStep)
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        A fields[2][Kind::kFields * kBlock];
        const Lists<Kind> a(fields[0], kBlock), b(fields[1], kBlock);
        for (std::int64_t i = begin; i < end; i += kBlock) {
          const std::int64_t pairs = std::min(kBlock, end - i);
          for (std::int64_t j = 0; j < pairs; ++j) {
            a.read(j, static_cast<const T*>(p.bbox1) + (i + j) * Kind::kNumbers, static_cast<A>(s.offset));
            b.read(j, static_cast<const T*>(p.bbox2) + (i + j) * Kind::kNumbers, static_cast<A>(s.offset));
          }
          const auto own = [&](auto d, std::int64_t j) HWY_ATTR { return Boxes<Kind, decltype(d)>::of(d, a, j); };
          row(s, pairs, own, b, static_cast<T*>(p.ious) + i);
        }
      });
  return MLUOP_STATUS_SUCCESS;
}

template <class T, class Kind>
mluOpStatus_t run(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  if (s.aligned != 0) return run_aligned<T, Kind>(context, call, p);
  const auto arrays = allocate<Arrays<Kind>>(context.arena, s);
  if (!arrays) return no_memory(call);
  read<T>(context, call, p.bbox1, s.n, s.offset, arrays->a);
  read<T>(context, call, p.bbox2, s.m, s.offset, arrays->b);
  const double row_ns = Kind::kPairCost * static_cast<double>(s.m);
  Loop(context, call, s.n, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto one = [&](auto d, std::int64_t) HWY_ATTR { return Boxes<Kind, decltype(d)>::all(d, arrays->a, i); };
      row(s, s.m, one, arrays->b, static_cast<T*>(p.ious) + i * s.m);
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

}  // namespace
}  // namespace mluops::cpu::box_iou::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(bbox_overlaps, box_iou, upright, mluopsBoxIouProblem, with_element)
MLUOPS_CPU_ENTRY(box_iou_rotated, box_iou, rotated, mluopsBoxIouProblem, with_element)
