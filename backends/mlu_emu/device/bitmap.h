// A fixed-size set of small integers with fast operations on ranges.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace mluops::emu {

class Bitmap {
 public:
  explicit Bitmap(std::int64_t size) : words_(static_cast<std::size_t>((size + 63) / 64)) {}

  void grow(std::int64_t size) { words_.resize(static_cast<std::size_t>((size + 63) / 64)); }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  bool test(std::int64_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  void set(std::int64_t begin, std::int64_t end) { change<true>(begin, end); }
  void reset(std::int64_t begin, std::int64_t end) { change<false>(begin, end); }

  /// First member of [begin, end) that is in the set; end when there is none.
  std::int64_t first_set(std::int64_t begin, std::int64_t end) const {
    while (begin < end) {
      const std::uint64_t there = words_[begin / 64] >> (begin % 64);
      if (there != 0) return std::min<std::int64_t>(end, begin + std::countr_zero(there));
      begin = (begin / 64 + 1) * 64;
    }
    return end;
  }
  /// First member of [begin, end) that is not in the set; end when there is none.
  std::int64_t first_clear(std::int64_t begin, std::int64_t end) const {
    while (begin < end) {
      const std::uint64_t missing = ~words_[begin / 64] >> (begin % 64);
      if (missing != 0) return std::min<std::int64_t>(end, begin + std::countr_zero(missing));
      begin = (begin / 64 + 1) * 64;
    }
    return end;
  }

 private:
  /// Bits of the word `word` that lie in [begin, end).
  static std::uint64_t mask(std::int64_t word, std::int64_t begin, std::int64_t end) {
    const std::int64_t low = std::max<std::int64_t>(begin - word * 64, 0);
    const std::int64_t high = std::min<std::int64_t>(end - word * 64, 64);
    const std::uint64_t upto = high == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << high) - 1;
    return upto & (~std::uint64_t{0} << low);
  }

  template <bool kSet>
  void change_word(std::int64_t word, std::uint64_t bits) {
    words_[word] = kSet ? words_[word] | bits : words_[word] & ~bits;
  }

  template <bool kSet>
  void change(std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    const std::int64_t first = begin / 64, last = (end - 1) / 64;
    change_word<kSet>(first, mask(first, begin, end));
    if (first == last) return;
    std::fill(words_.begin() + first + 1, words_.begin() + last, kSet ? ~std::uint64_t{0} : 0);
    change_word<kSet>(last, mask(last, begin, end));
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace mluops::emu
