// Items sorted into buckets: which outputs touch which part of a map.
//
// A counting sort in three passes, all in parallel. Inside a bucket items keep their order, whatever the number of
// threads, so sums over a bucket are bitwise equal every time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

namespace mluops::cpu {

class Buckets {
 public:
  /// Takes 2 + 2 * parts numbers of 8 bytes per bucket, parts <= threads; fill() takes 8 bytes per entry from another
  /// block, and as many more as the caller wants for a purpose of its own.
  Buckets(Allocator& allocator, const mluopsCall& call, std::int64_t items, std::int64_t buckets,
          std::int64_t more_bytes = 0)
      : items_(items),
        entry_bytes_(static_cast<std::int64_t>(sizeof(std::int64_t)) + more_bytes),
        buckets_(buckets),
        parts_(std::clamp<std::int64_t>(items / kItemsPerPart, 1, most_parts(call, items, buckets))),
        begin_(allocator.allocate<std::int64_t>(buckets + 1)),
        prefix_ns_(allocator.allocate<double>(buckets + 1)),
        next_(allocator.allocate<std::int64_t>(parts_, buckets)),
        ns_(allocator.allocate<double>(parts_, buckets)) {}

  /// each_run(begin, end, put) calls put(item, bucket, cost in ns) for every bucket the items from begin to end belong
  /// to, in the order of the items, the same ones each time; a bucket with nothing in it still costs base_ns. False
  /// when there is no memory.
  template <class EachRun>
  bool fill(Context& context, const mluopsCall& call, double item_ns, double base_ns, const EachRun& each_run) {
    const Loop loop(context, call, parts_, item_ns * static_cast<double>(items_) / static_cast<double>(parts_));
    loop.run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t part = first; part < last; ++part) count(part, each_run);
    });
    add_up(context, call, base_ns);
    entries_ = reinterpret_cast<std::int64_t*>(context.entries.reserve(size_product(begin_[buckets_], entry_bytes_)));
    if (entries_ == nullptr) return false;
    loop.run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t part = first; part < last; ++part) place(part, each_run);
    });
    return true;
  }

  std::int64_t size() const { return buckets_; }
  std::span<const std::int64_t> operator[](std::int64_t bucket) const {
    return {entries_ + begin_[bucket], entries_ + begin_[bucket + 1]};
  }
  /// The entries of all buckets, one bucket after the other.
  std::span<const std::int64_t> all() const { return {entries_, entries_ + begin_[buckets_]}; }
  std::int64_t begin(std::int64_t bucket) const { return begin_[bucket]; }
  /// The bytes beside the entries, as one array; content arbitrary.
  void* more() const { return entries_ + begin_[buckets_]; }
  /// For a Loop over buckets.
  std::span<const double> prefix_ns() const { return {prefix_ns_, static_cast<std::size_t>(buckets_ + 1)}; }

 private:
  static constexpr std::int64_t kItemsPerPart = 512, kBlock = 256;

  /// Each part clears and adds up numbers of its own for all buckets: so many parts that this takes no longer than the
  /// items do.
  static std::int64_t most_parts(const mluopsCall& call, std::int64_t items, std::int64_t buckets) {
    return std::min<std::int64_t>(call.threads, std::max<std::int64_t>(2, 2 * items / (buckets + 1)));
  }
  std::int64_t part_begin(std::int64_t part) const { return items_ / parts_ * part + std::min(part, items_ % parts_); }

  template <class EachRun>
  void count(std::int64_t part, const EachRun& each_run) {
    std::int64_t* const counts = next_ + part * buckets_;
    double* const ns = ns_ + part * buckets_;
    std::fill_n(counts, buckets_, 0);
    std::fill_n(ns, buckets_, 0.0);
    each_run(part_begin(part), part_begin(part + 1), [&](std::int64_t, std::int64_t bucket, double cost) {
      ++counts[bucket];
      ns[bucket] += cost;
    });
  }

  /// Counts become the places where each part's first entry of a bucket goes. The numbers of a part lie side by side
  /// and are gone through like that: those of one bucket, a part after the other, would displace each other in a cache.
  void add_up(const Context& context, const mluopsCall& call, double base_ns) {
    const Loop loop(context, call, buckets_, 2 * cost::kMove * static_cast<double>(parts_));
    loop.run([&](std::int64_t first, std::int64_t end, int) {
      for (; first < end; first += kBlock) add_parts(first, std::min(kBlock, end - first), base_ns);
    });
    begin_[buckets_] = 0;
    prefix_ns_[buckets_] = 0;
    std::exclusive_scan(begin_, begin_ + buckets_ + 1, begin_, std::int64_t{0});
    std::exclusive_scan(prefix_ns_, prefix_ns_ + buckets_ + 1, prefix_ns_, 0.0);
    loop.run([&](std::int64_t first, std::int64_t end, int) {
      for (; first < end; first += kBlock) place_parts(first, std::min(kBlock, end - first));
    });
  }
  /// The sums over all parts, of `count` buckets.
  void add_parts(std::int64_t first, std::int64_t count, double base_ns) {
    std::fill_n(begin_ + first, count, 0);
    std::fill_n(prefix_ns_ + first, count, base_ns);
    for (std::int64_t part = 0; part < parts_; ++part) {
      const std::int64_t at = part * buckets_ + first;
      for (std::int64_t i = 0; i < count; ++i) begin_[first + i] += next_[at + i];
      for (std::int64_t i = 0; i < count; ++i) prefix_ns_[first + i] += ns_[at + i];
    }
  }
  void place_parts(std::int64_t first, std::int64_t count) {
    std::array<std::int64_t, kBlock> place;
    std::copy_n(begin_ + first, count, place.data());
    for (std::int64_t part = 0; part < parts_; ++part) {
      std::int64_t* const next = next_ + part * buckets_ + first;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t entries = std::exchange(next[i], place[static_cast<std::size_t>(i)]);
        place[static_cast<std::size_t>(i)] += entries;
      }
    }
  }

  template <class EachRun>
  void place(std::int64_t part, const EachRun& each_run) {
    std::int64_t* const next = next_ + part * buckets_;
    each_run(part_begin(part), part_begin(part + 1),
             [&](std::int64_t item, std::int64_t bucket, double) { entries_[next[bucket]++] = item; });
  }

  std::int64_t items_, entry_bytes_, buckets_, parts_;
  std::int64_t* begin_;
  double* prefix_ns_;
  std::int64_t* next_;
  double* ns_;
  std::int64_t* entries_ = nullptr;
};

}  // namespace mluops::cpu
