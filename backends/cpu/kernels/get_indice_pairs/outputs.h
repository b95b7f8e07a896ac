// The outputs of a sparse convolution: the union of its inputs moved by each offset of the filter.
//
// The filter is a box, so the union is made axis by axis: an axis moves the set of the axes done before by each of its
// own offsets. The moved sets are in increasing order, and one walk over all of them writes their union. Tasks have
// ranges of places.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "backends/cpu/kernels/get_indice_pairs/grid.h"
#include "backends/cpu/kernels/get_indice_pairs/parts.h"
#include "backends/cpu/kernels/get_indice_pairs/places.h"
#include "backends/cpu/runtime/machine.h"

namespace mluops::cpu::get_indice_pairs {

/// How one axis turns the numbers of words that have its classes into numbers that do not.
struct AxisClasses {
  std::int64_t classes, words;  ///< words: of a class

  /// The number of a word whose place does not move.
  std::int64_t without(std::int64_t number) const {
    const std::int64_t its_class = number / words;
    return number - (its_class - its_class / classes) * words;
  }
  /// The first number of a class that without() takes to `number` or further.
  std::int64_t with(std::int64_t number, std::int64_t its_class) const {
    return number < 0 ? 0 : number + (number / words * (classes - 1) + its_class) * words;
  }
};

/// The words of one class, moved by a number of places, in increasing order.
class MovedWords {
 public:
  /// The outputs from number `begin` on.
  MovedWords(Words words, AxisClasses classes, Step step, std::int64_t begin)
      : classes_(classes),
        its_class_(step.its_class),
        whole_(step.places >> 6),
        shift_(static_cast<int>(step.places & 63)),
        at_(first_word(words, classes.with(begin - 1 - whole_, its_class_))),
        end_(words.end) {
    enter_class();
    if (next() == begin - 1) take(begin - 1);
  }

  /// The number of the next word; kNoSize after the last.
  std::int64_t next() const { return carried_ != 0 ? carried_number_ : at_ != end_ ? at_->number + add_ : kNoSize; }

  /// The bits of the word with that number, which is none after the next.
  std::uint64_t take(std::int64_t number) {
    std::uint64_t bits = 0;
    if (carried_ != 0 && carried_number_ == number) bits = std::exchange(carried_, 0);
    if (at_ != end_ && at_->number + add_ == number) {
      bits |= at_->bits << shift_;
      carried_ = shift_ == 0 ? 0 : at_->bits >> (64 - shift_);
      carried_number_ = number + 1;
      ++at_;
      enter_class();
    }
    return bits;
  }

 private:
  /// Skips words of other classes.
  void enter_class() {
    while (at_ != end_ && at_->number >= class_end_) {
      const std::int64_t now = at_->number / classes_.words, rest = now % classes_.classes;
      if (rest == its_class_) {
        class_end_ = (now + 1) * classes_.words;
        add_ = (now / classes_.classes - now) * classes_.words + whole_;
      } else {
        const std::int64_t ahead = its_class_ - rest + (rest > its_class_ ? classes_.classes : 0);
        at_ = first_word({at_, end_}, (now + ahead) * classes_.words);
      }
    }
  }

  AxisClasses classes_;
  std::int64_t its_class_, whole_;
  int shift_;
  const Word *at_, *end_;
  std::int64_t class_end_ = 0, add_ = 0;
  std::uint64_t carried_ = 0;  ///< bits of the last word taken that belong to the one after it
  std::int64_t carried_number_ = 0;
};

/// visit(number, bits) for the union of sets, in increasing order, up to `end`.
template <class Visit>
void unite(MovedWords* sets, std::int64_t count, std::int64_t end, const Visit& visit) {
  std::int64_t number = kNoSize;
  for (std::int64_t i = 0; i < count; ++i) number = std::min(number, sets[i].next());
  while (number < end) {
    std::uint64_t bits = 0;
    std::int64_t next = kNoSize;
    for (std::int64_t i = 0; i < count; ++i) {
      bits |= sets[i].take(number);
      next = std::min(next, sets[i].next());
    }
    if (bits != 0) visit(number, bits);
    number = next;
  }
}

class Outputs {
 public:
  /// Room for `most` words.
  Outputs(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t most, const Parts& parts)
      : most_(most),
        longest_(longest_side(s)),
        words_(allocator.allocate<Word>(most)),
        spare_(allocator.allocate<Word>(most)),
        sets_(allocator.allocate<MovedWords>(std::min<std::int64_t>(call.threads, parts.count()), longest_)) {}

