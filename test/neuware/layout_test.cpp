// Where on-chip objects lie, and the card programs run on.
#include <string>
#include <vector>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

namespace neuware_test {
namespace {

class Layouts : public WithQueue {};

TEST_F(Layouts, EachKernelHasTheWholeNram) {
  OnDevice<float> out(6);
  two_large_kernels(queue, out.data());
  expect_success();
  EXPECT_EQ(out.values(), (std::vector<float>{3, 4, 5, 6, 3, 4}));
}

/// Objects that a file lays out there are watched as the others.
TEST_F(Layouts, ScalarCodeBeyondOneNramIsWatched) {
  const std::vector<std::string> told[] = {
      {"__memcpy_async at ", "destination far_line+0", "loaded by scalar code at "},
      {"scalar code at ", "source far_line+", "never written"}};
  OnDevice<float> g(64, 1.0f);
  for (int form = 0; form < 2; ++form) {
    beyond_one_nram(queue, g.data(), form, true);
    expect_success();
    EXPECT_STREQ(cnrtExtGetLastWarning(), "");
    EXPECT_EQ(g.values()[0], 64 * 63 / 2);
    beyond_one_nram(queue, g.data(), form, false);
    expect_success();
    const std::string text = cnrtExtGetLastWarning();
    EXPECT_NE(text.find("(NRAM offset 12"), std::string::npos) << text << ": two objects of 600 KB lie before it";
    for (const std::string& part : told[form]) EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(Layouts, ArraysInWramShareItsLanes) {
  OnDevice<float> out(3);
  two_wram_arrays(queue, out.data());
  expect_success();
  EXPECT_EQ(out.values(), (std::vector<float>{1, 2, 3}));
}

TEST_F(Layouts, TheDefaultCardHasEightClusters) {
  OnDevice<std::int32_t> out(32);
  union8(queue, out.data());
  expect_success();
  const std::vector<std::int32_t> v = out.values();
  for (int i = 0; i < 32; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], i / 4 * 100 + 8);
}

TEST(LayoutsDeathTest, StaticDestructorsFreeAndLaunch) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        keep_until_the_end();
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace neuware_test
