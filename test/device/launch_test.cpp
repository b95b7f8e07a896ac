#include <set>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

TEST(Launch, TasksKnowWhoTheyAre) {
  Rig rig;
  rig.dims(8, 3, 2).spec.clusters = 1;
  int expected = 0;
  const std::string fault = rig.run([&](char*) {
    EXPECT_EQ(taskId, expected++) << "tasks run in increasing order";
    EXPECT_EQ(taskId, (taskIdZ * taskDimY + taskIdY) * taskDimX + taskIdX);
    EXPECT_EQ(taskDim, 48);
    EXPECT_EQ(coreDim, 4);
    EXPECT_EQ(coreId, taskIdX % 4);
    EXPECT_EQ(clusterId, taskId / 4);
    EXPECT_EQ(clusterDim, 1);
    EXPECT_EQ(bang_arch(), 372);
    EXPECT_EQ(nram_bytes(), 655360);
    EXPECT_FALSE(__is_mpu());
  });
  EXPECT_EQ(fault, "");
  EXPECT_EQ(expected, 48);
}

TEST(Launch, BlockHasNoCluster) {
  Rig rig;
  EXPECT_EQ(rig.dims(3).run([&](char* nram) {
    EXPECT_EQ(clusterId, 0);
    EXPECT_EQ(clusterDim, 0);
    EXPECT_EQ(nram, nram_buffer());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(nram) % 128, 0u);
  }),
            "");
}

TEST(Launch, MoreTasksThanCoresAreQueued) {
  Rig rig;
  rig.set("clusters", "2").dims(4, 5);
  EXPECT_EQ(rig.run([](char*) {}), "");
  ASSERT_EQ(rig.report().cores.size(), 8u);
  std::int64_t tasks = 0;
  for (const CoreStats& c : rig.report().cores) tasks += c.tasks;
  EXPECT_EQ(tasks, 20);
  EXPECT_EQ(rig.report().cores[0].tasks, 3);
}

TEST(Launch, Union1NeedsWholeClusters) {
  Rig rig;
  rig.dims(6).spec.clusters = 1;
  expect_fault(rig.run([](char*) {}), {"UNION1", "4", "6"});
}

TEST(Launch, DimensionsMustBePositiveAndCountable) {
  expect_fault(Rig().dims(0).run([](char*) {}), {"dimension"});
  expect_fault(Rig().dims(1 << 20, 1 << 20).run([](char*) {}), {"2^31"});
}

TEST(Launch, NramPartsMustFit) {
  Rig rig;
  rig.set("nram_bytes", "1024").spec.nram = {{"rows", 0, 512}, {"table", 512, 640}};
  expect_fault(rig.run([](char*) {}), {"table", "1152", "1024"});
}

TEST(Launch, ShuffledOrderIsASeededPermutation) {
  const auto order = [](const std::string& option) {
    std::vector<int> ids;
    Rig rig;
    EXPECT_EQ(rig.set("order", option).dims(16).run([&](char*) { ids.push_back(taskId); }), "");
    return ids;
  };
  const std::vector<int> one = order("shuffled:1"), two = order("shuffled:2");
  EXPECT_EQ(std::set<int>(one.begin(), one.end()).size(), 16u);
  EXPECT_EQ(one, order("shuffled:1"));
  EXPECT_NE(one, two);
  EXPECT_NE(one, order("serial"));
}

TEST(Launch, ParallelCoresAddAtomically) {
  std::vector<float> sum(32), lanes(64 * 32, 1.0f);
  Rig rig;
  rig.set("order", "parallel").dims(64).tensor("sum", sum, Access::kReadWrite).tensor("lanes", lanes, Access::kRead);
  const std::string fault = rig.run(
      [&](char* nram) {
        auto* row = reinterpret_cast<float*>(nram);
        __memcpy(row, lanes.data() + taskId * 32, 128, GDRAM2NRAM);
        for (int i = 0; i < 50; ++i) __bang_atomic_reduce_add(sum.data(), row, 32);
      },
      4);
  EXPECT_EQ(fault, "");
  for (const float s : sum) EXPECT_EQ(s, 64 * 50);
}

TEST(Launch, AFaultOnAThreadStopsTheLaunch) {
  Rig rig;
  rig.set("order", "parallel").dims(16);
  expect_fault(rig.run(
                   [&](char* nram) {
                     if (taskId == 5) __bang_sum(reinterpret_cast<float*>(nram), 32);
                   },
                   4),
               {"task 5", "never written"});
}

TEST(Launch, WordsOutsideOfALaunchAreRefused) {
  EXPECT_THROW(__sync(), std::exception);
}

TEST(Launch, OtherExceptionsPassThrough) {
  Rig rig;
  EXPECT_THROW(rig.run([](char*) { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_THROW(__sync(), std::exception) << "the core was left";
}

TEST(Launch, NothingSurvivesFromTaskToTask) {
  Rig rig;
  expect_fault(rig.dims(2).run([](char* nram) {
    auto* lanes = reinterpret_cast<float*>(nram);
    if (taskId == 0) __bang_write_value(lanes, 32, 1.0f);
    __bang_sum(lanes, 32);
  }),
               {"task 1", "never written"});
}

TEST(FillZero, ZeroesAndCounts) {
  std::vector<float> grad(100, 3.0f);
  Rig rig;
  rig.context.begin_call("test");
  rig.context.fill_zero({"grad", reinterpret_cast<char*>(grad.data()), 400, Access::kWrite});
  EXPECT_EQ(grad, std::vector<float>(100));
  EXPECT_EQ(rig.report().traffic[0].written, 400);
  EXPECT_GT(rig.report().time, 0);
}

}  // namespace
}  // namespace mluops::emu::test
