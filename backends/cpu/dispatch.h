// What every kernel includes, after foreach_target.h if it has vectors: paths, loops, costs; and how a call reaches it:
// by the handle's instruction-set level, then by the element type. It does not include operators.h, so that a new
// operator rebuilds no kernel.
#ifndef MLUOPS_CPU_DISPATCH_H_
#define MLUOPS_CPU_DISPATCH_H_

#include "backends/cpu/runtime/context.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/element.h"

/// Declares the function that operators.h names.
#define MLUOPS_CPU_DECLARE(name, Problem)                          \
  namespace mluops::cpu::operators {                               \
  mluOpStatus_t name(Context&, const mluopsCall&, const Problem&); \
  }

/// Outside namespaces, at the end of a file that is compiled once per level: the function of operators.h. It calls
/// kernel<type>(context, call, problem) in the HWY_NAMESPACE of the room and of the handle's level, for the type that
/// `with_type`, with_element or one like it, finds for the problem's dtype.
#define MLUOPS_CPU_ENTRY(name, room, kernel, Problem, with_type) \
  MLUOPS_CPU_DECLARE(name, Problem)                              \
  MLUOPS_CPU_FUNCTION(operators::name, room, kernel, Problem, with_type)

/// MLUOPS_CPU_ENTRY for a function that is declared elsewhere in namespace mluops::cpu.
#define MLUOPS_CPU_FUNCTION(function, room, kernel, Problem, with_type)                                                \
  HWY_BEFORE_NAMESPACE();                                                                                              \
  namespace mluops::cpu::room::HWY_NAMESPACE {                                                                         \
  namespace {                                                                                                          \
  mluOpStatus_t run_##kernel(Context& context, const mluopsCall& call, const Problem& problem) {                       \
    return with_type(call, problem.shape.dtype,                                                                        \
                     [&](auto tag) HWY_ATTR { return kernel<typename decltype(tag)::type>(context, call, problem); }); \
  }                                                                                                                    \
  }                                                                                                                    \
  }                                                                                                                    \
  HWY_AFTER_NAMESPACE();                                                                                               \
  MLUOPS_CPU_CHOOSE_LEVEL(function, room, kernel, Problem)

/// The function of operators.h for a kernel without vectors, which is compiled once: calls room::kernel<type>(...).
#define MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(name, room, kernel, Problem, with_type)                                       \
  MLUOPS_CPU_DECLARE(name, Problem)                                                                                 \
  namespace mluops::cpu {                                                                                           \
  mluOpStatus_t operators::name(Context& context, const mluopsCall& call, const Problem& problem) {                 \
    return with_type(call, problem.shape.dtype,                                                                     \
                     [&](auto tag) { return room::kernel<typename decltype(tag)::type>(context, call, problem); }); \
  }                                                                                                                 \
  }

#endif

// Files compiled once per level include this again for each: the function is defined in the last pass.
#undef MLUOPS_CPU_CHOOSE_LEVEL
#if defined(HWY_ONCE) && HWY_ONCE
#define MLUOPS_CPU_CHOOSE_LEVEL(function, room, kernel, Problem)                              \
  namespace mluops::cpu {                                                                     \
  namespace room {                                                                            \
  HWY_EXPORT(run_##kernel);                                                                   \
  }                                                                                           \
  mluOpStatus_t function(Context& context, const mluopsCall& call, const Problem& problem) {  \
    return room::HWY_DISPATCH_TABLE(run_##kernel)[context.isa.index](context, call, problem); \
  }                                                                                           \
  }
#else
#define MLUOPS_CPU_CHOOSE_LEVEL(function, room, kernel, Problem)
#endif
