// Box trees and the order in which equally far points are picked.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/furthest_point_sample/order.h"
#include "backends/cpu/spatial/box_tree.h"
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

TEST(PickOrder, KeysGiveTheirPointsBack) {
  for (const std::int64_t n : {1, 2, 3, 7, 1023, 1024, 1025, 5000}) {
    const furthest_point_sample::PickOrder order(n);
    std::vector<std::uint32_t> keys;
    for (std::int64_t i = 0; i < n; ++i) {
      keys.push_back(order.key(i));
      ASSERT_EQ(order.point(keys.back()), i) << "of " << n;
    }
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end()) << "of " << n;
  }
}

struct Cloud {
  std::vector<float> points;
  std::vector<spatial::Entry<float>> entries;
  std::vector<spatial::Leaf<float>> leaves;
  std::vector<spatial::Boxes<float>> boxes;

  explicit Cloud(std::int64_t n) : points(static_cast<std::size_t>(3 * n)), entries(static_cast<std::size_t>(n)) {
    std::mt19937 random(7);
    for (float& x : points) x = static_cast<float>(random() % 1000);
    const std::int64_t count = spatial::leaves_of(n);
    leaves.resize(static_cast<std::size_t>(count));
    boxes.resize(static_cast<std::size_t>(spatial::Levels(count).boxes()));
  }
  spatial::BoxTree<float> build() {
    const auto n = static_cast<std::int64_t>(entries.size());
    return spatial::build_tree(points.data(), n, entries.data(), leaves.data(), boxes.data());
  }
};

TEST(BoxTree, HoldsEveryFinitePointOnceInsideAllItsBoxes) {
  for (const std::int64_t n : {1, 32, 33, 512, 513, 8192, 8193, 20000}) {
    Cloud cloud(n);
    if (n > 40) cloud.points[3 * 40] = std::numeric_limits<float>::quiet_NaN();
    if (n > 41) cloud.points[3 * 41 + 2] = std::numeric_limits<float>::infinity();
    const auto tree = cloud.build();
    std::vector<int> seen(static_cast<std::size_t>(n));
    for (std::int64_t leaf = 0; leaf < tree.levels.leaves(); ++leaf) {
      for (int i = 0; i < spatial::kLeafPoints; ++i) {
        const std::int32_t index = tree.leaves[leaf].index[i];
        if (index < 0) continue;
        ++seen[static_cast<std::size_t>(index)];
        std::int64_t child = leaf;
        for (int level = 0; level < tree.levels.count(); ++level, child /= spatial::kFan) {
          const auto& boxes = tree.node(level, child / spatial::kFan);
          for (int axis = 0; axis < 3; ++axis) {
            const float at = cloud.points[static_cast<std::size_t>(3 * index + axis)];
            ASSERT_LE(boxes.low[axis][child % spatial::kFan], at);
            ASSERT_GE(boxes.high[axis][child % spatial::kFan], at);
          }
        }
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const bool finite = (i != 40 && i != 41);
      ASSERT_EQ(seen[static_cast<std::size_t>(i)], finite ? 1 : 0) << "point " << i << " of " << n;
    }
  }
}

TEST(BoxTree, WithoutFinitePointsIsEmpty) {
  Cloud cloud(3);
  std::fill(cloud.points.begin(), cloud.points.end(), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(cloud.build().levels.leaves(), 0);
}

}  // namespace
}  // namespace mluops::cpu::test
