// RoiPointPool3d: coordinates and features of the first S of N points in each of M upright boxes.
//
// points [B,N,3], point_features [B,N,C], boxes3d [B,M,7], pooled_features [B,M,S,3+C], pooled_empty_flag [B,M]. The
// points are brought into rows of x, y and z once. An item is a box and owns its rows of both outputs: 32 points at
// once are compared with it, in their order, until S are found; then S rows are copied. The copies, S*(3+C) elements a
// box, come from points that lie apart: bound by memory where C is large, by the comparisons, 12 flops a pair,
// elsewhere.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roipoint_pool3d/roipoint_pool3d.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>
#include <span>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/upright_box-inl.h"
#include "mluops/problem/roipoint_pool3d.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roipoint_pool3d::HWY_NAMESPACE {
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using Problem = mluopsRoiPointPool3dProblem;
using Shape = mluopsRoiPointPool3dShape;

template <class A>
struct Arrays {
  PointSets<A> points;
  std::int32_t* found;  ///< [slots, samples]

  Arrays(Allocator& allocator, const Shape& s, std::int64_t slots)
      : points(allocator, s.n, s.b, false, 0), found(allocator.allocate<std::int32_t>(slots, s.samples)) {}
};

/// The first `most` points of the leaves that are in the box; how many there are.
template <class A>
std::int64_t find(const UprightBox<A>& box, std::span<const Leaf<A>> leaves, std::int64_t most, std::int32_t* found) {
  std::int64_t size = 0;
  for (const Leaf<A>& leaf : leaves) {
    for (std::uint32_t bits = points_inside(box, leaf); bits != 0; bits &= bits - 1) {
      found[size++] = leaf.index[std::countr_zero(bits)];
      if (size == most) return size;
    }
  }
  return size;
}

/// The rows of one box: found[0, size), over and over; zeros where there is none. points [n,3], features [n,c].
template <class T>
void copy_rows(const Shape& s, const T* points, const T* features, const std::int32_t* found, std::int64_t size,
               T* to) {
  if (size == 0) {
    std::fill_n(to, s.samples * (3 + s.c), T{});
    return;
  }
  std::int64_t next = 0;
  for (std::int64_t k = 0; k < s.samples; ++k, to += 3 + s.c) {
    const std::int64_t point = found[next];
    next = next + 1 == size ? 0 : next + 1;
    std::copy_n(points + 3 * point, 3, to);
    std::copy_n(features + s.c * point, s.c, to + 3);
  }
}

template <class T>
mluOpStatus_t pool(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const double samples = static_cast<double>(s.samples), numbers = static_cast<double>(3 + s.c);
  const double box_ns =
      2 * cost::kElement * static_cast<double>(s.n) + samples * (5 * cost::kStep + cost::kMove * numbers);
  const Loop loop(context, call, s.b * s.m, box_ns);
  const auto arrays = allocate<Arrays<Acc<T>>>(context.arena, s, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  const auto* const points = static_cast<const T*>(p.points);
  Loop(context, call, s.b, cost::kStep * static_cast<double>(s.n)).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t b = begin; b < end; ++b) arrays->points.fill(b, points + 3 * b * s.n, 0);
  });
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    std::int32_t* const found = arrays->found + slot * s.samples;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t b = i / s.m;
      const auto box = UprightBox<Acc<T>>::standing_on(static_cast<const T*>(p.boxes3d) + 7 * i);
      const std::int64_t size = find(box, arrays->points.list(b), s.samples, found);
      p.pooled_empty_flag[i] = size == 0 ? 1 : 0;
      copy_rows(s, points + 3 * b * s.n, static_cast<const T*>(p.point_features) + s.c * b * s.n, found, size,
                static_cast<T*>(p.pooled_features) + i * s.samples * (3 + s.c));
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::roipoint_pool3d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roipoint_pool3d, roipoint_pool3d, pool, mluopsRoiPointPool3dProblem, with_element)
