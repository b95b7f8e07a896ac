// Cores alive at once: barriers, SRAM, the memory core, deadlocks.
#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

namespace neuware_test {
namespace {

constexpr int kLanes = 32;

class Barriers : public WithQueue {};

TEST_F(Barriers, ClustersSumThroughTheirSram) {
  constexpr unsigned kClusters = 11;  // more than the machine has: they take turns
  std::vector<float> in(kClusters * 4 * kLanes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i / kLanes);
  OnDevice<float> from(in), to(kClusters * kLanes);
  sum_of_cluster(queue, kClusters, to.data(), from.data());
  expect_success();
  const std::vector<float> out = to.values();
  for (unsigned c = 0; c < kClusters; ++c) {
    for (int i = 0; i < kLanes; ++i) ASSERT_EQ(out[c * kLanes + i], 16.0f * c + 6) << c;
  }
}

TEST_F(Barriers, AllCoresOfAJobWait) {
  for (const auto& [type, tasks] : {std::pair(cnrtFuncTypeUnion1, 4u),
                                    {cnrtFuncTypeUnion2, 8u},
                                    {cnrtFuncTypeUnion4, 16u},
                                    {cnrtFuncTypeUnion8, 32u}}) {
    OnDevice<std::int32_t> out(tasks), scratch(tasks);
    neighbours(queue, type, tasks, out.data(), scratch.data());
    expect_success();
    const std::vector<std::int32_t> v = out.values();
    for (unsigned i = 0; i < tasks; ++i) ASSERT_EQ(v[i], static_cast<std::int32_t>((i + 1) % tasks));
  }
}

TEST_F(Barriers, WhatWasWrittenBeforeIsNoRaceBehind) {
  for (const int barrier : {1, 2}) {
    OnDevice<std::int32_t> out(8), scratch(8);
    copied_neighbours(queue, 8, out.data(), scratch.data(), barrier);
    expect_success();
    const int group = barrier == 1 ? 4 : 8;
    const std::vector<std::int32_t> v = out.values();
    for (int i = 0; i < 8; ++i) ASSERT_EQ(v[i], i / group * group + (i + 1) % group) << barrier;
  }
}

TEST_F(Barriers, ARaceWithoutABarrierOfBothStaysOne) {
  OnDevice<std::int32_t> out(8), scratch(8);
  copied_neighbours(queue, 8, out.data(), scratch.data(), 0);
  expect_fault({"copy_neighbour", "was written by another task"});
  copied_across_clusters(queue, out.data(), scratch.data());
  expect_fault({"copy_across_clusters", "was written by another task"});
}

TEST_F(Barriers, TheMemoryCoreServesSram) {
  std::vector<float> in(4 * kLanes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  OnDevice<float> from(in), to(in.size());
  broadcast(queue, to.data(), from.data());
  expect_success();
  const std::vector<float> out = to.values();
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i] + 1);
}

TEST_F(Barriers, ANumberedOneWaitsForAsManyCores) {
  OnDevice<float> out(2), scratch(8);
  counted(queue, out.data(), scratch.data());
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");
  EXPECT_EQ(out.values(), (std::vector<float>{6, 36}));
  counted_for_ever(queue);
  expect_fault({"deadlock", "task 0 waits at barrier 3 for 2 cores to come by, 0 have"});
}

TEST_F(Barriers, SramGoesToAnotherCluster) {
  std::vector<float> in(4 * kLanes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  OnDevice<float> from(in), to(2 * kLanes);
  given(queue, to.data(), from.data());
  expect_success();
  const std::vector<float> out = to.values();
  for (std::size_t i = 0; i < kLanes; ++i) {
    ASSERT_EQ(out[i], in[i]);
    ASSERT_EQ(out[kLanes + i], in[kLanes + i]);
  }
}

TEST_F(Barriers, TheMemoryCoreHasANameOfItsOwn) {
  OnDevice<float> p(1, 1.0f);
  doubled(queue, p.data());
  expect_success();
  const std::string text = cnrtExtGetLastWarning();
  for (const char* part : {"task 0", "the memory core of cluster 0", "scalar code at ", "__is_mpu()"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
  }
}

TEST_F(Barriers, LdramIsEachCoresOwn) {
  OnDevice<float> out(4);
  kept(queue, out.data());
  expect_success();
  EXPECT_EQ(out.values(), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(Barriers, ADeadLockNamesWhoWaitsAndWhoIsMissing) {
  dead_lock(queue);
  expect_fault({"one_waits", "__sync_cluster", "deadlock", "task 2 waited", "task 0 (ended)", "task 3 (ended)"});
  no_arguments(queue);
  EXPECT_EQ(cnrtGetLastError(), cnrtSuccess) << "the machine works on";
}

}  // namespace
}  // namespace neuware_test
