// The area two rotated boxes share, seen from above. A namespace of its own: Point and cross() have other meanings
// elsewhere in this room.
//
// The operations are OpenPCDet's, in its order, each rounded to A: which points become corners of the polygon decides
// about a margin of 0.01 and signs of small numbers, so another order would be another operator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/simd/element.h"

namespace mluops::cpu::flat_box {

template <class A>
struct Point {
  A x, y;

  Point operator-(const Point& o) const { return {x - o.x, y - o.y}; }
  Point operator+(const Point& o) const { return {x + o.x, y + o.y}; }
};

template <class A>
A cross(const Point<A>& a, const Point<A>& b) {
  return a.x * b.y - a.y * b.x;
}
/// The cross product of p1 - p0 and p2 - p0.
template <class A>
A cross(const Point<A>& p1, const Point<A>& p2, const Point<A>& p0) {
  return (p1.x - p0.x) * (p2.y - p0.y) - (p2.x - p0.x) * (p1.y - p0.y);
}

/// How far outside a box a corner may be and still count.
template <class A>
constexpr A kMargin = static_cast<A>(1e-2);
/// What counts as no difference, and as no area.
template <class A>
constexpr A kNothing = static_cast<A>(1e-8);

/// A box as seen from above.
template <class A>
struct FlatBox {
  Point<A> centre;
  A dx, dy, cosine, sine;
  A reach;  ///< boxes whose centres are further apart than their reaches share nothing, rounding and margin included
  Point<A> corners[5];  ///< in order, the first one again at the end

  /// From x, y, z, dx, dy, dz, angle; from each number to the next it is `step` elements.
  template <class T>
  static FlatBox read(const T* box, std::int64_t step = 1) {
    FlatBox b;
    b.centre = {to_acc(box[0]), to_acc(box[step])};
    b.dx = to_acc(box[3 * step]);
    b.dy = to_acc(box[4 * step]);
    const auto angle = static_cast<double>(to_acc(box[6 * step]));
    b.cosine = static_cast<A>(std::cos(angle));
    b.sine = static_cast<A>(std::sin(angle));
    const A x1 = b.centre.x - b.dx / 2, x2 = b.centre.x + b.dx / 2;
    const A y1 = b.centre.y - b.dy / 2, y2 = b.centre.y + b.dy / 2;
    const Point<A> flat[] = {{x1, y1}, {x2, y1}, {x2, y2}, {x1, y2}, {x1, y1}};
    for (int i = 0; i < 5; ++i) b.corners[i] = b.rotated(flat[i]);
    b.reach = std::sqrt(b.dx * b.dx + b.dy * b.dy) * static_cast<A>(0.501) + 2 * kMargin<A> +
              (std::abs(b.centre.x) + std::abs(b.centre.y)) * static_cast<A>(1e-6);
    return b;
  }

  A area() const { return dx * dy; }

  bool has(const Point<A>& p) const {
    const Point<A> d = p - centre;
    const A along_x = d.x * cosine + d.y * sine, along_y = d.y * cosine - d.x * sine;
    return std::abs(along_x) < dx / 2 + kMargin<A> && std::abs(along_y) < dy / 2 + kMargin<A>;
  }

 private:
  Point<A> rotated(const Point<A>& p) const {
    const Point<A> d = p - centre;
    return {d.x * cosine - d.y * sine + centre.x, d.x * sine + d.y * cosine + centre.y};
  }
};

/// The corners of the shared polygon, and its area.
template <class A>
class Polygon {
 public:
  void add(const Point<A>& p) {
    if (count_ == kMost) return;
    centre_ = centre_ + p;
    points_[count_++] = p;
  }

  A area() {
    centre_ = {centre_.x / static_cast<A>(count_), centre_.y / static_cast<A>(count_)};
    sort();
    A area = 0;
    for (int k = 0; k + 1 < count_; ++k) area += cross(points_[k] - points_[0], points_[k + 1] - points_[0]);
    return std::abs(area) / 2;
  }

 private:
  static constexpr int kMost = 24;  // 16 crossings of sides, 8 corners

