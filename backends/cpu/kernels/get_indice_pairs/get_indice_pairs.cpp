// GetIndicePairs: the pairs of inputs and outputs of a sparse convolution.
//
// indices [L,1+axes], indice_pairs [K,2,L]. The inputs are sorted by their places (grid.h), 64 places to a word
// (places.h): each offset of the filter moves some of them by a constant number of places. The outputs are the union of
// what is moved (submanifold: the inputs), their numbers the ranks of their places. Then the pairs: an item is an
// offset, walks over both sets side by side, marks the inputs that have an output and writes them in order into its
// part of indice_pairs; where the outputs are the inputs, an offset finds those of its mirror image too. No grid and no
// table: memory and time grow with L and the pairs. All is read and written in order but for the marks of inputs that
// are not sorted, which stay in the second cache.
#include "mluops/problem/get_indice_pairs.h"
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/get_indice_pairs/grid.h"
#include "backends/cpu/kernels/get_indice_pairs/places.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"

MLUOPS_CPU_DECLARE(get_indice_pairs, mluopsGetIndicePairsProblem)

namespace mluops::cpu::get_indice_pairs {
namespace {

using Problem = mluopsGetIndicePairsProblem;

/// The inputs, sorted.
class Inputs {
 public:
  Inputs(Allocator& allocator, const Shape& s)
      : items_{allocator.allocate<Item>(s.inputs), allocator.allocate<Item>(s.inputs)},
        words_(allocator.allocate<Word>(s.inputs)),
        last_(allocator.allocate<std::int32_t>(s.inputs)),
        before_(allocator.allocate<std::int32_t>(s.inputs)) {}

  void collect(const Problem& p, const Grid& grid) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < p.shape.inputs; ++i) {
      const std::int64_t key = grid.key(p.indices + i * (p.shape.axes + 1));
      if (key >= 0) items_[0][count++] = {key, static_cast<std::int32_t>(i)};
    }
    const Item* const sorted =
        spatial::radix_sort(items_[0], items_[1], count, [](const Item& item) { return item.key; });
    for (std::int64_t i = 0; i < count; ++i) add(sorted[i], i > 0 && sorted[i - 1].key == sorted[i].key);
    rank_words(words_, words_ + words_count_);
  }
  /// The places of a class.
  Words of_class(std::int64_t number, const Grid& grid) const {
    const auto first = [&](std::int64_t key) {
      return std::lower_bound(words_, words_ + words_count_, key / 64,
                              [](const Word& word, std::int64_t wanted) { return word.number < wanted; });
    };
    return {first(number * grid.places()), first((number + 1) * grid.places())};
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

  void add(const Item& item, bool repeats) {
    before_[item.input] = repeats ? last_[places_ - 1] : -1;
    repeated_ = repeated_ || repeats;
    if (!repeats) ++places_;
    last_[places_ - 1] = item.input;
    if (words_count_ == 0 || words_[words_count_ - 1].number != item.key / 64)
      words_[words_count_++] = {item.key / 64, 0, 0};
    words_[words_count_ - 1].bits |= std::uint64_t{1} << item.key % 64;
  }

  Item* items_[2];
  Word* words_;
  std::int32_t *last_, *before_;
  std::int64_t words_count_ = 0, places_ = 0;
  bool repeated_ = false;
};

struct Arrays {
  Inputs inputs;
  Union outputs;
  std::int64_t marks;
  std::uint64_t* marked;  ///< of each slot [2, marks]: inputs that have an output
  std::int32_t* output;   ///< of each slot [2, inputs]: which

