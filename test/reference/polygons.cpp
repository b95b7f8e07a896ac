#include "test/reference/polygons.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace mluops::reference {
namespace {

constexpr double kRounding = 1e-13;

bool all_finite(const Values& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); });
}

Values row(const Values& all, std::int64_t i, std::int64_t width) {
  return {all.begin() + i * width, all.begin() + (i + 1) * width};
}

double signed_area(const Values& p) {
  double twice = 0;
  for (std::size_t i = 0; i < p.size(); i += 2) {
    const double *a = &p[i], *b = &p[(i + 2) % p.size()];
    twice += (a[0] - p[0]) * (b[1] - p[1]) - (a[1] - p[1]) * (b[0] - p[0]);
  }
  return twice / 2;
}

// ---- shared areas, by lines across both polygons ----

// Along the line y, the parts of x inside a polygon, by the corners' sense: sums of signed halves of the line.
struct Crossing {
  double x;
  int sense;
};

std::vector<Crossing> crossings(const Values& p, double y) {
  std::vector<Crossing> found;
  for (std::size_t i = 0; i < p.size(); i += 2) {
    const double *a = &p[i], *b = &p[(i + 2) % p.size()];
    if ((a[1] <= y) == (b[1] <= y)) continue;
    found.push_back({a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]), a[1] < b[1] ? 1 : -1});
  }
  return found;
}

// How long the line y lies in both.
double shared_length(const Values& a, const Values& b, double y) {
  const auto in_a = crossings(a, y), in_b = crossings(b, y);
  std::vector<double> ends;
  for (const auto* list : {&in_a, &in_b}) {
    for (const Crossing& c : *list) ends.push_back(c.x);
  }
  std::sort(ends.begin(), ends.end());
  const auto times_round = [](const std::vector<Crossing>& list, double x) {
    int count = 0;
    for (const Crossing& c : list) count += c.x > x ? c.sense : 0;
    return count;
  };
  double length = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const double middle = (ends[i - 1] + ends[i]) / 2;
    length += (ends[i] - ends[i - 1]) * times_round(in_a, middle) * times_round(in_b, middle);
  }
  return length;
}

// The lines between which shared_length is a straight line of y: through corners and through crossings of sides.
std::vector<double> levels(const Values& a, const Values& b) {
  std::vector<double> y;
  for (const Values* p : {&a, &b}) {
    for (std::size_t i = 1; i < p->size(); i += 2) y.push_back((*p)[i]);
  }
  for (std::size_t i = 0; i < a.size(); i += 2) {
    for (std::size_t j = 0; j < b.size(); j += 2) {
      const double *p = &a[i], *q = &a[(i + 2) % a.size()], *r = &b[j], *s = &b[(j + 2) % b.size()];
      const double dx = q[0] - p[0], dy = q[1] - p[1], ex = s[0] - r[0], ey = s[1] - r[1];
      const double at = ((r[0] - p[0]) * ey - (r[1] - p[1]) * ex) / (dx * ey - dy * ex);
      if (at >= 0 && at <= 1) y.push_back(p[1] + at * dy);
    }
  }
  std::sort(y.begin(), y.end());
  return y;
}

bool apart(const Values& a, const Values& b) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto ends = [axis](const Values& p) {
      std::array<double, 2> found = {p[axis], p[axis]};
      for (std::size_t i = axis; i < p.size(); i += 2) {
        found = {std::min(found[0], p[i]), std::max(found[1], p[i])};
      }
      return found;
    };
    const auto of_a = ends(a), of_b = ends(b);
    if (of_a[0] >= of_b[1] || of_b[0] >= of_a[1]) return true;
  }
  return false;
}

// ---- hulls and clipped polygons, in numbers that carry their derivatives ----

// A number and its derivatives by the coordinates of a point set.
struct Dual {
  double value = 0;
  std::array<double, 18> by = {};

  Dual() = default;
  Dual(double number) : value(number) {}
};

