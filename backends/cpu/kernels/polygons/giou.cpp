// ConvexGiou: generalized IoU of the convex hulls of point sets with quadrilaterals, one by one, and its gradient.
//
// pointsets [N,18], polygons [N,8], giou [N], grad_pointsets [N,18]. An item is a pair and owns what is written of it:
// two hulls, a clipped polygon and a walk along its sides, some 1000 flops that branch, in double.
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/polygons/hull.h"
#include "mluops/problem/polygons.h"

namespace mluops::cpu::polygons {
namespace {

using Gradient = std::array<Point, kPoints>;

void add(Gradient& gradient, std::size_t i, Point normal, double times) {
  gradient[i].x += normal.x * times;
  gradient[i].y += normal.y * times;
}

/// Outwards, as long as the side.
Point outwards(Point a, Point b) {
  return {b.y - a.y, a.x - b.x};
}

/// The gradient of a hull's area by the corners that are points of the set: each moves half of either side.
template <std::size_t kMost>
void add_of_area(Gradient& gradient, const Hull<kMost>& hull, double times) {
  const std::size_t count = hull.convex.count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = i + 1 == count ? 0 : i + 1;
    const Point normal = outwards(hull.convex.corner[i], hull.convex.corner[j]);
    for (const std::size_t end : {i, j}) {
      if (hull.point[end] < kPoints) add(gradient, hull.point[end], normal, times / 2);
    }
  }
}

/// The gradient of the area shared with a polygon: the part of each side that is inside, from `from` to `to` of its
/// length, moves, with one end by what is left of the way to the other.
void add_of_shared(Gradient& gradient, const SetHull& hull, const Convex<4>& clip, double times) {
  const Convex<kPoints>& own = hull.convex;
  for (std::size_t i = 0; i < own.count; ++i) {
    const std::size_t j = i + 1 == own.count ? 0 : i + 1;
    double from = 0, to = 1;
    for (std::size_t k = 0; k < clip.count; ++k) {
      const double at_i = polygon::depth(clip.corner[k], clip.after(k), own.corner[i]);
      const double at_j = polygon::depth(clip.corner[k], clip.after(k), own.corner[j]);
      if (at_i < 0 && at_j < 0) to = 0;
      if ((at_i < 0) == (at_j < 0)) continue;
      const double crossing = at_i / (at_i - at_j);
      if (at_i < 0) from = std::max(from, crossing);
      if (at_j < 0) to = std::min(to, crossing);
    }
    if (!(from < to)) continue;
    const double by_j = (to * to - from * from) / 2;
    const Point normal = outwards(own.corner[i], own.corner[j]);
    add(gradient, hull.point[i], normal, times * (to - from - by_j));
    add(gradient, hull.point[j], normal, times * by_j);
  }
}

struct Giou {
  double value = 0;
  Gradient gradient = {};

  Giou(const std::array<Point, kPoints>& set, const std::array<Point, 4>& corners, const Quadrilateral& quad) {
    const SetHull own(set);
    if (own.convex.count == 0 || std::isnan(quad.area())) return;
    std::array<Point, kPoints + 4> all;
    std::copy(corners.begin(), corners.end(), std::copy(set.begin(), set.end(), all.begin()));
    const Hull<kPoints + 4> around(all);
    const auto [shared, whole] = shares(quad, own.convex, own.area, own.bounds);
    // value = shared / whole - (around - whole) / around, a term of no area is 0; whole = both areas - shared.
    double by_whole = 0, by_shared = 0, by_around = 0;
    if (whole > 0) {
      value = shared / whole;
      by_whole = -shared / (whole * whole);
      by_shared = 1 / whole;
    }
    if (around.area > 0) {
      value -= (around.area - whole) / around.area;
      by_whole += 1 / around.area;
      by_around = -whole / (around.area * around.area);
    }
    add_of_area(gradient, own, by_whole);
    add_of_area(gradient, around, by_around);
    if (shared <= 0) return;
    for (const Quadrilateral::Piece& piece : quad) {
      add_of_shared(gradient, own, piece.convex, piece.sign * (by_shared - by_whole));
    }
  }
};

template <class T>
mluOpStatus_t pairs(Context& context, const mluopsCall& call, const mluopsConvexGiouProblem& p) {
  constexpr std::int64_t kNumbers = 2 * std::int64_t{kPoints};
  Loop(context, call, p.shape.n, 500 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const corners = static_cast<const T*>(p.polygons) + 8 * i;
      const auto corner = [&](std::size_t k) { return polygon::read_point(corners, k); };
      const Giou own(read_set(static_cast<const T*>(p.pointsets) + kNumbers * i),
                     {corner(0), corner(1), corner(2), corner(3)}, Quadrilateral::of(corners));
      static_cast<T*>(p.giou)[i] = as_element<T>(own.value);
      T* const gradient = static_cast<T*>(p.grad_pointsets) + kNumbers * i;
      for (std::size_t k = 0; k < kPoints; ++k) {
        gradient[2 * k] = as_element<T>(own.gradient[k].x);
        gradient[2 * k + 1] = as_element<T>(own.gradient[k].y);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::polygons

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(convex_giou, polygons, pairs, mluopsConvexGiouProblem, with_element)
