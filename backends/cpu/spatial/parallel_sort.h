// The sort of radix_sort.h by the threads of a call.
//
// The items are cut into parts. For each digit, a part counts its items by digit, the counts are summed up in the order
// digit, part, and each part moves its items to the places that are its own. The sort is stable, so the result does not
// depend on the number of parts. Digits are shorter than with one thread: the sums are the serial share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/spatial/radix_sort.h"

namespace mluops::cpu::spatial {

template <class T>
class ParallelSort {
 public:
  ParallelSort(Allocator& allocator, const mluopsCall& call, std::int64_t n)
      : n_(n),
        parts_(std::clamp<std::int64_t>(n / kLeastItems, 1, call.threads)),
        items_(allocator.allocate<T>(n)),
        spare_(allocator.allocate<T>(n)),
        counts_(allocator.allocate<std::int64_t>(parts_, kDigits)) {}

  /// [n], to be written before the sort.
  T* items() const { return items_; }

  /// Sorts by key(item), a number from 0 on; equal ones keep their order. Returns the sorted items.
  template <class Key>
  T* run(const Context& context, const mluopsCall& call, const Key& key) const {
    const double part_ns = cost::kStep * static_cast<double>(n_) / static_cast<double>(parts_);
    const Loop loop(context, call, parts_, part_ns);
    if (loop.slots() == 1) return radix_sort(items_, spare_, n_, key);
    T *from = items_, *to = spare_;
    const std::uint64_t most = largest_unless_sorted(loop, key);
    for (int shift = 0; shift < 64 && most >> shift > 0; shift += kDigitBits) {
      move(loop, from, to,
           [&](const T& item) { return static_cast<std::uint64_t>(key(item)) >> shift & (kDigits - 1); });
      std::swap(from, to);
    }
    return from;
  }

 private:
  static constexpr int kDigitBits = 8;
  static constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigitBits;
  static constexpr std::int64_t kLeastItems = 2048;  ///< of a part: far more than digits

  std::int64_t begin(std::int64_t part) const { return part * n_ / parts_; }

  /// body(part)
  template <class Body>
  static void each(const Loop& loop, const Body& body) {
    loop.run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t part = first; part < last; ++part) body(part);
    });
  }

  /// The largest key; 0 where the items are in order already.
  template <class Key>
  std::uint64_t largest_unless_sorted(const Loop& loop, const Key& key) const {
    each(loop, [&](std::int64_t part) {
      std::int64_t most = 0, unsorted = 0;
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) {
        most = std::max<std::int64_t>(most, key(items_[i]));
        unsorted |= i > 0 && key(items_[i - 1]) > key(items_[i]);
      }
      counts_[2 * part] = most;
      counts_[2 * part + 1] = unsorted;
    });
    std::int64_t most = 0, unsorted = 0;
    for (std::int64_t part = 0; part < parts_; ++part) {
      most = std::max(most, counts_[2 * part]);
      unsorted |= counts_[2 * part + 1];
    }
    return unsorted != 0 ? static_cast<std::uint64_t>(most) : 0;
  }

  /// Stably, in the order of digit(item).
  template <class Digit>
  void move(const Loop& loop, const T* from, T* to, const Digit& digit) const {
    each(loop, [&](std::int64_t part) {
      std::int64_t* const counts = counts_ + part * static_cast<std::int64_t>(kDigits);
      std::fill_n(counts, kDigits, 0);
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) ++counts[digit(from[i])];
    });
    std::int64_t place = 0;
    for (std::uint64_t d = 0; d < kDigits; ++d) {
      for (std::int64_t part = 0; part < parts_; ++part) {
        place += std::exchange(counts_[static_cast<std::uint64_t>(part) * kDigits + d], place);
      }
    }
    each(loop, [&](std::int64_t part) {
      std::int64_t* const next = counts_ + part * static_cast<std::int64_t>(kDigits);
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) to[next[digit(from[i])]++] = from[i];
    });
  }

  std::int64_t n_, parts_;
  T *items_, *spare_;
  std::int64_t* counts_;  ///< [parts, digits]
};

}  // namespace mluops::cpu::spatial
