// The order in which non-maximum suppression looks at boxes.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/spatial/radix_sort.h"

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
      : entries_(allocator.allocate<Entry>(most)), spare_(allocator.allocate<Entry>(most)) {}

  void add(std::int64_t box, A score) { entries_[size_++] = {falling_key(score), static_cast<std::int32_t>(box)}; }
  /// Once, behind all that is added. Stable, takes no memory: radix sort, whose counters alone cost more than a few
  /// boxes.
  void sort() {
    if (size_ <= kFew) return insert_one_by_one();
    entries_ = radix_sort(entries_, spare_, size_, [](const Entry& e) { return e.key; });
  }
  std::int64_t size() const { return size_; }
  std::int32_t operator[](std::int64_t rank) const { return entries_[rank].box; }

 private:
  static constexpr std::int64_t kFew = 64;

  struct Entry {
    Key<A> key;
    std::int32_t box;
  };

  void insert_one_by_one() {
    for (std::int64_t i = 1; i < size_; ++i) {
      const Entry entry = entries_[i];
      std::int64_t to = i;
      for (; to > 0 && entries_[to - 1].key > entry.key; --to) entries_[to] = entries_[to - 1];
      entries_[to] = entry;
    }
  }

  Entry *entries_, *spare_;
  std::int64_t size_ = 0;
};

}  // namespace mluops::cpu::spatial
