// The operators of the cpu backend. The room kernels/<op>/ defines the functions of that name.
//
// A room is a folder kernels/<op>/ with the namespace mluops::cpu::<op>; it includes runtime/, simd/, layout/,
// scatter/, sampling/ and spatial/, and no other operator's room. CMake takes every .cpp of every folder. Its smallest
// form is one file:
//
//   // What it computes.
//   //
//   // Shapes; who owns which rows, so why there is no race; arithmetic intensity.
//   #include "backends/cpu/dispatch.h"
//
//   namespace mluops::cpu::<op> {
//   namespace {
//   template <class T>
//   mluOpStatus_t forward(Context& context, const mluopsCall& call, const <Problem>& p) {
//     Loop(context, call, items, ns_per_item).run([&](std::int64_t begin, std::int64_t end, int slot) { ... });
//     return MLUOP_STATUS_SUCCESS;
//   }
//   }  // namespace
//   }  // namespace mluops::cpu::<op>
//
//   MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(<op>_forward, <op>, forward, <Problem>, with_element)
//
// One that can be computed in several ways has a list of Paths (runtime/path.h), which run_path chooses from:
// MLUOP_CPU_PATH has their names, and last_path tells which it was. It stands in kKernelsOfPaths of backend.cpp.
//
// Working memory comes from context.arena, sized before the loop; costs and cache sizes from runtime/machine.h; output
// that several items add to has the strategies of scatter/scatter.h.
//
// A kernel with vectors is compiled once per instruction-set level: foreach_target.h first, headers of the room named
// *-inl.h, the code in mluops::cpu::<op>::HWY_NAMESPACE, and MLUOPS_CPU_ENTRY in the place of the line above.
// kernels/psamask/psamask.cpp is a short example, kernels/polygons/pairs.cpp one without vectors.
#pragma once

#include "backends/cpu/runtime/context.h"
#include "mluops/backend_types.h"

namespace mluops::cpu::operators {

#define MLUOPS_OPERATOR(name, Problem) mluOpStatus_t name(Context&, const mluopsCall&, const Problem&);
#include "mluops/operators.inc"

}  // namespace mluops::cpu::operators
