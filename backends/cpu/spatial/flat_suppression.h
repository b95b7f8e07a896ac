// Greedy suppression of rotated boxes by their IoU seen from above.
#pragma once

#include <cstdint>

#include "backends/cpu/runtime/context.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/spatial/flat_box.h"
#include "backends/cpu/spatial/suppression.h"

namespace mluops::cpu::flat_box {

/// n boxes of 7 numbers, and where these are.
template <class T>
struct Source {
  const T* data;
  std::int64_t n, box_step, number_step;

  FlatBox<Acc<T>> operator[](std::int64_t box) const {
    return FlatBox<Acc<T>>::read(data + box * box_step, number_step);
  }
};

template <class A>
struct Boxes {
  FlatBox<A>* boxes;
  spatial::BoxGroups groups;
  std::uint8_t* dropped;

  Boxes(Allocator& allocator, std::int64_t n)
      : boxes(allocator.allocate<FlatBox<A>>(n)), groups(allocator, n), dropped(allocator.allocate<std::uint8_t>(n)) {}

  /// Below a threshold of 0 boxes that share nothing drop each other.
  void set(std::int64_t i, const FlatBox<A>& box, A threshold) const {
    boxes[i] = box;
    dropped[i] = 0;
    groups[i] = threshold >= 0
                    ? spatial::Rectangle::about(static_cast<double>(box.centre.x), static_cast<double>(box.centre.y),
                                                static_cast<double>(box.reach))
                    : spatial::Rectangle();
  }
};

/// keep(i) for each box, in order, whose IoU with every box kept before is not greater than the threshold; `rotated`:
/// whether their rotation counts. Boxes go through in blocks of 256: a block is decided box by box on one thread; then
/// those of it that are kept are compared with the later boxes near to them: an item is a group of boxes (box_groups.h)
/// and owns their marks. Groups are compared with rectangles round the boxes kept, N^2 / 32 pairs: bound by arithmetic.
template <class T, class Keep>
mluOpStatus_t suppress(Context& context, const mluopsCall& call, const Source<T>& source, Acc<T> threshold,
                       bool rotated, const Keep& keep) {
  using A = Acc<T>;
  auto arrays = allocate<Boxes<A>>(context.arena, source.n);
  if (!arrays) return no_memory(call);
  Loop(context, call, source.n, 30 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) arrays->set(i, source[i], threshold);
  });
  arrays->groups.arrange();
  const auto drops = [&](std::int64_t i, std::int64_t j) {
    const FlatBox<A>&a = arrays->boxes[i], &b = arrays->boxes[j];
    const A shared = rotated ? overlap(a, b) : straight_overlap(a, b);
    return shared / greater(a.area() + b.area() - shared, kNothing<A>) > threshold;
  };
  spatial::suppress_pairs(context, call, source.n, arrays->dropped, arrays->groups,
                          rotated ? 2 * cost::kStep : cost::kStep, drops, keep);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::flat_box
