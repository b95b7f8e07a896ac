// PSAMask in both directions: windows of frames amid zeros, moved between rows and planes (geometry.h). Elements of 2,
// 4 or 8 bytes are moved: bound by memory. A task owns the output it writes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/psamask/psamask.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/psamask/avx512/distribute_lines-inl.h"
#include "backends/cpu/kernels/psamask/blocks-inl.h"
#include "mluops/problem/psamask.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class E>
mluOpStatus_t run(Context& context, const mluopsCall& call, const Move& move) {
  static constexpr Path<Move> kPaths[] = {
      {"distribute_lines", distributes_by_lines<E>, distribute_by_lines},
      {"blocks", always<Move>, move_blocks<E>},
  };
  return run_path(context, call, move, kPaths);
}

template <class E>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  return run<E>(context, call, move_of(p.shape, p.layout, true, p.x, p.y));
}

template <class E>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  return run<E>(context, call, move_of(p.shape, p.layout, false, p.dy, p.dx));
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

}  // namespace
}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(psamask_forward, psamask, forward, mluopsPsamaskForwardProblem, with_width)
MLUOPS_CPU_ENTRY(psamask_backward, psamask, backward, mluopsPsamaskBackwardProblem, with_width)
