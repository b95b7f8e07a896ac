// The places of a sparse convolution as numbers in which each offset of the filter is one step.
//
// An input at x meets the output at q where s q + d k = x + p (transposed: q + p = s x + d k). Inputs whose x + p leave
// the same rest modulo s on each axis are a class: with u = (x + p) / s rounded down, q = u - d k / s for those k that
// leave the rest too. So an input has a class and a place, and an offset a class and a step from an input's place to
// its output's. Around the outputs' grid lies a margin as wide as the filter reaches: no step leads past the end of a
// line into another one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/runtime/arena.h"
#include "mluops/problem/get_indice_pairs.h"

namespace mluops::cpu::get_indice_pairs {

using Shape = mluopsGetIndicePairsShape;

/// An axis: the outputs' q has number q + margin.
struct Axis {
  std::int64_t input, output, filter, pad, stride, dilation;
  std::int64_t classes;  ///< rests of x + p
  std::int64_t margin, size;
  bool sub_m, transpose;

  Axis() = default;
  Axis(const Shape& s, int a)
      : input(s.axis[a].input),
        output(s.axis[a].output),
        filter(s.axis[a].filter),
        pad(s.axis[a].pad),
        stride(s.axis[a].stride),
        dilation(s.axis[a].dilation),
        classes(s.transpose != 0 ? 1 : stride),
        margin((filter - 1) * dilation / classes + (s.sub_m != 0 ? pad : 0)),
        size(size_sum(output, 2 * margin)),
        sub_m(s.sub_m != 0),
        transpose(s.transpose != 0) {}

  /// The class and place of an input at x; false when it meets no output at all.
  bool number(std::int64_t x, std::int64_t& its_class, std::int64_t& at) const {
    if (x < 0 || x >= input) return false;
    its_class = transpose || sub_m ? 0 : (x + pad) % stride;
    at = margin + (sub_m ? x : transpose ? x * stride - pad : (x + pad) / stride);
    return at >= 0 && at < (transpose ? output + margin : size);
  }
  std::int64_t class_of_offset(std::int64_t k) const { return k * dilation % classes; }
  std::int64_t step(std::int64_t k) const {
    return transpose ? k * dilation : (sub_m ? pad : 0) - k * dilation / classes;
  }
};

/// Where an offset leads: from the inputs of one class so many places further.
struct Step {
  std::int64_t its_class, places;
};

class Grid {
 public:
  explicit Grid(const Shape& s) : axes_(s.axes), batch_(s.batch) {
    for (int a = 0; a < axes_; ++a) axis_[a] = Axis(s, a);
    places_ = batch_;
    keys_ = 1;
    for (int a = 0; a < axes_; ++a) {
      places_ = size_product(places_, axis_[a].size);
      keys_ = size_product(keys_, axis_[a].classes);
    }
    places_ = places_ == kNoSize ? kNoSize : size_sum(places_, 64) / 64 * 64;
    keys_ = size_product(keys_, places_);
  }

  /// Whether its numbers fit into int64.
  bool countable() const { return keys_ != kNoSize; }
  /// Places of a class, whole words of 64: the key of a place is its number and `places` for each class before.
  std::int64_t places() const { return places_; }
  /// Keys of all classes together.
  std::int64_t keys() const { return keys_; }

  int axes() const { return axes_; }
  std::int64_t filter(int axis) const { return axis_[axis].filter; }
  std::int64_t classes(int axis) const { return axis_[axis].classes; }
  /// Where offset k of one axis leads; the class is that of the axis.
  Step step(int axis, std::int64_t k) const {
    std::int64_t places = axis_[axis].step(k);
    for (int a = axis + 1; a < axes_; ++a) places *= axis_[a].size;
    return {axis_[axis].class_of_offset(k), places};
  }

  /// The key of a row of indices, [batch, x...]; -1 where it meets no output.
  std::int64_t key(const std::int32_t* row) const {
    if (row[0] < 0 || row[0] >= batch_) return -1;
    std::int64_t of_class = 0, place = row[0], its_class = 0, at = 0;
    for (int a = 0; a < axes_; ++a) {
      if (!axis_[a].number(row[1 + a], its_class, at)) return -1;
      of_class = of_class * axis_[a].classes + its_class;
      place = place * axis_[a].size + at;
    }
    return of_class * places_ + place;
  }

  Step step(std::int64_t offset) const {
    Step s{0, 0};
    for (std::int64_t a = axes_, classes = 1, places = 1; a-- > 0; offset /= axis_[a].filter) {
      const std::int64_t k = offset % axis_[a].filter;
      s.its_class += axis_[a].class_of_offset(k) * classes;
      s.places += axis_[a].step(k) * places;
      classes *= axis_[a].classes;
      places *= axis_[a].size;
    }
    return s;
  }

  /// Which of the 64 places from number * 64 on are in the outputs' grid.
  std::uint64_t outputs_of_word(std::int64_t number) const {
    const Axis& last = axis_[axes_ - 1];
    std::uint64_t found = 0;
    for (std::int64_t bit = 0; bit < 64;) {
      const std::int64_t place = number * 64 + bit, at = place % last.size, left = last.size - at;
      if (line_is_inside(place / last.size)) {
        const std::int64_t low = std::max<std::int64_t>(last.margin - at, 0), high = last.margin + last.output - at;
        found |= ones(bit + low, bit + std::max(low, high));
      }
      bit += std::min<std::int64_t>(left, 64);
    }
    return found;
  }

  /// [batch, q...] of a place in the outputs' grid.
  void write_row(std::int64_t place, std::int32_t* row) const {
    for (int a = axes_; a-- > 0; place /= axis_[a].size) {
      row[1 + a] = static_cast<std::int32_t>(place % axis_[a].size - axis_[a].margin);
    }
    row[0] = static_cast<std::int32_t>(place);
  }
  /// The place after which a row is the one before but for the last axis.
  std::int64_t end_of_line(std::int64_t place) const {
    const std::int64_t size = axis_[axes_ - 1].size;
    return place / size * size + size;
  }

 private:
  /// Bits [begin, end) of those below 64.
  static std::uint64_t ones(std::int64_t begin, std::int64_t end) {
    const auto below = [](std::int64_t bit) { return bit >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bit) - 1; };
    return below(end) & ~below(begin);
  }
  bool line_is_inside(std::int64_t line) const {
    for (int a = axes_ - 1; a-- > 0; line /= axis_[a].size) {
      const std::int64_t at = line % axis_[a].size;
      if (at < axis_[a].margin || at >= axis_[a].margin + axis_[a].output) return false;
    }
    return line < batch_;
  }

  int axes_;
  std::int64_t batch_;
  Axis axis_[MLUOPS_MOST_SPARSE_AXES];
  std::int64_t places_, keys_;
};

}  // namespace mluops::cpu::get_indice_pairs
