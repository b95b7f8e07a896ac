// The vendor's header has 189 functions; functions.c lists those that link here.
#include <gtest/gtest.h>

#include "mlu_op.h"

extern "C" int count_of_functions(void);  // functions.c

namespace {

constexpr int kOfTheVendor = 189;
/// Functions of the vendor's header that the library does not have yet.
constexpr int kMissing = 37;

TEST(Functions, OfTheVendorsHeaderLink) {
  EXPECT_EQ(count_of_functions(), kOfTheVendor - kMissing);
}

/// Values that programs have compiled in.
TEST(Functions, EnumerationsHaveTheVendorsValues) {
  EXPECT_EQ(MLUOP_SEQDATA_TNC, 0);
  EXPECT_EQ(MLUOP_SEQDATA_NBTC, 6);
  EXPECT_EQ(MLUOP_SEQDATA_NT, 11);
}

}  // namespace
