// Tensors with strides, for operators whose kernels take dense ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "common/op/check.h"

namespace mluops::op {

/// Elements from the first one in memory to the last one; -1 beyond int64 and for strides below 0.
std::int64_t reach_of(const TensorDesc& t);
/// Strides are not below 0 and reach fewer than 2^31 elements (EXTENDED: no limit but int64 bytes), else NOT_SUPPORTED.
Status has_reach(const TensorArg& t, mluOpExtContract_t contract);
/// No two elements share memory: sorted by strides, each is beyond what the smaller ones reach.
bool elements_apart(const TensorDesc& t);
/// elements_apart(), else NOT_SUPPORTED.
Status has_elements_apart(const TensorArg& t);
/// The output is the input, element for element, or shares nothing with it (BAD_PARAM).
Status apart_or_in_place(const TensorArg& in, const TensorArg& out);

/// Dense tensors in place of up to three of one shape, the last of which is the output. Tensors that are dense and lie
/// alike stay where they are, permuted ones too; the others are copied.
class DenseTensors {
 public:
  explicit DenseTensors(std::initializer_list<TensorArg> tensors);
  const TensorArg& operator[](std::size_t tensor) const { return dense_[tensor]; }
  /// After a call that has succeeded: copies the output to its place. Returns the call's status.
  Status write_back(Status status) const;

 private:
  static constexpr std::size_t kMost = 3;
  /// A loop over the elements of all tensors.
  struct Axis {
    std::int64_t size;
    std::array<std::int64_t, kMost> strides;
  };

  void find_axes(std::initializer_list<TensorArg> tensors);
  bool lies_dense(std::size_t tensor) const;
  void use_copy(std::size_t tensor);
  void copy(std::size_t tensor, const void* from, bool to_dense, void* to) const;

  std::size_t count_ = 0;
  std::array<TensorArg, kMost> given_ = {}, dense_ = {};
  std::vector<Axis> axes_;  ///< in the order of the output's strides, the greatest first; empty: all tensors as given
  std::vector<mluOpTensorStruct> descs_;
  std::array<std::unique_ptr<unsigned char[]>, kMost> copies_;
};

}  // namespace mluops::op
