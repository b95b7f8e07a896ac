// A tensor's device memory, as extensions of torch_mlu ask for it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

namespace torch_mlu {

/// What getMluTensorImpl() gives: behaves as a pointer to what has the tensor's device memory.
class MluTensorImpl {
 public:
  explicit MluTensorImpl(const at::Tensor& tensor) : impl_(tensor.unsafeGetTensorImpl()) {
    TORCH_CHECK(tensor.device().is_privateuseone(), "a tensor on mlu was wanted, got one on ", tensor.device());
  }
  const MluTensorImpl* operator->() const { return this; }
  void* mlu_data_ptr() const { return impl_->mutable_data(); }
  void* cnnlMalloc() const { return mlu_data_ptr(); }  // its older name
  int64_t numel() const { return impl_->numel(); }
  c10::IntArrayRef sizes() const { return impl_->sizes(); }

 private:
  c10::TensorImpl* impl_;
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
