// Sizes of tensors: products that notice overflow, rounding to multiples.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace mluops {

/// Product of non-negative factors; nullopt when it leaves int64 (a zero factor gives 0 whatever the others are).
inline std::optional<std::int64_t> checked_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  bool overflow = false;
  for (std::int64_t f : factors) {
    if (f == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(product, f, &product);
  }
  if (overflow) return std::nullopt;
  return product;
}

inline constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
inline constexpr std::int64_t round_up(std::int64_t a, std::int64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}
inline constexpr std::int64_t round_down(std::int64_t a, std::int64_t multiple) {
  return a / multiple * multiple;
}

}  // namespace mluops
