// Items sorted into buckets: which outputs touch which part of a map.
//
// A counting sort in three passes, the first and the last in parallel. Inside a bucket items keep their order, whatever
// the number of threads, so sums over a bucket are bitwise equal every time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "backends/cpu/runtime/arena.h"
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
        parts_(std::clamp<std::int64_t>(items / kItemsPerPart, 1, call.threads)),
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
    add_up(base_ns);
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
  static constexpr std::int64_t kItemsPerPart = 512;

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

  /// Counts become the places where each part's first entry of a bucket goes.
  void add_up(double base_ns) {
    std::int64_t place = 0;
    double ns = 0;
    for (std::int64_t bucket = 0; bucket < buckets_; ++bucket) {
      begin_[bucket] = place;
      prefix_ns_[bucket] = ns;
      ns += base_ns;
      for (std::int64_t i = bucket; i < parts_ * buckets_; i += buckets_) {
        ns += ns_[i];
        place += std::exchange(next_[i], place);
      }
    }
    begin_[buckets_] = place;
    prefix_ns_[buckets_] = ns;
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
