// The convex hull of a few points.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/spatial/polygon.h"

namespace mluops::cpu::polygons {

using polygon::Bounds;
using polygon::Convex;
using polygon::cross;
using polygon::Point;
using polygon::Quadrilateral;

constexpr std::size_t kPoints = 9;  ///< of a set

/// Counterclockwise from the lowest corner, of several such the leftmost; points on a side are no corners, of equal
/// ones the first may be one. Without corners where a number is not finite.
template <std::size_t kMost>
struct Hull {
  Convex<kMost> convex;
  std::array<std::uint8_t, kMost> point;  ///< which one a corner is
  Bounds bounds;
  double area;

  explicit Hull(const std::array<Point, kMost>& points) : convex{.corner = {}, .count = 0}, point{}, area(0) {
    if (!std::all_of(points.begin(), points.end(), [](Point p) { return p.is_finite(); })) return;
    for (const Point p : points) bounds.add(p);
    chain(points);
    area = convex.area();
  }

 private:
  /// Andrew's monotone chains: up along the right side, down along the left one.
  void chain(const std::array<Point, kMost>& points) {
    std::array<std::uint8_t, kMost> order;
    std::size_t count = 0;
    for (std::size_t i = 0; i < kMost; ++i) {
      const Point p = points[i];
      std::size_t at = count++;
      for (; at > 0 && lower(p, points[order[at - 1]]); --at) order[at] = order[at - 1];
      order[at] = static_cast<std::uint8_t>(i);
    }
    const auto same = [&](std::uint8_t i, std::uint8_t j) { return points[i] == points[j]; };
    count = static_cast<std::size_t>(std::unique(order.begin(), order.end(), same) - order.begin());
    std::array<std::uint8_t, 2 * kMost> way;  // the points of both chains, until later ones take them out
    std::size_t n = 0;
    const auto grow = [&](std::uint8_t i, std::size_t first) {
      while (n >= first + 2 && polygon::depth(points[way[n - 2]], points[way[n - 1]], points[i]) <= 0) --n;
      way[n++] = i;
    };
    for (std::size_t i = 0; i < count; ++i) grow(order[i], 0);
    const std::size_t top = n - 1;
    for (std::size_t i = count - 1; i > 0; --i) grow(order[i - 1], top);
    if (n > 1) --n;                     // the first again
    convex.count = std::min(n, kMost);  // beyond only where products leave double
    for (std::size_t i = 0; i < convex.count; ++i) {
      convex.corner[i] = points[way[i]];
      point[i] = way[i];
    }
  }
  static bool lower(Point a, Point b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
};

using SetHull = Hull<kPoints>;

template <class T>
std::array<Point, kPoints> read_set(const T* numbers) {
  std::array<Point, kPoints> points;
  for (std::size_t i = 0; i < kPoints; ++i) points[i] = polygon::read_point(numbers, i);
  return points;
}

/// The kernels' results, in double, as elements.
template <class T>
T as_element(double value) {
  return from_acc<T>(static_cast<Acc<T>>(value));
}

}  // namespace mluops::cpu::polygons
