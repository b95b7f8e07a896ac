// Files in BANG C, compiled by cncc: what the language has beyond C++ means what it should.
#include <numeric>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

namespace neuware_test {
namespace {

class Language : public WithQueue {};

TEST_F(Language, TemplateKernelsRunOnAllTasks) {
  std::vector<float> in(5000);
  std::iota(in.begin(), in.end(), 0.0f);
  OnDevice<float> from(in), to(in.size());
  scale_float(queue, to.data(), from.data(), static_cast<int>(in.size()), 3.0f);
  expect_success();
  const std::vector<float> out = to.values();
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], 3 * in[i]);
}

TEST_F(Language, HalfIsAType) {
  const std::vector<std::uint16_t> in(3000, 0x3e00);  // 1.5
  OnDevice<std::uint16_t> from(in), to(in.size());
  scale_half(queue, to.data(), from.data(), static_cast<int>(in.size()), 2.0f);
  expect_success();
  EXPECT_EQ(to.values(), std::vector<std::uint16_t>(in.size(), 0x4200));  // 3
}

TEST_F(Language, HalfHasLiterals) {
  OnDevice<std::uint16_t> out(8);
  literals_of_half(queue, out.data());
  expect_success();
  // 3.14, 0.5, -65504, 3.5, 0.001, 0.5, 0.1
  const std::vector<std::uint16_t> wanted = {0x4248, 0x3800, 0xfbff, 0x4300, 0x1419, 0x3800, 0x2e66, 0x2e66};
  EXPECT_EQ(out.values(), wanted);
}

TEST_F(Language, TasksKnowWhoTheyAre) {
  OnDevice<std::int32_t> out(8 * 16);
  who_am_i(queue, {4, 2, 2}, cnrtFuncTypeUnion1, out.data());
  expect_success();
  const std::vector<std::int32_t> v = out.values();
  for (int task = 0; task < 16; ++task) {
    const std::vector<std::int32_t> who(v.begin() + 8 * task, v.begin() + 8 * (task + 1));
    EXPECT_EQ(who, (std::vector<std::int32_t>{task % 4, task / 4 % 2, task / 8, 16, task % 4, 4, task / 4, 1}));
  }
}

TEST_F(Language, ArraysWithInitialisersAreFilledAgain) {
  OnDevice<std::int32_t> out(16);
  for (int launch = 0; launch < 2; ++launch) {
    tables(queue, out.data());
    expect_success();
    const std::vector<std::int32_t> v = out.values();
    EXPECT_EQ(std::vector<std::int32_t>(v.begin(), v.begin() + 5), (std::vector<std::int32_t>{9, 11, 5, 43, 83}));
    EXPECT_EQ(std::vector<std::int32_t>(v.begin() + 8, v.begin() + 13), (std::vector<std::int32_t>{9, 11, 0, 43, 83}));
  }
}

TEST_F(Language, DeviceFunctionsBelongToTheirFile) {
  OnDevice<std::int32_t> out(2);
  same_name(queue, out.data());
  same_name_twin(queue, out.data() + 1);
  expect_success();
  EXPECT_EQ(out.values(), (std::vector<std::int32_t>{11, 110}));
}

TEST_F(Language, LoopsComputeWhatTheySay) {
  OnDevice<std::int32_t> out(5);
  loops(queue, out.data());
  expect_success();
  EXPECT_EQ(out.values(), (std::vector<std::int32_t>{45, 14, 9, 17, 20}));
}

TEST_F(Language, KernelsWithoutArguments) {
  no_arguments(queue);
  expect_success();
}

TEST_F(Language, NotifiersTellTheMachinesTime) {
  cnrtNotifier_t start = nullptr, end = nullptr;
  ASSERT_EQ(cnrtNotifierCreate(&start), cnrtSuccess);
  ASSERT_EQ(cnrtNotifierCreate(&end), cnrtSuccess);
  cnrtPlaceNotifier(start, queue);
  no_arguments(queue);
  cnrtPlaceNotifier(end, queue);
  float us = 0;
  EXPECT_EQ(cnrtNotifierDuration(start, end, &us), cnrtSuccess);
  EXPECT_GT(us, 0) << "a launch takes time even if its tasks do nothing";
  cnrtNotifierDestroy(start);
  cnrtNotifierDestroy(end);
}

}  // namespace
}  // namespace neuware_test