  /// By the angle about the centre; equal ones stay in order.
  void sort() {
    A angles[kMost];
    for (int i = 0; i < count_; ++i) {
      const Point<A> d = points_[i] - centre_;
      const A angle = static_cast<A>(std::atan2(static_cast<double>(d.y), static_cast<double>(d.x)));
      const Point<A> point = points_[i];
      int at = i;
      for (; at > 0 && angles[at - 1] > angle; --at) {
        angles[at] = angles[at - 1];
        points_[at] = points_[at - 1];
      }
      angles[at] = angle;
      points_[at] = point;
    }
  }

  Point<A> centre_ = {0, 0};
  Point<A> points_[kMost];
  int count_ = 0;
};

/// Whether the rectangles about two sides meet.
template <class A>
bool rectangles_meet(const Point<A>& p0, const Point<A>& p1, const Point<A>& q0, const Point<A>& q1) {
  return std::min(p0.x, p1.x) <= std::max(q0.x, q1.x) && std::min(q0.x, q1.x) <= std::max(p0.x, p1.x) &&
         std::min(p0.y, p1.y) <= std::max(q0.y, q1.y) && std::min(q0.y, q1.y) <= std::max(p0.y, p1.y);
}

/// Adds the point where the sides p0 p1 and q0 q1 cross, if they do.
template <class A>
void add_crossing(const Point<A>& p0, const Point<A>& p1, const Point<A>& q0, const Point<A>& q1, Polygon<A>& polygon) {
  if (!rectangles_meet(p0, p1, q0, q1)) return;
  const A s1 = cross(q0, p1, p0), s2 = cross(p1, q1, p0), s3 = cross(p0, q1, q0), s4 = cross(q1, p1, q0);
  if (!(s1 * s2 > 0 && s3 * s4 > 0)) return;
  const A s5 = cross(q1, p1, p0);
  if (std::abs(s5 - s1) > kNothing<A>) {
    polygon.add({(s5 * q0.x - s1 * q1.x) / (s5 - s1), (s5 * q0.y - s1 * q1.y) / (s5 - s1)});
    return;
  }
  const A a0 = p0.y - p1.y, b0 = p1.x - p0.x, c0 = p0.x * p1.y - p1.x * p0.y;
  const A a1 = q0.y - q1.y, b1 = q1.x - q0.x, c1 = q0.x * q1.y - q1.x * q0.y;
  const A d = a0 * b1 - a1 * b0;
  polygon.add({(b0 * c1 - b1 * c0) / d, (a1 * c0 - a0 * c1) / d});
}

/// Far apart: comparisons with NaN say no, and such boxes take the long way to the same 0.
template <class A>
bool far_apart(const FlatBox<A>& a, const FlatBox<A>& b) {
  const Point<A> d = a.centre - b.centre;
  const A reach = a.reach + b.reach;
  return d.x * d.x + d.y * d.y > reach * reach;
}

template <class A>
A overlap(const FlatBox<A>& a, const FlatBox<A>& b) {
  if (far_apart(a, b)) return 0;
  Polygon<A> polygon;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      add_crossing(a.corners[i], a.corners[i + 1], b.corners[j], b.corners[j + 1], polygon);
    }
  }
  for (int k = 0; k < 4; ++k) {
    if (a.has(b.corners[k])) polygon.add(b.corners[k]);
    if (b.has(a.corners[k])) polygon.add(a.corners[k]);
  }
  return polygon.area();
}

/// The greater; the other where one is NaN.
template <class A>
A greater(A a, A b) {
  return a != a || b > a ? b : a;
}
template <class A>
A lesser(A a, A b) {
  return a != a || b < a ? b : a;
}

/// The overlap of the boxes before they are rotated.
template <class A>
A straight_overlap(const FlatBox<A>& a, const FlatBox<A>& b) {
  const A left = greater(a.centre.x - a.dx / 2, b.centre.x - b.dx / 2);
  const A right = lesser(a.centre.x + a.dx / 2, b.centre.x + b.dx / 2);
  const A top = greater(a.centre.y - a.dy / 2, b.centre.y - b.dy / 2);
  const A bottom = lesser(a.centre.y + a.dy / 2, b.centre.y + b.dy / 2);
  return greater(right - left, A{0}) * greater(bottom - top, A{0});
}

}  // namespace mluops::cpu::flat_box