Dual combined(double value, const Dual& a, double by_a, const Dual& b, double by_b) {
  Dual result(value);
  for (std::size_t i = 0; i < 18; ++i) result.by[i] = a.by[i] * by_a + b.by[i] * by_b;
  return result;
}
Dual operator+(const Dual& a, const Dual& b) {
  return combined(a.value + b.value, a, 1, b, 1);
}
Dual operator-(const Dual& a, const Dual& b) {
  return combined(a.value - b.value, a, 1, b, -1);
}
Dual operator*(const Dual& a, const Dual& b) {
  return combined(a.value * b.value, a, b.value, b, a.value);
}
Dual operator/(const Dual& a, const Dual& b) {
  return combined(a.value / b.value, a, 1 / b.value, b, -a.value / (b.value * b.value));
}

struct Corner {
  Dual x, y;
};
using Polygon = std::vector<Corner>;

bool at_one_place(const Corner& a, const Corner& b) {
  return a.x.value == b.x.value && a.y.value == b.y.value;
}

Polygon corners_of(const Values& numbers, bool variables) {
  Polygon polygon;
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    Corner c = {numbers[i], numbers[i + 1]};
    if (variables) c.x.by[i] = c.y.by[i + 1] = 1;
    polygon.push_back(c);
  }
  return polygon;
}

// Twice the area of a triangle.
Dual turn(const Corner& a, const Corner& b, const Corner& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

Dual area_of(const Polygon& p) {
  Dual twice;
  for (std::size_t i = 2; i < p.size(); ++i) twice = twice + turn(p[0], p[i - 1], p[i]);
  return twice / 2;
}

Dual magnitude(const Dual& a) {
  return a.value < 0 ? Dual() - a : a;
}

// Gift wrapping: from each corner to the point that has all others on its left, the farthest of several.
Polygon wrapped(const Polygon& points) {
  const auto lower = [](const Corner& a, const Corner& b) {
    return a.y.value < b.y.value || (a.y.value == b.y.value && a.x.value < b.x.value);
  };
  Polygon hull = {*std::min_element(points.begin(), points.end(), lower)};
  while (hull.size() <= points.size()) {
    const Corner& from = hull.back();
    const auto distance = [&](const Corner& to) {
      return std::hypot(to.x.value - from.x.value, to.y.value - from.y.value);
    };
    const Corner* next = nullptr;
    for (const Corner& p : points) {
      if (at_one_place(p, from)) continue;
      const double side = next == nullptr ? -1 : turn(from, *next, p).value;
      if (side < 0 || (side == 0 && distance(p) > distance(*next))) next = &p;
    }
    if (next == nullptr || at_one_place(*next, hull.front())) break;
    hull.push_back(*next);
  }
  return hull;
}

// What of a polygon is inside of a convex one that is counterclockwise; a corner on a side is inside.
Polygon clipped(Polygon polygon, const Polygon& clip) {
  for (std::size_t k = 0; k < clip.size(); ++k) {
    const auto inside = [&](const Corner& p) { return turn(clip[k], clip[(k + 1) % clip.size()], p); };
    Polygon left;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Corner &p = polygon[i], &q = polygon[(i + 1) % polygon.size()];
      const Dual of_p = inside(p), of_q = inside(q);
      if (of_p.value >= 0) left.push_back(p);
      if ((of_p.value >= 0) == (of_q.value >= 0)) continue;
      const Dual share = of_p / (of_p - of_q);
      left.push_back({p.x + (q.x - p.x) * share, p.y + (q.y - p.y) * share});
    }
    polygon = left;
  }
  return polygon;
}

