// Sequences that several threads write, each part behind the parts before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/cpu/kernels/get_indice_pairs/places.h"
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
        from_(allocator.allocate<Ranks>(count_ + 1)),
        bounds_(allocator.allocate<std::int64_t>(kDrawn, count_ + 1)) {}

  std::int64_t count() const { return count_; }
  static constexpr std::int64_t kDrawn = 4;
  /// [kDrawn, count + 1], for the caller: where parts begin, and room for a sample to choose that from.
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
    count(loop, [&](std::int64_t part, int slot) { return body(part, slot, Ranks{}, false); });
    each(loop, [&](std::int64_t part, int slot) { body(part, slot, from_[part], true); });
    return from_[count_];
  }

  /// Writes the words of all parts into words[0, most), part after part; returns how many there are, maybe more than
  /// `most`. make_part(part, slot, begin, end): writes as many words of the part as words[begin, end) has room for, and
  /// returns how many there are. Several threads make each part's words in a range of its own and move them into
  /// `spare`, which then is `words`; only if a part had not enough room are its words made again.
  template <class Make>
  std::int64_t make(const Context& context, const mluopsCall& call, double ns, std::int64_t most, Word*& words,
                    Word*& spare, const Make& make_part) const {
    const Loop loop(context, call, count_, ns / static_cast<double>(count_));
    if (loop.slots() == 1) {
      std::int64_t all = 0;
      for (std::int64_t part = 0; part < count_; ++part) all += make_part(part, 0, all, most);
      return all;
    }
    const auto room = [&](std::int64_t part) { return part * most / count_; };
    count(loop, [&](std::int64_t part, int slot) {
      return Ranks{make_part(part, slot, room(part), room(part + 1)), 0};
    });
    bool fit = true;
    for (std::int64_t part = 0; part < count_; ++part) fit = fit && own_words(part) <= room(part + 1) - room(part);
    each(loop, [&](std::int64_t part, int slot) {
      const std::int64_t begin = from_[part].words;
      if (fit) {
        std::copy_n(words + room(part), own_words(part), spare + begin);
      } else {
        make_part(part, slot, begin, most);
      }
    });
    if (fit) std::swap(words, spare);
    return from_[count_].words;
  }

 private:
  static constexpr std::int64_t kPerThread = 4, kLeastItems = 512;

  std::int64_t own_words(std::int64_t part) const { return from_[part + 1].words - from_[part].words; }

  /// from_: the sums of own(part, slot) over all parts before each, and over all.
  template <class Own>
  void count(const Loop& loop, const Own& own) const {
    each(loop, [&](std::int64_t part, int slot) { from_[part] = own(part, slot); });
    Ranks all;
    for (std::int64_t part = 0; part < count_; ++part) {
      const Ranks its = std::exchange(from_[part], all);
      all = {all.words + its.words, all.places + its.places};
    }
    from_[count_] = all;
  }

  template <class Body>
  static void each(const Loop& loop, const Body& body) {
    loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
      for (std::int64_t part = begin; part < end; ++part) body(part, slot);
    });
  }

  std::int64_t count_;
  Ranks* from_;  ///< [count + 1]
  std::int64_t* bounds_;
};

}  // namespace mluops::cpu::get_indice_pairs
