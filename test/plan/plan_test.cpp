#include "backends/mlu_emu/plan/plan.h"

#include "test/plan/support.h"

namespace mluops::emu::plan {
namespace {

TEST(Plan, contiguous_shares_cover_once_and_first_get_one_more) {
  for (std::int64_t total = 0; total < 40; ++total)
    for (std::int64_t tasks = 1; tasks < 18; ++tasks) {
      std::int64_t at = 0;
      for (std::int64_t t = 0; t < tasks; ++t) {
        const Share share = contiguous_share(total, tasks, t);
        ASSERT_EQ(share.begin, at);
        ASSERT_EQ(share.size(), total / tasks + (t < total % tasks ? 1 : 0));
        at = share.end;
      }
      ASSERT_EQ(at, total);
    }
}

TEST(Plan, block_shares_cover_once_and_surplus_parts_are_empty) {
  for (std::int64_t total = 0; total < 40; ++total)
    for (std::int64_t per = 1; per < 12; ++per) {
      std::int64_t at = 0;
      for (std::int64_t part = 0; part < 45; ++part) {
        const Share share = block_share(total, per, part);
        ASSERT_EQ(share.begin, at);
        ASSERT_LE(share.size(), per);
        at = share.end;
      }
      ASSERT_EQ(at, total);
    }
}

TEST(Plan, regions_follow_one_another) {
  NramMap map;
  EXPECT_EQ(map.add("a", 128), 0);
  EXPECT_EQ(map.add("b", 64), 128);
  EXPECT_EQ(map.bytes(), 192);
  ASSERT_EQ(map.regions().size(), 2u);
  EXPECT_EQ(map.regions()[1].name, "b");
  EXPECT_EQ(map.regions()[1].end(), 192);
}

}  // namespace
}  // namespace mluops::emu::plan
