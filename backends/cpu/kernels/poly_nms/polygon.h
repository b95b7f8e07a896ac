// Quadrilaterals, and what two of them share.
//
// One that is convex is one piece; another one is two triangles, of which one counts negative where the quadrilateral
// is concave: the sum of their areas is its area, and of what pairs of pieces share, what two quadrilaterals share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace mluops::cpu::poly_nms {

struct Point {
  double x, y;
  Point operator-(Point other) const { return {x - other.x, y - other.y}; }
};

inline double cross(Point a, Point b) {
  return a.x * b.y - a.y * b.x;
}

/// A convex polygon, counterclockwise; room for what four cuts leave of a quadrilateral.
struct Convex {
  std::array<Point, 8> corner;
  std::size_t count;
  double sign;

  double area() const {
    double twice = 0;
    for (std::size_t i = 2; i < count; ++i) twice += cross(corner[i - 1] - corner[0], corner[i] - corner[0]);
    return twice / 2;
  }
  /// Sutherland and Hodgman: what is left of the side from a to b. A cut adds a corner at most, but for roundings.
  void cut(Point a, Point b) {
    const Convex from = *this;
    count = 0;
    const auto side = [&](Point p) { return cross(b - a, p - a); };
    const auto add = [this](Point p) {
      if (count < corner.size()) corner[count++] = p;
    };
    for (std::size_t i = 0; i < from.count; ++i) {
      const Point p = from.corner[i], q = from.corner[i + 1 == from.count ? 0 : i + 1];
      const double of_p = side(p), of_q = side(q);
      if (of_p >= 0) add(p);
      if ((of_p >= 0) == (of_q >= 0)) continue;
      const double share = of_p / (of_p - of_q);
      add({p.x + (q.x - p.x) * share, p.y + (q.y - p.y) * share});
    }
  }
};

class Polygon {
 public:
  template <class T>
  static Polygon of(const T* numbers) {
    std::array<Point, 4> corners;
    bool there = true;
    for (std::size_t i = 0; i < 4; ++i) {
      corners[i] = {static_cast<double>(to_acc(numbers[2 * i])), static_cast<double>(to_acc(numbers[2 * i + 1]))};
      there = there && std::isfinite(corners[i].x) && std::isfinite(corners[i].y);
    }
    return there ? Polygon(corners) : Polygon();
  }

  /// Shared area over that of both; 1 where both have none, and 0 where one is not there.
  static double iou(const Polygon& a, const Polygon& b) {
    if (a.area_ == 0 && b.area_ == 0) return 1;
    if (!(a.low_.x < b.high_.x && b.low_.x < a.high_.x && a.low_.y < b.high_.y && b.low_.y < a.high_.y)) return 0;
    double shared = 0;
    for (std::size_t i = 0; i < a.count_; ++i) {
      for (std::size_t j = 0; j < b.count_; ++j) {
        const Convex &clip = a.pieces_[i], &piece = b.pieces_[j];
        Convex left = piece;
        for (std::size_t k = 0; k < clip.count; ++k) left.cut(clip.corner[k], clip.corner[(k + 1) % clip.count]);
        shared += clip.sign * piece.sign * left.area();
      }
    }
    constexpr double kRounding = 1e-13;  // of those that only touch
    return shared > kRounding * (a.area_ + b.area_) ? shared / (a.area_ + b.area_ - shared) : 0;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Polygon() = default;
  explicit Polygon(const std::array<Point, 4>& c) {
    const auto cross_at = [&](std::size_t i, std::size_t j, std::size_t k) { return cross(c[j] - c[i], c[k] - c[i]); };
    const double whole = cross_at(0, 1, 2) + cross_at(0, 2, 3);
    const bool left =
        cross_at(0, 1, 2) >= 0 && cross_at(1, 2, 3) >= 0 && cross_at(2, 3, 0) >= 0 && cross_at(3, 0, 1) >= 0;
    const bool right =
        cross_at(0, 1, 2) <= 0 && cross_at(1, 2, 3) <= 0 && cross_at(2, 3, 0) <= 0 && cross_at(3, 0, 1) <= 0;
    area_ = std::abs(whole) / 2;
    low_ = high_ = c[0];
    for (const Point p : c) {
      low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y)};
      high_ = {std::max(high_.x, p.x), std::max(high_.y, p.y)};
    }
    if (left || right) {
      count_ = 1;
      pieces_[0] = left ? Convex{{c[0], c[1], c[2], c[3]}, 4, 1} : Convex{{c[3], c[2], c[1], c[0]}, 4, 1};
      return;
    }
    const double sense = whole < 0 ? -1 : 1;
    add(c[0], c[1], c[2], sense * cross_at(0, 1, 2));
    add(c[0], c[2], c[3], sense * cross_at(0, 2, 3));
  }
  /// A triangle that runs through its corners as the whole does, or counts negative.
  void add(Point a, Point b, Point c, double sense) {
    const bool clockwise = cross(b - a, c - a) < 0;
    pieces_[count_++] =
        clockwise ? Convex{{a, c, b}, 3, sense < 0 ? -1.0 : 1.0} : Convex{{a, b, c}, 3, sense < 0 ? -1.0 : 1.0};
  }

  std::array<Convex, 2> pieces_ = {};
  std::size_t count_ = 0;
  double area_ = std::numeric_limits<double>::quiet_NaN();
  Point low_ = {kInfinity, kInfinity}, high_ = {-kInfinity, -kInfinity};
};

}  // namespace mluops::cpu::poly_nms
