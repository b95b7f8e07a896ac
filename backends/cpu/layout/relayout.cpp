// Transposes of many matrices, from [rows, columns] to [columns, rows], whole or of some blocks of columns.
//
// A task owns strips: some cache lines of the longer side of a matrix, all of the shorter side, so that one end of the
// transpose is memory in its order and the other runs of whole cache lines. While a strip is transposed, tile by tile
// in registers, the next one is prefetched into the second cache: its runs are too many for the machine to foresee. No
// arithmetic: bound by reading and writing every element once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/layout/relayout.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/layout/relayout.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/prefetch.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::layout::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Elements of the longer side that a strip has.
template <class E>
constexpr std::int64_t kStrip = 4 * kCacheLineBytes / static_cast<std::int64_t>(sizeof(E));

template <class E>
void transpose_all(const Context& context, const mluopsCall& call, const Matrices& m, const E* from, E* to) {
  const bool wide = m.columns > m.rows;
  const std::int64_t length = wide ? m.columns : m.rows, strips = ceil_div(length, kStrip<E>);
  const std::int64_t step = wide ? 1 : m.columns, to_step = wide ? m.rows : 1, size = m.rows * m.columns;
  const bool non_temporal = m.bytes() > second_cache(64);
  const double strip_ns = cost::kMoveByte * static_cast<double>(m.bytes()) / static_cast<double>(m.count * strips);
  Loop(context, call, m.count * strips, strip_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t image = i / strips, first = i % strips * kStrip<E>,
                         count = std::min(kStrip<E>, length - first);
      const E* const strip = from + image * size + first * step;
      const std::int64_t columns = wide ? count : m.columns;
      transpose_strip(strip, strip + count * step, columns, wide ? m.rows : count, columns, m.columns, non_temporal,
                      to + image * size + first * to_step, m.rows);
    }
    if (non_temporal) non_temporal_fence();
  });
}

/// rows[i][c] = planes[c][i] for a run of pixels. Meanwhile the next run, of next_pixels at `next`, is prefetched.
template <class E>
void gather_run(const E* planes, std::int64_t pixels, const E* next, std::int64_t next_pixels, std::int64_t channels,
                std::int64_t plane, E* rows, std::int64_t width) {
  constexpr std::int64_t kTogether = kCacheLineBytes / static_cast<std::int64_t>(sizeof(E));
  for (std::int64_t c = 0; c < channels; c += kTogether, planes += kTogether * plane, next += kTogether * plane) {
    const std::int64_t count = std::min(kTogether, channels - c);
    for (std::int64_t k = 0; k < count; ++k) prefetch<2>(value_barrier(next + k * plane), next_pixels);
    std::int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
    constexpr std::int64_t kBlock = 16 / static_cast<std::int64_t>(sizeof(E));
    for (; pixels >= kBlock && done + kLanes<E> <= count; done += kLanes<E>) {
      for (std::int64_t i = 0; i < pixels; i += kBlock) {
        const std::int64_t first = std::min(i, pixels - kBlock);
        transpose_slice<false>(hn::ScalableTag<E>(), planes + done * plane + first, plane,
                               rows + first * width + c + done, width);
      }
    }
#endif
    if (done < count) transpose_panel(planes + done * plane, plane, count - done, pixels, rows + c + done, width);
  }
}

template <class E>
void gather_all(const Context& context, const mluopsCall& call, const Touched& touched, const Channels& of,
                const E* images, E* rows, std::int64_t width) {
  constexpr std::int64_t kBlocks = kStrip<E> / kTouchedPixels;
  const std::int64_t pixels = touched.pixels(), row_bytes = width * static_cast<std::int64_t>(sizeof(E));
  const bool non_temporal = width == of.count && touched.rows() * row_bytes > second_cache(512);
  const auto source = [&](const Touched::Run& run) {
    return images + (run.image * of.all + of.first) * pixels + run.pixel;
  };
  const double strip_ns = cost::kMoveByte * static_cast<double>(kStrip<E> * row_bytes);
  Loop(context, call, ceil_div(touched.blocks(), kBlocks), strip_ns)
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        const auto run_at = [&](std::int64_t i) {
          return touched.run(i, std::min({touched.blocks(), end * kBlocks, round_down(i, kBlocks) + kBlocks}));
        };
        std::int64_t first = begin * kBlocks;
        for (Touched::Run run = run_at(first), next; run.pixels > 0; first = run.end, run = next) {
          next = run_at(run.end);
          E* const to = rows + first * kTouchedPixels * width;
          if (non_temporal) {
            transpose_strip(source(run), source(next), next.pixels, of.count, run.pixels, pixels, true, to, width);
          } else {
            gather_run(source(run), run.pixels, source(next), next.pixels, of.count, pixels, to, width);
          }
          for (std::int64_t i = 0; width > of.count && i < run.pixels; ++i) {
            std::fill_n(to + i * width + of.count, width - of.count, E{});
          }
        }
        if (non_temporal) non_temporal_fence();
      });
}

/// f(pointers of the type that elements of `element` bytes are moved as).
template <class F>
void with_moved(std::int64_t element, const void* from, void* to, F&& f) {
  const auto as = [&](auto e) HWY_ATTR {
    using E = decltype(e);
    f(static_cast<const E*>(from), static_cast<E*>(to));
  };
  if (element == 2) return as(std::uint16_t{});
  if (element == 4) return as(float{});
  as(double{});
}

void transpose_matrices(const Context& context, const mluopsCall& call, const Matrices& m, const void* from, void* to) {
  with_moved(m.element, from, to,
             [&](auto* source, auto* target) HWY_ATTR { transpose_all(context, call, m, source, target); });
}

void gather_blocks(const Context& context, const mluopsCall& call, const Touched& touched, const Channels& of,
                   std::int64_t element, const void* images, void* rows, std::int64_t width) {
  with_moved(element, images, rows,
             [&](auto* from, auto* to) HWY_ATTR { gather_all(context, call, touched, of, from, to, width); });
}

}  // namespace
}  // namespace mluops::cpu::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu::layout {

HWY_EXPORT(transpose_matrices);
HWY_EXPORT(gather_blocks);

void transpose(const Context& context, const mluopsCall& call, const Matrices& m, const void* from, void* to) {
  HWY_DISPATCH_TABLE(transpose_matrices)[context.isa.index](context, call, m, from, to);
}

void gather(const Context& context, const mluopsCall& call, const Touched& touched, const Channels& of,
            std::int64_t element, const void* images, void* rows, std::int64_t width) {
  HWY_DISPATCH_TABLE(gather_blocks)
  [context.isa.index](context, call, touched, of, element, images, rows, width);
}

}  // namespace mluops::cpu::layout
#endif
