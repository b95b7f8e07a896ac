// Arithmetic as a device core does it on one value: float, or binary16 rounded to nearest even after every operation.
// Half values are held as the double they equal and share no conversion with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "test/emu/support.h"

namespace mluops::emu::test {

/// A value of element type T (float or Half).
template <class T>
class Scalar {
 public:
  Scalar() = default;
  Scalar(double value) : value_(rounded(value)) {}  // NOLINT: literals and integers convert as in device code
  Scalar(T stored) requires std::is_same_v<T, Half> : value_(decode(stored.bits)) {}  // NOLINT

  double value() const { return value_; }
  T stored() const {
    if constexpr (std::is_same_v<T, float>) {
      return static_cast<float>(value_);
    } else {
      return {encode(value_)};
    }
  }

  // A double holds sums, products and quotients of floats and halves well enough that rounding twice changes nothing.
  friend Scalar operator+(Scalar a, Scalar b) { return a.value_ + b.value_; }
  friend Scalar operator-(Scalar a, Scalar b) { return a.value_ - b.value_; }
  friend Scalar operator*(Scalar a, Scalar b) { return a.value_ * b.value_; }
  friend Scalar operator/(Scalar a, Scalar b) { return a.value_ / b.value_; }
  friend Scalar operator-(Scalar a) { return -a.value_; }
  friend bool operator<(Scalar a, Scalar b) { return a.value_ < b.value_; }
  friend bool operator<=(Scalar a, Scalar b) { return a.value_ <= b.value_; }
  friend bool operator>(Scalar a, Scalar b) { return a.value_ > b.value_; }

  /// a * b + c rounded once.
  friend Scalar fused(Scalar a, Scalar b, Scalar c) {
    if constexpr (std::is_same_v<T, float>) {
      // Not std::fma, which rounds the product in mingw's C library. The product is exact here.
      return static_cast<float>(static_cast<long double>(a.stored()) * b.stored() + c.stored());
    } else {
      return a.value_ * b.value_ + c.value_;
    }
  }

 private:
  static double rounded(double value) {
    if constexpr (std::is_same_v<T, float>) return static_cast<float>(value);
    if (!std::isfinite(value) || value == 0) return value;
    const double quantum = std::ldexp(1.0, std::max(std::ilogb(value), -14) - 10);
    const double nearest = std::nearbyint(value / quantum) * quantum;
    return std::fabs(nearest) >= 65520 ? std::copysign(HUGE_VAL, value) : nearest;
  }
  static double decode(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
  static std::uint16_t encode(double value) {
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (std::isnan(value)) return 0x7e00;
    if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude < 0x1p-14) return static_cast<std::uint16_t>(sign | static_cast<int>(magnitude * 0x1p24));
    const int exponent = std::ilogb(magnitude);
    const int fraction = static_cast<int>(std::ldexp(magnitude, 10 - exponent)) - 1024;
    return static_cast<std::uint16_t>(sign | ((exponent + 15) << 10) | fraction);
  }

  double value_ = 0;
};

/// Whole part of a coordinate; NaN gives 0.
template <class T>
std::int64_t whole(Scalar<T> s) {
  return std::isnan(s.value()) ? 0 : static_cast<std::int64_t>(s.value());
}

/// The two neighbours of a coordinate on an axis of `size` pixels and the weight of the upper one.
template <class T>
struct AxisPoint {
  bool outside = false;
  std::int64_t low = 0, high = 0;
  Scalar<T> weight_low, weight_high;

  AxisPoint() = default;
  AxisPoint(Scalar<T> at, std::int64_t size) {
    outside = at.value() < -1 || at.value() > static_cast<double>(size);
    if (outside) return;
    if (at.value() <= 0) at = 0.0;
    low = whole(at);
    high = low + 1;
    if (low >= size - 1) {
      low = high = size - 1;
      at = static_cast<double>(low);
    }
    weight_high = at - Scalar<T>(static_cast<double>(low));
    weight_low = Scalar<T>(1.0) - weight_high;
  }
};

template <class T>
std::vector<T> uniform_values(std::int64_t count, double low, double high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) v = Scalar<T>(uniform(generator)).stored();
  return values;
}

}  // namespace mluops::emu::test
