// PSAMask: every output row is a window of an input row (collect) or of a transposed one (distribute) amid zeros.
// A pure move of 2-, 4- or 8-byte elements; each output byte is written once, nothing is added.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/psamask.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/psamask_collect.h"
#include "backends/cpu/psamask_distribute.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using psamask::Window;

template <class E>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  if (p.shape.psa_type == 1) return distribute_forward<E>(context, call, p);
  const Window win(p.shape);
  const Collect work(p.shape, {win.h_mask, win.w_mask}, {win.h, win.w}, sizeof(E), p.x, p.y);
  return collect(context, call, p.shape, work,
                 [&](std::int64_t h, std::int64_t w) HWY_ATTR { return forward_move(win, h, w); });
}

template <class E>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  if (p.shape.psa_type == 1) return distribute_backward<E>(context, call, p);
  const Window win(p.shape);
  const Collect work(p.shape, {win.h, win.w}, {win.h_mask, win.w_mask}, sizeof(E), p.dy, p.dx);
  return collect(context, call, p.shape, work,
                 [&](std::int64_t h, std::int64_t w) HWY_ATTR { return backward_move(win, h, w); });
}

/// f(TypeTag<unsigned integer as wide as the dtype>): elements are only moved.
template <class F>
mluOpStatus_t with_width(const mluopsCall& call, mluOpDataType_t dtype, F&& f) {
  return with_element(call, dtype, [&](auto tag) HWY_ATTR {
    constexpr std::size_t kSize = sizeof(typename decltype(tag)::type);
    using Wide = std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>;
    return f(TypeTag<std::conditional_t<kSize == 2, std::uint16_t, Wide>>{});
  });
}

MLUOPS_CPU_KERNEL(psamask_forward, mluopsPsamaskForwardProblem, forward, with_width)
MLUOPS_CPU_KERNEL(psamask_backward, mluopsPsamaskBackwardProblem, backward, with_width)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(psamask_forward, mluopsPsamaskForwardProblem)
MLUOPS_CPU_ENTRY(psamask_backward, mluopsPsamaskBackwardProblem)

}  // namespace mluops::cpu
#endif
