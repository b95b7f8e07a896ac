// Convex polygons, quadrilaterals of any kind, and what two of them share; in double.
//
// A quadrilateral that is convex is one piece; another one is two triangles, of which one counts negative where the
// quadrilateral is concave: the sum of their areas is its area, and of what pieces share, what quadrilaterals share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "backends/cpu/simd/element.h"

namespace mluops::cpu::polygon {

struct Point {
  double x, y;
  Point operator-(Point other) const { return {x - other.x, y - other.y}; }
  bool operator==(const Point&) const = default;
  bool is_finite() const { return std::isfinite(x) && std::isfinite(y); }
};

inline double cross(Point a, Point b) {
  return a.x * b.y - a.y * b.x;
}

/// Point i of x1, y1, x2, y2, ...
template <class T>
Point read_point(const T* numbers, std::size_t i) {
  return {static_cast<double>(to_acc(numbers[2 * i])), static_cast<double>(to_acc(numbers[2 * i + 1]))};
}

/// The upright rectangle around points; around none, it meets nothing.
struct Bounds {
  Point low = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  Point high = {-low.x, -low.y};

  void add(Point p) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  bool meets(const Bounds& o) const {
    return low.x < o.high.x && o.low.x < high.x && low.y < o.high.y && o.low.y < high.y;
  }
};

/// A convex polygon, counterclockwise.
template <std::size_t kMost>
struct Convex {
  std::array<Point, kMost> corner;
  std::size_t count;

  Point after(std::size_t i) const { return corner[i + 1 == count ? 0 : i + 1]; }
  double area() const {
    double twice = 0;
    for (std::size_t i = 2; i < count; ++i) twice += cross(corner[i - 1] - corner[0], corner[i] - corner[0]);
    return twice / 2;
  }
};

/// How far left of the side from a to b p is, times the side's length.
inline double depth(Point a, Point b, Point p) {
  return cross(b - a, p - a);
}

/// Sutherland and Hodgman: what is left of the side from a to b. A cut adds a corner at most, but for roundings.
template <std::size_t kMost>
void cut(const Convex<kMost>& from, Point a, Point b, Convex<kMost>& left) {
  left.count = 0;
  if (from.count == 0) return;
  const auto add = [&left](Point p) {
    if (left.count < kMost) left.corner[left.count++] = p;
  };
  Point p = from.corner[from.count - 1];
  double of_p = depth(a, b, p);
  for (std::size_t i = 0; i < from.count; ++i) {
    const Point q = from.corner[i];
    const double of_q = depth(a, b, q);
    if ((of_p >= 0) != (of_q >= 0)) {
      const double share = of_p / (of_p - of_q);
      add({p.x + (q.x - p.x) * share, p.y + (q.y - p.y) * share});
    }
    if (of_q >= 0) add(q);
    p = q;
    of_p = of_q;
  }
}

/// Area of what convex polygons share.
template <std::size_t kMost, std::size_t kSides>
double shared_area(const Convex<kMost>& polygon, const Convex<kSides>& clip) {
  std::array<Convex<kMost + kSides>, 2> buffers;
  auto *left = &buffers[0], *next = &buffers[1];
  std::copy_n(polygon.corner.begin(), polygon.count, left->corner.begin());
  left->count = polygon.count;
  for (std::size_t i = 0; i < clip.count && left->count > 0; ++i) {
    cut(*left, clip.corner[i], clip.after(i), *next);
    std::swap(left, next);
  }
  return left->area();
}

class Quadrilateral {
 public:
  struct Piece {
    Convex<4> convex;
    double sign;
  };

  /// The quadrilateral x1, y1, ..., x4, y4; one with a number that is not finite has no pieces, and NaN is its area.
  template <class T>
  static Quadrilateral of(const T* numbers) {
    std::array<Point, 4> corners;
    for (std::size_t i = 0; i < 4; ++i) corners[i] = read_point(numbers, i);
    const bool there = std::all_of(corners.begin(), corners.end(), [](Point p) { return p.is_finite(); });
    return there ? Quadrilateral(corners) : Quadrilateral();
  }

  double area() const { return area_; }
  const Bounds& bounds() const { return bounds_; }
  const Piece* begin() const { return pieces_.data(); }
  const Piece* end() const { return pieces_.data() + count_; }

  /// Area shared with a convex polygon.
  template <std::size_t kMost>
  double shared(const Convex<kMost>& polygon) const {
    double sum = 0;
    for (const Piece& piece : *this) sum += piece.sign * shared_area(polygon, piece.convex);
    return sum;
  }
  double shared(const Quadrilateral& other) const {
    double sum = 0;
    for (const Piece& piece : other) sum += piece.sign * shared(piece.convex);
    return sum;
  }

 private:
  Quadrilateral() = default;
  explicit Quadrilateral(const std::array<Point, 4>& c) {
    const auto cross_at = [&](std::size_t i, std::size_t j, std::size_t k) { return depth(c[i], c[j], c[k]); };
    const double turns[] = {cross_at(0, 1, 2), cross_at(1, 2, 3), cross_at(2, 3, 0), cross_at(3, 0, 1)};
    const double whole = cross_at(0, 1, 2) + cross_at(0, 2, 3);
    area_ = std::abs(whole) / 2;
    for (const Point p : c) bounds_.add(p);
    if (std::all_of(std::begin(turns), std::end(turns), [](double turn) { return turn >= 0; })) {
      pieces_[count_++] = {{c, 4}, 1};
    } else if (std::all_of(std::begin(turns), std::end(turns), [](double turn) { return turn <= 0; })) {
      pieces_[count_++] = {{{c[3], c[2], c[1], c[0]}, 4}, 1};
    } else {
      const double sense = whole < 0 ? -1 : 1;
      add(c[0], c[1], c[2], sense);
      add(c[0], c[2], c[3], sense);
    }
  }
  /// A triangle that runs through its corners as the whole does, or counts negative.
  void add(Point a, Point b, Point c, double sense) {
    const double turn = depth(a, b, c), sign = sense * turn < 0 ? -1 : 1;
    pieces_[count_++] = turn < 0 ? Piece{{{a, c, b}, 3}, sign} : Piece{{{a, b, c}, 3}, sign};
  }

  std::array<Piece, 2> pieces_ = {};
  std::size_t count_ = 0;
  double area_ = std::numeric_limits<double>::quiet_NaN();
  Bounds bounds_;
};

/// What two polygons have in common: their bounds first, for most are far apart.
struct Shares {
  double area = 0;
  double whole = 0;  ///< of both

  double iou() const { return area > 0 ? area / whole : 0; }
};

/// `polygon`: another quadrilateral or a convex polygon, of this area and with these bounds.
template <class Polygon>
Shares shares(const Quadrilateral& quad, const Polygon& polygon, double area, const Bounds& bounds) {
  constexpr double kRounding = 1e-13;  // of those that only touch
  const double both = quad.area() + area;
  if (!quad.bounds().meets(bounds)) return {0, both};
  const double shared = quad.shared(polygon);
  if (!(shared > kRounding * both)) return {0, both};
  const double most = std::min({shared, area, quad.area()});  // sides that cross may share more
  return {most, both - most};
}
inline Shares shares(const Quadrilateral& a, const Quadrilateral& b) {
  return shares(a, b, b.area(), b.bounds());
}

}  // namespace mluops::cpu::polygon
