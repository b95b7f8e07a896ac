// GetIndicePairs: the pairs of inputs and outputs of a sparse convolution.
//
// indices [L,1+axes], indice_pairs [K,2,L]. Three steps: the outputs' places into a set, on one thread; their ranks,
// which are the outputs' numbers, and their rows (an item is a word of 64 places); the pairs (an item is an offset of
// the filter, goes over all inputs in order and owns its part of indice_pairs). K * L look-ups in a table that mostly
// stays in the second cache: bound by them.
#include "backends/cpu/kernels/get_indice_pairs/grid.h"
#include "backends/cpu/kernels/get_indice_pairs/places.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"

namespace mluops::cpu::get_indice_pairs {
namespace {

using Problem = mluopsGetIndicePairsProblem;

struct Arrays {
  Places places;
  std::int32_t* input_at;  ///< sub_m: of each rank the last input there

  Arrays(Allocator& allocator, const Shape& s, std::int64_t slots)
      : places(allocator, slots), input_at(allocator.allocate<std::int32_t>(s.sub_m != 0 ? s.inputs : 0)) {}
};

std::int64_t place_of(const Shape& s, const std::int32_t* row) {
  std::int64_t place = row[0];
  for (int a = 0; a < s.axes; ++a) place = place * s.axis[a].output + row[1 + a];
  return place;
}

/// False when there are more than `places` has room for.
bool insert_outputs(const Problem& p, Places& places) {
  const Shape& s = p.shape;
  places.clear();
  bool all = true;
  for (std::int64_t i = 0; i < s.inputs && all; ++i) {
    const std::int32_t* const row = p.indices + i * (s.axes + 1);
    if (!inside(s, row)) continue;
    if (s.sub_m != 0) {
      all = places.insert(place_of(s, row));
    } else {
      each_output({s.axis, static_cast<std::size_t>(s.axes)}, s.transpose != 0, row + 1, row[0],
                  [&](std::int64_t place) { all = all && places.insert(place); });
    }
  }
  return all;
}

/// A table that the outputs fit into: one for as many words as there are inputs at first.
std::optional<Arrays> collect_outputs(Context& context, const Problem& p) {
  auto slots = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * p.shape.inputs)));
  for (;; slots *= 2) {
    auto arrays = allocate<Arrays>(context.arena, p.shape, slots);
    if (!arrays || insert_outputs(p, arrays->places)) return arrays;
  }
}

void note_inputs(const Problem& p, const Arrays& arrays) {
  const Shape& s = p.shape;
  for (std::int64_t i = 0; i < s.inputs; ++i) {
    const std::int32_t* const row = p.indices + i * (s.axes + 1);
    if (inside(s, row)) arrays.input_at[arrays.places.rank(place_of(s, row))] = static_cast<std::int32_t>(i);
  }
}

void write_outputs(const Context& context, const mluopsCall& call, const Problem& p, const Places& places,
                   std::int64_t outputs) {
  const Shape& s = p.shape;
  if (s.sub_m != 0) {
    std::copy_n(p.indices, s.inputs * (s.axes + 1), p.out_indices);
  } else {
    Loop(context, call, places.words(), 2 * cost::kVoxelRow).run([&](std::int64_t begin, std::int64_t end, int) {
      places.each(begin, end, [&](std::int64_t place, std::int64_t rank) {
        write_row(s, place, p.out_indices + rank * (s.axes + 1));
      });
    });
  }
  std::fill_n(p.out_indices + outputs * (s.axes + 1), (s.outputs - outputs) * (s.axes + 1), 0);
}

void find_pairs(const Problem& p, const Arrays& arrays, std::int64_t offset) {
  const Shape& s = p.shape;
  std::int32_t k[MLUOPS_MOST_SPARSE_AXES];
  std::int64_t rest = offset;
  for (int a = s.axes; a-- > 0; rest /= s.axis[a].filter) k[a] = static_cast<std::int32_t>(rest % s.axis[a].filter);
  std::int32_t* const inputs = p.indice_pairs + 2 * offset * s.inputs;
  std::int32_t* const outputs = inputs + s.inputs;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < s.inputs; ++i) {
    const std::int32_t* const row = p.indices + i * (s.axes + 1);
    if (!inside(s, row)) continue;
    const std::int64_t place = output_at(s, row, k);
    const std::int32_t rank = place < 0 ? -1 : arrays.places.rank(place);
    if (rank < 0) continue;
    inputs[count] = static_cast<std::int32_t>(i);
    outputs[count++] = s.sub_m != 0 ? arrays.input_at[rank] : rank;
  }
  p.indice_num[offset] = static_cast<std::int32_t>(count);
  std::fill_n(inputs + count, s.inputs - count, -1);
  std::fill_n(outputs + count, s.inputs - count, -1);
}

mluOpStatus_t pairs(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  auto arrays = collect_outputs(context, p);
  if (!arrays) return no_memory(call);
  const std::int64_t places = arrays->places.number(), outputs = s.sub_m != 0 ? s.inputs : places;
  if (outputs > s.outputs) {
    const std::string text = "out_indices: wanted at least " + std::to_string(outputs) +
                             " rows, one for each output, got " + std::to_string(s.outputs);
    return fail(call, MLUOP_STATUS_NOT_SUPPORTED, text.c_str());
  }
  if (s.sub_m != 0) note_inputs(p, *arrays);
  write_outputs(context, call, p, arrays->places, outputs);
  Loop(context, call, s.offsets, cost::kVoxelLookUp * static_cast<double>(s.inputs))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t offset = begin; offset < end; ++offset) find_pairs(p, *arrays, offset);
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
