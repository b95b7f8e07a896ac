#include "backends/cpu/spatial/box_groups.h"

#include <algorithm>
#include <cmath>

namespace mluops::cpu::spatial {

bool Rectangle::is_finite() const {
  return std::isfinite(low[0]) && std::isfinite(low[1]) && std::isfinite(high[0]) && std::isfinite(high[1]);
}

Rectangle Rectangle::about(double x, double y, double reach) {
  constexpr double kMargin = 1e-6;
  const double far = reach + kMargin * (reach + std::abs(x) + std::abs(y));
  return {{x - far, y - far}, {x + far, y + far}};
}

void Rectangles::add(const Rectangle& r) {
  for (int axis = 0; axis < 2; ++axis) low[axis][count] = r.low[axis], high[axis][count] = r.high[axis];
  ++count;
}

void BoxGroups::end_group(std::int64_t end, const Rectangle& round) {
  groups_[count_] = round;
  begin_[++count_] = end;
}

void BoxGroups::arrange() {
  for (std::int64_t i = 0; i < n_; ++i) {
    const bool finite = boxes_[i].is_finite();
    if (!finite) boxes_[i] = {};
    const Rectangle& box = boxes_[i];
    for (int axis = 0; axis < 2; ++axis) {
      points_[3 * i + axis] = finite ? box.low[axis] / 2 + box.high[axis] / 2 : Rectangle::kAll;
    }
    points_[3 * i + 2] = 0;
  }
  tree_.fill(0, points_, 0);
  count_ = 0, begin_[0] = 0;
  std::int64_t place = 0;
  for (std::int64_t leaf = 0; leaf < tree_.tree(0).levels.leaves(); ++leaf) {
    Rectangle round{{Rectangle::kAll, Rectangle::kAll}, {-Rectangle::kAll, -Rectangle::kAll}};
    for (const std::int32_t box : tree_.tree(0).leaves[leaf].index) {
      if (box < 0) continue;
      order_[place++] = box;
      for (int axis = 0; axis < 2; ++axis) {
        round.low[axis] = std::min(round.low[axis], boxes_[box].low[axis]);
        round.high[axis] = std::max(round.high[axis], boxes_[box].high[axis]);
      }
    }
    end_group(place, round);
  }
  for (std::int64_t i = 0; i < n_; ++i) {
    if (!std::isfinite(points_[3 * i])) order_[place++] = static_cast<std::int32_t>(i);
  }
  if (place > begin_[count_]) end_group(place, {});
}

}  // namespace mluops::cpu::spatial
