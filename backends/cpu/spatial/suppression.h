// Greedy suppression: of items in order, best first, each is kept that none kept before drops.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/runtime/parallel.h"

namespace mluops::cpu::spatial {

/// Goes through n items in blocks of 64: a block is decided item by item on the calling thread, then those of it that
/// are kept are held against all later items, each of which owns its mark. keep(i) is called for those kept, in order,
/// until there are `most`. drop(kept, count, first, last) marks those of the items [first, last) that one of
/// kept[0..count) drops; pair_ns is what it costs for a pair.
template <class Drop, class Keep>
void suppress(const Context& context, const mluopsCall& call, std::int64_t n, std::int64_t most,
              const std::uint8_t* dropped, double pair_ns, const Drop& drop, const Keep& keep) {
  constexpr std::int64_t kBlock = 64;
  for (std::int64_t first = 0; first < n && most > 0; first += kBlock) {
    const std::int64_t last = std::min(n, first + kBlock);
    std::int64_t kept[kBlock], count = 0;
    for (std::int64_t i = first; i < last && most > 0; ++i) {
      if (dropped[i] != 0) continue;
      kept[count++] = i;
      keep(i);
      --most;
      drop(&i, 1, i + 1, last);
    }
    Loop::one_of_many(context, call, n - last, pair_ns * static_cast<double>(count))
        .run([&](std::int64_t begin, std::int64_t end, int) { drop(kept, count, last + begin, last + end); });
  }
}

/// suppress() by a rule of two items: drops(i, j) tells whether item i, which is kept, drops the later item j.
template <class Drops, class Keep>
void suppress_pairs(const Context& context, const mluopsCall& call, std::int64_t n, std::uint8_t* dropped,
                    double pair_ns, const Drops& drops, const Keep& keep) {
  const auto drop = [&](const std::int64_t* kept, std::int64_t count, std::int64_t first, std::int64_t last) {
    for (std::int64_t j = first; j < last; ++j) {
      if (dropped[j] != 0) continue;
      dropped[j] = std::any_of(kept, kept + count, [&](std::int64_t i) { return drops(i, j); }) ? 1 : 0;
    }
  };
  suppress(context, call, n, n, dropped, pair_ns, drop, keep);
}

}  // namespace mluops::cpu::spatial
