#include "api/onnxruntime/kernel.h"

#include <limits>
#include <memory>

#include "common/per_thread.h"
#include "mlu_op_ext.h"

namespace mluops::ort {
namespace {

struct Handle {
  Handle() {
    if (mluOpCreate(&handle) == MLUOP_STATUS_SUCCESS) mluOpExtSetContract(handle, MLUOP_EXT_CONTRACT_EXTENDED);
  }
  ~Handle() {
    if (handle != nullptr) mluOpDestroy(handle);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  mluOpHandle_t handle = nullptr;
};

mluOpDataType_t dtype_of(ElementType type) {
  switch (type) {
    case kFloat:
      return MLUOP_DTYPE_FLOAT;
    case kFloat16:
      return MLUOP_DTYPE_HALF;
    case kDouble:
      return MLUOP_DTYPE_DOUBLE;
    case kInt32:
      return MLUOP_DTYPE_INT32;
    case kInt64:
      return MLUOP_DTYPE_INT64;
  }
  return MLUOP_DTYPE_INVALID;
}

/// A tensor without elements may have no address, which the C API would take for a missing tensor.
void* address_or_any(void* data) {
  static char none;
  return data != nullptr ? data : &none;
}

}  // namespace

void require(Status* status) {
  if (status != nullptr) throw Failure{status};
}

void refuse(const Api& api, ErrorCode code, const std::string& text) {
  throw Failure{create_status(api, code, ("mluops: " + text).c_str())};
}

std::int64_t Tensor::count() const {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

// ---- Attributes ---------------------------------------------------------------------------

bool Attributes::succeeded(Status* status) const {
  if (status == nullptr) return true;
  release(api_, status);
  return false;
}

const char* Attributes::type(const char* name) const {
  std::int64_t integer = 0;
  float real = 0;
  std::size_t size = 0;
  if (succeeded(attribute(api_, info_, name, &integer))) return "an integer";
  if (succeeded(attribute(api_, info_, name, &real))) return "a float";
  if (succeeded(attribute(api_, info_, name, static_cast<char*>(nullptr), &size))) return "a text";
  const auto has_list = [&](auto* none) { return succeeded(attribute(api_, info_, name, none, &size)) && size > 0; };
  if (has_list(static_cast<std::int64_t*>(nullptr))) return "integers";  // a list of another type has no number
  return has_list(static_cast<float*>(nullptr)) ? "floats" : nullptr;
}

void Attributes::refuse_another_type(const char* name, const char* wanted) const {
  if (const char* const got = type(name)) {
    refuse(api_, kInvalidArgument, std::string(name) + ": wanted " + wanted + ", got " + got);
  }
}

bool Attributes::is_there(const char* name, const char* wanted, Status* status) const {
  if (succeeded(status)) return true;
  refuse_another_type(name, wanted);
  return false;
}

int Attributes::narrow(const char* name, std::int64_t value) const {
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    refuse(api_, kInvalidArgument, std::string(name) + ": wanted 32 bits, got " + std::to_string(value));
  }
  return static_cast<int>(value);
}

int Attributes::integer(const char* name, int otherwise) const {
  std::int64_t value = 0;
  return is_there(name, "an integer", attribute(api_, info_, name, &value)) ? narrow(name, value) : otherwise;
}

float Attributes::real(const char* name, float otherwise) const {
  float value = 0;
  return is_there(name, "a float", attribute(api_, info_, name, &value)) ? value : otherwise;
}

std::string Attributes::text(const char* name, const std::string& otherwise) const {
  std::size_t size = 0;  // with its terminating zero
  if (!is_there(name, "a text", attribute(api_, info_, name, static_cast<char*>(nullptr), &size))) return otherwise;
  std::string value(size, '\0');
  require(attribute(api_, info_, name, value.data(), &size));
  return value.c_str();
}

std::vector<int> Attributes::integers(const char* name, std::size_t count, int otherwise) const {
  std::size_t size = 0;
  if (!is_there(name, "integers", attribute(api_, info_, name, static_cast<std::int64_t*>(nullptr), &size))) {
    return std::vector<int>(count, otherwise);
  }
  if (size == 0) refuse_another_type(name, "integers");
  std::vector<std::int64_t> values(size);
  if (size > 0) require(attribute(api_, info_, name, values.data(), &size));
  const bool pairs = size == 2 * count;
  std::vector<int> result;
  for (std::size_t i = 0; i < size; i += pairs ? 2 : 1) {
    if (pairs && values[i] != values[i + 1]) break;
    result.push_back(narrow(name, values[i]));
  }
  if (result.size() != count) {
    refuse(api_, kInvalidArgument,
           std::string(name) + ": wanted " + std::to_string(count) + " numbers, or each of them twice, got " +
               std::to_string(size));
  }
  return result;
}

// ---- Call ---------------------------------------------------------------------------------

const Value* Call::value(std::size_t index) const {
  const Value* value = nullptr;
  require(ort::input(api_, context_, index, &value));
  return value;
}

bool Call::has_input(std::size_t index) const {
  std::size_t count = 0;
  require(input_count(api_, context_, &count));
  return index < count && value(index) != nullptr;
}

Tensor Call::tensor(const Value* value) const {
  TensorInfo* info = nullptr;
  require(tensor_info(api_, value, &info));
  const auto release_info = [this](TensorInfo* each) { release(api_, each); };
  const std::unique_ptr<TensorInfo, decltype(release_info)> owner(info, release_info);
  ElementType type{};
  std::size_t rank = 0;
  require(element_type(api_, info, &type));
  require(rank_of(api_, info, &rank));
  Tensor tensor{dtype_of(type), std::vector<std::int64_t>(rank), nullptr};
  require(sizes_of(api_, info, tensor.sizes.data(), rank));
  require(data_of(api_, value, &tensor.data));
  tensor.data = address_or_any(tensor.data);
  return tensor;
}

Tensor Call::input(std::size_t index, const char* name, std::size_t rank) const {
  Tensor found = tensor(value(index));
  if (found.sizes.size() != rank) {
    refuse(std::string(name) + ": wanted " + std::to_string(rank) + " dimensions, got " +
           std::to_string(found.sizes.size()));
  }
  return found;
}

std::vector<std::int32_t> Call::integers(std::size_t index, const char* name, std::size_t rank) const {
  const Tensor found = input(index, name, rank);
  const auto* const wide = static_cast<const std::int64_t*>(found.data);
  std::vector<std::int32_t> narrow;
  for (std::int64_t i = 0; i < found.count(); ++i) {
    if (wide[i] != static_cast<std::int32_t>(wide[i])) {
      refuse(std::string(name) + ": wanted 32 bits, got " + std::to_string(wide[i]));
    }
    narrow.push_back(static_cast<std::int32_t>(wide[i]));
  }
  return narrow;
}

Tensor Call::output(std::size_t index, const std::vector<std::int64_t>& sizes, mluOpDataType_t dtype) const {
  Value* value = nullptr;
  require(ort::output(api_, context_, index, sizes.data(), sizes.size(), &value));
  Tensor tensor{dtype, sizes, nullptr};
  require(data_of(api_, value, &tensor.data));
  tensor.data = address_or_any(tensor.data);
  return tensor;
}

void Call::check(mluOpStatus_t status) const {
  if (status == MLUOP_STATUS_SUCCESS) return;
  const ErrorCode code = status == MLUOP_STATUS_BAD_PARAM       ? kInvalidArgument
                         : status == MLUOP_STATUS_NOT_SUPPORTED ? kNotImplemented
                                                                : kFail;
  ort::refuse(api_, code, mluOpExtGetLastErrorText());
}

mluOpHandle_t Call::handle() const {
  const auto& own = of_this_thread<Handle>();
  if (own.handle == nullptr) ort::refuse(api_, kFail, mluOpExtGetLastErrorText());
  return own.handle;
}

// ---- Descriptor ---------------------------------------------------------------------------

Descriptor::Descriptor(const Call& call, const Tensor* tensor, mluOpTensorLayout_t layout) {
  if (tensor == nullptr) return;
  call.check(mluOpCreateTensorDescriptor(&descriptor_));
  const mluOpStatus_t status = mluOpSetTensorDescriptor_v2(
      descriptor_, layout, tensor->dtype, static_cast<int>(tensor->sizes.size()), tensor->sizes.data());
  if (status == MLUOP_STATUS_SUCCESS) return;
  mluOpDestroyTensorDescriptor(descriptor_);
  call.check(status);
}

Descriptor::~Descriptor() {
  if (descriptor_ != nullptr) mluOpDestroyTensorDescriptor(descriptor_);
}

}  // namespace mluops::ort
