// Boxes about clouds of test/cases/base/clouds.h, which lie in [-1, 1]: what the operators on points in boxes tell
// apart.
#pragma once

#include <limits>
#include <stdexcept>
#include <string>

#include "test/cases/base/fill.h"

namespace mluops::cases {

inline constexpr const char* kUprightBoxKinds =
    "random (sides up to 1) | small (sides up to 0.2) | grid (not rotated, sides on the points of data=grid) | same "
    "(all "
    "one) | wild (NaN, Inf, negative sides)";

/// Element i of boxes [..., 7]: x, y, z, the sides, the rotation about z.
inline Fill upright_boxes(const std::string& kind, std::uint64_t seed) {
  const Fill unit = uniform(0, 1, seed);
  const auto box = [unit](std::int64_t i, double most, std::int64_t which) {
    const std::int64_t number = i % 7;
    const double u = unit(which * 7 + number);
    return number < 3 ? 2 * u - 1 : number < 6 ? most * u : 8 * u - 4;
  };
  if (kind == "random") return [=](std::int64_t i) { return box(i, 1, i / 7); };
  if (kind == "small") return [=](std::int64_t i) { return box(i, 0.2, i / 7); };
  if (kind == "same") return [=](std::int64_t i) { return box(i, 1, 0); };
  if (kind == "grid") {
    return [steps = integers(0, 4, seed)](std::int64_t i) {
      const std::int64_t number = i % 7;
      return number == 6 ? 0.0 : 0.25 * steps(i) + (number < 3 ? 0.0 : 0.25);
    };
  }
  if (kind != "wild") throw std::invalid_argument("boxes: wanted " + std::string(kUprightBoxKinds) + ", got " + kind);
  return [=](std::int64_t i) {
    const double infinity = std::numeric_limits<double>::infinity(), luck = unit_random(seed + 1, i);
    if (luck < 0.02) return std::numeric_limits<double>::quiet_NaN();
    if (luck < 0.04 && i % 7 != 6) return luck < 0.03 ? infinity : -infinity;
    return (luck < 0.1 && i % 7 > 2 ? -1 : 1) * box(i, 1, i / 7);
  };
}

}  // namespace mluops::cases
