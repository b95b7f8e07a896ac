#include "mluops/backend_types.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/float_mode.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/simulated.h"

namespace mluops::cpu {
namespace {

bool set_isa(Context& context, std::string_view value) {
  const std::optional<Isa> isa = choose_isa(value);
  if (isa) context.isa = *isa;
  return isa.has_value();
}

/// The thread runtimes of this build, the default first.
struct Runtime {
  std::string_view name;
  Threading threading;
  bool (*built)();
};

constexpr Runtime kRuntimes[] = {{"openmp", Threading::kOpenmp, has_openmp},
                                 {"tbb", Threading::kTbb, has_tbb},
                                 {"threads", Threading::kThreads, [] { return true; }},
                                 {"simulated", Threading::kSimulated, [] { return true; }}};

const char* runtime_names() {
  if (has_openmp())
    return has_tbb() ? "auto, openmp, tbb, threads, simulated" : "auto, openmp, threads, simulated (built without TBB)";
  return has_tbb() ? "auto, tbb, threads, simulated (built without OpenMP)"
                   : "auto, threads, simulated (built without OpenMP and TBB)";
}

bool set_threading(Context& context, std::string_view value) {
  for (const Runtime& runtime : kRuntimes) {
    if (!runtime.built() || (value != "auto" && value != runtime.name)) continue;
    context.threading = runtime.threading;
    return true;
  }
  return false;
}

std::string threading_text(const Context& context) {
  for (const Runtime& runtime : kRuntimes) {
    if (runtime.threading == context.threading) return std::string(runtime.name);
  }
  return {};
}

bool set_scatter(Context& context, std::string_view value) {
  if (value != "auto" && value != "owner" && value != "atomic") return false;
  context.scatter = value == "owner"    ? ScatterChoice::kOwner
                    : value == "atomic" ? ScatterChoice::kAtomic
                                        : ScatterChoice::kAuto;
  return true;
}

/// Whether a kernel has a path of that name is known when it is called.
bool set_path(Context& context, std::string_view value) {
  if (value.empty()) return false;
  context.path = value == "auto" ? std::string() : std::string(value);
  return true;
}

/// "release" gives the working memory back, which the next calls take again as they need it.
bool set_memory(Context& context, std::string_view value) {
  if (value == "release") context.for_each_arena([](Arena& arena) { arena.release(); });
  return value == "release" || value == "keep";
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
  const char* variable;  ///< may be nullptr
  const char* fallback;
  const char* (*values)();
  bool (*set)(Context&, std::string_view);
};

constexpr Option kOptions[] = {
    {"isa", "MLUOP_CPU_ISA", "auto", [] { return kIsaNames; }, set_isa},
    {"threading", "MLUOP_CPU_THREADING", "auto", runtime_names, set_threading},
    {"scatter", "MLUOP_CPU_SCATTER", "auto", [] { return "auto, owner, atomic"; }, set_scatter},
    {"path", "MLUOP_CPU_PATH", "auto", [] { return "auto, a path of the operator"; }, set_path},
    {"memory", nullptr, "keep", [] { return "keep, release"; }, set_memory},
};

std::string one_of(const char* values, const char* got) {
  return std::string("wanted one of ") + values + ", got \"" + got + "\"";
}

/// Empty when all is well, else which variable is wrong.
std::string read_environment(Context& context) {
  for (const Option& option : kOptions) {
    const char* text = option.variable != nullptr ? std::getenv(option.variable) : nullptr;
    const char* const value = text != nullptr && *text != '\0' ? text : option.fallback;
    if (option.set(context, value)) continue;
    return std::string(option.variable) + ": " + one_of(option.values(), value);
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
    if (option.key == key) return option.set(context, value) ? std::string() : one_of(option.values(), value);
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

std::int64_t scratch_bytes(Context& context) {
  std::int64_t bytes = 0;
  context.for_each_arena([&](const Arena& arena) { bytes += arena.bytes(); });
  return bytes;
}

std::optional<std::string> property(Context& context, std::string_view key) {
  if (key == "isa") return context.isa.name;
  if (key == "threading") return threading_text(context);
  if (key == "simulated_loops") return simulated_loops().text();
  if (key == "scatter") return scatter_text(context);
  if (key == "last_scatter") return context.last_scatter;
  if (key == "path") return context.path.empty() ? "auto" : context.path;
  if (key == "last_path") return context.last_path;
  if (key == "last_paths") return path_names(context);
  if (key == "scratch_bytes") return std::to_string(scratch_bytes(context));
  if (key == "layouts") return "NHWC,NCHW";
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

/// What option "path" calls the way of a kernel that has one and therefore no list of paths.
constexpr const char* kOnlyPath = "only";

/// The others, which have one (test/calls/path_test.cpp holds this against what runs).
constexpr std::string_view kKernelsOfPaths[] = {"carafe_forward",
                                                "carafe_backward",
                                                "psamask_forward",
                                                "psamask_backward",
                                                "three_interpolate_forward",
                                                "three_interpolate_backward",
                                                "deform_roi_pool_forward",
                                                "deform_roi_pool_backward",
                                                "border_align_forward",
                                                "border_align_backward",
                                                "roi_align_forward",
                                                "roi_align_backward",
                                                "three_nn_forward",
                                                "ball_query",
                                                "gather_points_backward",
                                                "knn",
                                                "chamfer_distance_forward",
                                                "roi_pool_forward",
                                                "roi_pool_backward",
                                                "ms_deform_attn_backward",
                                                "dcn_forward",
                                                "dcn_backward_data",
                                                "dcn_backward_weight",
                                                "indice_convolution_forward",
                                                "indice_convolution_backward_data",
                                                "indice_convolution_backward_filter",
                                                "roi_align_rotated_forward",
                                                "roi_align_rotated_backward",
                                                "ps_roi_pool_forward",
                                                "ps_roi_pool_backward",
                                                "roi_crop_forward",
                                                "roi_crop_backward",
                                                "bezier_align_forward",
                                                "bezier_align_backward",
                                                "rotated_feature_align_forward",
                                                "rotated_feature_align_backward",
                                                "upfirdn2d"};

constexpr bool has_one_way(std::string_view name) {
  for (const std::string_view one : kKernelsOfPaths) {
    if (name == one) return false;
  }
  return true;
}

/// Tells the arenas when a call ends.
class Calls {
 public:
  explicit Calls(Context& context) : context_(context) {}
  ~Calls() {
    context_.for_each_arena([](Arena& arena) { arena.end_call(); });
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

 private:
  Context& context_;
};

/// The plugin ABI's form of one operator: no exception leaves.
template <class Problem, mluOpStatus_t (*run)(Context&, const mluopsCall&, const Problem&), bool kOneWay>
mluOpStatus_t entry(void* context, const mluopsCall* call, const Problem* problem) {
  const DefaultFloatMode mode;
  Context& own = *static_cast<Context*>(context);
  own.last_path = kOneWay ? kOnlyPath : "";
  own.paths[0] = own.last_path;
  own.paths_known = kOneWay ? 1 : 0;
  const Calls calls(own);
  try {
    if (kOneWay && !own.path.empty() && own.path != own.last_path) return path_not_found(own, *call);
    return run(own, *call, *problem);
  } catch (const std::bad_alloc&) {
    return no_memory(*call);
  } catch (const std::exception& e) {
    return fail(*call, MLUOP_STATUS_INTERNAL_ERROR, e.what());
  }
}

}  // namespace
}  // namespace mluops::cpu

#ifndef MLUOPS_CPU_OPERATORS  // a build of a part (cmake/MluopsPart.cmake) has a shorter list
#define MLUOPS_CPU_OPERATORS "mluops/operators.inc"
#endif

extern "C" {
using namespace mluops::cpu;
extern const mluopsBackend mluops_backend_cpu;
constinit const mluopsBackend mluops_backend_cpu = [] {
  mluopsBackend backend = {};  // what a build of a part leaves out stays NULL
  backend.abi_version = MLUOPS_BACKEND_ABI_VERSION;
  backend.struct_size = sizeof(mluopsBackend);
  backend.name = "cpu";
  backend.description = "host CPU: SIMD, OpenMP, TBB or threads";
  backend.create = create;
  backend.destroy = destroy;
  backend.set_option = set_option;
  backend.query = query;
#define MLUOPS_OPERATOR(name, Problem) backend.name = entry<Problem, operators::name, has_one_way(#name)>;
#include MLUOPS_CPU_OPERATORS
  return backend;
}();
}
