// The order in which non-maximum suppression looks at boxes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "backends/cpu/runtime/arena.h"

namespace mluops::cpu::spatial {

template <class A>
using Key = std::conditional_t<sizeof(A) == 8, std::uint64_t, std::uint32_t>;

/// Grows as scores fall; that of NaN comes before all others, 0 and -0 have the same.
template <class A>
Key<A> falling_key(A score) {
  if (score != score) return 0;
  const auto bits = std::bit_cast<Key<A>>(score + A{0});
  constexpr Key<A> sign = Key<A>{1} << (8 * sizeof(A) - 1);
  return (bits & sign) != 0 ? bits : ~bits & (sign - 1);
}

/// Boxes, best score first; equal scores in the order they came.
template <class A>
class Order {
 public:
  Order(Allocator& allocator, std::int64_t most)
      : keys_{allocator.allocate<Key<A>>(most), allocator.allocate<Key<A>>(most)},
        boxes_{allocator.allocate<std::int32_t>(most), allocator.allocate<std::int32_t>(most)} {}

  void add(std::int64_t box, A score) {
    keys_[0][size_] = falling_key(score);
    boxes_[0][size_++] = static_cast<std::int32_t>(box);
  }
  /// Stable, takes no memory: radix sort, whose counters alone cost more than a few boxes.
  void sort() {
    if (size_ <= kFew) return insert_one_by_one();
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(A)); shift += kDigitBits) sort_digit(shift);
  }
  std::int64_t size() const { return size_; }
  std::int32_t operator[](std::int64_t rank) const { return boxes_[0][rank]; }

 private:
  static constexpr std::int64_t kFew = 64;
  static constexpr int kDigitBits = 11;
  static constexpr Key<A> kDigits = Key<A>{1} << kDigitBits;

  void insert_one_by_one() {
    for (std::int64_t i = 1; i < size_; ++i) {
      const auto key = keys_[0][i];
      const auto box = boxes_[0][i];
      std::int64_t to = i;
      for (; to > 0 && keys_[0][to - 1] > key; --to) {
        keys_[0][to] = keys_[0][to - 1];
        boxes_[0][to] = boxes_[0][to - 1];
      }
      keys_[0][to] = key;
      boxes_[0][to] = box;
    }
  }
  void sort_digit(int shift) {
    const auto digit = [&](std::int64_t i) { return static_cast<std::size_t>((keys_[0][i] >> shift) & (kDigits - 1)); };
    std::array<std::int64_t, kDigits> next{};
    for (std::int64_t i = 0; i < size_; ++i) ++next[digit(i)];
    std::int64_t place = 0;
    for (std::int64_t& count : next) place += std::exchange(count, place);
    for (std::int64_t i = 0; i < size_; ++i) {
      const std::int64_t to = next[digit(i)]++;
      keys_[1][to] = keys_[0][i];
      boxes_[1][to] = boxes_[0][i];
    }
    std::swap(keys_[0], keys_[1]);
    std::swap(boxes_[0], boxes_[1]);
  }

  std::array<Key<A>*, 2> keys_;
  std::array<std::int32_t*, 2> boxes_;
  std::int64_t size_ = 0;
};

}  // namespace mluops::cpu::spatial
