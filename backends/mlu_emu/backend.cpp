// The plugin struct: contexts, options, queries, and the way from a C member to an operator.
#include "mluops/backend.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string_view>

#include "backends/mlu_emu/device/context.h"
#include "backends/mlu_emu/operators.h"

namespace mluops::emu {
namespace {

/// Runs body; its exceptions become statuses. Nothing is thrown across C.
template <class Body>
mluOpStatus_t guarded(void (*set_error)(const char* text), Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    set_error("out of memory");
    return MLUOP_STATUS_ALLOC_FAILED;
  } catch (const std::exception& e) {
    set_error(e.what());
  } catch (...) {
    set_error("unknown exception");
  }
  return MLUOP_STATUS_INTERNAL_ERROR;
}

mluOpStatus_t create(void (*set_error)(const char* text), void** context) {
  return guarded(set_error, [&] {
    auto made = std::make_unique<Context>();
    const std::string problem = made->settings.read_environment();
    if (!problem.empty()) {
      set_error(problem.c_str());
      return MLUOP_STATUS_NOT_INITIALIZED;
    }
    *context = made.release();
    return MLUOP_STATUS_SUCCESS;
  });
}

void destroy(void* context) {
  delete static_cast<Context*>(context);
}

mluOpStatus_t set_option(void* context, const char* key, const char* value, void (*set_error)(const char* text)) {
  return guarded(set_error, [&] {
    const std::string problem = static_cast<Context*>(context)->settings.set(key, value);
    if (problem.empty()) return MLUOP_STATUS_SUCCESS;
    set_error(problem.c_str());
    return MLUOP_STATUS_BAD_PARAM;
  });
}

/// "arch": the machine. "report": what the last operator call did. "trace": its timeline, if "trace" was "on".
std::string answer(const Context& context, std::string_view key) {
  if (key == "arch") return arch_json(context.settings);
  if (key == "report") return report_json(context.report());
  if (key == "trace") return trace_json(context.report());
  return {};
}

std::int64_t query(void* context, const char* key, char* buffer, std::size_t size) {
  std::int64_t length = -1;
  const auto ignore = [](const char*) {};
  guarded(ignore, [&] {
    const std::string text = answer(*static_cast<Context*>(context), key);
    if (text.empty()) return MLUOP_STATUS_BAD_PARAM;
    if (size > 0) {
      const std::size_t copied = std::min(size - 1, text.size());
      std::memcpy(buffer, text.data(), copied);
      buffer[copied] = '\0';
    }
    length = static_cast<std::int64_t>(text.size());
    return MLUOP_STATUS_SUCCESS;
  });
  return length;
}

/// The member of the plugin struct that runs one operator.
template <auto kOperator, class Problem>
mluOpStatus_t run(void* context, const mluopsCall* call, const Problem* problem, const char* name) {
  return guarded(call->set_error, [&] {
    auto& machine = *static_cast<Context*>(context);
    machine.begin_call(name);
    return kOperator(machine, *call, *problem);
  });
}

#define MLUOPS_EMU_MEMBER(name, Problem)                                                       \
  mluOpStatus_t name##_member(void* context, const mluopsCall* call, const Problem* problem) { \
    return run<&name>(context, call, problem, #name);                                          \
  }
MLUOPS_EMU_MEMBER(carafe_forward, mluopsCarafeForwardProblem)
MLUOPS_EMU_MEMBER(carafe_backward, mluopsCarafeBackwardProblem)
MLUOPS_EMU_MEMBER(psamask_forward, mluopsPsamaskForwardProblem)
MLUOPS_EMU_MEMBER(psamask_backward, mluopsPsamaskBackwardProblem)
MLUOPS_EMU_MEMBER(three_interpolate_forward, mluopsThreeInterpolateForwardProblem)
MLUOPS_EMU_MEMBER(three_interpolate_backward, mluopsThreeInterpolateBackwardProblem)
MLUOPS_EMU_MEMBER(deform_roi_pool_forward, mluopsDeformRoiPoolForwardProblem)
MLUOPS_EMU_MEMBER(deform_roi_pool_backward, mluopsDeformRoiPoolBackwardProblem)
MLUOPS_EMU_MEMBER(border_align_forward, mluopsBorderAlignForwardProblem)
MLUOPS_EMU_MEMBER(border_align_backward, mluopsBorderAlignBackwardProblem)
#undef MLUOPS_EMU_MEMBER

}  // namespace
}  // namespace mluops::emu

extern "C" {
extern const mluopsBackend mluops_backend_mlu_emu;
const mluopsBackend mluops_backend_mlu_emu = {
    .abi_version = MLUOPS_BACKEND_ABI_VERSION,
    .struct_size = sizeof(mluopsBackend),
    .name = "mlu_emu",
    .description = "emulated MLU: NRAM partitions, core splitting, checks",
    .create = mluops::emu::create,
    .destroy = mluops::emu::destroy,
    .set_option = mluops::emu::set_option,
    .query = mluops::emu::query,
    .carafe_forward = mluops::emu::carafe_forward_member,
    .carafe_backward = mluops::emu::carafe_backward_member,
    .psamask_forward = mluops::emu::psamask_forward_member,
    .psamask_backward = mluops::emu::psamask_backward_member,
    .three_interpolate_forward = mluops::emu::three_interpolate_forward_member,
    .three_interpolate_backward = mluops::emu::three_interpolate_backward_member,
    .deform_roi_pool_forward = mluops::emu::deform_roi_pool_forward_member,
    .deform_roi_pool_backward = mluops::emu::deform_roi_pool_backward_member,
    .border_align_forward = mluops::emu::border_align_forward_member,
    .border_align_backward = mluops::emu::border_align_backward_member,
};
}
