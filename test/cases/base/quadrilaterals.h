// Quadrilaterals in a scene of 100 x 100, and sets of nine points.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "test/cases/base/fill.h"

namespace mluops::cases {

inline constexpr const char* kQuadrilateralKinds =
    "random (rotated boxes, either way round) | concave | grid (whole numbers) | same | flat (some without area) | "
    "wild (some NaN, infinite) | small (few meet)";
inline constexpr const char* kPointsetKinds =
    "random | small (few meet) | grid (whole numbers, some equal) | line (all on one) | point (all equal) | wild (some "
    "NaN, infinite)";

/// NaN or infinite, now and then, where kind is wild; else number(i).
inline Fill now_and_then_wild(const std::string& kind, std::uint64_t seed, Fill number) {
  if (kind != "wild") return number;
  return [=](std::int64_t i) {
    const double luck = unit_random(seed + 1, i);
    if (luck < 0.02) return std::numeric_limits<double>::quiet_NaN();
    if (luck < 0.04) return (luck < 0.03 ? 1 : -1) * std::numeric_limits<double>::infinity();
    return number(i);
  };
}

/// Number k of a quadrilateral: x and y of its corners, its score.
inline double quadrilateral_number(const std::string& kind, const Fill& unit, std::int64_t polygon, std::int64_t k) {
  const auto own = [&](std::int64_t i) { return unit((kind == "same" ? 0 : polygon) * 8 + i); };
  if (k == 8) return unit(polygon * 8 + 7);
  const bool flat = kind == "flat" && own(5) < 0.5;
  std::array<double, 4> size = {own(2), flat ? 0 : own(3), own(0), own(1)};
  if (kind == "grid") {
    size = {1 + std::floor(3 * own(2)), 1 + std::floor(3 * own(3)), std::floor(10 * own(0)), std::floor(10 * own(1))};
  } else {
    const double least = kind == "small" ? 0.2 : 2, most = kind == "small" ? 1.8 : 23;
    size = {least + most * size[0], flat ? 0 : least + most * size[1], 100 * size[2], 100 * size[3]};
  }
  const std::int64_t turned = own(4) < 0.5 ? k / 2 : 3 - k / 2;  // the way round
  const double right = turned == 1 || turned == 2 ? 1 : 0, up = turned >= 2 ? 1 : 0;
  const bool dent = kind == "concave" && turned == 3;  // beyond the diagonal between its neighbours
  const double x = size[0] * (dent ? 0.7 : right), y = size[1] * (dent ? 0.45 : up);
  if (kind == "grid") return k % 2 == 0 ? size[2] + x : size[3] + y;
  const double turn = 8 * own(6), cos = std::cos(turn), sin = std::sin(turn);
  return k % 2 == 0 ? size[2] + x * cos - y * sin : size[3] + x * sin + y * cos;
}

/// Element i of quadrilaterals [..., width], 8 or with a score 9.
inline Fill quadrilaterals(const std::string& kind, std::int64_t width, std::uint64_t seed) {
  if (std::string(kQuadrilateralKinds).find(kind) == std::string::npos) {
    throw std::invalid_argument("boxes: wanted " + std::string(kQuadrilateralKinds) + ", got " + kind);
  }
  const Fill unit = uniform(0, 1, seed);
  return now_and_then_wild(kind, seed,
                           [=](std::int64_t i) { return quadrilateral_number(kind, unit, i / width, i % width); });
}

/// Element i of point sets [..., 18], each about a centre of its own, some over all of the scene.
inline Fill pointsets(const std::string& kind, std::uint64_t seed) {
  if (std::string(kPointsetKinds).find(kind) == std::string::npos) {
    throw std::invalid_argument("sets: wanted " + std::string(kPointsetKinds) + ", got " + kind);
  }
  const Fill unit = uniform(0, 1, seed), place = uniform(0, 1, seed + 2);
  return now_and_then_wild(kind, seed, [=](std::int64_t i) {
    const std::int64_t set = i / 18, axis = i % 2;
    const double centre = 100 * place(3 * set + axis), wide = place(3 * set + 2);
    if (kind == "grid") return std::floor(centre / 10) + std::floor(4 * unit(i));
    if (kind == "point") return centre;
    if (kind == "line") return centre + (axis == 0 ? 8 : 5) * std::floor(6 * unit(i - axis));
    return centre + (kind == "small" ? 3 : 8 + 90 * wide * wide * wide) * (unit(i) - 0.5);
  });
}

}  // namespace mluops::cases
