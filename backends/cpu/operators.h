// The operators of the cpu backend. The room kernels/<op>/ defines the functions of that name.
//
// A room is a folder kernels/<op>/ with the namespace mluops::cpu::<op>; it includes runtime/, simd/, layout/,
// scatter/, sampling/ and spatial/, and no other operator's room. CMake takes every .cpp of every folder. Its smallest
// form is one file:
//
//   // backends/cpu/kernels/<op>/forward.cpp: what it computes; shapes, who owns which rows, why no race, arithmetic
//   intensity. namespace mluops::cpu::<op> { namespace { template <class T> mluOpStatus_t forward_by_rows(Context&
//   context, const mluopsCall& call, const <Problem>& p) {
//     Loop(context, call, items, ns_per_item).run([&](std::int64_t begin, std::int64_t end, int slot) { ... });
//     return MLUOP_STATUS_SUCCESS;
//   }
//   template <class T> mluOpStatus_t forward(Context& context, const mluopsCall& call, const <Problem>& p) {
//     static constexpr Path<<Problem>> kPaths[] = {{"rows", always<<Problem>>, forward_by_rows<T>}};
//     return run_path(context, call, p, kPaths);
//   }
//   }  // namespace
//   }  // namespace mluops::cpu::<op>
//
//   namespace mluops::cpu {
//   mluOpStatus_t operators::<op>_forward(Context& context, const mluopsCall& call, const <Problem>& p) {
//     return with_element(call, p.shape.dtype, [&](auto tag) {
//       return <op>::forward<typename decltype(tag)::type>(context, call, p);
//     });
//   }
//   }  // namespace mluops::cpu
//
// Working memory comes from context.arena, sized before the loop; costs and cache sizes from runtime/machine.h; output
// that several items add to has the strategies of scatter/scatter.h.
//
// A kernel with vectors is compiled once per instruction-set level: foreach_target.h first, headers of the room named
// *-inl.h, the code in mluops::cpu::<op>::HWY_NAMESPACE, and MLUOPS_CPU_KERNEL and MLUOPS_CPU_ENTRY of dispatch.h in
// the place of the function above. kernels/psamask/psamask.cpp is a short example.
#pragma once

#include "backends/cpu/runtime/context.h"
#include "mluops/problem.h"

namespace mluops::cpu::operators {

#define MLUOPS_OPERATOR(name, Problem) mluOpStatus_t name(Context&, const mluopsCall&, const Problem&);
#include "mluops/operators.inc"

}  // namespace mluops::cpu::operators