// Area of a convex polygon and a quadrilateral: the latter whole if it is convex, else its triangles, by their sense.
Dual shared_of(const Polygon& polygon, const Polygon& quad) {
  bool left = true, right = true;
  for (std::size_t i = 0; i < 4; ++i) {
    const double turned = turn(quad[i], quad[(i + 1) % 4], quad[(i + 2) % 4]).value;
    left = left && turned >= 0;
    right = right && turned <= 0;
  }
  const double whole = area_of(quad).value;
  std::vector<Polygon> pieces = {{quad[0], quad[1], quad[2]}, {quad[0], quad[2], quad[3]}};
  if (left || right) pieces = {quad};
  Dual sum;
  for (Polygon piece : pieces) {
    const double own = area_of(piece).value;
    if (own < 0) std::reverse(piece.begin(), piece.end());
    const Dual share = area_of(clipped(polygon, piece));
    sum = own * whole < 0 ? sum - share : sum + share;
  }
  return sum;
}

Dual giou(const Polygon& points, const Polygon& quad) {
  const Polygon hull = wrapped(points);
  Polygon both = points;
  both.insert(both.end(), quad.begin(), quad.end());
  const Dual own = area_of(hull), other = magnitude(area_of(quad)), around = area_of(wrapped(both));
  Dual shared = shared_of(hull, quad);
  if (!(shared.value > kRounding * (own.value + other.value))) shared = Dual();
  shared.value = std::min({shared.value, own.value, other.value});
  const Dual whole = own + other - shared;
  Dual value;
  if (whole.value > 0) value = shared / whole;
  if (around.value > 0) value = value - (around - whole) / around;
  return value;
}

// Corners of the rectangle along the direction.
Values rectangle(const Values& hull, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  double u0 = INFINITY, u1 = -INFINITY, v0 = INFINITY, v1 = -INFINITY;
  for (std::size_t i = 0; i < hull.size(); i += 2) {
    const double u = c * hull[i] + s * hull[i + 1], v = c * hull[i + 1] - s * hull[i];
    u0 = std::min(u0, u), u1 = std::max(u1, u), v0 = std::min(v0, v), v1 = std::max(v1, v);
  }
  Values corners;
  for (const auto& [u, v] : {std::pair{u1, v0}, {u0, v0}, {u0, v1}, {u1, v1}}) {
    corners.push_back(u * c - v * s);
    corners.push_back(u * s + v * c);
  }
  return corners;
}

Values smallest_rectangle(const Values& points) {
  if (!all_finite(points)) return Values(8, std::numeric_limits<double>::quiet_NaN());
  const Values hull = convex_hull(points);
  Values best;
  for (std::size_t i = 0; i < hull.size(); i += 2) {
    const double *a = &hull[i], *b = &hull[(i + 2) % hull.size()];
    const double quarter = std::acos(0.0), angle = std::atan2(b[1] - a[1], b[0] - a[0]);
    const Values next = rectangle(hull, angle - quarter * std::floor(angle / quarter));
    if (best.empty() || area(next) * (1 + 1e-12) < area(best)) best = next;
  }
  return best;
}

bool surrounds(const double* quad, double x, double y) {
  bool odd = false;
  for (int i = 0; i < 4; ++i) {
    const double *s = quad + 2 * i, *t = quad + 2 * ((i + 3) % 4);
    if ((s[0] == x && s[1] == y) || (t[0] == x && t[1] == y)) break;
    if ((s[1] < y) == (t[1] < y)) continue;
    const double at = s[0] + (y - s[1]) * (t[0] - s[0]) / (t[1] - s[1]);
    if (at == x) break;
    if (at > x) odd = !odd;
  }
  return odd;
}

}  // namespace

double area(const Values& polygon) {
  return all_finite(polygon) ? std::fabs(signed_area(polygon)) : std::numeric_limits<double>::quiet_NaN();
}

