// The working block of a sweep (sweep-inl.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/kernels/nms/strips.h"

namespace mluops::cpu::nms {

/// Boxes after which those kept join the strips.
constexpr std::int64_t kBlock = 256;

constexpr std::int32_t kNone = -1, kUnknown = -2;

/// Strips for so many boxes: as many as leave some vectors of kept boxes in each.
inline std::int64_t strips_of(std::int64_t boxes) {
  return std::clamp<std::int64_t>(boxes / 128, 1, 256);
}

template <class A>
struct SweepArrays {
  Order<A> order;
  BoxLists<A> boxes;  ///< in this order
  std::int32_t* owner;
  KeptBoxes<A> kept;
  BoxLists<A> fresh;  ///< kept in the block at hand

  SweepArrays(Allocator& allocator, std::int64_t most)
      : order(allocator, most),
        boxes(allocator, most),
        owner(allocator.allocate<std::int32_t>(most)),
        kept(allocator, most, strips_of(most)),
        fresh(allocator, kBlock + kPad) {}

  /// Sorts what was added to `order` and reads the boxes.
  template <class T>
  void read(const BoxSource<T>& source) {
    order.sort();
    for (std::int64_t rank = 0; rank < order.size(); ++rank) boxes.put(rank, source[order[rank]]);
  }
};

}  // namespace mluops::cpu::nms
