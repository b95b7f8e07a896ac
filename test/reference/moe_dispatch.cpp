#include "test/reference/moe_dispatch.h"

namespace mluops::reference {
namespace {

/// visit(i, h, element of dispatch) for each element of each sample that has a row.
template <class Problem, class Visit>
void for_each_element(const Problem& p, Visit visit) {
  const mluopsMoeDispatchShape& s = p.shape;
  for (std::int64_t i = 0; i < s.samples; ++i) {
    const std::int64_t expert = p.indices[i], place = p.locations[i];
    if (expert < 0 || expert >= s.experts || place < 0 || place >= s.capacity) continue;
    for (std::int64_t h = 0; h < s.hidden; ++h) {
      visit(static_cast<std::size_t>(i), static_cast<std::size_t>(i * s.hidden + h),
            static_cast<std::size_t>((expert * s.capacity + place) * s.hidden + h));
    }
  }
}

}  // namespace

Values moe_dispatch_forward(const mluopsMoeDispatchForwardProblem& p, Values before) {
  const mluopsMoeDispatchShape& s = p.shape;
  const Values gates = decode(s.dtype, p.gates, s.samples), input = decode(s.dtype, p.input, s.samples * s.hidden);
  for_each_element(p, [&](std::size_t i, std::size_t at, std::size_t slot) { before[slot] = gates[i] * input[at]; });
  return before;
}

Values moe_dispatch_backward_gate(const mluopsMoeDispatchBackwardGateProblem& p) {
  const mluopsMoeDispatchShape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.samples * s.hidden),
               gradient = decode(s.dtype, p.grad_dispatch, s.experts * s.capacity * s.hidden);
  Values result(static_cast<std::size_t>(s.samples), 0.0);
  for_each_element(p,
                   [&](std::size_t i, std::size_t at, std::size_t slot) { result[i] += gradient[slot] * input[at]; });
  return result;
}

Values moe_dispatch_backward_data(const mluopsMoeDispatchBackwardDataProblem& p) {
  const mluopsMoeDispatchShape& s = p.shape;
  const Values gates = decode(s.dtype, p.gates, s.samples),
               gradient = decode(s.dtype, p.grad_dispatch, s.experts * s.capacity * s.hidden);
  Values result(static_cast<std::size_t>(s.samples * s.hidden), 0.0);
  for_each_element(p, [&](std::size_t i, std::size_t at, std::size_t slot) { result[at] = gates[i] * gradient[slot]; });
  return result;
}

}  // namespace mluops::reference
