// Modelled times: they grow with the work, by what the rates say, and depend on nothing else.
#include <cmath>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

namespace neuware_test {
namespace {

class Times : public WithQueue {
 protected:
  /// Modelled microseconds of what is put on the queue.
  template <class Launch>
  double us(Launch&& launch) {
    cnrtNotifier_t start = nullptr, end = nullptr;
    EXPECT_EQ(cnrtNotifierCreate(&start), cnrtSuccess);
    EXPECT_EQ(cnrtNotifierCreate(&end), cnrtSuccess);
    cnrtPlaceNotifier(start, queue);
    launch();
    cnrtPlaceNotifier(end, queue);
    expect_success();
    float time = 0;
    EXPECT_EQ(cnrtNotifierDuration(start, end, &time), cnrtSuccess);
    cnrtNotifierDestroy(start);
    cnrtNotifierDestroy(end);
    return static_cast<double>(time);
  }
  double computed(int form, int steps, unsigned tasks = 1) {
    return us([&] { compute_on(queue, tasks, g.data(), form, steps); });
  }
  /// What a step takes, whatever else a launch does.
  double step(int form) { return (computed(form, 3000) - computed(form, 1000)) / 2000; }

  static constexpr int kLanes = 1024;
  OnDevice<float> g{2 * kLanes};
};

TEST_F(Times, TwiceTheScalarWorkTakesTwiceTheTime) {
  for (int form = 0; form < 5; ++form) {
    const double none = computed(form, 0), some = computed(form, 1000) - none, twice = computed(form, 2000) - none;
    EXPECT_GT(some, 0) << form;
    EXPECT_NEAR(twice, 2 * some, 1e-3 * twice) << form;
  }
}

TEST_F(Times, MemoriesAndDivisionsHaveTheirPrice) {
  const double nothing = step(0), from_nram = step(1), to_nram = step(2), from_gdram = step(3), division = step(4);
  EXPECT_GT(from_nram, nothing);
  EXPECT_GT(to_nram, nothing);
  EXPECT_GT(division, nothing);
  EXPECT_GT(from_gdram - nothing, 5 * (from_nram - nothing));
}

TEST_F(Times, AnAccessCostsTheSameHoweverItIsWritten) {
  for (const bool in_nram : {false, true}) {
    const auto copied = [&](int form) {
      const auto spelled = [&](int n) { return us([&] { spell_on(queue, g.data(), form, n, in_nram); }); };
      return (spelled(400) - spelled(0)) / 400;
    };
    const double plain = copied(0);
    EXPECT_GT(plain, in_nram ? 0.015 : 0.25) << "at least the load and the store";
    for (int form = 1; form < 20; ++form) {
      const double allowed = in_nram ? 0.35 : 0.05;  // another operation to find the address, no other access
      EXPECT_NEAR(copied(form), plain, allowed * plain) << form << (in_nram ? " in NRAM" : " in device memory");
    }
  }
}

TEST_F(Times, WorkInFunctionsAndBranchesCounts) {
  const auto pieces = [&](int steps) { return us([&] { compute_in_pieces_on(queue, g.data(), steps); }); };
  const double none = pieces(0), some = pieces(1000) - none, twice = pieces(2000) - none;
  EXPECT_GT(some, 1000 * step(0) / 2);
  EXPECT_NEAR(twice, 2 * some, 1e-2 * twice);
}

TEST_F(Times, TasksOfACoreFollowEachOther) {
  constexpr unsigned kCores = 32;
  const double one = computed(0, 4000), all = computed(0, 4000, kCores), twice = computed(0, 4000, 2 * kCores);
  EXPECT_NEAR(all, one, 0.5 * one);
  EXPECT_GT(twice, 1.5 * all);
}

TEST_F(Times, ATimeRepeats) {
  const double first = computed(1, 500);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(computed(1, 500), first);
}

TEST_F(Times, BarriersWaitForTheLastCore) {
  const auto waited = [&](int steps, int barriers) { return us([&] { wait_on(queue, g.data(), steps, barriers); }); };
  EXPECT_NEAR(waited(10000, 1) - waited(0, 1), waited(10000, 0) - waited(0, 0), 0.02 * waited(10000, 0));
  const double each = waited(0, 2) - waited(0, 1);
  EXPECT_GT(each, 0);
  EXPECT_NEAR(waited(0, 11) - waited(0, 1), 10 * each, 1e-2);
}

TEST_F(Times, EveryMemoryCoreHasItsOwnTime) {
  const auto loaded = [&](unsigned clusters, int times) {
    return us([&] { memory_cores_on(queue, clusters, g.data(), times); });
  };
  EXPECT_GT(loaded(1, 20), 1.5 * loaded(1, 10));
  EXPECT_LT(loaded(4, 20), 1.5 * loaded(1, 20)) << "those of four clusters load beside each other";
}

TEST_F(Times, FillingDeviceMemoryTakesTime) {
  OnDevice<char> block(1 << 20);
  const auto filled = [&](std::size_t bytes) {
    return us([&] { EXPECT_EQ(cnrtMemsetAsync(block.data(), 0, bytes, queue), cnrtSuccess); });
  };
  const double quarter = filled(1 << 18), half = filled(1 << 19), whole = filled(1 << 20);
  EXPECT_GT(half, quarter);
  EXPECT_NEAR(whole - half, 2 * (half - quarter), 1e-2 * whole);
}

TEST_F(Times, CopiesWithinDeviceMemoryTakeTime) {
  OnDevice<char> from(1 << 20), to(1 << 20);
  const auto copied = [&](std::size_t bytes) {
    return us(
        [&] { EXPECT_EQ(cnrtMemcpyAsync(to.data(), from.data(), bytes, queue, cnrtMemcpyDevToDev), cnrtSuccess); });
  };
  EXPECT_GT(copied(1 << 20), copied(1 << 10));
}

}  // namespace
}  // namespace neuware_test
