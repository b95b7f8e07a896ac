// The operators of this backend and what their host side needs: the context, launches, refusals.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/tensor.h"
#include "backends/mlu_emu/plan/plan.h"
#include "mluops/backend_types.h"

namespace mluops::emu {

class Context;  // one per handle: device/context.h

/// The machine the handle's settings describe, for plans.
plan::Machine machine_of(const Context& context);

// Tensors of a launch: name as in the operator's problem. A null pointer or 0 bytes makes no tensor.
Tensor reads(const char* name, const void* data, std::int64_t bytes);
Tensor writes(const char* name, void* data, std::int64_t bytes);
/// Read and written: atomic accumulators.
Tensor updates(const char* name, void* data, std::int64_t bytes);

/// GDRAM of the call's own, for `count` numbers that one launch leaves to the next: what a caller's workspace is on the
/// device. Not zeroed there, so no kernel relies on it.
std::int32_t* workspace(Context& context, std::int64_t count);

/// Zeroes a tensor on the queue before the kernel runs (atomic accumulators need it).
void fill_zero(Context& context, const char* name, void* data, std::int64_t bytes);

/// Runs body(nram) once for every task of the plan's launch. SUCCESS, or EXECUTION_FAILED with a text that names
/// kernel, task, buffer and offset. Tensors must cover all the kernel touches, and no more than the problem's.
mluOpStatus_t launch(Context& context, const mluopsCall& call, const char* kernel, const plan::Plan& plan,
                     const std::vector<Tensor>& tensors, const std::function<void(char* nram)>& body);

/// NOT_SUPPORTED with its reason.
mluOpStatus_t not_supported(const mluopsCall& call, const std::string& reason);

template <class Problem>
using Operator = mluOpStatus_t(Context&, const mluopsCall&, const Problem&);

#define MLUOPS_EMULATED(name, Problem) Operator<Problem> name;
#include "backends/mlu_emu/kernels/kernels.inc"

}  // namespace mluops::emu
