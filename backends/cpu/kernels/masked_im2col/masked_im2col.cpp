// MaskedIm2col: the windows about chosen pixels become columns. MaskedCol2im: columns become pixels, the others 0.
//
// Image [C,H,W], columns [C*KH*KW,M]. Where the elements of a window lie in a channel is found once for all channels.
// im2col: an item is an element of the window for up to four channels and owns their rows of columns. col2im: an item
// is a channel and owns it. Elements are only moved, 2, 4 or 8 bytes each: bound by memory.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/dispatch.h"
#include "mluops/problem/masked_im2col.h"

MLUOPS_CPU_DECLARE(masked_im2col_forward, mluopsMaskedIm2colForwardProblem)
MLUOPS_CPU_DECLARE(masked_col2im_forward, mluopsMaskedCol2imForwardProblem)

namespace mluops::cpu::masked_im2col {
namespace {

using Shape = mluopsMaskedIm2colShape;

constexpr std::int64_t kRows = 4;

/// [window,m]: the pixel of each element of each window, -1 outside the image; nullptr when there is no memory.
const std::int32_t* find_pixels(Context& context, const mluopsCall& call, const Shape& s, const std::int32_t* h,
                                const std::int32_t* w) {
  auto* const pixels = context.arena.reserve_array<std::int32_t>(s.kernel_h, s.kernel_w, s.m);
  if (pixels == nullptr) return nullptr;
  const double row_ns = cost::kGather * static_cast<double>(s.m);
  Loop(context, call, s.kernel_h * s.kernel_w, row_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t down = k / s.kernel_w - s.pad_h, across = k % s.kernel_w - s.pad_w;
      for (std::int64_t i = 0; i < s.m; ++i) {
        const std::int64_t y = h[i] + down, x = w[i] + across;
        const bool inside = y >= 0 && y < s.h && x >= 0 && x < s.w;
        pixels[k * s.m + i] = inside ? static_cast<std::int32_t>(y * s.w + x) : -1;
      }
    }
  });
  return pixels;
}

/// to[r * pitch + i] = from[r * plane + pixels[i]] for kCount channels.
template <std::int64_t kCount, class E>
void gather(const E* from, std::int64_t plane, const std::int32_t* __restrict pixels, std::int64_t count,
            E* __restrict to, std::int64_t pitch) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = pixels[i];
    for (std::int64_t r = 0; r < kCount; ++r) to[r * pitch + i] = at >= 0 ? from[r * plane + at] : E{};
  }
}

template <class E>
mluOpStatus_t run(Context& context, const mluopsCall& call, const mluopsMaskedIm2colForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int32_t* const pixels = find_pixels(context, call, s, p.mask_h_idx, p.mask_w_idx);
  if (pixels == nullptr) return no_memory(call);
  const std::int64_t window = s.kernel_h * s.kernel_w, plane = s.h * s.w;
  const double item_ns = cost::kGather * static_cast<double>(std::min(s.c, kRows) * s.m);
  Loop(context, call, ceil_div(s.c, kRows) * window, item_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t first = item / window * kRows, k = item % window, count = std::min(kRows, s.c - first);
      const E* const from = static_cast<const E*>(p.feature) + first * plane;
      E* const to = static_cast<E*>(p.data_col) + (first * window + k) * s.m;
      if (count == kRows) {
        gather<kRows>(from, plane, pixels + k * s.m, s.m, to, window * s.m);
        continue;
      }
      for (std::int64_t r = 0; r < count; ++r) {
        gather<1>(from + r * plane, plane, pixels + k * s.m, s.m, to + r * window * s.m, s.m);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class E>
mluOpStatus_t run(Context& context, const mluopsCall& call, const mluopsMaskedCol2imForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int32_t* const pixels = find_pixels(context, call, s, p.mask_h_idx, p.mask_w_idx);
  if (pixels == nullptr) return no_memory(call);
  const std::int64_t plane = s.h * s.w;
  const double item_ns = cost::kGather * static_cast<double>(s.m) + cost::kMove * static_cast<double>(plane);
  Loop(context, call, s.c, item_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t c = begin; c < end; ++c) {
      const E* const from = static_cast<const E*>(p.col) + c * s.m;
      E* const to = static_cast<E*>(p.im) + c * plane;
      std::fill_n(to, plane, E{});
      for (std::int64_t i = 0; i < s.m; ++i) {
        if (pixels[i] >= 0) to[pixels[i]] = from[i];
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// By the size of the elements.
template <class Problem>
mluOpStatus_t run_bits(Context& context, const mluopsCall& call, const Problem& problem) {
  return with_element(call, problem.shape.dtype, [&](auto tag) {
    constexpr std::size_t kSize = sizeof(typename decltype(tag)::type);
    using Wide = std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>;
    return run<std::conditional_t<kSize == 2, std::uint16_t, Wide>>(context, call, problem);
  });
}

}  // namespace
}  // namespace mluops::cpu::masked_im2col

namespace mluops::cpu {

mluOpStatus_t operators::masked_im2col_forward(Context& context, const mluopsCall& call,
                                               const mluopsMaskedIm2colForwardProblem& problem) {
  return masked_im2col::run_bits(context, call, problem);
}

mluOpStatus_t operators::masked_col2im_forward(Context& context, const mluopsCall& call,
                                               const mluopsMaskedCol2imForwardProblem& problem) {
  return masked_im2col::run_bits(context, call, problem);
}

}  // namespace mluops::cpu
