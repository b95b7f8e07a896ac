#include "backends/mlu_emu/neuware/cnnl/tensor.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "backends/mlu_emu/neuware/runtime/memory.h"

namespace cnnl {

std::int64_t size_of(cnnlDataType_t dtype) {
  switch (dtype) {
    case CNNL_DTYPE_INT8:
    case CNNL_DTYPE_UINT8:
    case CNNL_DTYPE_BOOL:
      return 1;
    case CNNL_DTYPE_HALF:
    case CNNL_DTYPE_BFLOAT16:
    case CNNL_DTYPE_INT16:
    case CNNL_DTYPE_UINT16:
      return 2;
    case CNNL_DTYPE_FLOAT:
    case CNNL_DTYPE_INT31:
    case CNNL_DTYPE_INT32:
    case CNNL_DTYPE_UINT32:
    case CNNL_DTYPE_COMPLEX_HALF:
      return 4;
    case CNNL_DTYPE_DOUBLE:
    case CNNL_DTYPE_INT64:
    case CNNL_DTYPE_UINT64:
    case CNNL_DTYPE_COMPLEX_FLOAT:
      return 8;
    case CNNL_DTYPE_INVALID:
      break;
  }
  throw Refusal{CNNL_STATUS_BAD_PARAM, "invalid data type " + std::to_string(dtype)};
}

Dims dense(const Dims& dims) {
  Dims strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

void require(bool holds, const std::string& text, cnnlStatus_t status) {
  if (!holds) throw Refusal{status, text};
}

void check(const char* name, const Tensor* desc, const void* data) {
  require(desc != nullptr, std::string(name) + "_desc must not be null");
  require(desc->dtype != CNNL_DTYPE_INVALID, std::string(name) + "_desc was not set");
  const std::int64_t bytes = desc->extent() * size_of(desc->dtype);
  if (bytes == 0) return;
  require(data != nullptr, std::string(name) + " must not be null");
  require(neuware::Blocks::instance().contains(data, static_cast<std::size_t>(bytes)),
          std::string(name) + ": " + std::to_string(bytes) + " bytes do not lie in one block of device memory");
}

void report(const char* function, cnnlStatus_t status, const std::string& text) {
  std::fprintf(stderr, "[cnnl] [Error] %s: %s: %s\n", function, cnnlGetErrorString(status), text.c_str());
}

namespace {

template <class T>
T element(const void* data, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void set_element(void* data, std::int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// visit(T()) for the type; a refusal for types whose values are not numbers a double holds.
template <class Visit>
auto with_type(cnnlDataType_t dtype, Visit&& visit) {
  switch (dtype) {
    case CNNL_DTYPE_HALF:
      return visit(half());
    case CNNL_DTYPE_BFLOAT16:
      return visit(bfloat16_t());
    case CNNL_DTYPE_FLOAT:
      return visit(float());
    case CNNL_DTYPE_DOUBLE:
      return visit(double());
    case CNNL_DTYPE_INT8:
      return visit(std::int8_t());
    case CNNL_DTYPE_UINT8:
    case CNNL_DTYPE_BOOL:
      return visit(std::uint8_t());
    case CNNL_DTYPE_INT16:
      return visit(std::int16_t());
    case CNNL_DTYPE_UINT16:
      return visit(std::uint16_t());
    case CNNL_DTYPE_INT32:
      return visit(std::int32_t());
    case CNNL_DTYPE_UINT32:
      return visit(std::uint32_t());
    default:
      throw Refusal{CNNL_STATUS_NOT_SUPPORTED, "no arithmetic with data type " + std::to_string(dtype)};
  }
}

}  // namespace

double load(cnnlDataType_t dtype, const void* data, std::int64_t index) {
  return with_type(dtype, [&](auto zero) { return static_cast<double>(element<decltype(zero)>(data, index)); });
}

void store(cnnlDataType_t dtype, void* data, std::int64_t index, double value) {
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    set_element(data, index, static_cast<T>(value));
  });
}

std::int64_t load_index(cnnlDataType_t dtype, const void* data, std::int64_t index) {
  if (dtype == CNNL_DTYPE_INT32) return element<std::int32_t>(data, index);
  if (dtype == CNNL_DTYPE_INT64) return element<std::int64_t>(data, index);
  throw Refusal{CNNL_STATUS_BAD_PARAM, "indices must be int32 or int64"};
}

void move_element(cnnlDataType_t dtype, void* to, std::int64_t to_index, const void* from, std::int64_t from_index) {
  const std::int64_t size = size_of(dtype);
  std::memmove(static_cast<char*>(to) + to_index * size, static_cast<const char*>(from) + from_index * size,
               static_cast<std::size_t>(size));
}

void copy_elements(const Tensor& from_desc, const void* from, const Tensor& to_desc, void* to) {
  if (from_desc.strides == dense(from_desc.dims) && to_desc.strides == dense(to_desc.dims)) {
    std::memmove(to, from, static_cast<std::size_t>(from_desc.count() * size_of(from_desc.dtype)));
    return;
  }
  Walk source(from_desc.dims), target(to_desc.dims);
  for (; source.more(); source.step(), target.step()) {
    move_element(to_desc.dtype, to, offset(to_desc, target.at()), from, offset(from_desc, source.at()));
  }
}

}  // namespace cnnl
