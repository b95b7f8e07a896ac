// Operators of aten on mlu: what makes, views and copies tensors, and the CPU for all others.
#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "device.h"

namespace mluops_torch {
namespace {

using at::IntArrayRef;
using at::Tensor;
template <class T>
using Optional = std::optional<T>;

/// The tensor's memory as a tensor of the CPU, which reaches what the emulated machine calls its own.
Tensor on_host(const Tensor& t) {
  if (!t.device().is_privateuseone()) return t;
  const auto options = c10::TensorOptions().dtype(t.dtype()).device(c10::kCPU);
  Tensor host = at::from_blob(t.data_ptr(), t.sizes(), t.strides(), options);
  host._set_conj(t.is_conj());
  host._set_neg(t.is_neg());
  return host;
}

// ---- making ----

c10::ScalarType type_or_default(Optional<c10::ScalarType> type) {
  return type.has_value() ? *type : c10::typeMetaToScalarType(c10::get_default_dtype());
}

Tensor empty(IntArrayRef sizes, Optional<c10::ScalarType> type, Optional<c10::Layout> layout,
             Optional<c10::Device> device, Optional<bool>, Optional<c10::MemoryFormat> format) {
  TORCH_CHECK(layout.value_or(c10::kStrided) == c10::kStrided, "mlu: tensors are strided, got ", *layout);
  if (device.has_value()) device_at(device->index());
  return at::detail::empty_generic(sizes, &allocator(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   type_or_default(type), format);
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, Optional<c10::ScalarType> type,
                     Optional<c10::Layout> layout, Optional<c10::Device> device, Optional<bool>) {
  TORCH_CHECK(layout.value_or(c10::kStrided) == c10::kStrided, "mlu: tensors are strided, got ", *layout);
  if (device.has_value()) device_at(device->index());
  return at::detail::empty_strided_generic(sizes, strides, &allocator(),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), type_or_default(type));
}

// ---- copying ----

/// Where the CPU puts the results of the operator that runs. It gets a copy of these as well, which many do not read.
thread_local std::vector<const void*> results;

bool is_result(const Tensor& t) {
  return std::find(results.begin(), results.end(), t.storage().data()) != results.end();
}

/// The direction of a copy of which one side at least is the device's.
cnrtMemTransDir_t direction(const Tensor& from, const Tensor& to) {
  if (!from.device().is_privateuseone()) return cnrtMemcpyHostToDev;
  return to.device().is_privateuseone() ? cnrtMemcpyDevToDev : cnrtMemcpyDevToHost;
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  raise_faults();
  const bool plain = from.dtype() == to.dtype() && from.sizes() == to.sizes() && from.is_contiguous() &&
                     to.is_contiguous() && !from.is_conj() && !to.is_conj() && !from.is_neg() && !to.is_neg();
  if (plain && !is_result(from)) {
    check(cnrtMemcpy(to.data_ptr(), from.data_ptr(), to.nbytes(), direction(from, to)), "cnrtMemcpy");
  } else {
    on_host(to).copy_(on_host(from));
  }
  return to;
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  at::native::resize_(to, from.sizes(), std::nullopt);
  return copy_from(from, to, false);
}

at::Scalar local_scalar_dense(const Tensor& self) {
  raise_faults();
  return on_host(self).item();
}

// Copies take conjugated and negated tensors as they are: what resolves those is a copy.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

// ---- storages and views ----

Tensor& set_nothing(Tensor& self) {
  const c10::Storage storage(c10::Storage::use_byte_size_t(), 0, allocator().allocate(0), &allocator(), true);
  return at::native::set_storage_cpu_(self, storage, 0, {0}, {});
}

void record_stream(Tensor&, c10::Stream) {}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
  m.impl("_copy_from", TORCH_FN(copy_from));
  m.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  m.impl("_local_scalar_dense", TORCH_FN(local_scalar_dense));
  m.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  m.impl("view", TORCH_FN(at::native::view));
  m.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  m.impl("unfold", TORCH_FN(at::native::unfold));
  m.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  m.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  m.impl("resize_", TORCH_FN(at::native::resize_));
  m.impl("set_", TORCH_FN(set_nothing));
  m.impl("set_.source_Storage", TORCH_FN(at::native::set_));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(at::native::set_storage_cpu_));
  m.impl("set_.source_Tensor", TORCH_FN(at::native::set_tensor_));
  m.impl("record_stream", TORCH_FN(record_stream));
}

// ---- all others, of every library ----

struct ResultsGuard {
  ResultsGuard(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
    const std::size_t first = stack.size() - schema.arguments().size();
    for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
      const c10::IValue& value = stack[first + i];
      const auto* alias = schema.arguments()[i].alias_info();
      const bool written = alias != nullptr && alias->isWrite() && value.isTensor();
      if (written && value.toTensor().has_storage()) results.push_back(value.toTensor().storage().data());
    }
  }
  ~ResultsGuard() { results.resize(before); }
  const std::size_t before = results.size();
};

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const ResultsGuard guard(op.schema(), *stack);
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

}  // namespace
}  // namespace mluops_torch
