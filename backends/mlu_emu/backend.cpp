// The plugin struct: contexts, options, queries, and the way from a C member to an operator.
#include "mluops/backend_types.h"

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <memory>
#include <string_view>

#include "backends/mlu_emu/device/context.h"
#include "backends/mlu_emu/operators.h"
#include "common/guarded.h"

namespace mluops::emu {
namespace {

mluOpStatus_t create(void (*set_error)(const char* text), void** context) {
  return guarded(set_error, MLUOP_STATUS_INTERNAL_ERROR, [&] {
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
  return guarded(set_error, MLUOP_STATUS_INTERNAL_ERROR, [&] {
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
  guarded(ignore, MLUOP_STATUS_INTERNAL_ERROR, [&] {
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
template <class Problem, Operator<Problem>* run, const char* name>
mluOpStatus_t member(void* context, const mluopsCall* call, const Problem* problem) {
  // The mode results are promised for, on this thread and on those it starts; the caller's holds again afterwards.
  std::fenv_t callers;
  std::fegetenv(&callers);
  std::fesetenv(FE_DFL_ENV);
  const mluOpStatus_t status = guarded(call->set_error, MLUOP_STATUS_INTERNAL_ERROR, [&] {
    auto& machine = *static_cast<Context*>(context);
    machine.begin_call(name);
    try {
      const mluOpStatus_t code = run(machine, *call, *problem);
      machine.keep_outputs();
      return code;
    } catch (...) {
      machine.undo_outputs();
      throw;
    }
  });
  std::fesetenv(&callers);
  return status;
}

#ifndef MLUOPS_EMULATED_OPERATORS  // a build of a part (cmake/MluopsPart.cmake) has a shorter list
#define MLUOPS_EMULATED_OPERATORS "backends/mlu_emu/kernels/kernels.inc"
#endif
#define MLUOPS_EMULATED(name, Problem) constexpr char k_##name[] = #name;
#include MLUOPS_EMULATED_OPERATORS

}  // namespace
}  // namespace mluops::emu

extern "C" {
extern const mluopsBackend mluops_backend_mlu_emu;
constinit const mluopsBackend mluops_backend_mlu_emu = [] {
  mluopsBackend backend = {};  // an operator that has no kernel here stays NULL
  backend.abi_version = MLUOPS_BACKEND_ABI_VERSION;
  backend.struct_size = sizeof(mluopsBackend);
  backend.name = "mlu_emu";
  backend.description = "emulated MLU: NRAM partitions, core splitting, checks";
  backend.create = mluops::emu::create;
  backend.destroy = mluops::emu::destroy;
  backend.set_option = mluops::emu::set_option;
  backend.query = mluops::emu::query;
#define MLUOPS_EMULATED(name, Problem) \
  backend.name = mluops::emu::member<Problem, mluops::emu::name, mluops::emu::k_##name>;
#include MLUOPS_EMULATED_OPERATORS
  return backend;
}();
}
