// Dense tensors by the number of an element, for functions whose formulas name indices.
#pragma once

#include <optional>

#include "backends/mlu_emu/neuware/cnnl/tensor.h"

namespace cnnl {

using Values = std::vector<double>;

inline std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// A dense tensor in device memory that a function reads.
class Array {
 public:
  /// Refuses a tensor with gaps, and a shape other than `dims`.
  Array(const char* name, const Tensor* desc, const void* data);
  Array(const char* name, const Tensor* desc, const void* data, const Dims& dims);

  double operator[](std::int64_t i) const { return load(desc_->dtype, data_, i); }
  const Dims& dims() const { return desc_->dims; }
  std::int64_t dim(std::int64_t i) const { return desc_->dims[at(i)]; }
  std::int64_t count() const { return desc_->count(); }
  Values values() const;

 protected:
  const Tensor* desc_;

 private:
  const void* data_;
};

/// One that it writes.
class Result : public Array {
 public:
  template <class... Shape>
  Result(const char* name, const Tensor* desc, void* data, const Shape&... dims)
      : Array(name, desc, data, dims...), data_(data) {}
  void set(std::int64_t i, double value) const { store(desc_->dtype, data_, i, value); }
  void set(const Values& values) const;

 private:
  void* data_;
};

/// None without a descriptor.
std::optional<Array> optional_array(const char* name, const Tensor* desc, const void* data, const Dims& dims);

void require_rank(const char* name, const Tensor* desc, int rank);
/// Image tensors are [N,H,W,C].
void require_image(const char* name, const Tensor* desc);

}  // namespace cnnl
