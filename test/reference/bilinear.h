// Sample coordinates and the two pixels per axis a bilinear sample reads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "test/reference/reference.h"

namespace mluops::reference {

/// Arithmetic on coordinates: each operation is done in double and rounded once to the chosen precision, which for
/// + - * / gives exactly what that precision's own operation gives.
class Rounding {
 public:
  explicit Rounding(Coordinates precision) : precision_(precision) {}

  double operator()(double v) const {
    if (precision_ == Coordinates::kFloat) return static_cast<float>(v);
    if (precision_ == Coordinates::kHalf) return to_half(v);
    return v;
  }
  double add(double a, double b) const { return (*this)(a + b); }
  double sub(double a, double b) const { return (*this)(a - b); }
  double mul(double a, double b) const { return (*this)(a * b); }
  double div(double a, double b) const { return (*this)(a / b); }

 private:
  // Nearest multiple of the spacing at v, ties to even.
  static double to_half(double v) {
    if (v == 0 || !std::isfinite(v)) return v;
    const double spacing = std::ldexp(1.0, std::max(std::ilogb(v), -14) - 10);
    const double rounded = std::nearbyint(v / spacing) * spacing;
    return std::fabs(rounded) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), v) : rounded;
  }

  Coordinates precision_;
};

/// Where one coordinate falls on an axis of `size` pixels.
struct Axis {
  bool inside;             ///< -1 <= coordinate <= size; NaN is outside
  double coordinate;       ///< as given
  std::int64_t low, high;  ///< the pixels read; equal on the last pixel
  double fraction;         ///< weight of high; low weighs 1 - fraction
};

inline Axis locate(double coordinate, std::int64_t size) {
  if (!(coordinate >= -1 && coordinate <= static_cast<double>(size))) return {false, coordinate, 0, 0, 0};
  const double last = static_cast<double>(size - 1);
  const double clamped = std::clamp(coordinate, 0.0, last);
  const double low = std::floor(clamped);
  return {true, coordinate, static_cast<std::int64_t>(low), static_cast<std::int64_t>(std::min(low + 1, last)),
          clamped - low};
}

}  // namespace mluops::reference
