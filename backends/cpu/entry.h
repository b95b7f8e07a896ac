// How a call reaches its kernel: by the handle's instruction-set level, then by the element type.
#pragma once

#include "backends/cpu/context.h"
#include "backends/cpu/element.h"

/// Inside HWY_NAMESPACE, once per level: run_<name> calls kernel<type>(context, call, problem) for the type that
/// `with_type`, with_element or one like it, finds for the problem's dtype.
#define MLUOPS_CPU_KERNEL(name, Problem, kernel, with_type)                                                            \
  mluOpStatus_t run_##name(Context& context, const mluopsCall& call, const Problem& problem) {                         \
    return with_type(call, problem.shape.dtype,                                                                        \
                     [&](auto tag) HWY_ATTR { return kernel<typename decltype(tag)::type>(context, call, problem); }); \
  }

/// Under HWY_ONCE: the function of operators.h, which calls run_<name> of the handle's level.
#define MLUOPS_CPU_ENTRY(name, Problem)                                                  \
  HWY_EXPORT(run_##name);                                                                \
  mluOpStatus_t name(Context& context, const mluopsCall& call, const Problem& problem) { \
    return HWY_DISPATCH_TABLE(run_##name)[context.isa.index](context, call, problem);    \
  }
