// MoE dispatch: rows of samples moved to and from the places of their experts, times a gate; and the gradient of the
// gates, a dot product a sample.
//
// input [S,H], dispatch [E*C,H]. Forward: a task owns rows of dispatch, so that of several samples of a row the last
// one stays, whatever the number of threads. Backward: a task owns samples. Each element is read and written once:
// bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/moe_dispatch/moe_dispatch.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/moe_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::moe_dispatch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace cpu::HWY_NAMESPACE;
namespace {

/// The row of dispatch that sample i has; -1: none.
std::int64_t row_of(const mluopsMoeDispatchShape& s, const std::int32_t* indices, const std::int32_t* locations,
                    std::int64_t i) {
  const std::int64_t expert = indices[i], place = locations[i];
  return expert >= 0 && expert < s.experts && place >= 0 && place < s.capacity ? expert * s.capacity + place : -1;
}

/// to = factor * from.
template <class T>
HWY_INLINE void scale_row(Acc<T> factor, const T* from, T* to, std::int64_t n) {
  for_lanes<Acc<T>>(
      n, [&](auto d, std::int64_t i) HWY_ATTR { store(hn::Mul(hn::Set(d, factor), load(d, from + i)), d, to + i); });
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsMoeDispatchForwardProblem& p) {
  const mluopsMoeDispatchShape& s = p.shape;
  const std::int64_t rows = s.experts * s.capacity;
  auto* const sample_of = context.arena.reserve_array<std::int64_t>(rows);
  if (sample_of == nullptr) return no_memory(call);
  std::fill_n(sample_of, rows, std::int64_t{-1});
  for (std::int64_t i = 0; i < s.samples; ++i) {
    const std::int64_t row = row_of(s, p.indices, p.locations, i);
    if (row >= 0) sample_of[row] = i;
  }
  const T *const gates = static_cast<const T*>(p.gates), *const input = static_cast<const T*>(p.input);
  T* const dispatch = static_cast<T*>(p.dispatch);
  const double row_ns = 2 * cost::kMove * static_cast<double>(s.hidden);
  Loop(context, call, rows, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t i = sample_of[row];
      if (i >= 0) scale_row(to_acc(gates[i]), input + i * s.hidden, dispatch + row * s.hidden, s.hidden);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_data(Context& context, const mluopsCall& call, const mluopsMoeDispatchBackwardDataProblem& p) {
  const mluopsMoeDispatchShape& s = p.shape;
  const T *const gates = static_cast<const T*>(p.gates), *const gradient = static_cast<const T*>(p.grad_dispatch);
  T* const grad_input = static_cast<T*>(p.grad_input);
  const double row_ns = 2 * cost::kMove * static_cast<double>(s.hidden);
  Loop(context, call, s.samples, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = row_of(s, p.indices, p.locations, i);
      T* const to = grad_input + i * s.hidden;
      if (row < 0) {
        std::fill_n(to, s.hidden, T{});
      } else {
        scale_row(to_acc(gates[i]), gradient + row * s.hidden, to, s.hidden);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_gate(Context& context, const mluopsCall& call, const mluopsMoeDispatchBackwardGateProblem& p) {
  const mluopsMoeDispatchShape& s = p.shape;
  const T *const input = static_cast<const T*>(p.input), *const gradient = static_cast<const T*>(p.grad_dispatch);
  T* const grad_gates = static_cast<T*>(p.grad_gates);
  const double row_ns = 2 * cost::kMove * static_cast<double>(s.hidden);
  Loop(context, call, s.samples, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = row_of(s, p.indices, p.locations, i);
      const Acc<T> sum = row < 0 ? 0 : dot(gradient + row * s.hidden, input + i * s.hidden, s.hidden);
      grad_gates[i] = from_acc<T>(sum);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::moe_dispatch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(moe_dispatch_forward, moe_dispatch, forward, mluopsMoeDispatchForwardProblem, with_element)
MLUOPS_CPU_ENTRY(moe_dispatch_backward_data, moe_dispatch, backward_data, mluopsMoeDispatchBackwardDataProblem,
                 with_element)
MLUOPS_CPU_ENTRY(moe_dispatch_backward_gate, moe_dispatch, backward_gate, mluopsMoeDispatchBackwardGateProblem,
                 with_element)
