// ActiveRotatedFilter: copies of a filter, each weight at the place that an index says.
//
// input [M,C,O,H,W], indices [O,H,W,R], output [M*R,C*O,H,W]. An item is the weights O*H*W of one copy of one pair of
// channels, which it alone writes: zeros first, then each weight in turn. No arithmetic: bound by memory.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "mluops/problem/active_rotated_filter.h"

namespace mluops::cpu::active_rotated_filter {
namespace {

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsActiveRotatedFilterForwardProblem& p) {
  const mluopsActiveRotatedFilterShape& s = p.shape;
  const std::int64_t size = s.o * s.h * s.w;
  const double item_ns = (cost::kScatter + cost::kMove) * static_cast<double>(size);
  Loop(context, call, s.m * s.r * s.c, item_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t m = item / (s.r * s.c), copy = item / s.c % s.r, c = item % s.c;
      const T* const input = static_cast<const T*>(p.input) + (m * s.c + c) * size;
      T* const output = static_cast<T*>(p.output) + item * size;
      std::fill_n(output, size, T{});
      for (std::int64_t j = 0; j < size; ++j) {
        const std::int64_t place = std::int64_t{p.indices[j * s.r + copy]} - 1;
        if (place >= 0 && place < size) output[place] = input[j];
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::active_rotated_filter

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(active_rotated_filter_forward, active_rotated_filter, forward,
                              mluopsActiveRotatedFilterForwardProblem, with_element)
