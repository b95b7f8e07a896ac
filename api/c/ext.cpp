#include "mlu_op_ext.h"

#include <algorithm>
#include <cstdio>

#include "api/c/boundary.h"
#include "common/capture.h"
#include "common/handle.h"
#include "common/op/check.h"
#include "common/version.h"
#include "mluops/capture.h"
#include "mluops/verbose.h"

using namespace mluops;
using op::not_null;

namespace {

const mluopsBackend* backend_at(int i) noexcept {
  try {
    const auto& all = Registry::instance().backends();
    return i >= 0 && static_cast<std::size_t>(i) < all.size() ? all[static_cast<std::size_t>(i)] : nullptr;
  } catch (...) {
    return nullptr;
  }
}

Status find_in_chain(mluOpHandle_t handle, const char* name, const BackendInstance*& found) {
  for (const BackendInstance& instance : handle->chain) {
    if (std::string_view(name) != instance.backend().name) continue;
    found = &instance;
    return Status::go_on();
  }
  return Status::bad_param("backend: wanted one of the handle's chain \"" + handle->chain_name + "\", got \"" + name +
                           "\"");
}

Status copy_text(std::int64_t length, const char* key, size_t* out_length) {
  if (length < 0) return Status::bad_param(std::string("key: \"") + key + "\" is unknown to the backend");
  if (out_length != nullptr) *out_length = static_cast<size_t>(length);
  return Status::go_on();
}

}  // namespace

const char* mluOpExtGetVersion(void) {
  return library_version();
}

const char* mluOpExtGetLastErrorText(void) {
  return last_error_text();
}

int mluOpExtGetBackendCount(void) {
  int count = 0;
  while (backend_at(count) != nullptr) ++count;
  return count;
}

const char* mluOpExtGetBackendName(int i) {
  const mluopsBackend* backend = backend_at(i);
  return backend != nullptr ? backend->name : nullptr;
}

const char* mluOpExtGetBackendDescription(int i) {
  const mluopsBackend* backend = backend_at(i);
  return backend != nullptr ? backend->description : nullptr;
}

mluOpStatus_t mluOpExtSetBackend(mluOpHandle_t handle, const char* chain) {
  return guard(__func__, {{"handle", handle}}, [&]() -> Status {
    std::string name = chain != nullptr && *chain != '\0' ? chain : default_chain();
    const CallTurn turn(handle->calls);
    MLUOPS_RETURN_IF_FINISHED(turn.refusal());
    MLUOPS_RETURN_IF_FINISHED(create_chain(Registry::instance(), name, handle->chain));
    const std::lock_guard<std::mutex> lock(handle->settings);
    say_header(handle->chain, handle->threads_in_force());
    handle->chain_name = std::move(name);
    handle->last_run_backend = "";
    return Status::go_on();
  });
}

mluOpStatus_t mluOpExtGetBackend(mluOpHandle_t handle, const char** chain) {
  return guard(__func__, {{"handle", handle}, {"chain", chain}}, [&] {
    const std::lock_guard<std::mutex> lock(handle->settings);
    *chain = handle->chain_name.c_str();
  });
}

mluOpStatus_t mluOpExtGetLastRunBackend(mluOpHandle_t handle, const char** name) {
  return guard(__func__, {{"handle", handle}, {"name", name}}, [&] { *name = handle->last_run_backend; });
}

mluOpStatus_t mluOpExtSetOption(mluOpHandle_t handle, const char* backend, const char* key, const char* value) {
  return guard(__func__, {{"handle", handle}, {"backend", backend}, {"key", key}, {"value", value}}, [&]() -> Status {
    const CallTurn turn(handle->calls);
    MLUOPS_RETURN_IF_FINISHED(turn.refusal());
    const BackendInstance* instance = nullptr;
    MLUOPS_RETURN_IF_FINISHED(find_in_chain(handle, backend, instance));
    const auto set = instance->backend().set_option;
    set_reason(set == nullptr ? "it has no options" : "");
    const mluOpStatus_t code =
        set != nullptr ? set(instance->context(), key, value, set_reason) : MLUOP_STATUS_BAD_PARAM;
    if (code == MLUOP_STATUS_SUCCESS) return Status::go_on();
    return Status::error(
        code, std::string("backend ") + backend + ": option \"" + key + "\" = \"" + value + "\": " + reason());
  });
}

