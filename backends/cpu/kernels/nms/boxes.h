// Boxes of non-maximum suppression as lists of numbers, and the order they are looked at.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/simd/element.h"
#include "common/shape.h"
#include "mluops/problem.h"

namespace mluops::cpu::nms {

/// Slots behind the end of a list that vectors may read: the lanes of the widest one.
constexpr std::int64_t kPad = 16;

template <class A>
struct Box {
  A x1, y1, x2, y2, area;

  /// `offset` is added to width and height, in the order mmcv adds.
  Box(A left, A top, A right, A bottom, A offset)
      : x1(left), y1(top), x2(right), y2(bottom), area((right - left + offset) * (bottom - top + offset)) {}
};

/// Where the numbers of boxes are in a tensor.
template <class T>
struct BoxSource {
  const T* data;
  std::int64_t box_step, number_step;
  bool centre;  ///< numbers are x, y, width, height
  Acc<T> offset;

  Box<Acc<T>> operator[](std::int64_t box) const {
    using A = Acc<T>;
    const auto number = [&](std::int64_t i) { return to_acc(data[box * box_step + i * number_step]); };
    if (!centre) return {number(0), number(1), number(2), number(3), offset};
    const A x1 = number(0) - number(2) * A{0.5}, y1 = number(1) - number(3) * A{0.5};
    return {x1, y1, x1 + number(2), y1 + number(3), offset};
  }
};

/// Boxes as one list for each of their numbers.
template <class A>
struct BoxLists {
  A *x1, *y1, *x2, *y2, *area;

  BoxLists(Allocator& allocator, std::int64_t slots)
      : x1(allocator.allocate<A>(slots)),
        y1(allocator.allocate<A>(slots)),
        x2(allocator.allocate<A>(slots)),
        y2(allocator.allocate<A>(slots)),
        area(allocator.allocate<A>(slots)) {}

  void put(std::int64_t slot, const Box<A>& box) {
    x1[slot] = box.x1;
    y1[slot] = box.y1;
    x2[slot] = box.x2;
    y2[slot] = box.y2;
    area[slot] = box.area;
  }
  void copy(std::int64_t slot, const BoxLists& from, std::int64_t i) {
    x1[slot] = from.x1[i];
    y1[slot] = from.y1[i];
    x2[slot] = from.x2[i];
    y2[slot] = from.y2[i];
    area[slot] = from.area[i];
  }
  /// Slots [first, last) become boxes whose IoU with any other is NaN.
  void clear(std::int64_t first, std::int64_t last) {
    constexpr A nan = std::numeric_limits<A>::quiet_NaN();
    for (A* const list : {x1, y1, x2, y2, area}) std::fill(list + first, list + last, nan);
  }
};

// ---- order -----------------------------------------------------------------------------------

template <class A>
using Key = std::conditional_t<sizeof(A) == 8, std::uint64_t, std::uint32_t>;

/// Grows as scores fall; that of NaN comes before all others, 0 and -0 have the same.
template <class A>
Key<A> falling_key(A score) {
  if (score != score) return 0;
  const auto bits = std::bit_cast<Key<A>>(score + A{0});
  constexpr Key<A> sign = Key<A>{1} << (8 * sizeof(A) - 1);
  return (bits & sign) != 0 ? bits : ~bits & (sign - 1);
}

/// Boxes, best score first; equal scores in the order they came.
template <class A>
class Order {
 public:
  Order(Allocator& allocator, std::int64_t most)
      : keys_{allocator.allocate<Key<A>>(most), allocator.allocate<Key<A>>(most)},
        boxes_{allocator.allocate<std::int32_t>(most), allocator.allocate<std::int32_t>(most)} {}

  void add(std::int64_t box, A score) {
    keys_[0][size_] = falling_key(score);
    boxes_[0][size_++] = static_cast<std::int32_t>(box);
  }
  /// Radix sort: stable, takes no memory.
  void sort() {
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(A)); shift += kDigitBits) sort_digit(shift);
  }
  std::int64_t size() const { return size_; }
  std::int32_t operator[](std::int64_t rank) const { return boxes_[0][rank]; }

 private:
  static constexpr int kDigitBits = 11;
  static constexpr Key<A> kDigits = Key<A>{1} << kDigitBits;

  void sort_digit(int shift) {
    const auto digit = [&](std::int64_t i) { return static_cast<std::size_t>((keys_[0][i] >> shift) & (kDigits - 1)); };
    std::array<std::int64_t, kDigits> next{};
    for (std::int64_t i = 0; i < size_; ++i) ++next[digit(i)];
    std::int64_t place = 0;
    for (std::int64_t& count : next) place += std::exchange(count, place);
    for (std::int64_t i = 0; i < size_; ++i) {
      const std::int64_t to = next[digit(i)]++;
      keys_[1][to] = keys_[0][i];
      boxes_[1][to] = boxes_[0][i];
    }
    std::swap(keys_[0], keys_[1]);
    std::swap(boxes_[0], boxes_[1]);
  }

  std::array<Key<A>*, 2> keys_;
  std::array<std::int32_t*, 2> boxes_;
  std::int64_t size_ = 0;
};

// ---- results ---------------------------------------------------------------------------------

/// f(pointer to int32_t or int64_t), the type indices are written as.
template <class F>
void with_indices(const mluopsNmsShape& s, void* indices, F&& f) {
  if (s.index_dtype == MLUOP_DTYPE_INT64) {
    f(static_cast<std::int64_t*>(indices));
  } else {
    f(static_cast<std::int32_t*>(indices));  // UINT32 too: the same bits
  }
}

/// What this backend leaves to others, nullptr for nothing.
inline const char* declined(const mluopsNmsShape& s) {
  return s.boxes > std::numeric_limits<std::int32_t>::max() - kPad ? "boxes: wanted fewer than 2^31" : nullptr;
}

}  // namespace mluops::cpu::nms
