// Sequences that several threads write, each part behind the parts before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"

namespace mluops::cpu::get_indice_pairs {

/// How many words, and places in them, come before something.
struct Ranks {
  std::int64_t words = 0, places = 0;
};

class Parts {
 public:
  Parts(Allocator& allocator, const mluopsCall& call, std::int64_t items)
      : count_(std::clamp<std::int64_t>(items / kLeastItems, 1, call.threads == 1 ? 1 : kPerThread * call.threads)),
        from_(allocator.allocate<Ranks>(count_)),
        bounds_(allocator.allocate<std::int64_t>(count_ + 1)) {}

  std::int64_t count() const { return count_; }
  /// [count + 1], for the caller: where parts begin.
  std::int64_t* bounds() const { return bounds_; }

  /// body(part, slot, from, write): returns `from` and what the part adds; writes the part only where it is told to.
  /// Returns the sum of all parts. Each part is counted before it is written unless one thread runs them all.
  template <class Body>
  Ranks run(const Context& context, const mluopsCall& call, double ns, const Body& body) const {
    const Loop loop(context, call, count_, ns / static_cast<double>(count_));
    Ranks all;
    if (loop.slots() == 1) {
      for (std::int64_t part = 0; part < count_; ++part) all = body(part, 0, all, true);
      return all;
    }
    each(loop, [&](std::int64_t part, int slot) { from_[part] = body(part, slot, Ranks{}, false); });
    for (std::int64_t part = 0; part < count_; ++part) {
      const Ranks own = std::exchange(from_[part], all);
      all = {all.words + own.words, all.places + own.places};
    }
    each(loop, [&](std::int64_t part, int slot) { body(part, slot, from_[part], true); });
    return all;
  }

 private:
  static constexpr std::int64_t kPerThread = 4, kLeastItems = 512;

  template <class Body>
  static void each(const Loop& loop, const Body& body) {
    loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
      for (std::int64_t part = begin; part < end; ++part) body(part, slot);
    });
  }

  std::int64_t count_;
  Ranks* from_;
  std::int64_t* bounds_;
};

}  // namespace mluops::cpu::get_indice_pairs
