// Backend "device": problems run on a real card, by the vendor's library. docs/plugin.md says how it is used.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "common/case_text.h"
#include "common/guarded.h"
#include "mluops/backend.h"
#include "plugins/device/call.h"

namespace mluops::device {
namespace {

/// Whether the thread makes a context: then the library that it loads must not come back here.
thread_local bool creating = false;

mluOpStatus_t create(void (*set_error)(const char* text), void** context) {
  if (creating) {
    set_error("MLUOP_DEVICE_LIBRARY names a library that has this backend in its own chain");
    return MLUOP_STATUS_NOT_INITIALIZED;
  }
  creating = true;
  const mluOpStatus_t status = guarded(set_error, MLUOP_STATUS_NOT_INITIALIZED, [&] {
    *context = std::make_unique<Context>().release();
    return MLUOP_STATUS_SUCCESS;
  });
  creating = false;
  return status;
}

void destroy(void* context) {
  delete static_cast<Context*>(context);
}

/// "library": what runs the problems.
std::int64_t query(void* context, const char* key, char* buffer, std::size_t size) {
  std::int64_t length = -1;
  guarded([](const char*) {}, MLUOP_STATUS_INTERNAL_ERROR,
          [&] {
            if (std::string_view(key) != "library") return MLUOP_STATUS_BAD_PARAM;
            const std::string text = static_cast<const Context*>(context)->library().text();
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

/// The problem passed this library's checks: where the vendor's calls an argument bad, it means one it does not
/// support.
mluOpStatus_t answer(mluOpStatus_t status) {
  switch (status) {
    case MLUOP_STATUS_SUCCESS:
    case MLUOP_STATUS_ALLOC_FAILED:
      return status;
    case MLUOP_STATUS_BAD_PARAM:
    case MLUOP_STATUS_NOT_SUPPORTED:
    case MLUOP_STATUS_ARCH_MISMATCH:
      return MLUOP_STATUS_NOT_SUPPORTED;
    default:
      return MLUOP_STATUS_EXECUTION_FAILED;
  }
}

mluOpStatus_t run(void* context, const mluopsCall& call, const std::string& text, HostTensors tensors) {
  Context& on_card = *static_cast<Context*>(context);
  std::string reason;
  const mluOpStatus_t status = answer(on_card.run(call, text, tensors, reason));
  if (status != MLUOP_STATUS_SUCCESS) call.set_error((on_card.library().path() + ": " + reason).c_str());
  return status;
}

#define MLUOPS_FORWARDED(name, Problem, ...)                                              \
  mluOpStatus_t name(void* context, const mluopsCall* call, const Problem* problem) {     \
    return guarded(call->set_error, MLUOP_STATUS_EXECUTION_FAILED, [&] {                  \
      const Problem& p = *problem;                                                        \
      return run(context, *call, op::case_text(#name, p, call->contract), {__VA_ARGS__}); \
    });                                                                                   \
  }
#include "plugins/device/operators.inc"

}  // namespace
}  // namespace mluops::device

extern "C" {
__attribute__((visibility("default"))) extern const mluopsBackend mluops_backend;
constinit const mluopsBackend mluops_backend = [] {
  mluopsBackend backend = {};  // an operator that cannot be handed on stays NULL
  backend.abi_version = MLUOPS_BACKEND_ABI_VERSION;
  backend.struct_size = sizeof(mluopsBackend);
  backend.name = "device";
  backend.description = "the vendor's library on a card";
  backend.create = mluops::device::create;
  backend.destroy = mluops::device::destroy;
  backend.query = mluops::device::query;
#define MLUOPS_FORWARDED(name, Problem, ...) backend.name = mluops::device::name;
#include "plugins/device/operators.inc"
  return backend;
}();
}