double shared_area(const Values& a, const Values& b) {
  if (!all_finite(a) || !all_finite(b) || apart(a, b)) return 0;
  const double of_a = signed_area(a), of_b = signed_area(b), both = std::fabs(of_a) + std::fabs(of_b);
  const std::vector<double> y = levels(a, b);
  double shared = 0;
  for (std::size_t i = 1; i < y.size(); ++i) {
    shared += (y[i] - y[i - 1]) * shared_length(a, b, (y[i] + y[i - 1]) / 2);
  }
  if ((of_a < 0) != (of_b < 0)) shared = -shared;
  return shared > kRounding * both ? std::min({shared, std::fabs(of_a), std::fabs(of_b)}) : 0;
}

Values convex_hull(const Values& points) {
  Values hull;
  for (const Corner& c : wrapped(corners_of(points, false))) {
    hull.push_back(c.x.value);
    hull.push_back(c.y.value);
  }
  return hull;
}

Values box_iou_quadri(const mluopsBoxIouProblem& p) {
  const auto& s = p.shape;
  const Values first = decode(s.dtype, p.bbox1, s.n * 8), second = decode(s.dtype, p.bbox2, s.m * 8);
  Values ious;
  for (std::int64_t i = 0; i < s.n; ++i) {
    const Values a = row(first, i, 8);
    for (std::int64_t j = s.aligned ? i : 0; j < (s.aligned ? i + 1 : s.m); ++j) {
      const Values b = row(second, j, 8);
      const double shared = shared_area(a, b), whole = s.mode ? area(a) : area(a) + area(b) - shared;
      ious.push_back(shared > 0 ? shared / whole : 0);
    }
  }
  return ious;
}

Values convex_iou(const mluopsConvexIouProblem& p) {
  const auto& s = p.shape;
  const Values sets = decode(s.dtype, p.pointsets, s.n * 18), quads = decode(s.dtype, p.polygons, s.k * 8);
  Values ious;
  for (std::int64_t i = 0; i < s.n; ++i) {
    const Values set = row(sets, i, 18), hull = all_finite(set) ? convex_hull(set) : set;
    for (std::int64_t j = 0; j < s.k; ++j) {
      const Values quad = row(quads, j, 8);
      const double shared = shared_area(hull, quad);
      ious.push_back(shared > 0 ? shared / (area(hull) + area(quad) - shared) : 0);
    }
  }
  return ious;
}

ConvexGiouResult convex_giou(const mluopsConvexGiouProblem& p) {
  const std::int64_t n = p.shape.n;
  const Values sets = decode(p.shape.dtype, p.pointsets, n * 18), quads = decode(p.shape.dtype, p.polygons, n * 8);
  ConvexGiouResult result;
  for (std::int64_t i = 0; i < n; ++i) {
    const Values set = row(sets, i, 18), quad = row(quads, i, 8);
    const bool there = all_finite(set) && all_finite(quad);
    const Dual value = there ? giou(corners_of(set, true), corners_of(quad, false)) : Dual();
    result.giou.push_back(value.value);
    result.grad_pointsets.insert(result.grad_pointsets.end(), value.by.begin(), value.by.end());
  }
  return result;
}

Values min_area_polygons(const mluopsMinAreaPolygonsProblem& p) {
  const Values sets = decode(p.shape.dtype, p.pointsets, p.shape.n * 18);
  Values polygons;
  for (std::int64_t i = 0; i < p.shape.n; ++i) {
    const Values box = smallest_rectangle(row(sets, i, 18));
    polygons.insert(polygons.end(), box.begin(), box.end());
  }
  return polygons;
}

Values points_in_polygons(const mluopsPointsInPolygonsProblem& p) {
  const auto& s = p.shape;
  const Values points = decode(s.dtype, p.points, s.n * 2), quads = decode(s.dtype, p.polygons, s.m * 8);
  Values inside;
  for (std::int64_t i = 0; i < s.n; ++i) {
    for (std::int64_t j = 0; j < s.m; ++j) {
      inside.push_back(surrounds(&quads[8 * j], points[2 * i], points[2 * i + 1]) ? 1 : 0);
    }
  }
  return inside;
}

}  // namespace mluops::reference
