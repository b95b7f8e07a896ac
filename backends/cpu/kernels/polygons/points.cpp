// PointsInPolygons: which of N points are inside of which of M quadrilaterals.
//
// points [N,2], polygons [M,8], inside [N,M]. Sides are made once. An item is a point and owns its row: two comparisons
// where its line misses a quadrilateral, else four sides, in double.
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/polygons/hull.h"
#include "mluops/problem/polygons.h"

namespace mluops::cpu::polygons {
namespace {

class Sides {
 public:
  template <class T>
  void read(const T* numbers) {
    low_ = std::numeric_limits<double>::infinity();
    high_ = -low_;
    for (std::size_t i = 0; i < 4; ++i) {
      corner_[i] = polygon::read_point(numbers, i);
      low_ = std::min(low_, corner_[i].y);
      high_ = std::max(high_, corner_[i].y);
    }
  }
  /// Whether a ray to greater x crosses the sides an odd number of times; a point on a side is decided by those before.
  bool surround(Point p) const {
    if (!(low_ <= p.y && p.y <= high_)) return false;
    bool odd = false;
    for (std::size_t i = 0; i < 4; ++i) {
      const Point s = corner_[i], t = corner_[i == 0 ? 3 : i - 1];
      if (s == p || t == p) return odd;
      if ((s.y < p.y) == (t.y < p.y)) continue;
      const double at = s.x + (p.y - s.y) * (t.x - s.x) / (t.y - s.y);
      if (at == p.x) return odd;
      odd ^= at > p.x;
    }
    return odd;
  }

 private:
  std::array<Point, 4> corner_;
  double low_, high_;  ///< of y; NaN counts for nothing
};

template <class T>
mluOpStatus_t inside(Context& context, const mluopsCall& call, const mluopsPointsInPolygonsProblem& p) {
  const auto& s = p.shape;
  Sides* const sides = context.arena.reserve_array<Sides>(s.m);
  if (sides == nullptr) return no_memory(call);
  for (std::int64_t j = 0; j < s.m; ++j) sides[j].read(static_cast<const T*>(p.polygons) + 8 * j);
  Loop(context, call, s.n, 3 * cost::kStep * static_cast<double>(s.m))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          const Point point = polygon::read_point(static_cast<const T*>(p.points), static_cast<std::size_t>(i));
          float* const row = p.inside + i * s.m;
          for (std::int64_t j = 0; j < s.m; ++j) row[j] = sides[j].surround(point) ? 1.0f : 0.0f;
        }
      });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::polygons

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(points_in_polygons, polygons, inside, mluopsPointsInPolygonsProblem, with_element)
