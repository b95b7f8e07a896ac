// The inputs of a sparse convolution, sorted by their places.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/get_indice_pairs/grid.h"
#include "backends/cpu/kernels/get_indice_pairs/parts.h"
#include "backends/cpu/kernels/get_indice_pairs/places.h"
#include "backends/cpu/spatial/parallel_sort.h"

namespace mluops::cpu::get_indice_pairs {

class Inputs {
 public:
  Inputs(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : sort_(allocator, call, s.inputs),
        words_(allocator.allocate<Word>(s.inputs)),
        last_(allocator.allocate<std::int32_t>(s.inputs)),
        before_(allocator.allocate<std::int32_t>(s.inputs)) {}

  void collect(const Context& context, const mluopsCall& call, const mluopsGetIndicePairsProblem& p, const Grid& grid,
               const Parts& parts) {
    const std::int64_t inputs = p.shape.inputs;
    Item* const items = sort_.items();
    Loop(context, call, inputs, 4 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t key = grid.key(p.indices + i * (p.shape.axes + 1));
        items[i] = {key < 0 ? grid.keys() : key, static_cast<std::int32_t>(i)};
      }
    });
    const Item* const sorted = sort_.run(context, call, inputs, [](const Item& item) { return item.key; });
    const std::int64_t count = first_at(sorted, sorted + inputs, grid.keys()) - sorted;
    const double ns = cost::kStep * static_cast<double>(count);
    const Ranks all = parts.run(context, call, ns, [&](std::int64_t part, int, Ranks from, bool write) {
      const std::int64_t begin = part_begin(sorted, count, part, parts.count());
      const std::int64_t end = part_begin(sorted, count, part + 1, parts.count());
      return write ? number(sorted + begin, sorted + end, from) : count_of(sorted + begin, sorted + end);
    });
    words_count_ = all.words;
    repeated_ = all.places < count;
  }

  Words words() const { return {words_, words_ + words_count_}; }
  /// The places of a class.
  Words of_class(std::int64_t number, const Grid& grid) const {
    const std::int64_t words_of_class = grid.places() / 64;
    return {first_word(words(), number * words_of_class), first_word(words(), (number + 1) * words_of_class)};
  }
  /// The last input at a place, by its rank.
  std::int32_t last(std::int32_t rank) const { return last_[rank]; }
  /// visit(input) for all at a place.
  template <class Visit>
  void each(std::int32_t rank, const Visit& visit) const {
    visit(last_[rank]);
    for (std::int32_t i = repeated_ ? before_[last_[rank]] : -1; i >= 0; i = before_[i]) visit(i);
  }

 private:
  struct Item {
    std::int64_t key;
    std::int32_t input;
  };

  static const Item* first_at(const Item* begin, const Item* end, std::int64_t key) {
    return std::lower_bound(begin, end, key, [](const Item& item, std::int64_t wanted) { return item.key < wanted; });
  }
  /// Parts begin with a word, so that no word and no place is in two of them.
  static std::int64_t part_begin(const Item* sorted, std::int64_t count, std::int64_t part, std::int64_t parts) {
    const std::int64_t i = part * count / parts;
    if (i == 0) return 0;
    return first_at(sorted + i, sorted + count, (sorted[i - 1].key / 64 + 1) * 64) - sorted;
  }
  static Ranks count_of(const Item* begin, const Item* end) {
    Ranks all;
    for (const Item* item = begin; item != end; ++item) {
      all.places += item == begin || item[-1].key != item->key;
      all.words += item == begin || item[-1].key / 64 != item->key / 64;
    }
    return all;
  }
  Ranks number(const Item* begin, const Item* end, Ranks at) const {
    for (const Item* item = begin; item != end; ++item) {
      const bool repeats = item != begin && item[-1].key == item->key;
      before_[item->input] = repeats ? item[-1].input : -1;
      if (item == begin || item[-1].key / 64 != item->key / 64)
        words_[at.words++] = {item->key / 64, 0, static_cast<std::int32_t>(at.places)};
      if (!repeats) ++at.places;
      last_[at.places - 1] = item->input;
      words_[at.words - 1].bits |= std::uint64_t{1} << item->key % 64;
    }
    return at;
  }

  spatial::ParallelSort<Item> sort_;
  Word* words_;
  std::int32_t *last_, *before_;
  std::int64_t words_count_ = 0;
  bool repeated_ = false;
};

}  // namespace mluops::cpu::get_indice_pairs
