// A set of places in a large, almost empty grid that knows each one's rank.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/cpu/runtime/arena.h"

namespace mluops::cpu::get_indice_pairs {

/// Places 64 by 64 as bits of a word; the words that have any in a hash table. Neighbours along the last axis share a
/// word, so a table of few words answers for many places. Insert all places, then number() them, then ask for ranks.
class Places {
 public:
  struct Word {
    std::int64_t number;  ///< place / 64; -1: this slot is free
    std::uint64_t bits;
  };

  /// Takes 20 bytes for each of `slots`, a power of two, and 16 for each second one.
  Places(Allocator& allocator, std::int64_t slots)
      : slots_(slots),
        table_(allocator.allocate<Word>(slots)),
        base_(allocator.allocate<std::int32_t>(slots)),
        sorted_(allocator.allocate<Word>(slots / 2)) {}

  void clear() {
    std::fill_n(table_, slots_, Word{-1, 0});
    words_ = 0;
  }

  /// False when the table would be more than half full.
  bool insert(std::int64_t place) {
    Word& word = table_[slot_of(place / 64)];
    if (word.number < 0) {
      if (words_ == slots_ / 2) return false;
      word.number = place / 64;
      ++words_;
    }
    word.bits |= std::uint64_t{1} << place % 64;
    return true;
  }

  /// Ranks the places in increasing order and returns how many there are.
  std::int64_t number() {
    std::copy_if(table_, table_ + slots_, sorted_, [](const Word& word) { return word.number >= 0; });
    std::sort(sorted_, sorted_ + words_, [](const Word& a, const Word& b) { return a.number < b.number; });
    std::int64_t rank = 0;
    for (std::int64_t i = 0; i < words_; ++i) {
      base_[slot_of(sorted_[i].number)] = static_cast<std::int32_t>(std::min<std::int64_t>(rank, INT32_MAX));
      rank += std::popcount(sorted_[i].bits);
    }
    return rank;
  }

  /// -1 for a place that is not in the set.
  std::int32_t rank(std::int64_t place) const {
    const std::int64_t slot = slot_of(place / 64);
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    if ((table_[slot].bits & bit) == 0) return -1;
    return base_[slot] + std::popcount(table_[slot].bits & (bit - 1));
  }

  /// visit(place, rank) for the places of words [begin, end) of words(), in order.
  template <class Visit>
  void each(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int32_t rank = base_[slot_of(sorted_[i].number)];
      for (std::uint64_t bits = sorted_[i].bits; bits != 0; bits &= bits - 1) {
        visit(sorted_[i].number * 64 + std::countr_zero(bits), rank++);
      }
    }
  }
  std::int64_t words() const { return words_; }

 private:
  /// Where a word is, or would be.
  std::int64_t slot_of(std::int64_t number) const {
    const std::uint64_t h = static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15u;
    auto slot = static_cast<std::int64_t>((h ^ h >> 32) & static_cast<std::uint64_t>(slots_ - 1));
    while (table_[slot].number >= 0 && table_[slot].number != number) slot = (slot + 1) & (slots_ - 1);
    return slot;
  }

  std::int64_t slots_, words_ = 0;
  Word* table_;
  std::int32_t* base_;
  Word* sorted_;
};

}  // namespace mluops::cpu::get_indice_pairs
