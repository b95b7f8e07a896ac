// PSAMask: every output row is a window of an input row (collect) or of a transposed one (distribute) amid zeros.
// A pure move of 2-, 4- or 8-byte elements; each output byte is written once, nothing is added.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/psamask.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_PSAMASK_ONCE_
#define MLUOPS_CPU_PSAMASK_ONCE_
namespace mluops::cpu::psamask {

/// Where the masks of a feature map overlap the map.
struct Window {
  std::int64_t h, w, h_mask, w_mask;
  std::int64_t half_h, half_w;

  explicit Window(const mluopsPsamaskShape& s)
      : h(s.h), w(s.w), h_mask(s.h_mask), w_mask(s.w_mask), half_h((s.h_mask - 1) / 2), half_w((s.w_mask - 1) / 2) {}

  /// Mask rows [first, last) of the source pixel in row y that fall on the map; columns alike.
  std::int64_t first_row(std::int64_t y) const { return std::max<std::int64_t>(0, half_h - y); }
  std::int64_t last_row(std::int64_t y) const { return std::min(h_mask, h + half_h - y); }
  std::int64_t first_column(std::int64_t x) const { return std::max<std::int64_t>(0, half_w - x); }
  std::int64_t last_column(std::int64_t x) const { return std::min(w_mask, w + half_w - x); }
};

/// Output larger than this leaves the caches before anyone reads it: write past them.
constexpr std::int64_t kStreamBytes = std::int64_t{8} << 20;
/// Working block of a task when it streams: rows are put together here first.
constexpr std::int64_t kCollectBlockBytes = std::int64_t{16} << 10;
constexpr std::int64_t kDistributeBlockBytes = std::int64_t{256} << 10;

}  // namespace mluops::cpu::psamask
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using psamask::Window;

template <class E>
void copy(const E* from, E* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(E));
}

template <class E>
void zero(E* to, std::int64_t count) {
  std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(E));
}

/// y row of source pixel (h, w): [H*W] from its x row [h_mask*w_mask].
template <class E>
void collect_forward_row(const Window& win, std::int64_t h, std::int64_t w, const E* x, E* y) {
  zero(y, win.h * win.w);
  const std::int64_t first = win.first_column(w), count = win.last_column(w) - first;
  for (std::int64_t i = win.first_row(h); i < win.last_row(h); ++i) {
    copy(x + i * win.w_mask + first, y + (i + h - win.half_h) * win.w + first + w - win.half_w, count);
  }
}

/// dx row of source pixel (h, w): [h_mask*w_mask] from its dy row [H*W].
template <class E>
void collect_backward_row(const Window& win, std::int64_t h, std::int64_t w, const E* dy, E* dx) {
  zero(dx, win.h_mask * win.w_mask);
  const std::int64_t first = win.first_column(w), count = win.last_column(w) - first;
  for (std::int64_t i = win.first_row(h); i < win.last_row(h); ++i) {
    copy(dy + (i + h - win.half_h) * win.w + first + w - win.half_w, dx + i * win.w_mask + first, count);
  }
}

/// y rows of targets (ty, t0..t1): [t1 - t0, H*W] from the x rows of one image.
template <class E>
void distribute_forward_rows(const Window& win, std::int64_t ty, std::int64_t t0, std::int64_t t1, const E* x, E* y) {
  const std::int64_t x_row = win.h_mask * win.w_mask, y_row = win.h * win.w;
  zero(y, (t1 - t0) * y_row);
  for (std::int64_t h = 0; h < win.h; ++h) {
    const std::int64_t i = ty - h + win.half_h;
    if (i < 0 || i >= win.h_mask) continue;
    for (std::int64_t w = 0; w < win.w; ++w) {
      const E* const in = x + (h * win.w + w) * x_row + i * win.w_mask + win.half_w - w;
      const std::int64_t begin = std::max(t0, w - win.half_w), end = std::min(t1, w - win.half_w + win.w_mask);
      for (std::int64_t t = begin; t < end; ++t) y[(t - t0) * y_row + h * win.w + w] = in[t];
    }
  }
}

/// dx rows of source pixels (h, w0..w1): [w1 - w0, h_mask*w_mask] from the dy rows of one image.
template <class E>
void distribute_backward_rows(const Window& win, std::int64_t h, std::int64_t w0, std::int64_t w1, const E* dy, E* dx) {
  const std::int64_t dx_row = win.h_mask * win.w_mask, dy_row = win.h * win.w;
  zero(dx, (w1 - w0) * dx_row);
  for (std::int64_t i = win.first_row(h); i < win.last_row(h); ++i) {
    const E* const in = dy + (i + h - win.half_h) * win.w * dy_row + h * win.w;
    for (std::int64_t t = 0; t < win.w; ++t) {
      const std::int64_t begin = std::max(w0, t + win.half_w - win.w_mask + 1), end = std::min(w1, t + win.half_w + 1);
      for (std::int64_t w = begin; w < end; ++w) {
        dx[(w - w0) * dx_row + i * win.w_mask + t - w + win.half_w] = in[t * dy_row + w];
      }
    }
  }
}