  Arrays(Allocator& allocator, const Shape& s, std::int64_t most_words, int slots)
      : inputs(allocator, s),
        outputs(allocator, most_words),
        marks(ceil_div(s.inputs, 64)),
        marked(allocator.allocate<std::uint64_t>(slots, 2, marks)),
        output(allocator.allocate<std::int32_t>(slots, 2, s.inputs)) {}
};

/// False when there are more words than there is room for.
bool collect_outputs(const Problem& p, const Grid& grid, Arrays& arrays) {
  for (std::int64_t k = 0; k < p.shape.offsets; ++k) {
    const Step step = grid.step(k);
    const std::int64_t moved = step.places - step.its_class * grid.places();
    const int shift = static_cast<int>(moved & 63);
    const Words words = arrays.inputs.of_class(step.its_class, grid);
    for (const Word* word = words.begin; word != words.end; ++word) {
      const std::int64_t number = word->number + (moved >> 6);
      if (!arrays.outputs.add(number, word->bits << shift)) return false;
      if (shift > 0 && !arrays.outputs.add(number + 1, word->bits >> (64 - shift))) return false;
    }
  }
  arrays.outputs.merge();
  arrays.outputs.keep([&](std::int64_t number) { return grid.outputs_of_word(number); });
  return true;
}

/// Inputs and outputs: of these two words for each input at first.
std::optional<Arrays> collect(Context& context, const Problem& p, const Grid& grid, int slots) {
  const bool same = p.shape.sub_m != 0;
  for (std::int64_t most = same ? 0 : 2 * p.shape.inputs + 64;; most *= 2) {
    auto arrays = allocate<Arrays>(context.arena, p.shape, most, slots);
    if (!arrays) return arrays;
    arrays->inputs.collect(p, grid);
    if (same || collect_outputs(p, grid, *arrays)) return arrays;
  }
}

void write_rows(const Grid& grid, const Word* begin, const Word* end, std::int64_t width, std::int32_t* rows) {
  std::int64_t line_end = -1, before = 0;
  for (const Word* word = begin; word != end; ++word) {
    std::int32_t* row = rows + word->base * width;
    for (std::uint64_t bits = word->bits; bits != 0; bits &= bits - 1, row += width) {
      const std::int64_t place = word->number * 64 + std::countr_zero(bits);
      if (place < line_end) {
        std::copy_n(row - width, width, row);
        row[width - 1] += static_cast<std::int32_t>(place - before);
      } else {
        grid.write_row(place, row);
        line_end = grid.end_of_line(place);
      }
      before = place;
    }
  }
}

void write_outputs(const Context& context, const mluopsCall& call, const Problem& p, const Grid& grid, Words words,
                   std::int64_t outputs) {
  const Shape& s = p.shape;
  const std::int64_t width = s.axes + 1;
  if (s.sub_m != 0) {
    std::copy_n(p.indices, s.inputs * width, p.out_indices);
  } else {
    Loop(context, call, words.end - words.begin, 4 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
      write_rows(grid, words.begin + begin, words.begin + end, width, p.out_indices);
    });
  }
  std::fill_n(p.out_indices + outputs * width, (s.outputs - outputs) * width, 0);
}

/// The pairs of one offset, on their way from walks over the places to their part of indice_pairs.
struct Pairs {
  std::uint64_t* marked;
  std::int32_t* output;

  Pairs(const Arrays& arrays, const Shape& s, std::int64_t number)
      : marked(arrays.marked + number * arrays.marks), output(arrays.output + number * s.inputs) {
    std::fill_n(marked, arrays.marks, 0);
  }
  void add(std::int32_t input, std::int32_t its_output) const {
    marked[input / 64] |= std::uint64_t{1} << input % 64;
    output[input] = its_output;
  }
};

/// In the order of the inputs.
void write_pairs(const Problem& p, const Pairs& found, std::int64_t marks, std::int64_t offset) {
  const std::int64_t places = p.shape.inputs;
  std::int32_t* const inputs = p.indice_pairs + 2 * offset * places;
  std::int32_t* const outputs = inputs + places;
  std::int64_t count = 0;
  for (std::int64_t mark = 0; mark < marks; ++mark) {
    for (std::uint64_t bits = found.marked[mark]; bits != 0; bits &= bits - 1) {
      const std::int64_t input = mark * 64 + std::countr_zero(bits);
      inputs[count] = static_cast<std::int32_t>(input);
      outputs[count++] = found.output[input];
    }
  }
  p.indice_num[offset] = static_cast<std::int32_t>(count);
  std::fill_n(inputs + count, places - count, -1);
  std::fill_n(outputs + count, places - count, -1);
}

