// The last step before a kernel: hands a validated problem to the first backend of the handle's chain that takes it.
#pragma once

#include <chrono>
#include <concepts>
#include <cstring>
#include <string>

#include "common/capture.h"
#include "common/case_text.h"
#include "common/dtype.h"
#include "common/handle.h"
#include "common/members.h"
#include "common/status.h"
#include "common/verbose.h"

namespace mluops {

/// The settings of the handle as they are now; `executor` must outlive the call.
inline mluopsCall make_call(const mluOpContext& handle, const mluOpExtExecutor_t& executor) {
  return mluopsCall{sizeof(mluopsCall),
                    handle.threads_in_force(),
                    handle.atomics,
                    handle.contract,
                    executor.parallel_for != nullptr ? &executor : nullptr,
                    set_reason};
}

template <class Problem>
using OperatorMember = mluOpStatus_t (*mluopsBackend::*)(void*, const mluopsCall*, const Problem*);

/// The answer of a backend, with its text. An invalid status, as a plugin may return, is an internal error.
inline Status failure_of(const std::string& backend, mluOpStatus_t code) {
  const std::string who = "backend " + backend + ": ";
  if (is_status(code)) return Status::error(code, who + reason());
  return Status::error(MLUOP_STATUS_INTERNAL_ERROR,
                       who + "wanted a status, got " + std::to_string(static_cast<int>(code)) + " " + reason());
}

/// Problems with image tensors: they say how those lie, all in a member of this name.
template <class Problem>
concept HasImages = requires(Problem problem) {
  { problem.layout } -> std::same_as<mluOpTensorLayout_t&>;
};

/// Layouts of image tensors that a backend takes: NHWC, and what its property "layouts" names ("NHWC,NCHW").
inline std::string layouts_of(const BackendInstance& instance) {
  const std::string layouts = property_of(instance, "layouts");
  return layouts.empty() ? "NHWC" : layouts;
}

/// Whether `names`, separated by commas, have the one.
inline bool names_layout(const std::string& names, const std::string& one) {
  return ("," + names + ",").find("," + one + ",") != std::string::npos;
}

/// Refuses image tensors in a layout that the backend does not name. The plugin ABI grows at its end: a plugin that was
/// compiled before problems had the member reads NHWC, and gets nothing else.
template <class Problem>
Status takes_layout(const BackendInstance& instance, const Problem& problem) {
  static_assert(
      !requires { problem.shape.layout; }, "a layout is a member of the problem, or it would not be checked");
  if constexpr (HasImages<Problem>) {
    if (problem.layout == MLUOP_LAYOUT_NHWC) return Status::go_on();
    const std::string got = layout_name(problem.layout);  // "LAYOUT_NHWC"
    const std::string wanted = layouts_of(instance);
    if (names_layout(wanted, got.substr(got.find('_') + 1))) return Status::go_on();
    return Status::not_supported(std::string("backend ") + instance.backend().name + ": layout: wanted " + wanted +
                                 ", got " + got);
  }
  return Status::go_on();
}

/// Asks one backend; NOT_SUPPORTED with a text where it lacks the operator or declines.
template <class Problem>
Status ask_backend(const BackendInstance& instance, const mluopsCall& call, const Problem& problem,
                   OperatorMember<Problem> member) {
  const auto function = instance.backend().*member;
  const std::string name = instance.backend().name;
  if (function == nullptr) return Status::not_supported(lacks_text(name));
  MLUOPS_RETURN_IF_FINISHED(takes_layout(instance, problem));
  set_reason("");
  const mluOpStatus_t code = function(instance.context(), &call, &problem);
  if (code == MLUOP_STATUS_SUCCESS) return Status::go_on();
  return failure_of(name, code);
}

/// Runs the problem on the chain. A NOT_SUPPORTED passes it on to the next backend; any other failure ends the call.
template <class Problem>
Status dispatch(mluOpContext& handle, const char* op, const Problem& problem, OperatorMember<Problem> member) {
  const CallTurn turn(handle.calls);
  MLUOPS_RETURN_IF_FINISHED(turn.refusal());
  const mluOpExtExecutor_t executor = handle.current_executor();
  const mluopsCall call = make_call(handle, executor);
  Capture capture(op, &problem, sizeof problem, op::members_of(problem));
  std::string declined;
  for (const BackendInstance& instance : handle.chain) {
    const VerboseTimer timer;
    Status status = ask_backend(instance, call, problem, member);
    const char* const name = instance.backend().name;
    if (verbose_level() >= 2) {
      timer.report({op, name, property_of(instance, "last_path"), op::case_text(op, problem, call.contract)}, status);
    }
    if (!status.failed()) {
      handle.last_run_backend = name;
      if (capture.active()) capture.finish(name, call, op::case_text(op, problem, call.contract));
    }
    if (status.code() != MLUOP_STATUS_NOT_SUPPORTED) return status;
    declined += (declined.empty() ? "" : "; ") + status.text();
  }
  return Status::not_supported(declined);
}

}  // namespace mluops
