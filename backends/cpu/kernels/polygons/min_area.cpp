// MinAreaPolygons: the smallest rectangle, of any angle, around each point set.
//
// pointsets [N,18], polygons [N,8]. A side of the rectangle lies along one of the hull's. An item is a set: a hull and
// at most 9 x 9 products, in double.
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/polygons/hull.h"
#include "mluops/problem/polygons.h"

namespace mluops::cpu::polygons {
namespace {

struct Rectangle {
  Point along;    ///< of length 1, in the first quadrant
  Bounds bounds;  ///< along and across

  Rectangle(const Convex<kPoints>& hull, Point side) {
    const double length = std::sqrt(side.x * side.x + side.y * side.y);
    along = length > 0 ? Point{side.x / length, side.y / length} : Point{1, 0};
    for (int turn = 0; turn < 3 && !(along.x > 0 && along.y >= 0); ++turn) along = {along.y, -along.x};
    for (std::size_t i = 0; i < hull.count; ++i) {
      const Point p = hull.corner[i];
      bounds.add({along.x * p.x + along.y * p.y, along.x * p.y - along.y * p.x});
    }
  }
  double area() const { return (bounds.high.x - bounds.low.x) * (bounds.high.y - bounds.low.y); }
  Point corner(double u, double v) const { return {u * along.x - v * along.y, u * along.y + v * along.x}; }
};

/// The smallest rectangle around a hull; of several that along the hull's first side.
std::array<Point, 4> smallest_rectangle(const SetHull& hull) {
  constexpr double kRounding = 1e-12;
  const Convex<kPoints>& own = hull.convex;
  if (own.count == 0) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    return {{{kNan, kNan}, {kNan, kNan}, {kNan, kNan}, {kNan, kNan}}};
  }
  const auto along_side = [&](std::size_t i) { return Rectangle(own, own.after(i) - own.corner[i]); };
  Rectangle best = along_side(0);
  double least = best.area();
  for (std::size_t i = 1; i < own.count; ++i) {
    const Rectangle next = along_side(i);
    if (next.area() * (1 + kRounding) < least) {
      best = next;
      least = next.area();
    }
  }
  const Point low = best.bounds.low, high = best.bounds.high;
  return {best.corner(high.x, low.y), best.corner(low.x, low.y), best.corner(low.x, high.y),
          best.corner(high.x, high.y)};
}

template <class T>
mluOpStatus_t rectangles(Context& context, const mluopsCall& call, const mluopsMinAreaPolygonsProblem& p) {
  Loop(context, call, p.shape.n, 300 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const SetHull hull(read_set(static_cast<const T*>(p.pointsets) + 2 * std::int64_t{kPoints} * i));
      T* to = static_cast<T*>(p.polygons) + 8 * i;
      for (const Point corner : smallest_rectangle(hull)) {
        *to++ = as_element<T>(corner.x);
        *to++ = as_element<T>(corner.y);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::polygons

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(min_area_polygons, polygons, rectangles, mluopsMinAreaPolygonsProblem, with_element)