mluOpStatus_t mluOpExtReleaseMemory(mluOpHandle_t handle) {
  return guard(__func__, {{"handle", handle}}, [&]() -> Status {
    const CallTurn turn(handle->calls);
    MLUOPS_RETURN_IF_FINISHED(turn.refusal());
    for (const BackendInstance& instance : handle->chain) {
      const auto set = instance.backend().set_option;  // one without this option holds nothing between calls
      if (set != nullptr) static_cast<void>(set(instance.context(), "memory", "release", set_reason));
    }
    return Status::go_on();
  });
}

mluOpStatus_t mluOpExtQuery(mluOpHandle_t handle, const char* backend, const char* key, char* buffer, size_t size,
                            size_t* length) {
  return guard(__func__, {{"handle", handle}, {"backend", backend}, {"key", key}}, [&]() -> Status {
    if (size > 0) MLUOPS_RETURN_IF_FINISHED(not_null("buffer", buffer));
    const CallTurn turn(handle->calls);
    MLUOPS_RETURN_IF_FINISHED(turn.refusal());
    const BackendInstance* instance = nullptr;
    MLUOPS_RETURN_IF_FINISHED(find_in_chain(handle, backend, instance));
    if (std::string_view(key) == "operators") {
      const std::string names = operators_of(instance->backend());
      return copy_text(std::snprintf(buffer, size, "%s", names.c_str()), key, length);
    }
    const auto query = instance->backend().query;
    return copy_text(query != nullptr ? query(instance->context(), key, buffer, size) : -1, key, length);
  });
}

mluOpStatus_t mluOpExtSetNumThreads(mluOpHandle_t handle, int threads) {
  return guard(__func__, {{"handle", handle}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("threads", threads, 0, 4096));
    handle->threads = threads;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpExtGetNumThreads(mluOpHandle_t handle, int* threads) {
  return guard(__func__, {{"handle", handle}, {"threads", threads}}, [&] { *threads = handle->threads_in_force(); });
}

mluOpStatus_t mluOpExtSetExecutor(mluOpHandle_t handle, const mluOpExtExecutor_t* executor) {
  return guard(__func__, {{"handle", handle}}, [&]() -> Status {
    if (executor != nullptr) {
      MLUOPS_RETURN_IF_FINISHED(
          not_null("executor->parallel_for", reinterpret_cast<const void*>(executor->parallel_for)));
    }
    const std::lock_guard<std::mutex> lock(handle->settings);
    handle->executor = executor != nullptr ? *executor : mluOpExtExecutor_t{};
    return Status::go_on();
  });
}

mluOpStatus_t mluOpExtSetContract(mluOpHandle_t handle, mluOpExtContract_t contract) {
  return guard(__func__, {{"handle", handle}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(
        op::in_range("contract", contract, MLUOP_EXT_CONTRACT_STRICT, MLUOP_EXT_CONTRACT_EXTENDED));
    handle->contract = contract;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpExtGetContract(mluOpHandle_t handle, mluOpExtContract_t* contract) {
  return guard(__func__, {{"handle", handle}, {"contract", contract}}, [&] { *contract = handle->contract; });
}

mluOpStatus_t mluOpExtSetScalars(mluOpHandle_t handle, const double* values, int count) {
  return guard(__func__, [&]() -> Status {
    GivenScalars given;
    MLUOPS_RETURN_IF_FINISHED(not_null("handle", handle));
    MLUOPS_RETURN_IF_FINISHED(op::in_range("count", count, 0, GivenScalars::kMost));
    if (count > 0) MLUOPS_RETURN_IF_FINISHED(not_null("values", values));
    given.count = static_cast<std::size_t>(count);
    std::copy_n(values, count, given.values.begin());
    handle->scalars.set(given);
    return Status::go_on();
  });
}

mluOpStatus_t mluOpExtSetCapture(const char* folder, const char* operators, int64_t calls, int64_t bytes) {
  return guard(__func__, [&]() -> Status {
    const auto text = [](const char* given) { return std::string(given == nullptr ? "" : given); };
    return mluops::set_capture({text(folder), text(operators), calls, bytes});
  });
}

mluOpStatus_t mluOpExtSetVerbose(int level) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("level", level, -1, 2));
    set_verbose_level_of_thread(level);
    return Status::go_on();
  });
}
