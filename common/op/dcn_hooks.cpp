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

}  // namespace

std::string pads_text(const mluopsDcnShape& s) {
  const std::int64_t pads[] = {s.pad_top, pad_behind(s.h, s.pad_top, s.kernel_h, s.stride_h, s.dilation_h, s.out_h),
                               s.pad_left, pad_behind(s.w, s.pad_left, s.kernel_w, s.stride_w, s.dilation_w, s.out_w)};
  return axes_text(pads, 4);
}

std::string two_axes_text(std::int64_t h, std::int64_t w) {
  const std::int64_t axes[] = {h, w};
  return axes_text(axes, 2);
}

}  // namespace mluops::op
