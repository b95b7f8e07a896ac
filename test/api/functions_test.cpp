// The vendor's header has 189 functions; functions.c takes the address of each.
#include <gtest/gtest.h>

#include "mlu_op.h"

extern "C" int count_of_functions(void);  // functions.c

namespace {

TEST(Functions, OfTheVendorsHeaderLink) {
  constexpr int kOfTheVendor = 189;
  EXPECT_EQ(count_of_functions(), kOfTheVendor);
}

/// Values that programs have compiled in.
TEST(Functions, EnumerationsHaveTheVendorsValues) {
  EXPECT_EQ(MLUOP_LOG_E, 0);
  EXPECT_EQ(MLUOP_LOG_2, 1);
  EXPECT_EQ(MLUOP_LOG_10, 2);
  EXPECT_EQ(MLUOP_ADAMW_WEIGHT_DECAY, 0);
  EXPECT_EQ(MLUOP_ADAMW_GRAD_SCALE, 1);
  EXPECT_EQ(MLUOP_ADAMW_USE_NESTEROV, 2);
  EXPECT_EQ(MLUOP_ADAMW_NEED_REMOVE_NAN, 3);
  EXPECT_EQ(MLUOP_SEQDATA_TNC, 0);
  EXPECT_EQ(MLUOP_SEQDATA_NBTC, 6);
  EXPECT_EQ(MLUOP_SEQDATA_NT, 11);
}

}  // namespace
