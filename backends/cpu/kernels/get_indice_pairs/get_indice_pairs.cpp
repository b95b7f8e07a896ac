// GetIndicePairs: the pairs of inputs and outputs of a sparse convolution.
//
// indices [L,1+axes], indice_pairs [K,2,L]. The inputs are sorted by their places (grid.h), 64 places to a word
// (places.h): each offset of the filter moves some of them by a constant number of places. The outputs are the union of
// what is moved (outputs.h; submanifold: the inputs), their numbers the ranks of their places. Then the pairs: a task
// has an offset, walks over both sets side by side, marks the inputs that have an output and writes them in order into
// its part of indice_pairs; where the outputs are the inputs, an offset finds those of its mirror image too. With many
// threads an offset is several tasks: each walks over a range of places, then counts and writes a range of inputs. No
// grid and no table: memory and time grow with L and the pairs. All is read and written in order but for the marks of
// inputs that are not sorted, which stay in the second cache. Every step runs in parallel; what is written does not
// depend on how.
#include "mluops/problem/get_indice_pairs.h"

#include <numeric>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/get_indice_pairs/grid.h"
#include "backends/cpu/kernels/get_indice_pairs/inputs.h"
#include "backends/cpu/kernels/get_indice_pairs/outputs.h"
#include "backends/cpu/kernels/get_indice_pairs/parts.h"
#include "backends/cpu/kernels/get_indice_pairs/places.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"

MLUOPS_CPU_DECLARE(get_indice_pairs, mluopsGetIndicePairsProblem)

namespace mluops::cpu::get_indice_pairs {
namespace {

using Problem = mluopsGetIndicePairsProblem;

/// The pairs of an offset, in no order: a mark for each input that has an output, and which output. Several tasks find
/// the pairs, and one task finds all pairs of an input; then each counts and writes the pairs of a range of inputs.
struct Found {
  std::int64_t parts, groups;  ///< tasks; groups of 64 inputs
  std::uint64_t* marked;       ///< [groups,8]: a byte for each input, so that tasks share no element
  std::int32_t* counts;        ///< [parts]: marks in each range
  std::int32_t* output;        ///< [inputs]

  Found(Allocator& allocator, std::int64_t inputs, std::int64_t number_of_parts)
      : parts(number_of_parts),
        groups(ceil_div(inputs, 64)),
        marked(allocator.allocate<std::uint64_t>(groups, 8)),
        counts(allocator.allocate<std::int32_t>(parts)),
        output(allocator.allocate<std::int32_t>(inputs)) {}

  /// First group of a range of inputs.
  std::int64_t begin(std::int64_t range) const { return range * groups / parts; }
  void clear(std::int64_t range) const { std::fill(marked + 8 * begin(range), marked + 8 * begin(range + 1), 0); }
  void add(std::int32_t input, std::int32_t its_output) const {
    reinterpret_cast<unsigned char*>(marked)[input] = 1;
    output[input] = its_output;
  }
  /// The marks of a group, a bit for each.
  std::uint64_t bits(std::int64_t group) const {
    static_assert(std::endian::native == std::endian::little);
    constexpr std::uint64_t kLowestBits = 0x0102040810204080;  // moves those of all bytes into the highest byte
    std::uint64_t all = 0;
    for (std::int64_t i = 0; i < 8; ++i) all |= marked[8 * group + i] * kLowestBits >> 56 << 8 * i;
    return all;
  }
  void count(std::int64_t range) const {
    constexpr std::uint64_t kOnes = 0x0101010101010101;  // adds all bytes up in the highest
    std::uint64_t sum = 0;
    for (std::int64_t i = 8 * begin(range); i < 8 * begin(range + 1); ++i) sum += marked[i] * kOnes >> 56;
    counts[range] = static_cast<std::int32_t>(sum);
  }
  /// Pairs in ranges [0, end).
  std::int64_t before(std::int64_t end) const { return std::accumulate(counts, counts + end, std::int64_t{0}); }
};

/// An offset and its mirror image.
struct FoundTwo {
  Found there, back;

  FoundTwo(Allocator& allocator, std::int64_t inputs, std::int64_t parts)
      : there(allocator, inputs, parts), back(allocator, inputs, parts) {}
};

struct Arrays {
  Parts parts;
  Inputs inputs;
  Outputs outputs;
  SlotScratch<FoundTwo> found;

  Arrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t most_words, int tables,
         std::int64_t tasks)
      : parts(allocator, call, s.inputs),
        inputs(allocator, call, s),
        outputs(allocator, call, s, most_words, parts),
        found(allocator, tables, s.inputs, tasks) {}
};

/// How the pairs are found. One task has an offset, or an offset and its mirror image, and keeps what it finds in a
/// table of its thread; where there are more threads than that keeps busy, several tasks share a table.
struct Tasks {
  bool mirrored;
  std::int64_t offsets;  ///< or pairs of them
  std::int64_t each;     ///< tasks of an offset
  Loop loop;

  Tasks(const Context& context, const mluopsCall& call, const Shape& s, const Grid& grid)
      : mirrored(s.sub_m != 0 && grid.step(0).places + grid.step(s.offsets - 1).places == 0),
        offsets(mirrored ? ceil_div(s.offsets, 2) : s.offsets),
        each(tasks_of_offset(context, call, s)),
        loop(context, call, offsets * each, offset_ns(s) / static_cast<double>(each)) {}

  int tables() const { return each == 1 ? loop.slots() : static_cast<int>(offsets); }

 private:
  static double offset_ns(const Shape& s) { return cost::kStep * static_cast<double>(s.inputs); }
  std::int64_t tasks_of_offset(const Context& context, const mluopsCall& call, const Shape& s) const {
    constexpr std::int64_t kPerThread = 4, kLeastInputs = 2048;
    const int threads = Loop(context, call, offsets * call.threads, offset_ns(s) / call.threads).slots();
    if (2 * threads <= offsets) return 1;
    return std::clamp<std::int64_t>(s.inputs / kLeastInputs, 1, ceil_div(kPerThread * threads, offsets));
  }
};

/// Inputs and outputs: of these three words for each input at first, so that a part of the outputs that has more than
/// the others has room too (Parts::make).
std::optional<Arrays> collect(Context& context, const mluopsCall& call, const Problem& p, const Grid& grid,
                              const Tasks& tasks) {
  const bool same = p.shape.sub_m != 0;
  for (std::int64_t most = same ? 0 : 3 * p.shape.inputs + 64;; most *= 2) {
    auto arrays = allocate<Arrays>(context.arena, call, p.shape, most, tasks.tables(), tasks.each);
    if (!arrays) return arrays;
    arrays->inputs.collect(context, call, p, grid, arrays->parts);
    if (same || arrays->outputs.collect(context, call, arrays->inputs.words(), grid, arrays->parts)) return arrays;
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
  const double row_ns = cost::kMove * static_cast<double>(width);
  if (s.sub_m != 0) {
    Loop(context, call, s.inputs, row_ns).run([&](std::int64_t begin, std::int64_t end, int) {
      std::copy(p.indices + begin * width, p.indices + end * width, p.out_indices + begin * width);
    });
  } else {
    Loop(context, call, words.count(), 4 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
      write_rows(grid, words.begin + begin, words.begin + end, width, p.out_indices);
    });
  }
  Loop(context, call, s.outputs - outputs, row_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    std::fill(p.out_indices + (outputs + begin) * width, p.out_indices + (outputs + end) * width, 0);
  });
}

/// The pairs of a range of inputs, in the order of the inputs, and as much of what is to be -1 behind all pairs.
void write_pairs(const Problem& p, const Found& found, std::int64_t offset, std::int64_t range) {
  const std::int64_t places = p.shape.inputs;
  std::int32_t* const inputs = p.indice_pairs + 2 * offset * places;
  std::int32_t* const outputs = inputs + places;
  std::int64_t at = found.before(range);
  for (std::int64_t group = found.begin(range); group < found.begin(range + 1); ++group) {
    for (std::uint64_t bits = found.bits(group); bits != 0; bits &= bits - 1) {
      const std::int64_t input = group * 64 + std::countr_zero(bits);
      inputs[at] = static_cast<std::int32_t>(input);
      outputs[at++] = found.output[input];
    }
  }
  const std::int64_t all = found.before(found.parts), unused = places - all;
  p.indice_num[offset] = static_cast<std::int32_t>(all);
  const std::int64_t begin = all + range * unused / found.parts, end = all + (range + 1) * unused / found.parts;
  std::fill(inputs + begin, inputs + end, -1);
  std::fill(outputs + begin, outputs + end, -1);
}

/// Finds and writes the pairs of offsets.
class PairFinder {
 public:
  PairFinder(const Problem& p, const Grid& grid, const Arrays& arrays, const Tasks& tasks)
      : p_(p), grid_(grid), arrays_(arrays), tasks_(tasks) {}

