// Transposes of many matrices, from [rows, columns] to [columns, rows].
//
// A task owns kColumns columns of one matrix, which are rows of the result nobody else writes. It walks down their rows
// in panels: a panel is transposed register tile by register tile into a stage that stays in the first cache, from
// where whole cache lines go to memory. No arithmetic: bound by reading and writing every element once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/layout/relayout.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/layout/relayout.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/panel-inl.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::layout::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Columns of a task: two cache lines of each row.
template <class E>
constexpr std::int64_t kColumns = 128 / static_cast<std::int64_t>(sizeof(E));
/// Rows of a panel: runs of 1 KiB in the result.
template <class E>
constexpr std::int64_t kRows = 1024 / static_cast<std::int64_t>(sizeof(E));

/// Columns [first, first + columns) of one matrix.
template <class E>
void transpose_columns(const Matrices& m, const E* from, std::int64_t first, std::int64_t columns, bool non_temporal,
                       E* to) {
  HWY_ALIGN E stage[kColumns<E> * kRows<E>];
  for (std::int64_t r = 0; r < m.rows; r += kRows<E>) {
    const std::int64_t rows = std::min(kRows<E>, m.rows - r);
    const E* const panel = from + r * m.columns + first;
    E* const target = to + first * m.rows + r;
    if (!non_temporal) {
      transpose_panel(panel, m.columns, rows, columns, target, m.rows);
      continue;
    }
    transpose_panel(panel, m.columns, rows, columns, stage, kRows<E>);
    for (std::int64_t c = 0; c < columns; ++c) {
      copy_non_temporal(stage + c * kRows<E>, target + c * m.rows, rows * static_cast<std::int64_t>(sizeof(E)));
    }
  }
}

template <class E>
void transpose_all(const Context& context, const mluopsCall& call, const Matrices& m, const E* from, E* to) {
  const std::int64_t blocks = ceil_div(m.columns, kColumns<E>), size = m.rows * m.columns;
  const bool non_temporal = m.bytes() > second_cache(64);
  const Loop loop(context, call, m.count * blocks, cost::kMoveByte * static_cast<double>(m.rows * 128));
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t image = i / blocks, first = i % blocks * kColumns<E>;
      transpose_columns(m, from + image * size, first, std::min(kColumns<E>, m.columns - first), non_temporal,
                        to + image * size);
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

}  // namespace
}  // namespace mluops::cpu::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu::layout {

HWY_EXPORT(transpose_matrices);

void transpose(const Context& context, const mluopsCall& call, const Matrices& m, const void* from, void* to) {
  HWY_DISPATCH_TABLE(transpose_matrices)[context.isa.index](context, call, m, from, to);
}

}  // namespace mluops::cpu::layout
#endif
