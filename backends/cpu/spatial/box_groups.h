// Boxes in the plane in groups of 32 that are near to each other, and the rectangles round them: what may meet a few
// given boxes is found without looking at each.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/context.h"
#include "backends/cpu/spatial/box_tree.h"

namespace mluops::cpu::spatial {

/// An upright rectangle. By default it meets all others.
struct Rectangle {
  double low[2] = {-kAll, -kAll}, high[2] = {kAll, kAll};

  static constexpr double kAll = std::numeric_limits<double>::infinity();
  bool is_finite() const;
  /// So much that roundings do not matter is added to a square about a centre.
  static Rectangle about(double x, double y, double reach);
};

/// Up to 64 rectangles.
struct Rectangles {
  static constexpr std::int64_t kMost = 64;
  double low[2][kMost] = {}, high[2][kMost] = {};
  std::int64_t count = 0;

  void add(const Rectangle& r);
};
/// A bit for each rectangle that meets the other, sides included.
using Meeting = std::uint64_t (*)(const Rectangles& rectangles, const Rectangle& other);
/// The Meeting that has the vectors of the handle's instruction-set level.
Meeting meeting_of(const Context& context);

class BoxGroups {
 public:
  BoxGroups(Allocator& allocator, std::int64_t n)
      : n_(n),
        boxes_(allocator.allocate<Rectangle>(n)),
        groups_(allocator.allocate<Rectangle>(leaves_of(n) + 1)),
        order_(allocator.allocate<std::int32_t>(n)),
        begin_(allocator.allocate<std::int64_t>(leaves_of(n) + 2)),
        points_(allocator.allocate<double>(3, n)),
        tree_(allocator, n, 1, true, 1) {}

  /// To be set for all boxes before arrange().
  Rectangle& operator[](std::int64_t box) const { return boxes_[box]; }
  /// Puts boxes near to each other into one group; those that are not finite, into one that meets all others. Median
  /// cuts: n * log2(n / 32) steps.
  void arrange();
  std::int64_t count() const { return count_; }
  const Rectangle& group(std::int64_t g) const { return groups_[g]; }
  /// visit(box) for the boxes of a group.
  template <class Visit>
  void for_each(std::int64_t g, Visit&& visit) const {
    for (std::int64_t i = begin_[g]; i < begin_[g + 1]; ++i) visit(std::int64_t{order_[i]});
  }

 private:
  void end_group(std::int64_t end, const Rectangle& round);

  std::int64_t n_, count_ = 0;
  Rectangle *boxes_, *groups_;
  std::int32_t* order_;
  std::int64_t* begin_;
  double* points_;
  PointSets<double> tree_;
};

}  // namespace mluops::cpu::spatial
