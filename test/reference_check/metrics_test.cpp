// The metrics that decide whether a backend is right.
#include "test/support/metrics.h"

#include <gtest/gtest.h>

#include "test/cases/base/element.h"

namespace mluops::test {
namespace {

/// 2e-6 lies between two subnormal halves: the nearer one is 1.5 % away, and no kernel can do better.
TEST(Metrics, TheNearestNumberOfTheTypeIsNoError) {
  const double value = 2.0375e-6, nearest = cases::rounded(MLUOP_DTYPE_HALF, value);
  const double step = cases::spacing(MLUOP_DTYPE_HALF, 0);
  EXPECT_GT(measure({nearest}, {value}, 0).diff1, 3e-3);
  EXPECT_EQ(measure({nearest}, {value}, 0, step / 2).diff1, 0);
  EXPECT_EQ(measure({nearest}, {value}, 0, step / 2).diff2, 0);
  EXPECT_GT(measure({nearest + step}, {value}, 0, step / 2).diff1, 3e-3);
  EXPECT_GT(measure({nearest, 1.01}, {value, 1.0}, 0, step / 2).diff1, 3e-3);
}

}  // namespace
}  // namespace mluops::test
