// A tensor with channels last as rows of several pixels: wide enough for vectors where channels are few.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_KERNELS_SYNC_BATCH_NORM_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_KERNELS_SYNC_BATCH_NORM_ROWS_INL_H_
#else
#define MLUOPS_CPU_KERNELS_SYNC_BATCH_NORM_ROWS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::sync_batch_norm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace cpu::HWY_NAMESPACE;
namespace {

/// The elements of x [rows,c] as lines of `width` elements: so many pixels that a line has kLeastWidth or more.
struct Lines {
  static constexpr std::int64_t kLeastWidth = 64;

  std::int64_t c, pixels, width, count;  ///< pixels of a line; count: elements of the tensor

  Lines(std::int64_t rows, std::int64_t channels)
      : c(channels), pixels(std::max<std::int64_t>(1, kLeastWidth / channels)), width(pixels * c), count(rows * c) {}

  std::int64_t lines() const { return (count + width - 1) / width; }
  /// Numbers that a line takes, of tensors with fewer channels too.
  std::int64_t reserved() const { return std::max(width, kLeastWidth); }
  /// Elements of line i: the last one may be shorter.
  std::int64_t length(std::int64_t i) const { return std::min(width, count - i * width); }
};

/// What belongs to channels, once for each pixel of a line: line[i] = f(channel of i).
template <class A, class F>
void repeat(const Lines& lines, A* line, F f) {
  for (std::int64_t i = 0; i < lines.width; ++i) line[i] = static_cast<A>(f(i % lines.c));
}

/// out line = f(d, first element of the line, place in the line), for every line.
template <class T, class F>
mluOpStatus_t for_lines(Context& context, const mluopsCall& call, const Lines& lines, T* out, double element_ns, F f) {
  const double line_ns = element_ns * static_cast<double>(lines.width);
  Loop(context, call, lines.lines(), line_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t first = line * lines.width;
      for_lanes<Acc<T>>(lines.length(line),
                        [&](auto d, std::int64_t i) HWY_ATTR { store(f(d, first, i), d, out + first + i); });
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::sync_batch_norm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
