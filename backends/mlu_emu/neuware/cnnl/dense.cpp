#include "backends/mlu_emu/neuware/cnnl/dense.h"

namespace cnnl {
namespace {

std::string text(const Dims& dims) {
  std::string list = "[";
  for (const std::int64_t d : dims) list.append(list.size() > 1 ? "," : "").append(std::to_string(d));
  return list.append("]");
}

}  // namespace

Array::Array(const char* name, const Tensor* desc, const void* data) : desc_(desc), data_(data) {
  check(name, desc, data);
  require(desc->count() == 0 || desc->strides == dense(desc->dims), std::string(name) + " must be dense",
          CNNL_STATUS_NOT_SUPPORTED);
}

Array::Array(const char* name, const Tensor* desc, const void* data, const Dims& dims) : Array(name, desc, data) {
  require(desc->dims == dims, std::string(name) + ": wanted " + text(dims) + ", got " + text(desc->dims));
}

Values Array::values() const {
  Values all(at(count()));
  for (std::int64_t i = 0; i < count(); ++i) all[at(i)] = (*this)[i];
  return all;
}

void Result::set(const Values& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) set(static_cast<std::int64_t>(i), values[i]);
}

std::optional<Array> optional_array(const char* name, const Tensor* desc, const void* data, const Dims& dims) {
  if (desc == nullptr) return std::nullopt;
  return Array(name, desc, data, dims);
}

void require_rank(const char* name, const Tensor* desc, int rank) {
  require(desc != nullptr, std::string(name) + "_desc must not be null");
  require(desc->rank() == rank,
          std::string(name) + ": wanted " + std::to_string(rank) + " dimensions, got " + std::to_string(desc->rank()));
}

void require_image(const char* name, const Tensor* desc) {
  require_rank(name, desc, 4);
  require(desc->layout == CNNL_LAYOUT_NHWC, std::string(name) + " must be in NHWC", CNNL_STATUS_NOT_SUPPORTED);
}

}  // namespace cnnl
