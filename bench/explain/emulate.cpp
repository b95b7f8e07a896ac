#include "bench/explain/emulate.h"

#include <cstddef>
#include <memory>
#include <stdexcept>

#include "mlu_op_ext.h"

namespace explain {
namespace {

constexpr const char* kBackend = "mlu_emu";

void check(mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) throw std::runtime_error(mluOpExtGetLastErrorText());
}

struct DestroyHandle {
  void operator()(mluOpHandle_t handle) const { mluOpDestroy(handle); }
};
using Handle = std::unique_ptr<mluOpContext, DestroyHandle>;

Handle make_handle(const Options& options) {
  mluOpHandle_t raw = nullptr;
  check(mluOpCreate(&raw));
  Handle handle(raw);
  check(mluOpExtSetBackend(raw, kBackend));
  for (const auto& [key, value] : options) check(mluOpExtSetOption(raw, kBackend, key.c_str(), value.c_str()));
  return handle;
}

/// A tensor's descriptor and memory, inputs filled.
class Storage {
 public:
  explicit Storage(const cases::TensorSpec& tensor) : memory_(static_cast<std::size_t>(tensor.bytes())) {
    check(mluOpCreateTensorDescriptor(&desc_));
    const std::vector<int> dims(tensor.dims.begin(), tensor.dims.end());
    check(mluOpSetTensorDescriptor(desc_, tensor.layout, tensor.dtype, static_cast<int>(dims.size()), dims.data()));
    if (!tensor.is_output()) cases::write(tensor.fill, tensor.dtype, tensor.elements(), memory_.data());
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() { mluOpDestroyTensorDescriptor(desc_); }

  cases::Argument argument() { return {desc_, memory_.data()}; }

 private:
  mluOpTensorDescriptor_t desc_ = nullptr;
  std::vector<std::byte> memory_;
};

std::string query(mluOpHandle_t handle, const char* key) {
  std::size_t length = 0;
  check(mluOpExtQuery(handle, kBackend, key, nullptr, 0, &length));
  std::string text(length + 1, '\0');
  check(mluOpExtQuery(handle, kBackend, key, text.data(), text.size(), &length));
  text.resize(length);
  return text;
}

}  // namespace

Emulation emulate(const cases::Description& what, const Options& options) {
  const Handle handle = make_handle(options);
  std::vector<std::unique_ptr<Storage>> storage;
  cases::Arguments arguments;
  for (const cases::TensorSpec& tensor : what.tensors) {
    storage.push_back(std::make_unique<Storage>(tensor));
    arguments.push_back(storage.back()->argument());
  }
  const mluOpStatus_t status = what.call(handle.get(), arguments);
  if (status == MLUOP_STATUS_NOT_SUPPORTED &&
      std::string(mluOpExtGetLastErrorText()).ends_with("does not provide it")) {
    return {false, "", ""};
  }
  check(status);
  return {true, query(handle.get(), "report"), query(handle.get(), "trace")};
}

}  // namespace explain