  /// False when there are more words than there is room for.
  bool collect(const Context& context, const mluopsCall& call, Words inputs, const Grid& grid, const Parts& parts) {
    Words set = inputs;
    for (int a = grid.axes(); a-- > 0;) {
      const std::int64_t words = move(context, call, set, grid, a, parts);
      if (words > most_) return false;
      std::swap(words_, spare_);
      set = {spare_, spare_ + words};
    }
    keep(context, call, set, grid, parts);
    return true;
  }
  std::int64_t count() const { return all_.places; }
  Words words() const { return {words_, words_ + all_.words}; }

 private:
  static std::int64_t longest_side(const Shape& s) {
    std::int64_t longest = 1;
    for (int a = 0; a < s.axes; ++a) longest = std::max<std::int64_t>(longest, s.axis[a].filter);
    return longest;
  }

  /// Into words_: the set moved by each offset of an axis; returns how many words.
  std::int64_t move(const Context& context, const mluopsCall& call, Words set, const Grid& grid, int axis,
                    const Parts& parts) {
    const std::int64_t filter = grid.filter(axis);
    const AxisClasses classes{grid.classes(axis), grid.places() / 64};
    cut(set, classes, parts);
    const double ns = 2 * cost::kStep * static_cast<double>(set.count() * filter);
    return parts.make(context, call, ns, most_, words_, spare_,
                      [&](std::int64_t part, int slot, std::int64_t begin, std::int64_t end) {
                        MovedWords* const sets = sets_ + slot * longest_;
                        for (std::int64_t k = 0; k < filter; ++k)
                          new (sets + k) MovedWords(set, classes, grid.step(axis, k), parts.bounds()[part]);
                        Word* const words = words_;
                        std::int64_t at = begin;
                        unite(sets, filter, parts.bounds()[part + 1], [&](std::int64_t number, std::uint64_t bits) {
                          if (at < end) words[at] = {number, bits, 0};
                          ++at;
                        });
                        return at - begin;
                      });
  }

  /// Bounds of parts that have about as many words of the set each: every kDrawn-th of a sample, in which the words of
  /// all classes are mixed.
  static void cut(Words set, AxisClasses classes, const Parts& parts) {
    std::int64_t* const bounds = parts.bounds();
    const std::int64_t drawn = Parts::kDrawn * parts.count();
    for (std::int64_t i = 0; i < drawn; ++i)
      bounds[i] = set.count() == 0 ? 0 : classes.without(set.begin[i * set.count() / drawn].number);
    std::sort(bounds, bounds + drawn);
    for (std::int64_t i = 0; i < parts.count(); ++i) bounds[i] = i == 0 ? 0 : bounds[i * Parts::kDrawn];
    bounds[parts.count()] = kNoSize;
  }

  /// Into words_: the places in the outputs' grid, ranked. `set` is in spare_, where a base of -1 marks words that have
  /// lost the places outside.
  void keep(const Context& context, const mluopsCall& call, Words set, const Grid& grid, const Parts& parts) {
    Word* const words = spare_;
    const auto begin = [&](std::int64_t part) { return part * set.count() / parts.count(); };
    const double ns = 16 * cost::kStep * static_cast<double>(set.count());
    all_ = parts.run(context, call, ns, [&](std::int64_t part, int, Ranks at, bool write) {
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) {
        Word& word = words[i];
        if (word.base == 0) word.bits &= grid.outputs_of_word(word.number), word.base = -1;
        if (word.bits == 0) continue;
        const auto base = static_cast<std::int32_t>(std::min<std::int64_t>(at.places, INT32_MAX));
        if (write) words_[at.words] = {word.number, word.bits, base};
        ++at.words;
        at.places += std::popcount(word.bits);
      }
      return at;
    });
  }

  std::int64_t most_, longest_;
  Word *words_, *spare_;
  MovedWords* sets_;  ///< of each slot [longest]
  Ranks all_;
};

}  // namespace mluops::cpu::get_indice_pairs
