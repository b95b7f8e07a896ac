// Sets of places in a large, almost empty grid: 64 places to a word, the words that have any in increasing order.
//
// Neighbours along the last axis share a word. A set moved by some places meets another set in one walk over both.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace mluops::cpu::get_indice_pairs {

struct Word {
  std::int64_t number;  ///< place / 64
  std::uint64_t bits;
  std::int32_t base;  ///< rank of its first place
};

struct Words {
  const Word *begin, *end;
  std::int64_t count() const { return end - begin; }
};

/// The first word with that number or a later one.
inline const Word* first_word(Words words, std::int64_t number) {
  return std::lower_bound(words.begin, words.end, number,
                          [](const Word& word, std::int64_t wanted) { return word.number < wanted; });
}

/// visit(rank of a place in `from`, rank of the place `step` further in `to`) for those that `to` has.
template <class Visit>
void walk(Words from, std::int64_t step, Words to, const Visit& visit) {
  if (from.count() == 0) return;
  const int shift = static_cast<int>(step & 63);
  const Word* low = first_word(to, from.begin->number + (step >> 6));
  for (const Word* word = from.begin; word != from.end; ++word) {
    const std::int64_t number = word->number + (step >> 6);
    while (low != to.end && low->number < number) ++low;
    if (low == to.end) return;
    const bool has_low = low->number == number;
    const Word* const high = low + (has_low ? 1 : 0);
    const bool has_high = high != to.end && high->number == number + 1;
    const std::uint64_t low_bits = has_low ? low->bits : 0, high_bits = has_high ? high->bits : 0;
    std::uint64_t met = word->bits & (low_bits >> shift | (shift == 0 ? 0 : high_bits << (64 - shift)));
    for (; met != 0; met &= met - 1) {
      const int bit = std::countr_zero(met), at = bit + shift;
      const auto below = [](std::uint64_t bits, int end) {
        return std::popcount(bits & ((std::uint64_t{1} << end) - 1));
      };
      visit(word->base + below(word->bits, bit),
            at < 64 ? low->base + below(low_bits, at) : high->base + below(high_bits, at - 64));
    }
  }
}

}  // namespace mluops::cpu::get_indice_pairs
