// What cncc compiles means what the host's compiler says it means.
#include <ostream>
#include <type_traits>
#include <utility>
#include <vector>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

// What is odd on purpose. g++ cannot switch off a group of warnings at once.
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wempty-body"
#define __mlu_func__  // NOLINT: the qualifier of device functions
#define ODD_CPP odd_on_host
#include "test/neuware/odd_cpp.h"

namespace neuware_test {
namespace {

class OddCpp : public WithQueue {};

TEST_F(OddCpp, GivesWhatTheHostsCompilerGives) {
  constexpr std::size_t kCount = std::size(odd_on_host::kAll);
  for (const int n : {-3, 0, 1, 3, 5}) {
    OnDevice<std::int32_t> out(kCount);
    odd_cpp(queue, out.data(), n);
    expect_success();
    const std::vector<std::int32_t> got = out.values();
    for (std::size_t i = 0; i < kCount; ++i)
      EXPECT_EQ(got[i], odd_on_host::kAll[i](n)) << "function " << i << " of " << n;
  }
}

TEST_F(OddCpp, EveryFormOfALaunch) {
  OnDevice<std::int32_t> out(1);
  odd_launches(queue, out.data());
  expect_success();
  EXPECT_EQ(out.values()[0], 6 + 6 + 5 + 100 + 200 + 300 + 300 + 6 + 1 + 1000 + 60);
}

TEST_F(OddCpp, OnChipObjectsAndHalves) {
  OnDevice<std::int32_t> out(2);
  odd_objects(queue, out.data());
  expect_success();
  EXPECT_EQ(out.values(), (std::vector<std::int32_t>{600 + 1 + 20 + 3, 25 + 3 + 3}));
}

}  // namespace
}  // namespace neuware_test
