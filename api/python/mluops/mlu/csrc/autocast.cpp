// torch.autocast("mlu"): which operators compute in a lower precision, which in float; torch's own lists.
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace at::autocast {
namespace {

#define MLUOPS_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define MLUOPS_FLOAT(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define MLUOPS_SET_FLOAT(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define MLUOPS_WIDEST(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  AT_FORALL_LOWER_PRECISION_FP(MLUOPS_LOWER)
  AT_FORALL_FP32(MLUOPS_FLOAT)
  AT_FORALL_FP32_SET_OPT_DTYPE(MLUOPS_SET_FLOAT)
  AT_FORALL_PROMOTE(MLUOPS_WIDEST)
}

}  // namespace
}  // namespace at::autocast
