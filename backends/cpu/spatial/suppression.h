// Greedy suppression: of items in order, best first, each is kept that none kept before drops.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/spatial/box_groups.h"

namespace mluops::cpu::spatial {

/// The items kept of a block, in lots of 64.
constexpr std::int64_t kLots = 4, kBlockItems = kLots * Rectangles::kMost;

/// The rectangles round them.
struct KeptRectangles {
  std::int64_t count = 0;
  Rectangles lots[kLots];

  void add(const Rectangle& r) { lots[count++ / Rectangles::kMost].add(r); }
  /// A bit for each that meets the other, lot by lot.
  std::array<std::uint64_t, kLots> those(Meeting meeting, const Rectangle& other) const {
    std::array<std::uint64_t, kLots> bits;
    for (std::size_t lot = 0; lot < kLots; ++lot) bits[lot] = meeting(lots[lot], other);
    return bits;
  }
};

/// Goes through n items in blocks of 256: a block is decided item by item on the calling thread, then those of it that
/// are kept are held against the later items near to them: a group of boxes (box_groups.h) owns the marks of its items.
/// keep(i) is called for those kept, in order, until there are `most`. `held` has those kept of a block: clear()
/// empties it, add(i) adds an item, and drops(lot, bits, j) tells whether an item of this lot whose bit is set drops
/// item j. pair_ns is the time it takes for a pair.
template <class Held, class Keep>
void suppress(const Context& context, const mluopsCall& call, std::int64_t n, std::int64_t most, std::uint8_t* dropped,
              const BoxGroups& groups, double pair_ns, Held& held, const Keep& keep) {
  const Meeting meeting = meeting_of(context);
  for (std::int64_t first = 0; first < n && most > 0; first += kBlockItems) {
    const std::int64_t last = std::min(n, first + kBlockItems);
    KeptRectangles kept;
    held.clear();
    const auto drops = [&](const std::array<std::uint64_t, kLots>& near, std::int64_t j) {
      for (std::size_t lot = 0; lot < kLots; ++lot) {
        const std::uint64_t bits = near[lot] == 0 ? 0 : near[lot] & meeting(kept.lots[lot], groups[j]);
        if (bits != 0 && held.drops(static_cast<std::int64_t>(lot), bits, j)) return true;
      }
      return false;
    };
    std::array<std::uint64_t, kLots> all;
    all.fill(~std::uint64_t{0});
    for (std::int64_t i = first; i < last && most > 0; ++i) {
      if (dropped[i] != 0 || drops(all, i)) continue;
      kept.add(groups[i]);
      held.add(i);
      keep(i);
      --most;
    }
    const double group_ns = pair_ns * static_cast<double>(kept.count) * kLeafPoints / 16;
    Loop::one_of_many(context, call, groups.count(), group_ns).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t g = begin; g < end; ++g) {
        const auto near = kept.those(meeting, groups.group(g));
        if (near == std::array<std::uint64_t, kLots>{}) continue;
        groups.for_each(g, [&](std::int64_t j) {
          if (j >= last && dropped[j] == 0) dropped[j] = drops(near, j) ? 1 : 0;
        });
      }
    });
  }
}

/// The kept items, for a rule of two items: drops(i, j) tells whether item i, which is kept, drops the later item j.
template <class Drops>
class HeldPairs {
 public:
  explicit HeldPairs(const Drops& drops) : drops_(drops) {}

  void clear() { count_ = 0; }
  void add(std::int64_t i) { kept_[count_++] = i; }
  bool drops(std::int64_t lot, std::uint64_t bits, std::int64_t j) const {
    for (; bits != 0; bits &= bits - 1) {
      if (drops_(kept_[lot * Rectangles::kMost + std::countr_zero(bits)], j)) return true;
    }
    return false;
  }

 private:
  const Drops& drops_;
  std::int64_t kept_[kBlockItems], count_ = 0;
};

/// suppress() by a rule of two items.
template <class Drops, class Keep>
void suppress_pairs(const Context& context, const mluopsCall& call, std::int64_t n, std::uint8_t* dropped,
                    const BoxGroups& groups, double pair_ns, const Drops& drops, const Keep& keep) {
  HeldPairs<Drops> held(drops);
  suppress(context, call, n, n, dropped, groups, pair_ns, held, keep);
}

}  // namespace mluops::cpu::spatial
