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
  explicit Storage(const bench::Tensor& tensor) : memory_(static_cast<std::size_t>(tensor.bytes())) {
    check(mluOpCreateTensorDescriptor(&desc_));
    const std::vector<int> dims(tensor.dims.begin(), tensor.dims.end());
    check(mluOpSetTensorDescriptor(desc_, tensor.layout, tensor.dtype, static_cast<int>(dims.size()), dims.data()));
    if (!tensor.is_output()) bench::fill_tensor(tensor, memory_.data());
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() { mluOpDestroyTensorDescriptor(desc_); }

  bench::Argument argument() { return {desc_, memory_.data()}; }

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

Emulation emulate(const bench::Case& what, const Options& options) {
  const Handle handle = make_handle(options);
  std::vector<std::unique_ptr<Storage>> storage;
  std::vector<bench::Argument> arguments;
  for (const bench::Tensor& tensor : what.tensors) {
    storage.push_back(std::make_unique<Storage>(tensor));
    arguments.push_back(storage.back()->argument());
  }
  check(what.call(handle.get(), arguments));
  return {query(handle.get(), "report"), query(handle.get(), "trace")};
}

}  // namespace explain
