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

TEST(Plan, sample_counts_are_bounded) {
  std::int64_t samples = 0;
  EXPECT_EQ(count_samples(4, 3, 5, samples), "");
  EXPECT_EQ(samples, 60);
  EXPECT_EQ(count_samples(4, 0, 1 << 30, samples), "");
  EXPECT_EQ(count_samples(4, INT32_MIN, INT32_MIN, samples), "");
  EXPECT_EQ(samples, 60);
  EXPECT_NE(count_samples(4, INT32_MAX, INT32_MAX, samples).find("32 bits"), std::string::npos);
  EXPECT_NE(count_samples(4, 1 << 14, 1 << 14, samples).find("sample points"), std::string::npos);
  EXPECT_EQ(samples, 60);
}

}  // namespace
}  // namespace mluops::emu::plan
