// Cores alive at once: barriers, SRAM, the memory core, deadlocks.
#include <string>
#include <vector>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"
#include "test/support/sanitized.h"

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

/// What the memory core does with numbers that are not meant for it is told, and ends no launch.
TEST_F(Barriers, TheMemoryCoreHarmsNobodyWhereNobodyAsksForIt) {
  std::vector<float> in(4 * kLanes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  const std::vector<float> rows = {in[0], in[32], in[64], in[96]}, ones(4, 1.0f), twos(4, 2.0f);
  struct Form {
    std::vector<float> out;
    std::vector<std::string> told;
  };
  const std::vector<Form> forms = {
      {rows, {"scalar code at ", "lanes[4096] is outside of the 128 elements", "(__is_mpu() tells)"}},
      {{1, 2, 3, 4},
       {"scalar code at ", "in[128], from in+0", "outside of the tensor's 512 bytes", "(__is_mpu() tells)"}},
      {ones, {"scalar code", "divided an integer by zero", "(__is_mpu() tells)"}},
      {ones, {"scalar code", "accessed ", "(__is_mpu() tells)"}},
      {ones, {"scalar code at ", "in+2", "a multiple of 4", "(__is_mpu() tells)"}},
      {twos, {"__bang_add_scalar at ", "outside of lanes, which has 512 bytes", "(__is_mpu() tells)"}},
      {ones, {}},
  };
  OnDevice<float> from(in);
  for (std::size_t form = 0; form < forms.size(); ++form) {
    SCOPED_TRACE("form " + std::to_string(form));
    if (MLUOPS_TEST_SANITIZED && form >= 1 && form <= 3) continue;  // the sanitizer ends the process itself
    OnDevice<float> out(4);
    not_asked(queue, out.data(), from.data(), static_cast<int>(form));
    expect_success();
    EXPECT_EQ(out.values(), forms[form].out);
    const std::string text = cnrtExtGetLastWarning();
#if !defined(__x86_64__)  // a division by zero gives 0
    if (form == 2) continue;
#endif
    EXPECT_EQ(text.empty(), forms[form].told.empty()) << text;
    for (const std::string& part : forms[form].told) EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_TRUE(text.empty() || text.find("the memory core of cluster 0") != std::string::npos) << text;
  }
}

TEST_F(Barriers, WhatTheMemoryCoreStoresElsewhereIsAFault) {
  OnDevice<float> out(4), in(4 * kLanes, 1.0f);
  not_asked(queue, out.data(), in.data(), 7);
  expect_fault({"nobody_asks, the memory core of cluster 0", "scalar code at ", "outside of the tensor's 16 bytes"});
  not_asked(queue, out.data(), in.data(), 8);
  expect_fault({"nobody_asks, the memory core of cluster 0", "shared_lanes[4096] is outside of the 128 elements"});
}

/// Launches before this one leave no numbers in its NRAM, and what nobody stored there is no place to store at.
TEST_F(Barriers, TheMemoryCoreStoresNothingAtAnIndexFromNram) {
  OnDevice<float> out(5);
  for (int form = 1; form < 3; ++form) {
    SCOPED_TRACE(form);
    stored_at_own(queue, out.data(), 0);
    stored_at_own(queue, out.data(), form);
    expect_success();
    const std::string text = cnrtExtGetLastWarning();
    for (const char* part : {"the memory core of cluster 0: scalar code at ", "[2146533361]", "(__is_mpu() tells)"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
    }
  }
  EXPECT_EQ(out.values(), (std::vector<float>{0, 1, 1, 1, 1}));
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
