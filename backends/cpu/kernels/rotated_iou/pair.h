// A pair of boxes rotated about z: IoU and gradient out of the area that they share seen from above; in double.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "backends/cpu/spatial/polygon.h"

namespace mluops::cpu::rotated_iou {

using polygon::Point;

/// The numbers of a box, or a gradient by them. A rectangle has z = 0, l = 1.
struct Box {
  double x, y, z, w, h, l, angle;

  template <class T>
  static Box read(const T* numbers, bool flat) {
    const auto at = [numbers](int i) { return static_cast<double>(to_acc(numbers[i])); };
    if (flat) return {at(0), at(1), 0, at(2), at(3), 1, at(4)};
    return {at(0), at(1), at(2), at(3), at(4), at(5), at(6)};
  }
  template <class T>
  void write(T* numbers, bool flat) const {
    const auto put = [&numbers](double v) { *numbers++ = from_acc<T>(static_cast<Acc<T>>(v)); };
    put(x), put(y);
    if (!flat) put(z);
    put(w), put(h);
    if (!flat) put(l);
    put(angle);
  }
  Box times(double v) const { return {x * v, y * v, z * v, w * v, h * v, l * v, angle * v}; }
  double volume() const { return w * h * l; }
  bool is_finite() const {
    const double numbers[] = {x, y, z, angle, volume()};
    return std::all_of(std::begin(numbers), std::end(numbers), [](double v) { return std::isfinite(v); });
  }
};

/// The derivative of max(v, 0); at 0 the mean of those in both directions.
inline double step(double v) {
  return v > 0 ? 1 : v == 0 ? 0.5 : 0;
}

/// What boxes share along z, and its derivatives by z and l of the first.
struct Height {
  double value, by_z, by_l, by_other_l;

  Height(const Box& a, const Box& b) {
    const double top = a.z + a.l / 2, bottom = a.z - a.l / 2, other_top = b.z + b.l / 2, other_bottom = b.z - b.l / 2;
    const double high = step(other_top - top), low = step(bottom - other_bottom);  // how much the first decides
    const double height = std::min(top, other_top) - std::max(bottom, other_bottom), there = step(height);
    value = std::max(height, 0.0);
    by_z = there * (high - low);
    by_l = there * (high + low) / 2;
    by_other_l = there - by_l;
  }
};

/// Seen from above; sizes are halved.
struct Rectangle {
  Point centre, half;
  double cos, sin;

  Point to_own_axes(Point p) const { return {p.x * cos + p.y * sin, p.y * cos - p.x * sin}; }
  Point from_own_axes(Point p) const { return {p.x * cos - p.y * sin, p.x * sin + p.y * cos}; }
};

/// Which part of the way from a to b is inside of a rectangle, and how much of it counts: half on a side.
struct Part {
  double from = 0, to = 1, share = 1;

  Part(Point half, Point a, Point b, double rounding) {
    cut(half.x - a.x, half.x - b.x, rounding);
    cut(half.y - a.y, half.y - b.y, rounding);
    cut(half.x + a.x, half.x + b.x, rounding);
    cut(half.y + a.y, half.y + b.y, rounding);
    to = std::max(from, to);
  }

 private:
  /// Distances of both ends inwards of a side.
  void cut(double of_a, double of_b, double rounding) {
    if (std::max(std::abs(of_a), std::abs(of_b)) <= rounding) {
      share = 0.5;
    } else if (of_a < 0 && of_b < 0) {
      to = 0;
    } else if (of_a < 0) {
      from = std::max(from, of_a / (of_a - of_b));
    } else if (of_b < 0) {
      to = std::min(to, of_a / (of_a - of_b));
    }
  }
};

/// The derivative of the shared area by x, y, w, h and angle of `own`: it grows where parts of sides that are inside of
/// the other one move outwards. Sides on each other count half: the mean of both directions.
inline Box shared_area_gradient(const Rectangle& own, const Rectangle& other) {
  constexpr std::array<Point, 4> kCorners = {{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}};
  if (!(other.half.x > 0 && other.half.y > 0)) return {};
  const Point between = own.centre - other.centre;
  std::array<Point, 4> corner;  // along the axes of the other
  double size = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const Point arm = own.from_own_axes({kCorners[k].x * own.half.x, kCorners[k].y * own.half.y});
    corner[k] = other.to_own_axes({between.x + arm.x, between.y + arm.y});
    size = std::max({size, other.half.x + std::abs(corner[k].x), other.half.y + std::abs(corner[k].y)});
  }
  std::array<double, 4> length;  // of the parts: of the sides along +y, -x, -y, +x
  double angle = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const Part part(other.half, corner[k], corner[(k + 1) % 4], 64 * std::numeric_limits<double>::epsilon() * size);
    const double half = k % 2 == 0 ? own.half.x : own.half.y;
    length[k] = 2 * half * part.share * (part.to - part.from);
    angle += half * length[k] * (1 - part.from - part.to);
  }
  const Point centre = own.from_own_axes({length[3] - length[1], length[0] - length[2]});
  return {centre.x, centre.y, 0, (length[1] + length[3]) / 2, (length[0] + length[2]) / 2, 0, angle};
}

/// Shared over united.
struct Iou {
  Height height;
  double area, united, value;

  Iou(const Box& a, const Box& b, double shared_area) : height(a, b), area(shared_area) {
    const double shared = area * height.value;
    united = a.volume() + b.volume() - shared;
    value = united > 0 ? shared / united : 0;
  }

  /// The IoU's gradient by `box`, given the shared area's and the derivatives of the shared height by its z and l.
  Box gradient(const Box& box, Box of_area, double by_z, double by_l) const {
    if (!(united > 0)) return {};
    const auto sign = [](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; };
    const double by_shared = (1 + value) / united, by_area = by_shared * height.value, by_volume = -value / united;
    return {by_area * of_area.x,
            by_area * of_area.y,
            by_shared * area * by_z,
            by_area * of_area.w * sign(box.w) + by_volume * box.h * box.l,
            by_area * of_area.h * sign(box.h) + by_volume * box.w * box.l,
            by_shared * area * by_l + by_volume * box.w * box.h,
            by_area * of_area.angle};
  }
};

}  // namespace mluops::cpu::rotated_iou