/// One direction of the operator: out [n, h, w, out_row] from in [n, h, w, in_row]. Items are blocks of `block`
/// neighbouring output rows of one map row, so a task owns what it writes.
template <class E, class FillRows>
mluOpStatus_t move_rows(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s, std::int64_t in_row,
                        std::int64_t out_row, std::int64_t block_bytes, const E* in, E* out, FillRows fill_rows) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  const bool stream = s.n * s.h * s.w * out_row * kSize > psamask::kStreamBytes;
  const std::int64_t block = std::clamp<std::int64_t>(block_bytes / (out_row * kSize), 1, s.w);
  const std::int64_t blocks = (s.w + block - 1) / block;
  const Loop loop(context, call, s.n * s.h * blocks, 0.15 * static_cast<double>(block * out_row * kSize));
  const std::int64_t slot_bytes = stream ? block * out_row * kSize : 0;
  std::byte* const scratch = context.scratch.reserve(slot_bytes * loop.slots());
  if (stream && scratch == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t row = item / blocks;  // of the map, all images
      const std::int64_t w0 = item % blocks * block, w1 = std::min(s.w, w0 + block);
      E* const target = out + (row * s.w + w0) * out_row;
      E* const rows = stream ? reinterpret_cast<E*>(scratch + slot * slot_bytes) : target;
      fill_rows(row % s.h, w0, w1, in + row / s.h * s.h * s.w * in_row, rows);
      if (stream) stream_copy(rows, target, (w1 - w0) * out_row * kSize);
    }
    if (stream) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class E>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  const Window win(p.shape);
  const std::int64_t x_row = win.h_mask * win.w_mask, y_row = win.h * win.w;
  const auto* x = static_cast<const E*>(p.x);
  auto* y = static_cast<E*>(p.y);
  if (p.shape.psa_type == 0) {
    return move_rows(context, call, p.shape, x_row, y_row, psamask::kCollectBlockBytes, x, y,
                     [&](std::int64_t h, std::int64_t w0, std::int64_t w1, const E* image, E* rows) HWY_ATTR {
                       for (std::int64_t w = w0; w < w1; ++w) {
                         collect_forward_row(win, h, w, image + (h * win.w + w) * x_row, rows + (w - w0) * y_row);
                       }
                     });
  }
  return move_rows(context, call, p.shape, x_row, y_row, psamask::kDistributeBlockBytes, x, y,
                   [&](std::int64_t h, std::int64_t w0, std::int64_t w1, const E* image, E* rows)
                       HWY_ATTR { distribute_forward_rows(win, h, w0, w1, image, rows); });
}

template <class E>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  const Window win(p.shape);
  const std::int64_t dx_row = win.h_mask * win.w_mask, dy_row = win.h * win.w;
  const auto* dy = static_cast<const E*>(p.dy);
  auto* dx = static_cast<E*>(p.dx);
  if (p.shape.psa_type == 0) {
    return move_rows(context, call, p.shape, dy_row, dx_row, psamask::kCollectBlockBytes, dy, dx,
                     [&](std::int64_t h, std::int64_t w0, std::int64_t w1, const E* image, E* rows) HWY_ATTR {
                       for (std::int64_t w = w0; w < w1; ++w) {
                         collect_backward_row(win, h, w, image + (h * win.w + w) * dy_row, rows + (w - w0) * dx_row);
                       }
                     });
  }
  return move_rows(context, call, p.shape, dy_row, dx_row, psamask::kDistributeBlockBytes, dy, dx,
                   [&](std::int64_t h, std::int64_t w0, std::int64_t w1, const E* image, E* rows)
                       HWY_ATTR { distribute_backward_rows(win, h, w0, w1, image, rows); });
}

mluOpStatus_t run_psamask_forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  switch (p.shape.dtype) {
    case MLUOP_DTYPE_HALF:
    case MLUOP_DTYPE_BFLOAT16:
      return forward<std::uint16_t>(context, call, p);
    case MLUOP_DTYPE_FLOAT:
      return forward<std::uint32_t>(context, call, p);
    case MLUOP_DTYPE_DOUBLE:
      return forward<std::uint64_t>(context, call, p);
    default:
      return dtype_not_supported(call);
  }
}

mluOpStatus_t run_psamask_backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  switch (p.shape.dtype) {
    case MLUOP_DTYPE_HALF:
    case MLUOP_DTYPE_BFLOAT16:
      return backward<std::uint16_t>(context, call, p);
    case MLUOP_DTYPE_FLOAT:
      return backward<std::uint32_t>(context, call, p);
    case MLUOP_DTYPE_DOUBLE:
      return backward<std::uint64_t>(context, call, p);
    default:
      return dtype_not_supported(call);
  }
}

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

HWY_EXPORT(run_psamask_forward);
HWY_EXPORT(run_psamask_backward);

mluOpStatus_t psamask_forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_psamask_forward)(context, call, p);
}

mluOpStatus_t psamask_backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_psamask_backward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
