// PSAMask, x [n,h,w,h_mask*w_mask] to y [n,h,w,h*w] and back: a window of an input row (collect) or of a transposed one
// (distribute) amid zeros. Elements of 2, 4 or 8 bytes are moved: bound by memory. A task owns the output it writes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/psamask/psamask.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/psamask/collect-inl.h"
#include "backends/cpu/kernels/psamask/distribute-inl.h"
#include "backends/cpu/kernels/psamask/nchw-inl.h"
#include "backends/cpu/operators.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class E>
Collect forward_work(const mluopsPsamaskForwardProblem& p) {
  const Window win(p.shape);
  return Collect(p.shape, {win.h_mask, win.w_mask}, {win.h, win.w}, sizeof(E), p.x, p.y);
}

template <class E>
Collect backward_work(const mluopsPsamaskBackwardProblem& p) {
  const Window win(p.shape);
  return Collect(p.shape, {win.h, win.w}, {win.h_mask, win.w_mask}, sizeof(E), p.dy, p.dx);
}

// Once for all element types: what moves is counted in bytes.

template <Gathering gathering>
mluOpStatus_t collect_forward(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s,
                              const Collect& work) {
  const Window win(s);
  return collect<gathering>(context, call, s, work,
                            [&](std::int64_t h, std::int64_t w) HWY_ATTR { return forward_move(win, h, w); });
}

template <Gathering gathering>
mluOpStatus_t collect_backward(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s,
                               const Collect& work) {
  const Window win(s);
  return collect<gathering>(context, call, s, work,
                            [&](std::int64_t h, std::int64_t w) HWY_ATTR { return backward_move(win, h, w); });
}

template <class E, Gathering gathering>
mluOpStatus_t collect_forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  return collect_forward<gathering>(context, call, p.shape, forward_work<E>(p));
}

template <class E, Gathering gathering>
mluOpStatus_t collect_backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  return collect_backward<gathering>(context, call, p.shape, backward_work<E>(p));
}

bool is_collect(const mluopsPsamaskShape& s) {
  return s.psa_type == 0;
}

template <class E>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& problem) {
  using Problem = mluopsPsamaskForwardProblem;
  static constexpr Path<Problem> kNchwPaths[] = {{"nchw_skew", always<Problem>, nchw_forward<E>}};
  static constexpr Path<Problem> kCollectPaths[] = {
#if HWY_TARGET != HWY_SCALAR
    {"collect_registers",
     [](const Context&, const mluopsCall&, const Problem& p) { return by_lines(forward_work<E>(p)); },
     collect_forward<E, Gathering::kRegisters>},
#endif
    {"collect_staged",
     [](const Context&, const mluopsCall&, const Problem& p) { return fit(true, leaves_caches(forward_work<E>(p))); },
     collect_forward<E, Gathering::kStaged>},
    {"collect_cached", always<Problem>, collect_forward<E, Gathering::kCached>},
  };
  static constexpr Path<Problem> kDistributePaths[] = {
#if HWY_TARGET != HWY_SCALAR
    {"distribute_aligned",
     [](const Context&, const mluopsCall&, const Problem& p) {
       const std::int64_t map = p.shape.h * p.shape.w;
       return fit(by_lines<E>(p.shape) && whole_lines(p.y, map * 4), leaves_caches<E>(p.shape, map));
     },
     distribute_aligned},
#endif
#if HWY_TARGET <= HWY_AVX3
    {"distribute_carried",
     [](const Context&, const mluopsCall&, const Problem& p) {
       return fit(by_lines<E>(p.shape), leaves_caches<E>(p.shape, p.shape.h * p.shape.w));
     },
     distribute_carried},
#endif
    {"distribute_staged",
     [](const Context&, const mluopsCall&, const Problem& p) {
       return fit(true, leaves_caches<E>(p.shape, p.shape.h * p.shape.w));
     },
     distribute_forward<E, true>},
    {"distribute_cached", always<Problem>, distribute_forward<E, false>},
  };
  if (problem.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, problem, kNchwPaths);
  return is_collect(problem.shape) ? run_path(context, call, problem, kCollectPaths)
                                   : run_path(context, call, problem, kDistributePaths);
}

template <class E>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& problem) {
  using Problem = mluopsPsamaskBackwardProblem;
  static constexpr Path<Problem> kNchwPaths[] = {{"nchw_skew", always<Problem>, nchw_backward<E>}};
  static constexpr Path<Problem> kCollectPaths[] = {
#if HWY_TARGET != HWY_SCALAR
    {"collect_registers",
     [](const Context&, const mluopsCall&, const Problem& p) { return by_lines(backward_work<E>(p)); },
     collect_backward<E, Gathering::kRegisters>},
#endif
    {"collect_staged",
     [](const Context&, const mluopsCall&, const Problem& p) { return fit(true, leaves_caches(backward_work<E>(p))); },
     collect_backward<E, Gathering::kStaged>},
    {"collect_cached", always<Problem>, collect_backward<E, Gathering::kCached>},
  };
  static constexpr Path<Problem> kDistributePaths[] = {
      {"distribute_staged",
       [](const Context&, const mluopsCall&, const Problem& p) {
         return fit(true, leaves_caches<E>(p.shape, p.shape.h_mask * p.shape.w_mask));
       },
       distribute_backward<E, true>},
      {"distribute_cached", always<Problem>, distribute_backward<E, false>},
  };
  if (problem.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, problem, kNchwPaths);
  return is_collect(problem.shape) ? run_path(context, call, problem, kCollectPaths)
                                   : run_path(context, call, problem, kDistributePaths);
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

MLUOPS_CPU_KERNEL(forward, mluopsPsamaskForwardProblem, with_width)
MLUOPS_CPU_KERNEL(backward, mluopsPsamaskBackwardProblem, with_width)

}  // namespace
}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(psamask_forward, psamask, forward, mluopsPsamaskForwardProblem)
MLUOPS_CPU_ENTRY(psamask_backward, psamask, backward, mluopsPsamaskBackwardProblem)

}  // namespace mluops::cpu
#endif
