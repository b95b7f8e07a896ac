// The grids of a sparse convolution: places as numbers, and which output an input meets at an offset of the filter.
#pragma once

#include <cstdint>
#include <span>

#include "mluops/problem.h"

namespace mluops::cpu::get_indice_pairs {

using Shape = mluopsGetIndicePairsShape;

/// The output's place on one axis that the input's meets at number k of the filter; -1 for none. Products of two
/// int32 need int64.
inline std::int64_t output_place(const mluopsSparseAxis& axis, bool transpose, std::int64_t input, std::int64_t k) {
  if (transpose) {
    const std::int64_t q = input * axis.stride - axis.pad + k * axis.dilation;
    return q >= 0 && q < axis.output ? q : -1;
  }
  std::int64_t q = input + axis.pad - k * axis.dilation;
  if (q < 0) return -1;
  if (axis.stride != 1) {  // both are less than 2^32
    const auto whole = static_cast<std::uint32_t>(q), stride = static_cast<std::uint32_t>(axis.stride);
    if (whole % stride != 0) return -1;
    q = whole / stride;
  }
  return q < axis.output ? q : -1;
}

/// Whether a row of indices, [batch, place...], is in the batch and in its grid.
inline bool inside(const Shape& s, const std::int32_t* row) {
  if (row[0] < 0 || row[0] >= s.batch) return false;
  for (int a = 0; a < s.axes; ++a) {
    if (row[1 + a] < 0 || row[1 + a] >= s.axis[a].input) return false;
  }
  return true;
}

/// The number of the output's place that a row of indices meets at offset k, given axis by axis; -1 for none.
inline std::int64_t output_at(const Shape& s, const std::int32_t* row, const std::int32_t* k) {
  std::int64_t place = row[0];
  for (int a = 0; a < s.axes; ++a) {
    const std::int64_t q = output_place(s.axis[a], s.transpose != 0, row[1 + a], k[a]);
    if (q < 0) return -1;
    place = place * s.axis[a].output + q;
  }
  return place;
}

/// visit(place) for the outputs that a row of indices meets at any offset. `axes` are those still to go, `at` the row's
/// places on them, `place` the number so far.
template <class Visit>
void each_output(std::span<const mluopsSparseAxis> axes, bool transpose, const std::int32_t* at, std::int64_t place,
                 const Visit& visit) {
  if (axes.empty()) return visit(place);
  const mluopsSparseAxis& axis = axes.front();
  for (std::int64_t k = 0; k < axis.filter; ++k) {
    const std::int64_t q = output_place(axis, transpose, *at, k);
    if (q >= 0) each_output(axes.subspan(1), transpose, at + 1, place * axis.output + q, visit);
  }
}

/// A place's number as [batch, place...] of the output's grid.
inline void write_row(const Shape& s, std::int64_t place, std::int32_t* row) {
  for (int a = s.axes; a-- > 0; place /= s.axis[a].output) {
    row[1 + a] = static_cast<std::int32_t>(place % s.axis[a].output);
  }
  row[0] = static_cast<std::int32_t>(place);
}

}  // namespace mluops::cpu::get_indice_pairs
