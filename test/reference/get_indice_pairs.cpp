#include "test/reference/get_indice_pairs.h"

#include <map>
#include <vector>

namespace mluops::reference {
namespace {

using Place = std::vector<std::int64_t>;  // batch and coordinates

// Solves the equation of an axis for q by trying all of them.
std::int64_t solve(const mluopsSparseAxis& a, bool transpose, std::int64_t p, std::int64_t k) {
  const std::int64_t low = std::max<std::int64_t>(0, transpose ? p * a.stride - a.pad : p / a.stride - k * a.dilation);
  for (std::int64_t q = low; q < a.output; ++q) {
    const std::int64_t left = transpose ? q + a.pad : p + a.pad;
    const std::int64_t right = (transpose ? p : q) * a.stride + k * a.dilation;
    if (left == right) return q;
    if (transpose ? left > right : left < right) return -1;
  }
  return -1;
}

// Empty for an input outside the grid.
Place input_place(const mluopsGetIndicePairsShape& s, const std::int32_t* row) {
  for (int a = 0; a <= s.axes; ++a) {
    const std::int64_t end = a == 0 ? s.batch : s.axis[a - 1].input;
    if (row[a] < 0 || row[a] >= end) return {};
  }
  return Place(row, row + s.axes + 1);
}

// Empty where the input meets nothing.
Place meets(const mluopsGetIndicePairsShape& s, const Place& input, std::int64_t offset) {
  if (input.empty()) return {};
  Place output = input;
  for (int a = s.axes; a-- > 0; offset /= s.axis[a].filter) {
    output[1 + a] = solve(s.axis[a], s.transpose != 0, input[1 + a], offset % s.axis[a].filter);
    if (output[1 + a] < 0) return {};
  }
  return output;
}

}  // namespace

GetIndicePairsResult get_indice_pairs(const mluopsGetIndicePairsProblem& p) {
  const mluopsGetIndicePairsShape& s = p.shape;
  std::vector<Place> inputs;
  for (std::int64_t i = 0; i < s.inputs; ++i) inputs.push_back(input_place(s, p.indices + i * (s.axes + 1)));
  std::map<Place, std::int64_t> outputs;
  for (std::int64_t i = 0; i < s.inputs; ++i) {
    if (s.sub_m != 0 && !inputs[i].empty()) outputs[inputs[i]] = i;
    for (std::int64_t k = 0; s.sub_m == 0 && k < s.offsets; ++k) {
      const Place q = meets(s, inputs[i], k);
      if (!q.empty()) outputs[q] = 0;
    }
  }
  GetIndicePairsResult r;
  const std::int64_t width = s.axes + 1;
  r.out_indices.assign(static_cast<std::size_t>(s.outputs * width), 0.0);
  r.outputs = s.sub_m != 0 ? s.inputs : 0;
  for (std::int64_t i = 0; s.sub_m != 0 && i < s.inputs * width; ++i) r.out_indices[i] = p.indices[i];
  for (auto& [place, number] : outputs) {
    if (s.sub_m != 0) break;
    number = r.outputs++;
    std::copy(place.begin(), place.end(), r.out_indices.begin() + number * width);
  }
  r.pairs.assign(static_cast<std::size_t>(2 * s.offsets * s.inputs), -1.0);
  for (std::int64_t k = 0; k < s.offsets; ++k) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < s.inputs; ++i) {
      const auto found = outputs.find(meets(s, inputs[i], k));
      if (found == outputs.end()) continue;
      r.pairs[2 * k * s.inputs + count] = static_cast<double>(i);
      r.pairs[(2 * k + 1) * s.inputs + count++] = static_cast<double>(found->second);
    }
    r.num.push_back(static_cast<double>(count));
  }
  return r;
}

}  // namespace mluops::reference
