// Sets of places in a large, almost empty grid: 64 places to a word, the words that have any in increasing order.
//
// Neighbours along the last axis share a word. A set moved by some places meets another set in one walk over both.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/spatial/radix_sort.h"

namespace mluops::cpu::get_indice_pairs {

struct Word {
  std::int64_t number;  ///< place / 64
  std::uint64_t bits;
  std::int32_t base;  ///< rank of its first place
};

struct Words {
  const Word *begin, *end;
};

/// Ranks places in increasing order and returns how many there are.
inline std::int64_t rank_words(Word* begin, Word* end) {
  std::int64_t rank = 0;
  for (Word* word = begin; word != end; ++word) {
    word->base = static_cast<std::int32_t>(std::min<std::int64_t>(rank, INT32_MAX));
    rank += std::popcount(word->bits);
  }
  return rank;
}

/// The union of sets that come as words, each set in increasing order.
class Union {
 public:
  Union(Allocator& allocator, std::int64_t most)
      : most_(most), words_(allocator.allocate<Word>(most)), spare_(allocator.allocate<Word>(most)) {}

  /// False when there are more words than there is room for.
  bool add(std::int64_t number, std::uint64_t bits) {
    if (bits == 0) return true;
    if (count_ > 0 && words_[count_ - 1].number == number) {
      words_[count_ - 1].bits |= bits;
      return true;
    }
    if (count_ == most_) {
      merge();
      if (count_ > most_ / 2) return false;
    }
    words_[count_++] = {number, bits, 0};
    return true;
  }
  /// Sorts the words and makes one of equal ones.
  void merge() {
    Word* const sorted = spatial::radix_sort(words_, spare_, count_, [](const Word& word) { return word.number; });
    if (sorted == spare_) std::swap(words_, spare_);
    std::int64_t merged = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      if (merged > 0 && words_[merged - 1].number == words_[i].number) {
        words_[merged - 1].bits |= words_[i].bits;
      } else {
        words_[merged++] = words_[i];
      }
    }
    count_ = merged;
  }
  /// Keeps the places that inside(number), a word's bits, has.
  template <class Inside>
  void keep(const Inside& inside) {
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      words_[i].bits &= inside(words_[i].number);
      if (words_[i].bits != 0) words_[kept++] = words_[i];
    }
    count_ = kept;
  }
  std::int64_t rank() { return rank_words(words_, words_ + count_); }
  Words words() const { return {words_, words_ + count_}; }

 private:
  std::int64_t most_, count_ = 0;
  Word *words_, *spare_;
};

/// visit(rank of a place in `from`, rank of the place `step` further in `to`) for those that `to` has.
template <class Visit>
void walk(Words from, std::int64_t step, Words to, const Visit& visit) {
  const int shift = static_cast<int>(step & 63);
  const Word* low = to.begin;
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
