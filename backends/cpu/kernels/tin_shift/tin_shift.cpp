// TinShift: groups of channels moved along time.
//
// input and output [N,T,C,P], shifts [N,G]. An item is a step of a group: C/G * P elements next to each other, which it
// alone writes: copied from another step, or zeros. No arithmetic: bound by memory.
#include <cstdint>
#include <cstring>

#include "backends/cpu/dispatch.h"
#include "mluops/problem/tin_shift.h"

namespace mluops::cpu::tin_shift {
namespace {

template <class T>
mluOpStatus_t move(Context& context, const mluopsCall& call, const mluopsTinShiftShape& s, const void* from,
                   const std::int32_t* shifts, void* to) {
  const std::int64_t row = s.c / s.groups * s.pixels, bytes = row * static_cast<std::int64_t>(sizeof(T));
  const double row_ns = cost::kStep + cost::kMoveByte * static_cast<double>(bytes);
  Loop(context, call, s.n * s.t * s.groups, row_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t n = item / (s.t * s.groups), t = item / s.groups % s.t, g = item % s.groups;
      const std::int64_t step = t - shifts[n * s.groups + g];
      T* const output = static_cast<T*>(to) + item * row;
      if (step < 0 || step >= s.t) {
        std::memset(static_cast<void*>(output), 0, static_cast<std::size_t>(bytes));
      } else {
        const T* const input = static_cast<const T*>(from) + ((n * s.t + step) * s.groups + g) * row;
        std::memcpy(static_cast<void*>(output), input, static_cast<std::size_t>(bytes));
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsTinShiftForwardProblem& p) {
  return move<T>(context, call, p.shape, p.input, p.shifts, p.output);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsTinShiftBackwardProblem& p) {
  return move<T>(context, call, p.shape, p.grad_output, p.shifts, p.grad_input);
}

}  // namespace
}  // namespace mluops::cpu::tin_shift

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(tin_shift_forward, tin_shift, forward, mluopsTinShiftForwardProblem, with_element)
MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(tin_shift_backward, tin_shift, backward, mluopsTinShiftBackwardProblem, with_element)
