// Boxes of non-maximum suppression as lists of numbers.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/simd/element.h"
#include "backends/cpu/spatial/score_order.h"
#include "common/shape.h"
#include "mluops/problem.h"

namespace mluops::cpu::nms {

using spatial::Order;

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
