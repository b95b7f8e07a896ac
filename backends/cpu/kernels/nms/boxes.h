// What the operators of non-maximum suppression read and write.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "backends/cpu/runtime/context.h"
#include "backends/cpu/simd/element.h"
#include "mluops/problem/nms.h"

namespace mluops::cpu::nms {

/// Slots behind the end of a list that vectors may read: the lanes of the widest one.
constexpr std::int64_t kPad = 16;

/// Where the numbers of boxes are in a tensor.
template <class T>
struct BoxSource {
  const T* data;
  std::int64_t box_step, number_step;
  bool centre;  ///< numbers are x, y, width, height

  /// x1, y1, x2, y2
  std::array<Acc<T>, 4> operator[](std::int64_t box) const {
    using A = Acc<T>;
    const auto number = [&](std::int64_t i) { return to_acc(data[box * box_step + i * number_step]); };
    if (!centre) return {number(0), number(1), number(2), number(3)};
    const A x1 = number(0) - number(2) * A{0.5}, y1 = number(1) - number(3) * A{0.5};
    return {x1, y1, x1 + number(2), y1 + number(3)};
  }
};

/// f(pointer to int32_t or int64_t), the type indices are written as.
template <class F>
void with_indices(const mluopsNmsShape& s, void* indices, F&& f) {
  if (s.index_dtype == MLUOP_DTYPE_INT64) {
    f(static_cast<std::int64_t*>(indices));
  } else {
    f(static_cast<std::int32_t*>(indices));  // UINT32 too: same representation
  }
}

/// The reason to decline a call, nullptr to accept it.
inline const char* declined(const mluopsNmsShape& s) {
  return s.boxes > std::numeric_limits<std::int32_t>::max() - kPad ? "boxes: wanted fewer than 2^31" : nullptr;
}

/// nms of boxes of 7 numbers.
mluOpStatus_t flat_boxes(Context& context, const mluopsCall& call, const mluopsNmsProblem& p);

}  // namespace mluops::cpu::nms
