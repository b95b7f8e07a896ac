// A tensor's device memory, as extensions of torch_mlu ask for it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include <exception>

#include "framework/core/MLUStream.h"

namespace torch_mlu {

/// What getMluTensorImpl() gives: behaves as a pointer to what has the tensor's device memory.
class MluTensorImpl {
 public:
  explicit MluTensorImpl(const at::Tensor& tensor) : tensor_(tensor), unwinding_(std::uncaught_exceptions()) {
    TORCH_CHECK(tensor.device().is_privateuseone(), "a tensor on mlu was wanted, got one on ", tensor.device());
  }
  MluTensorImpl(const MluTensorImpl&) = delete;
  MluTensorImpl& operator=(const MluTensorImpl&) = delete;
  /// Raises what a kernel did wrong, but not while an exception is on its way; nothing is written back then.
  ~MluTensorImpl() noexcept(false) {
    if (narrow_.defined() && std::uncaught_exceptions() == unwinding_) write_back();
  }

  const MluTensorImpl* operator->() const& { return this; }
  const MluTensorImpl* operator->() && {
    temporary_ = true;
    return this;
  }
  void* mlu_data_ptr() const { return tensor_.unsafeGetTensorImpl()->mutable_data(); }
  /// The memory as a kernel for the first torch_mlu expects it. There int64 tensors have 32 bits on the device: this is
  /// a copy of such a tensor's memory, of the same strides. When this object ends, elements that the kernel changed
  /// are written to the tensor.
  void* cnnlMalloc() const {
    if (tensor_.scalar_type() != at::kLong) return mlu_data_ptr();
    TORCH_CHECK(!temporary_,
                "cnnlMalloc() of an int64 tensor gives a copy that lives as long as what getMluTensorImpl() "
                "returned: keep that in a variable until the kernel is launched");
    if (!narrow_.defined()) {
      narrow_ = memory().to(at::kInt);
      before_ = narrow_.clone();
    }
    return narrow_.mutable_data_ptr();
  }
  int64_t numel() const { return tensor_.numel(); }
  c10::IntArrayRef sizes() const { return tensor_.sizes(); }

 private:
  /// From the first element to the last, as they lie, without autograd.
  at::Tensor memory() const {
    int64_t count = tensor_.numel() == 0 ? 0 : 1;
    for (int64_t i = 0; count != 0 && i < tensor_.dim(); ++i) count += (tensor_.size(i) - 1) * tensor_.stride(i);
    return tensor_.variable_data().as_strided({count}, {1});
  }
  void write_back() const {
    getCurrentMLUStream().synchronize();
    const at::Tensor changed = narrow_.ne(before_);
    at::Tensor wide = memory();
    wide.copy_(narrow_.to(at::kLong).where(changed, wide));
  }

  at::Tensor tensor_;
  mutable at::Tensor narrow_, before_;  // the copy, and its numbers when it was made
  int unwinding_;
  bool temporary_ = false;
};

inline MluTensorImpl getMluTensorImpl(const at::Tensor& tensor) {
  return MluTensorImpl(tensor);
}
inline void* mlu_data_ptr(const MluTensorImpl& impl) {
  return impl.mlu_data_ptr();
}

inline at::Tensor cnnl_contiguous(const at::Tensor& tensor, c10::MemoryFormat format = c10::MemoryFormat::Contiguous) {
  return tensor.contiguous(format);
}

}  // namespace torch_mlu
