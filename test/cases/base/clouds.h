// Coordinates of point clouds, the kinds that search and sampling tell apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "test/cases/base/fill.h"

namespace mluops::cases {

inline constexpr const char* kCloudKinds =
    "uniform (in a cube) | surface (of a sphere) | grid (ties, repeated points) | lattice (fine) | line | places (8) | "
    "blocks (two, of equal points) | padded (the last half zeros) | same (all one) | wild (NaN, Inf)";

/// Element i of clouds of so many points, [..., points, 3].
inline Fill cloud(const std::string& kind, std::uint64_t seed, std::int64_t points = 1024) {
  const Fill in_cube = uniform(-1, 1, seed);
  const auto in_last_half = [=](std::int64_t i) { return i / 3 % points >= points / 2; };
  if (kind == "padded") return [=](std::int64_t i) { return in_last_half(i) ? 0 : in_cube(i); };
  if (kind == "blocks") return [=](std::int64_t i) { return in_last_half(i) ? 0.5 : -0.5; };
  if (kind == "line") return [=](std::int64_t i) { return i % 3 == 0 ? in_cube(i) : 0; };
  if (kind == "places") {
    return [places = integers(0, 1, seed)](std::int64_t i) { return 0.25 * static_cast<double>(places(i)); };
  }
  if (kind == "lattice") {
    return [steps = integers(-64, 64, seed)](std::int64_t i) { return static_cast<double>(steps(i)) / 64; };
  }
  if (kind == "uniform") return in_cube;
  if (kind == "same") return [](std::int64_t i) { return 0.25 * static_cast<double>(i % 3); };
  if (kind == "grid") return [steps = integers(0, 5, seed)](std::int64_t i) { return 0.25 * steps(i); };
  if (kind == "surface") {
    return [=](std::int64_t i) {
      const std::int64_t x = i - i % 3;
      return in_cube(i) / std::max(1e-3, std::hypot(in_cube(x), in_cube(x + 1), in_cube(x + 2)));
    };
  }
  if (kind != "wild") throw std::invalid_argument("data: wanted " + std::string(kCloudKinds) + ", got " + kind);
  return [=](std::int64_t i) {
    const double infinity = std::numeric_limits<double>::infinity(), luck = unit_random(seed + 1, i);
    if (luck < 0.02) return std::numeric_limits<double>::quiet_NaN();
    return luck < 0.04 ? infinity : luck < 0.05 ? -infinity : in_cube(i);
  };
}

}  // namespace mluops::cases
