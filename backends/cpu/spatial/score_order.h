// The order in which non-maximum suppression looks at boxes.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/spatial/parallel_sort.h"

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
  Order(Allocator& allocator, const mluopsCall& call, std::int64_t most)
      : sort_(allocator, call, most), entries_(sort_.items()) {}

  void add(std::int64_t box, A score) { entries_[size_++] = entry(box, score); }
  /// Boxes [0, n), the only ones: score(box).
  template <class Score>
  void add_all(const Context& context, const mluopsCall& call, std::int64_t n, const Score& score) {
    size_ = n;
    Loop(context, call, n, 2 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) entries_[i] = entry(i, score(i));
    });
  }
  /// Once, behind all that is added. Stable, takes no memory: radix sort, whose counters alone cost more than a few
  /// boxes.
  void sort(const Context& context, const mluopsCall& call) {
    if (size_ <= kFew) return insert_one_by_one();
    entries_ = sort_.run(context, call, size_, [](const Entry& e) { return e.key; });
  }
  std::int64_t size() const { return size_; }
  std::int32_t operator[](std::int64_t rank) const { return entries_[rank].box; }

 private:
  static constexpr std::int64_t kFew = 64;

  struct Entry {
    Key<A> key;
    std::int32_t box;
  };

  static Entry entry(std::int64_t box, A score) { return {falling_key(score), static_cast<std::int32_t>(box)}; }

  void insert_one_by_one() {
    for (std::int64_t i = 1; i < size_; ++i) {
      const Entry entry = entries_[i];
      std::int64_t to = i;
      for (; to > 0 && entries_[to - 1].key > entry.key; --to) entries_[to] = entries_[to - 1];
      entries_[to] = entry;
    }
  }

  ParallelSort<Entry> sort_;
  Entry* entries_;
  std::int64_t size_ = 0;
};

}  // namespace mluops::cpu::spatial
