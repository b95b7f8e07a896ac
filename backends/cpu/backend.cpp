#include "mluops/backend.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"

namespace mluops::cpu {
namespace {

bool set_isa(Context& context, std::string_view value) {
  const std::optional<Isa> isa = choose_isa(value);
  if (isa) context.isa = *isa;
  return isa.has_value();
}

bool set_threading(Context& context, std::string_view value) {
  if (value != "openmp" && value != "tbb") return false;
  context.threading = value == "tbb" ? Threading::kTbb : Threading::kOpenmp;
  return true;
}

bool set_scatter(Context& context, std::string_view value) {
  if (value != "auto" && value != "owner" && value != "atomic") return false;
  context.scatter = value == "owner"    ? ScatterChoice::kOwner
                    : value == "atomic" ? ScatterChoice::kAtomic
                                        : ScatterChoice::kAuto;
  return true;
}

std::string scatter_text(const Context& context) {
  switch (context.scatter) {
    case ScatterChoice::kOwner:
      return "owner";
    case ScatterChoice::kAtomic:
      return "atomic";
    default:
      return "auto";
  }
}

struct Option {
  std::string_view key;
  const char* variable;
  const char* fallback;
  const char* values;
  bool (*set)(Context&, std::string_view);
};

constexpr Option kOptions[] = {
    {"isa", "MLUOP_CPU_ISA", "auto", kIsaNames, set_isa},
    {"threading", "MLUOP_CPU_THREADING", "openmp", "openmp, tbb", set_threading},
    {"scatter", "MLUOP_CPU_SCATTER", "auto", "auto, owner, atomic", set_scatter},
};

std::string one_of(const char* values, const char* got) {
  return std::string("wanted one of ") + values + ", got \"" + got + "\"";
}

/// Empty when all is well, else which variable is wrong.
std::string read_environment(Context& context) {
  for (const Option& option : kOptions) {
    const char* text = std::getenv(option.variable);
    const char* const value = text != nullptr && *text != '\0' ? text : option.fallback;
    if (option.set(context, value)) continue;
    return std::string(option.variable) + ": " + one_of(option.values, value);
  }
  return {};
}

mluOpStatus_t create(void (*set_error)(const char*), void** context) {
  try {
    auto made = std::make_unique<Context>();
    const std::string problem = read_environment(*made);
    if (!problem.empty()) {
      set_error(problem.c_str());
      return MLUOP_STATUS_NOT_INITIALIZED;
    }
    watch_for_fork();
    *context = made.release();
    return MLUOP_STATUS_SUCCESS;
  } catch (const std::exception&) {
    set_error("no memory for a handle's context");
    return MLUOP_STATUS_ALLOC_FAILED;
  }
}

void destroy(void* context) {
  delete static_cast<Context*>(context);
}

/// Empty when all is well, else what was wanted.
std::string change_option(Context& context, const char* key, const char* value) {
  std::string keys;
  for (const Option& option : kOptions) {
    if (option.key == key) return option.set(context, value) ? std::string() : one_of(option.values, value);
    keys.append(keys.empty() ? "" : ", ").append(option.key);
  }
  return "unknown option; known: " + keys;
}

mluOpStatus_t set_option(void* context, const char* key, const char* value, void (*set_error)(const char*)) {
  try {
    const std::string problem = change_option(*static_cast<Context*>(context), key, value);
    if (problem.empty()) return MLUOP_STATUS_SUCCESS;
    set_error(problem.c_str());
    return MLUOP_STATUS_BAD_PARAM;
  } catch (const std::exception&) {
    set_error("no memory for an option");
    return MLUOP_STATUS_ALLOC_FAILED;
  }
}

std::optional<std::string> property(const Context& context, std::string_view key) {
  if (key == "isa") return context.isa.name;
  if (key == "threading") return context.threading == Threading::kTbb ? "tbb" : "openmp";
  if (key == "scatter") return scatter_text(context);
  if (key == "last_scatter") return context.last_scatter;
  if (key == "scratch_bytes") return std::to_string(context.scratch.bytes() + context.entries.bytes());
  return std::nullopt;
}

std::int64_t query(void* context, const char* key, char* buffer, std::size_t size) {
  try {
    const std::optional<std::string> text = property(*static_cast<Context*>(context), key);
    return text ? std::snprintf(buffer, size, "%s", text->c_str()) : -1;
  } catch (const std::exception&) {
    return -1;
  }
}

/// The plugin ABI's form of one operator: no exception leaves.
template <class Problem, mluOpStatus_t (*run)(Context&, const mluopsCall&, const Problem&)>
mluOpStatus_t entry(void* context, const mluopsCall* call, const Problem* problem) {
  try {
    return run(*static_cast<Context*>(context), *call, *problem);
  } catch (const std::bad_alloc&) {
    return no_memory(*call);
  } catch (const std::exception& e) {
    return fail(*call, MLUOP_STATUS_INTERNAL_ERROR, e.what());
  }
}

}  // namespace
}  // namespace mluops::cpu

extern "C" {
using namespace mluops::cpu;
extern const mluopsBackend mluops_backend_cpu;
const mluopsBackend mluops_backend_cpu = {
    .abi_version = MLUOPS_BACKEND_ABI_VERSION,
    .struct_size = sizeof(mluopsBackend),
    .name = "cpu",
    .description = "host CPU: SIMD, OpenMP or TBB",
    .create = create,
    .destroy = destroy,
    .set_option = set_option,
    .query = query,
    .carafe_forward = entry<mluopsCarafeForwardProblem, carafe_forward>,
    .carafe_backward = entry<mluopsCarafeBackwardProblem, carafe_backward>,
    .psamask_forward = entry<mluopsPsamaskForwardProblem, psamask_forward>,
    .psamask_backward = entry<mluopsPsamaskBackwardProblem, psamask_backward>,
    .three_interpolate_forward = entry<mluopsThreeInterpolateForwardProblem, three_interpolate_forward>,
    .three_interpolate_backward = entry<mluopsThreeInterpolateBackwardProblem, three_interpolate_backward>,
    .deform_roi_pool_forward = entry<mluopsDeformRoiPoolForwardProblem, deform_roi_pool_forward>,
    .deform_roi_pool_backward = entry<mluopsDeformRoiPoolBackwardProblem, deform_roi_pool_backward>,
    .border_align_forward = entry<mluopsBorderAlignForwardProblem, border_align_forward>,
    .border_align_backward = entry<mluopsBorderAlignBackwardProblem, border_align_backward>,
};
}
