// The sort of radix_sort.h by the threads of a call.
//
// A sample of the keys cuts them into ranges, as many as there are parts of the items. Each part counts its items by
// range, the counts are summed up in the order range, part, and each part moves its items to the places that are its
// own; then each range is sorted by itself. Every step is stable, so the result does not depend on the number of parts.
// Where a key is that of most items, most are in one range, and the sort takes as long as with one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/spatial/radix_sort.h"
#include "backends/cpu/spatial/ranges.h"

namespace mluops::cpu::spatial {

template <class T>
class ParallelSort {
 public:
  ParallelSort(Allocator& allocator, const mluopsCall& call, std::int64_t most)
      : items_(allocator.allocate<T>(most)), spare_(allocator.allocate<T>(most)) {
    const std::int64_t parts = parts_of(call, most);
    if (parts == 1) return;
    counts_ = allocator.allocate<std::int64_t>(parts, parts);
    lows_ = allocator.allocate<std::uint64_t>(parts, kDrawn);
  }

  /// [most], to be written before the sort.
  T* items() const { return items_; }

  /// Sorts the first n items by key(item), a number from 0 on; equal ones keep their order. Returns the sorted items.
  template <class Key>
  T* run(const Context& context, const mluopsCall& call, std::int64_t n, const Key& key) {
    n_ = n;
    parts_ = parts_of(call, n);
    const Loop loop(context, call, parts_, 4 * cost::kStep * static_cast<double>(n) / static_cast<double>(parts_));
    if (loop.slots() == 1) return radix_sort(items_, spare_, n, key);
    if (is_sorted(loop, key)) return items_;
    cut_ranges(key);
    move_to_ranges(loop, key);
    each(loop, [&](std::int64_t range) {
      const std::int64_t* const ends = counts_ + (parts_ - 1) * parts_;
      const std::int64_t first = range == 0 ? 0 : ends[range - 1], count = ends[range] - first;
      const T* const sorted = radix_sort(spare_ + first, items_ + first, count, key);
      if (sorted != spare_ + first) std::copy_n(sorted, count, spare_ + first);
    });
    return spare_;
  }

 private:
  static constexpr std::int64_t kLeastItems = 2048;  ///< of a part: as many as radix_sort has digits
  static constexpr std::int64_t kDrawn = 16;         ///< keys of the sample for a range

  static std::int64_t parts_of(const mluopsCall& call, std::int64_t n) {
    return std::clamp<std::int64_t>(n / kLeastItems, 1, call.threads);
  }
  std::int64_t begin(std::int64_t part) const { return part * n_ / parts_; }

  /// body(part)
  template <class Body>
  static void each(const Loop& loop, const Body& body) {
    loop.run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t part = first; part < last; ++part) body(part);
    });
  }

  template <class Key>
  bool is_sorted(const Loop& loop, const Key& key) const {
    each(loop, [&](std::int64_t part) {
      bool sorted = true;
      for (std::int64_t i = std::max<std::int64_t>(1, begin(part)); i < begin(part + 1); ++i) {
        sorted = sorted && key(items_[i - 1]) <= key(items_[i]);
      }
      counts_[part] = sorted ? 1 : 0;
    });
    return std::all_of(counts_, counts_ + parts_, [](std::int64_t sorted) { return sorted != 0; });
  }

  /// lows_: the least key of each range.
  template <class Key>
  void cut_ranges(const Key& key) const {
    const std::int64_t drawn = parts_ * kDrawn;
    for (std::int64_t k = 0; k < drawn; ++k) lows_[k] = static_cast<std::uint64_t>(key(items_[k * n_ / drawn]));
    std::sort(lows_, lows_ + drawn);
    for (std::int64_t range = 0; range < parts_; ++range) lows_[range] = lows_[range * kDrawn];
  }
  std::int64_t range_of(std::uint64_t key) const { return spatial::range_of(lows_, parts_, key); }

  /// Into spare_; the last part's counts become the ends of the ranges.
  template <class Key>
  void move_to_ranges(const Loop& loop, const Key& key) const {
    each(loop, [&](std::int64_t part) {
      std::int64_t* const counts = counts_ + part * parts_;
      std::fill_n(counts, parts_, 0);
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) ++counts[range_of(key(items_[i]))];
    });
    std::int64_t place = 0;
    for (std::int64_t range = 0; range < parts_; ++range) {
      for (std::int64_t part = 0; part < parts_; ++part) {
        place += std::exchange(counts_[part * parts_ + range], place);
      }
    }
    each(loop, [&](std::int64_t part) {
      std::int64_t* const next = counts_ + part * parts_;
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) spare_[next[range_of(key(items_[i]))]++] = items_[i];
    });
  }

  T *items_, *spare_;
  std::int64_t* counts_ = nullptr;  ///< [parts, ranges]
  std::uint64_t* lows_ = nullptr;   ///< [ranges], room for the sample
  std::int64_t n_ = 0, parts_ = 1;
};

}  // namespace mluops::cpu::spatial
