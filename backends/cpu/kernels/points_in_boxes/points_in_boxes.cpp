// PointsInBoxes: for each of M points the first of N upright boxes it is in, or all of them.
//
// points [B,M,3], boxes [B,N,7], idx [B,M], inside [B,M,N]. Boxes are prepared once: half sides, cosine, sine. An item
// is a run of 32 points of one image, brought into rows of x, y and z; it owns their rows of the result. Each box is
// compared with the 32 points at once: some 12 flops a pair in the first cache, so arithmetic limits `part`; `all`
// writes 4 bytes a pair, mostly zeros: memory limits it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/points_in_boxes/points_in_boxes.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/upright_box-inl.h"
#include "mluops/problem/points_in_boxes.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::points_in_boxes::HWY_NAMESPACE {
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using Shape = mluopsPointsInBoxesShape;

/// What the device adds to half the sides of its boxes.
constexpr double kMargin = 1e-5;

/// The boxes of all images; nullptr when there is no memory.
template <class T>
UprightBox<Acc<T>>* prepare(Context& context, const mluopsCall& call, const Shape& s, const void* boxes) {
  using Box = UprightBox<Acc<T>>;
  const std::int64_t count = s.b * s.n;
  auto* const prepared = context.arena.reserve_array<Box>(count);
  if (prepared == nullptr) return nullptr;
  Loop(context, call, count, 20 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const box = static_cast<const T*>(boxes) + 7 * i;
      prepared[i] = s.centred != 0 ? Box::centred_at(box, kMargin) : Box::standing_on(box);
    }
  });
  return prepared;
}

/// visit(first point of all images, count, leaf of the points, boxes of the image) for runs of up to 32 points.
template <class T, class Visit>
mluOpStatus_t for_each_run(Context& context, const mluopsCall& call, const Shape& s, const void* points,
                           const void* boxes, double point_ns, Visit&& visit) {
  const UprightBox<Acc<T>>* const prepared = prepare<T>(context, call, s, boxes);
  if (prepared == nullptr) return no_memory(call);
  const std::int64_t runs = leaves_of(s.m);
  const double run_ns = point_ns * static_cast<double>(std::min(s.m, kLeafPoints));
  Loop(context, call, s.b * runs, run_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    Leaf<Acc<T>> leaf;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t image = item / runs, first = item % runs * kLeafPoints;
      const std::int64_t count = std::min(kLeafPoints, s.m - first);
      fill_leaves(static_cast<const T*>(points) + 3 * (image * s.m + first), count, &leaf);
      visit(image * s.m + first, count, leaf, prepared + image * s.n);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t part(Context& context, const mluopsCall& call, const mluopsPointsInBoxesPartProblem& p) {
  const Shape& s = p.shape;
  const auto visit = [&](std::int64_t first, std::int64_t count, const Leaf<Acc<T>>& leaf,
                         const UprightBox<Acc<T>>* boxes) HWY_ATTR {
    std::int32_t* const idx = p.idx + first;
    std::fill_n(idx, count, -1);
    auto left = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
    for (std::int64_t n = 0; n < s.n && left != 0; ++n) {
      std::uint32_t found = points_inside(boxes[n], leaf) & left;
      left &= ~found;
      for (; found != 0; found &= found - 1) idx[std::countr_zero(found)] = static_cast<std::int32_t>(n);
    }
  };
  return for_each_run<T>(context, call, s, p.points, p.boxes, 2 * cost::kElement * static_cast<double>(s.n), visit);
}

template <class T>
mluOpStatus_t all(Context& context, const mluopsCall& call, const mluopsPointsInBoxesAllProblem& p) {
  const Shape& s = p.shape;
  const auto visit = [&](std::int64_t first, std::int64_t count, const Leaf<Acc<T>>& leaf,
                         const UprightBox<Acc<T>>* boxes) HWY_ATTR {
    std::int32_t* const inside = p.inside + first * s.n;
    std::fill_n(inside, count * s.n, 0);
    for (std::int64_t n = 0; n < s.n; ++n) {
      std::uint32_t found = points_inside(boxes[n], leaf);
      for (; found != 0; found &= found - 1) inside[std::countr_zero(found) * s.n + n] = 1;
    }
  };
  const double point_ns = (2 * cost::kElement + cost::kMove) * static_cast<double>(s.n);
  return for_each_run<T>(context, call, s, p.points, p.boxes, point_ns, visit);
}

}  // namespace
}  // namespace mluops::cpu::points_in_boxes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(points_in_boxes_part, points_in_boxes, part, mluopsPointsInBoxesPartProblem, with_element)
MLUOPS_CPU_ENTRY(points_in_boxes_all, points_in_boxes, all, mluopsPointsInBoxesAllProblem, with_element)
