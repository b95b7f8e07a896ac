// The building blocks of the kernels of custom operators: attributes, tensors, failures, the library's handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/onnxruntime/abi.h"
#include "mlu_op.h"
#include "mlu_op_ext.h"

namespace mluops::ort {

/// Ends what onnxruntime asked for; the caller sees the text of the status.
struct Failure {
  Status* status;
};

/// Passes on what onnxruntime itself refuses.
void require(Status* status);
[[noreturn]] void refuse(const Api& api, ErrorCode code, const std::string& text);

struct Tensor {
  mluOpDataType_t dtype;
  std::vector<std::int64_t> sizes;
  void* data;

  std::int64_t count() const;
};

/// The attributes of a node. A missing one has the value given here; one of another type is REFUSED.
class Attributes {
 public:
  Attributes(const Api& api, const KernelInfo* info) : api_(api), info_(info) {}

  const Api& api() const { return api_; }
  int integer(const char* name, int otherwise) const;
  float real(const char* name, float otherwise) const;
  std::string text(const char* name, const std::string& otherwise) const;
  /// `count` numbers, or twice as many whose pairs are equal, as of a padding before and behind.
  std::vector<int> integers(const char* name, std::size_t count, int otherwise) const;

 private:
  int narrow(const char* name, std::int64_t value) const;
  bool succeeded(Status* status) const;
  /// The input; null if it is missing or has a type that no operator here takes.
  const char* type(const char* name) const;
  void refuse_another_type(const char* name, const char* wanted) const;
  bool is_there(const char* name, const char* wanted, Status* status) const;

  const Api& api_;
  const KernelInfo* info_;
};

/// The tensors of one call.
class Call {
 public:
  Call(const Api& api, KernelContext* context) : api_(api), context_(context) {}

  const Api& api() const { return api_; }
  /// REFUSES a rank other than `rank`.
  Tensor input(std::size_t index, const char* name, std::size_t rank) const;
  bool has_input(std::size_t index) const;
  /// An integer tensor whose numbers the C API has in 32 bits.
  std::vector<std::int32_t> integers(std::size_t index, const char* name, std::size_t rank) const;
  Tensor output(std::size_t index, const std::vector<std::int64_t>& sizes, mluOpDataType_t dtype) const;
  [[noreturn]] void refuse(const std::string& text) const { ort::refuse(api_, kInvalidArgument, text); }
  /// Throws the library's own text unless the status is SUCCESS.
  void check(mluOpStatus_t status) const;
  /// This thread's handle, of the EXTENDED contract.
  mluOpHandle_t handle() const;

 private:
  const Value* value(std::size_t index) const;
  Tensor tensor(const Value* value) const;

  const Api& api_;
  KernelContext* context_;
};

/// A tensor's descriptor for the length of a call; NULL for no tensor.
class Descriptor {
 public:
  Descriptor(const Call& call, const Tensor* tensor, mluOpTensorLayout_t layout);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator mluOpTensorDescriptor_t() const { return descriptor_; }

 private:
  mluOpTensorDescriptor_t descriptor_ = nullptr;
};

/// A descriptor of an operator's own, destroyed with its kernel.
template <class Struct, mluOpStatus_t (*create)(Struct**), mluOpStatus_t (*destroy)(Struct*)>
class Owned {
 public:
  explicit Owned(const Api& api) {
    if (create(&own_) != MLUOP_STATUS_SUCCESS) refuse(api, kFail, mluOpExtGetLastErrorText());
  }
  ~Owned() { destroy(own_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Struct* get() const { return own_; }

 private:
  Struct* own_ = nullptr;
};

/// An operator of one output whose tensors have one type.
struct OneType {
  static constexpr std::size_t kOutputs = 1;
  static Presence presence(std::size_t) { return kRequired; }
  static ElementType input_type(std::size_t, ElementType own) { return own; }
  static ElementType output_type(std::size_t, ElementType own) { return own; }
};

inline void set(const Api& api, mluOpStatus_t status) {
  if (status != MLUOP_STATUS_SUCCESS) refuse(api, kInvalidArgument, mluOpExtGetLastErrorText());
}

}  // namespace mluops::ort
