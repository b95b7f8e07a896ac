// A set of places in a large, almost empty grid that knows each one's rank.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/spatial/hash_table.h"

namespace mluops::cpu::get_indice_pairs {

/// Places 64 by 64 as bits of a word; the words that have any in a hash table, or, where they crowd, in a sorted list.
/// Neighbours along the last axis share a word, so few words answer for many places. Insert all places, then number()
/// them, then ask for ranks.
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
    hashed_ = true;
  }

  /// False when there are more than slots / 2 words.
  bool insert(std::int64_t place) {
    const std::int64_t number = place / 64;
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    if (hashed_) {
      const std::int64_t slot = slot_of(number);
      if (slot >= 0) return add_bit(table_[slot], number, bit);
      make_list();
    }
    if (words_ == slots_ && !merge_words()) return false;
    table_[words_++] = {number, bit};
    return true;
  }

  /// Ranks the places in increasing order and returns how many there are.
  std::int64_t number() {
    if (hashed_) {
      std::copy_if(table_, table_ + slots_, sorted_, [](const Word& word) { return word.number >= 0; });
      sort(sorted_);
    } else {
      merge_words();
      sorted_ = table_;
    }
    std::int64_t rank = 0;
    for (std::int64_t i = 0; i < words_; ++i) {
      base_[hashed_ ? slot_of(sorted_[i].number) : i] =
          static_cast<std::int32_t>(std::min<std::int64_t>(rank, INT32_MAX));
      rank += std::popcount(sorted_[i].bits);
    }
    return rank;
  }

  /// -1 for a place that is not in the set.
  std::int32_t rank(std::int64_t place) const {
    const std::int64_t slot = slot_of(place / 64);
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    if (slot < 0 || (table_[slot].bits & bit) == 0) return -1;
    return base_[slot] + std::popcount(table_[slot].bits & (bit - 1));
  }

  /// visit(place, rank) for the places of words [begin, end) of words(), in order.
  template <class Visit>
  void each(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int32_t rank = base_[hashed_ ? slot_of(sorted_[i].number) : i];
      for (std::uint64_t bits = sorted_[i].bits; bits != 0; bits &= bits - 1) {
        visit(sorted_[i].number * 64 + std::countr_zero(bits), rank++);
      }
    }
  }
  std::int64_t words() const { return words_; }
  bool hashed() const { return hashed_; }

 private:
  bool add_bit(Word& word, std::int64_t number, std::uint64_t bit) {
    if (word.number < 0) {
      if (words_ == slots_ / 2) return false;
      word.number = number;
      ++words_;
    }
    word.bits |= bit;
    return true;
  }

  /// Where a word is or would be; -1 where it is not and cannot be.
  std::int64_t slot_of(std::int64_t number) const {
    if (!hashed_) return place_in_list(number);
    return spatial::find_slot(spatial::mix(0, static_cast<std::uint64_t>(number)), slots_, [&](std::int64_t slot) {
      return table_[slot].number < 0 || table_[slot].number == number;
    });
  }

  // ---- the list: table_[0, words_), sorted after merge_words --------------------------------

  void make_list() {
    std::copy_if(table_, table_ + slots_, table_, [](const Word& word) { return word.number >= 0; });
    hashed_ = false;
  }
  void sort(Word* words) const {
    std::sort(words, words + words_, [](const Word& a, const Word& b) { return a.number < b.number; });
  }
  /// Sorts the list and makes one of equal words. False when there are more than slots / 2 left.
  bool merge_words() {
    sort(table_);
    std::int64_t merged = 0;
    for (std::int64_t i = 0; i < words_; ++i) {
      if (merged > 0 && table_[merged - 1].number == table_[i].number) {
        table_[merged - 1].bits |= table_[i].bits;
      } else {
        table_[merged++] = table_[i];
      }
    }
    words_ = merged;
    return words_ <= slots_ / 2;
  }
  std::int64_t place_in_list(std::int64_t number) const {
    const Word *const begin = table_, *const end = begin + words_;
    const Word* const found =
        std::lower_bound(begin, end, number, [](const Word& word, std::int64_t n) { return word.number < n; });
    return found != end && found->number == number ? found - table_ : -1;
  }

  std::int64_t slots_, words_ = 0;
  bool hashed_ = true;
  Word* table_;
  std::int32_t* base_;
  Word* sorted_;
};

}  // namespace mluops::cpu::get_indice_pairs
