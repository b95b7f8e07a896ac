// The last step before a kernel: hands a validated problem to the first backend of the handle's chain that takes it.
#pragma once

#include <chrono>
#include <string>

#include "common/handle.h"
#include "common/status.h"
#include "common/verbose.h"

namespace mluops {

inline mluopsCall make_call(const mluOpContext& handle) {
  return mluopsCall{sizeof(mluopsCall),
                    handle.threads_in_force(),
                    handle.atomics,
                    handle.contract,
                    handle.executor.parallel_for != nullptr ? &handle.executor : nullptr,
                    set_last_error_text};
}

template <class Problem>
using OperatorMember = mluOpStatus_t (*mluopsBackend::*)(void*, const mluopsCall*, const Problem*);

/// Asks one backend; NOT_SUPPORTED with a text where it lacks the operator or declines.
template <class Problem>
Status ask_backend(const BackendInstance& instance, const mluopsCall& call, const Problem& problem,
                   OperatorMember<Problem> member) {
  const auto function = instance.backend().*member;
  const std::string name = instance.backend().name;
  if (function == nullptr) return Status::not_supported("backend " + name + " does not provide it");
  set_last_error_text("");
  const mluOpStatus_t code = function(instance.context(), &call, &problem);
  if (code == MLUOP_STATUS_SUCCESS) return Status::go_on();
  return Status::error(code, "backend " + name + ": " + last_error_text());
}

/// Runs the problem on the chain. A NOT_SUPPORTED passes it on to the next backend; any other failure ends the call.
template <class Problem>
Status dispatch(mluOpContext& handle, const char* op, const Problem& problem, OperatorMember<Problem> member) {
  const std::lock_guard<std::mutex> lock(handle.mutex);
  const mluopsCall call = make_call(handle);
  std::string declined;
  for (const BackendInstance& instance : handle.chain) {
    const VerboseTimer timer;
    Status status = ask_backend(instance, call, problem, member);
    timer.report(op, instance.backend().name, status);
    if (!status.failed()) handle.last_run_backend = instance.backend().name;
    if (status.code() != MLUOP_STATUS_NOT_SUPPORTED) return status;
    declined += (declined.empty() ? "" : "; ") + status.text();
  }
  return Status::not_supported(declined);
}

}  // namespace mluops