/// Whether each offset leads back where the last but as many leads: a submanifold convolution whose filter has a
/// middle.
bool mirrored(const Shape& s, const Grid& grid) {
  return s.sub_m != 0 && grid.step(0).places + grid.step(s.offsets - 1).places == 0;
}

void find_pairs(const Problem& p, const Grid& grid, const Arrays& arrays, std::int64_t offset, int slot) {
  const Step step = grid.step(offset);
  const Inputs& inputs = arrays.inputs;
  const Words from = inputs.of_class(step.its_class, grid);
  const bool same = p.shape.sub_m != 0;
  const Pairs found(arrays, p.shape, 2 * slot);
  walk(from, step.places - step.its_class * grid.places(), same ? from : arrays.outputs.words(),
       [&](std::int32_t source, std::int32_t target) {
         const std::int32_t output = same ? inputs.last(target) : target;
         inputs.each(source, [&](std::int32_t input) { found.add(input, output); });
       });
  write_pairs(p, found, arrays.marks, offset);
}

/// Finds the pairs of an offset and of its mirror image, which has the same ones the other way round.
void find_mirrored_pairs(const Problem& p, const Grid& grid, const Arrays& arrays, std::int64_t offset, int slot) {
  const Inputs& inputs = arrays.inputs;
  const Words places = inputs.of_class(0, grid);
  const Pairs there(arrays, p.shape, 2 * slot), back(arrays, p.shape, 2 * slot + 1);
  walk(places, grid.step(offset).places, places, [&](std::int32_t source, std::int32_t target) {
    const std::int32_t first = inputs.last(source), second = inputs.last(target);
    inputs.each(source, [&](std::int32_t input) { there.add(input, second); });
    inputs.each(target, [&](std::int32_t input) { back.add(input, first); });
  });
  write_pairs(p, there, arrays.marks, offset);
  write_pairs(p, back, arrays.marks, p.shape.offsets - 1 - offset);
}

mluOpStatus_t pairs(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const Grid grid(s);
  if (!grid.countable())
    return fail(call, MLUOP_STATUS_NOT_SUPPORTED,
                "sparse_conv_desc: wanted fewer than 2^63 places with margins as wide as the filter reaches, got more");
  const bool is_mirrored = mirrored(s, grid);
  const Loop loop(context, call, is_mirrored ? ceil_div(s.offsets, 2) : s.offsets,
                  cost::kStep * static_cast<double>(s.inputs));
  auto arrays = collect(context, p, grid, loop.slots());
  if (!arrays) return no_memory(call);
  const std::int64_t outputs = s.sub_m != 0 ? s.inputs : arrays->outputs.rank();
  if (outputs > s.outputs) {
    const std::string text = "out_indices: wanted at least " + std::to_string(outputs) +
                             " rows, one for each output, got " + std::to_string(s.outputs);
    return fail(call, MLUOP_STATUS_NOT_SUPPORTED, text.c_str());
  }
  write_outputs(context, call, p, grid, arrays->outputs.words(), outputs);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t offset = begin; offset < end; ++offset) {
      is_mirrored ? find_mirrored_pairs(p, grid, *arrays, offset, slot) : find_pairs(p, grid, *arrays, offset, slot);
    }
  });
  *p.num_act_out = static_cast<std::int32_t>(outputs);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::get_indice_pairs

namespace mluops::cpu {

mluOpStatus_t operators::get_indice_pairs(Context& context, const mluopsCall& call,
                                          const mluopsGetIndicePairsProblem& problem) {
  return get_indice_pairs::pairs(context, call, problem);
}

}  // namespace mluops::cpu