  void run() const {
    if (tasks_.each == 1) {
      each([&](std::int64_t offset, std::int64_t, int slot) {
        const FoundTwo found = table(slot);
        clear(found, 0);
        find(found, offset, 0);
        count(found, 0);
        write(found, offset, 0);
      });
    } else {
      each([&](std::int64_t offset, std::int64_t range, int) { clear(table(offset), range); });
      each([&](std::int64_t offset, std::int64_t part, int) { find(table(offset), offset, part); });
      each([&](std::int64_t offset, std::int64_t range, int) { count(table(offset), range); });
      each([&](std::int64_t offset, std::int64_t range, int) { write(table(offset), offset, range); });
    }
  }

 private:
  /// body(offset, part, slot)
  template <class Body>
  void each(const Body& body) const {
    tasks_.loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
      for (std::int64_t task = begin; task < end; ++task) body(task / tasks_.each, task % tasks_.each, slot);
    });
  }
  FoundTwo table(std::int64_t number) const {
    return arrays_.found.of(static_cast<int>(number), p_.shape.inputs, tasks_.each);
  }

  void clear(const FoundTwo& found, std::int64_t range) const {
    found.there.clear(range);
    if (tasks_.mirrored) found.back.clear(range);
  }
  void count(const FoundTwo& found, std::int64_t range) const {
    found.there.count(range);
    if (tasks_.mirrored) found.back.count(range);
  }
  void find(const FoundTwo& found, std::int64_t offset, std::int64_t part) const {
    const Step step = grid_.step(offset);
    const Words of_class = arrays_.inputs.of_class(step.its_class, grid_);
    const auto begin = [&](std::int64_t i) { return of_class.begin + i * of_class.count() / tasks_.each; };
    const Words from{begin(part), begin(part + 1)};
    if (tasks_.mirrored) {
      find_mirrored(found, from, step);
    } else {
      find_one(found.there, from, step);
    }
  }
  void find_one(const Found& found, Words from, Step step) const {
    const Inputs& inputs = arrays_.inputs;
    const bool same = p_.shape.sub_m != 0;
    walk(from, step.places - step.its_class * grid_.places(), same ? inputs.words() : arrays_.outputs.words(),
         [&](std::int32_t source, std::int32_t target) {
           const std::int32_t output = same ? inputs.last(target) : target;
           inputs.each(source, [&](std::int32_t input) { found.add(input, output); });
         });
  }
  /// The mirror image has the same pairs the other way round.
  void find_mirrored(const FoundTwo& found, Words from, Step step) const {
    const Inputs& inputs = arrays_.inputs;
    walk(from, step.places, inputs.words(), [&](std::int32_t source, std::int32_t target) {
      const std::int32_t first = inputs.last(source), second = inputs.last(target);
      inputs.each(source, [&](std::int32_t input) { found.there.add(input, second); });
      inputs.each(target, [&](std::int32_t input) { found.back.add(input, first); });
    });
  }
  void write(const FoundTwo& found, std::int64_t offset, std::int64_t range) const {
    write_pairs(p_, found.there, offset, range);
    const std::int64_t mirror = p_.shape.offsets - 1 - offset;
    if (tasks_.mirrored && mirror != offset) write_pairs(p_, found.back, mirror, range);
  }

  const Problem& p_;
  const Grid& grid_;
  const Arrays& arrays_;
  const Tasks& tasks_;
};

mluOpStatus_t pairs(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const Grid grid(s);
  if (!grid.countable())
    return fail(call, MLUOP_STATUS_NOT_SUPPORTED,
                "sparse_conv_desc: wanted fewer than 2^63 places with margins as wide as the filter reaches, got more");
  const Tasks tasks(context, call, s, grid);
  auto arrays = collect(context, call, p, grid, tasks);
  if (!arrays) return no_memory(call);
  const std::int64_t outputs = s.sub_m != 0 ? s.inputs : arrays->outputs.count();
  if (outputs > s.outputs) {
    const std::string text = "out_indices: wanted at least " + std::to_string(outputs) +
                             " rows, one for each output, got " + std::to_string(s.outputs);
    return fail(call, MLUOP_STATUS_NOT_SUPPORTED, text.c_str());
  }
  write_outputs(context, call, p, grid, arrays->outputs.words(), outputs);
  PairFinder(p, grid, *arrays, tasks).run();
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
