// How a call reaches its kernel: by the handle's instruction-set level, then by the element type.
#pragma once

#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/context.h"
#include "backends/cpu/simd/element.h"

/// Inside a room's HWY_NAMESPACE, once per level: run_<kernel> calls kernel<type>(context, call, problem) for the type
/// that `with_type`, with_element or one like it, finds for the problem's dtype.
#define MLUOPS_CPU_KERNEL(kernel, Problem, with_type)                                                                  \
  mluOpStatus_t run_##kernel(Context& context, const mluopsCall& call, const Problem& problem) {                       \
    return with_type(call, problem.shape.dtype,                                                                        \
                     [&](auto tag) HWY_ATTR { return kernel<typename decltype(tag)::type>(context, call, problem); }); \
  }

/// Outside namespaces, under HWY_ONCE: the function of operators.h, which calls the room's run_<kernel> of the handle's
/// level.
#define MLUOPS_CPU_ENTRY(name, room, kernel, Problem)                                               \
  namespace mluops::cpu {                                                                           \
  namespace room {                                                                                  \
  HWY_EXPORT(run_##kernel);                                                                         \
  }                                                                                                 \
  mluOpStatus_t operators::name(Context& context, const mluopsCall& call, const Problem& problem) { \
    return room::HWY_DISPATCH_TABLE(run_##kernel)[context.isa.index](context, call, problem);       \
  }                                                                                                 \
  }

/// The function of operators.h for a kernel without vectors, which is compiled once: calls room::kernel<type>(...).
#define MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(name, room, kernel, Problem, with_type)                                       \
  namespace mluops::cpu {                                                                                           \
  mluOpStatus_t operators::name(Context& context, const mluopsCall& call, const Problem& problem) {                 \
    return with_type(call, problem.shape.dtype,                                                                     \
                     [&](auto tag) { return room::kernel<typename decltype(tag)::type>(context, call, problem); }); \
  }                                                                                                                 \
  }
