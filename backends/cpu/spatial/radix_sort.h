// Sorting by a whole number: what no data can slow down.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace mluops::cpu::spatial {

/// Sorts items [0, n) by key(item), a number from 0 on; equal ones keep their order. `spare` has room for as many.
/// Returns which of the two arrays holds them.
template <class T, class Key>
T* radix_sort(T* items, T* spare, std::int64_t n, const Key& key) {
  constexpr int kMostBits = 11;
  const int digit_bits = n < 512 ? 8 : kMostBits;  // few items: their counters would take longer than they
  const std::size_t digits = std::size_t{1} << digit_bits;
  std::array<std::int64_t, std::size_t{1} << kMostBits> next;
  std::uint64_t different = 0;  ///< bits
  bool sorted = true;
  for (std::int64_t i = 0; i < n; ++i) {
    sorted = sorted && (i == 0 || key(items[i - 1]) <= key(items[i]));
    different |= static_cast<std::uint64_t>(key(items[i]) ^ key(items[0]));
  }
  if (sorted) return items;
  for (int shift = 0; shift < 64 && different >> shift > 0; shift += digit_bits) {
    const auto digit = [&](const T& item) { return static_cast<std::size_t>(key(item) >> shift & (digits - 1)); };
    std::fill_n(next.begin(), digits, 0);
    for (std::int64_t i = 0; i < n; ++i) ++next[digit(items[i])];
    std::int64_t place = 0;
    for (std::size_t d = 0; d < digits; ++d) place += std::exchange(next[d], place);
    for (std::int64_t i = 0; i < n; ++i) spare[next[digit(items[i])]++] = items[i];
    std::swap(items, spare);
  }
  return items;
}

}  // namespace mluops::cpu::spatial
