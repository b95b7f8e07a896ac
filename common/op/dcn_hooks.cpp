#include <algorithm>

#include "common/case_text.h"
#include "common/op/dcn.h"

namespace mluops::op {

std::int64_t dcn_out_size(std::int64_t size, std::int64_t padding, std::int64_t kernel, std::int64_t stride,
                          std::int64_t dilation) {
  const std::int64_t free = size + padding - dilation * (kernel - 1) - 1;
  return free < 0 ? 0 : free / stride + 1;
}

namespace {

/// Pixels behind the map that give so many output pixels: as many as before it where that will do.
std::int64_t pad_behind(std::int64_t size, std::int64_t pad, std::int64_t kernel, std::int64_t stride,
                        std::int64_t dilation, std::int64_t out) {
  if (dcn_out_size(size, 2 * pad, kernel, stride, dilation) == out) return pad;
  return std::max<std::int64_t>(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - size - pad);
}

CaseKeys keys_of(const mluopsDcnShape& s, const void* mask) {
  const std::int64_t pads[] = {s.pad_top, pad_behind(s.h, s.pad_top, s.kernel_h, s.stride_h, s.dilation_h, s.out_h),
                               s.pad_left, pad_behind(s.w, s.pad_left, s.kernel_w, s.stride_w, s.dilation_w, s.out_w)};
  const std::int64_t strides[] = {s.stride_h, s.stride_w}, dilations[] = {s.dilation_h, s.dilation_w};
  CaseKeys keys;
  keys("n", s.batch)("h", s.h)("w", s.w)("ci", s.ci)("co", s.co)("kh", s.kernel_h)("kw", s.kernel_w);
  keys("stride", axes_text(strides, 2))("pad", axes_text(pads, 4))("dilation", axes_text(dilations, 2));
  return keys("g", s.groups)("dg", s.deform_groups)("mask", mask != nullptr ? 1 : 0);
}

}  // namespace

std::string case_keys(const mluopsDcnForwardProblem& p) {
  return keys_of(p.shape, p.mask)("bias", p.bias != nullptr ? 1 : 0).text();
}
std::string case_keys(const mluopsDcnBackwardDataProblem& p) {
  return keys_of(p.shape, p.mask)("bias", 0).text();  // such a call has none
}
std::string case_keys(const mluopsDcnBackwardWeightProblem& p) {
  return keys_of(p.shape, p.mask)("bias", p.grad_bias != nullptr ? 1 : 0).text();
}

}  // namespace mluops::op
