// What the table of limits says of rows with known times: a run's own times differ from one to the next.
#include "bench/output/limits.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

/// A call of one second on a roof of 100 bytes and 100 flops a second.
Row one_second(double bytes, double flops, double floor, double warm) {
  Row row;
  row.op = "some_operator";
  row.read_bytes = row.line_bytes = bytes;
  row.flops = flops;
  row.floor = floor;
  row.warm = warm;
  row.seconds = {1.0};
  row.roof = {1, 100, 100, 100, 100, 100};
  return row;
}

TEST(Limits, TheFirstReasonThatHolds) {
  EXPECT_EQ(limited_by(one_second(10, 65, 0.9, 0.9)), "arithmetic");
  EXPECT_EQ(limited_by(one_second(10, 64, 0.65, 0.9)), "access");
  EXPECT_EQ(limited_by(one_second(10, 10, 0.2, 0.5)), "latency");
  EXPECT_EQ(limited_by(one_second(10, 10, 0.5, 0.65)), "core");
  EXPECT_EQ(limited_by(one_second(10, 10, 0.5, 0.5)), "mixed");
}

TEST(Limits, WithoutWarmTimeTheFloorTells) {
  EXPECT_EQ(limited_by(one_second(10, 10, 0.35, 0)), "core");
  EXPECT_EQ(limited_by(one_second(10, 10, 0.36, 0)), "mixed");
}

TEST(Limits, NothingIsSaidOfWhatWasNotMeasured) {
  EXPECT_EQ(limited_by(one_second(10, 65, 0, 0.9)), "-");
}

TEST(Limits, TheTableHasMeasuredRowsBelowFourFifthsOfTheBound) {
  Row unmeasured = one_second(10, 10, 0.5, 0.5);
  unmeasured.seconds.clear();
  const Grid grid =
      limits_grid({one_second(80, 10, 0.9, 0.9), one_second(79, 10, 0.9, 0.9), unmeasured, one_second(10, 10, 0, 0.5)});
  ASSERT_EQ(grid.rows.size(), 1u);
  EXPECT_EQ(grid.rows[0].front(), "some_operator");
  EXPECT_EQ(grid.rows[0].back(), "access");
  EXPECT_NE(grid.text().find("limited by, the first that holds"), std::string::npos);
}

}  // namespace
}  // namespace bench
