// Loops: every item once, on every runtime, from every kind of caller.
#include "backends/cpu/runtime/parallel.h"

#include <omp.h>
#include <sys/wait.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>

#include "backends/cpu/runtime/crowded_cores.h"
#include "backends/cpu/runtime/simulated.h"
#include "test/cpu/support.h"
#include "test/support/sanitized.h"

namespace mluops::cpu::test {
namespace {

constexpr double kDear = 1e6;  // ns per item: worth any thread

/// Runs the loop and says whether each of its items was visited exactly once, by slots below slots().
bool visits_each_once(const Loop& loop, std::int64_t items) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(items));
  std::atomic<bool> slots_fit{true};
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    if (slot < 0 || slot >= loop.slots()) slots_fit = false;
    for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  return slots_fit && std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; });
}

class LoopTest : public testing::TestWithParam<Threading> {
 protected:
  LoopTest() { context_.threading = GetParam(); }
  Context context_;
};

TEST_P(LoopTest, VisitsEachItemOnce) {
  for (int threads : {1, 2, 3, 8, 16}) {
    for (std::int64_t items : {0, 1, 2, 7, 100, 1001}) {
      EXPECT_TRUE(visits_each_once(Loop(context_, call_with(threads), items, kDear), items)) << threads << " " << items;
    }
  }
}

TEST_P(LoopTest, VisitsEachItemOfUnevenCostOnce) {
  std::vector<double> prefix{0};
  for (int i = 0; i < 300; ++i) prefix.push_back(prefix.back() + (i % 50 == 3 ? 5e6 : i % 3 * 1e3));
  for (int threads : {1, 2, 5, 16}) {
    EXPECT_TRUE(visits_each_once(Loop(context_, call_with(threads), prefix), 300)) << threads;
  }
}

TEST_P(LoopTest, TwoBodiesNeverShareASlot) {
  const Loop loop(context_, call_with(8), 400, kDear);
  std::vector<std::atomic<int>> inside(static_cast<std::size_t>(loop.slots()));
  std::atomic<int> clashes{0};
  loop.run([&](std::int64_t, std::int64_t, int slot) {
    if (inside[static_cast<std::size_t>(slot)].fetch_add(1) != 0) ++clashes;
    std::this_thread::yield();
    inside[static_cast<std::size_t>(slot)].fetch_sub(1);
  });
  EXPECT_EQ(clashes, 0);
}

TEST_P(LoopTest, UsesSeveralThreadsForDearWork) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const Loop loop(context_, call_with(2), 64, kDear);
  EXPECT_EQ(loop.slots(), 2);
  // While others have the cores, callers may stay alone for up to a second.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (threads.size() < 2 && std::chrono::steady_clock::now() < patience) {
    loop.run([&](std::int64_t, std::int64_t, int) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard<std::mutex> lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
  }
  EXPECT_EQ(threads.size(), 2u);
}

TEST_P(LoopTest, CheapWorkStaysOnTheCaller) {
  const Loop loop(context_, call_with(8), 100, 10.0);  // a microsecond in all
  EXPECT_EQ(loop.slots(), 1);
  const auto caller = std::this_thread::get_id();
  loop.run([&](std::int64_t, std::int64_t, int) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST_P(LoopTest, ManyCallersAtOnce) {
  std::atomic<int> failures{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        if (!visits_each_once(Loop(context_, call_with(4), 200, kDear), 200)) ++failures;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failures, 0);
}

TEST_P(LoopTest, InsideAForeignOpenmpRegionItRunsOnTheCaller) {
  std::atomic<int> wrong{0};
#pragma omp parallel num_threads(2)
  {
    const Loop loop(context_, call_with(4), 50, kDear);
    if (omp_get_num_threads() > 1 && loop.slots() != 1) ++wrong;
    if (!visits_each_once(loop, 50)) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(LoopTest, InsideForeignTbbTasksItWorksUnderALock) {
  // As through the C functions: each call holds its handle's mutex, which a stolen task would want again.
  std::mutex handle;
  std::atomic<int> wrong{0};
  tbb::parallel_for(0, 32, [&](int) {
    const std::lock_guard<std::mutex> lock(handle);
    if (!visits_each_once(Loop(context_, call_with(4), 50, kDear), 50)) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
}

/// Runs f in a forked child; its result, or -1 if it does not end within 20 s.
template <class F>
int in_one_child(F f) {
  const pid_t child = fork();
  if (child == 0) _exit(f());
  for (int waited = 0; waited < 2000; ++waited) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

/// As in_one_child. LLVM 14's sanitizers do not hold their allocator's locks over fork(), so a child hangs if a
/// thread that only just started was inside one: there, a child that hangs is the code's fault only if more do.
template <class F>
int in_child(F f) {
  constexpr int kTries = MLUOPS_TEST_SANITIZED ? 3 : 1;
  int result = -1;
  for (int tries = 0; tries < kTries && result == -1; ++tries) result = in_one_child(f);
  return result;
}

TEST_P(LoopTest, WorksInAChildForkedAfterAParallelLoop) {
  ASSERT_TRUE(visits_each_once(Loop(context_, call_with(2), 100, kDear), 100));  // threads exist now
  EXPECT_EQ(in_child([&] { return visits_each_once(Loop(context_, call_with(3), 100, kDear), 100) ? 0 : 1; }), 0);
  EXPECT_TRUE(visits_each_once(Loop(context_, call_with(2), 100, kDear), 100));  // and the parent goes on
}

TEST_P(LoopTest, AChildForkedWhileThreadsAreBusyHasAllCoresAgain) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores < 2) GTEST_SKIP() << "one core";
  std::atomic<bool> busy{false}, done{false};
  std::thread caller([&] {
    Loop(context_, call_with(cores), 4 * cores, kDear).run([&](std::int64_t, std::int64_t, int) {
      busy = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!busy) std::this_thread::yield();
  const int result = in_child([&] {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    Loop(context_, call_with(cores), 16 * cores, kDear).run([&](std::int64_t, std::int64_t, int) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard<std::mutex> lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
    return threads.size() > 1 ? 0 : 1;
  });
  done = true;
  caller.join();
  EXPECT_EQ(result, 0);
}

const char* runtime_name(Threading threading) {
  if (threading == Threading::kThreads) return "threads";
  return threading == Threading::kTbb ? "tbb" : "openmp";
}

INSTANTIATE_TEST_SUITE_P(Runtime, LoopTest, testing::Values(Threading::kOpenmp, Threading::kTbb, Threading::kThreads),
                         [](const auto& runtime) { return runtime_name(runtime.param); });

/// Takes CPU time.
void spin(double ms) {
  const std::clock_t end = std::clock() + static_cast<std::clock_t>(ms * CLOCKS_PER_SEC / 1000);
  while (std::clock() < end) {
  }
}

TEST(SimulatedLoop, CountsPartsAsFourThreadsWouldShareThem) {
  Context context;
  context.threading = Threading::kSimulated;
  EXPECT_TRUE(visits_each_once(Loop(context, call_with(4), 1000, kDear), 1000));
  simulated_loops() = {};
  const auto caller = std::this_thread::get_id();
  // One item takes as long as sixteen others.
  const std::vector<double> prefix = [] {
    std::vector<double> sums{0};
    for (int i = 0; i < 33; ++i) sums.push_back(sums.back() + (i == 0 ? 16 * kDear : kDear));
    return sums;
  }();
  Loop(context, call_with(4), prefix).run([&](std::int64_t begin, std::int64_t end, int slot) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(slot, 0);
    for (std::int64_t i = begin; i < end; ++i) spin(i == 0 ? 16 : 1);
  });
  const SimulatedLoops& loops = simulated_loops();
  EXPECT_EQ(loops.loops, 1);
  EXPECT_GE(loops.all_ns, 48e6);
  EXPECT_GE(loops.longest_ns, 16e6);
  EXPECT_GE(loops.longest_ns, loops.all_ns / 4);
  EXPECT_LT(loops.longest_ns, loops.all_ns);
  EXPECT_EQ(loops.text().substr(0, 2), "1 ");
}

TEST(Loop, TheCallersExecutorWins) {
  struct Pool {
    int calls = 0;
    std::int64_t tasks = 0;
  } pool;
  // Backwards and on one thread: legal, and hard on anyone who assumes otherwise.
  const mluOpExtExecutor_t executor{&pool, [](void* context, std::int64_t tasks, auto body, void* arg) {
                                      auto* p = static_cast<Pool*>(context);
                                      ++p->calls;
                                      p->tasks = tasks;
                                      for (std::int64_t i = tasks; i-- > 0;) body(arg, i);
                                    }};
  const Context context;
  EXPECT_TRUE(visits_each_once(Loop(context, call_with(5, &executor), 1000, kDear), 1000));
  EXPECT_EQ(pool.calls, 1);
  EXPECT_EQ(pool.tasks, 5);
}

TEST(Loop, ThePresentDoTheWorkOfThoseWhoDoNotCome) {
  // The caller's task alone runs; the others come when it is done, and find nothing left.
  std::atomic<std::int64_t> items{0};
  struct Pool {
    std::atomic<std::int64_t>* items;
    std::int64_t of_caller = 0;
  } pool{&items};
  const mluOpExtExecutor_t executor{&pool, [](void* context, std::int64_t tasks, auto body, void* arg) {
                                      auto* p = static_cast<Pool*>(context);
                                      body(arg, 0);
                                      p->of_caller = *p->items;
                                      for (std::int64_t i = 1; i < tasks; ++i) body(arg, i);
                                    }};
  const Context context;
  Loop(context, call_with(5, &executor), 1000, kDear).run([&](std::int64_t begin, std::int64_t end, int slot) {
    EXPECT_EQ(slot, 0);
    items += end - begin;
  });
  EXPECT_EQ(pool.of_caller, 1000);
  EXPECT_EQ(items, 1000);
}

constexpr std::int64_t kMillisecond = 1'000'000;

TEST(CrowdedCores, ALateThreadMakesLoopsRunAlone) {
  CrowdedCores cores;
  EXPECT_FALSE(cores.seen_lately(0));
  cores.note(0, kMillisecond, 8 * kMillisecond);
  EXPECT_TRUE(cores.seen_lately(0));
  EXPECT_TRUE(cores.seen_lately(19 * kMillisecond));
  EXPECT_FALSE(cores.seen_lately(20 * kMillisecond));
}

TEST(CrowdedCores, ShortWaitsAndThoseOfLongWorkAreNone) {
  CrowdedCores cores;
  cores.note(0, kMillisecond / 10, 2 * kMillisecond - 1);
  cores.note(0, 10 * kMillisecond, 19 * kMillisecond);
  cores.note(0, kMillisecond, -kMillisecond);
  EXPECT_FALSE(cores.seen_lately(1));
}

TEST(CrowdedCores, PausesDoubleToASecondAndBeginAnew) {
  CrowdedCores cores;
  std::int64_t now = 0;
  for (const std::int64_t pause : {20, 40, 80, 160, 320, 640, 1000, 1000}) {
    cores.note(now, kMillisecond, 8 * kMillisecond);
    EXPECT_TRUE(cores.seen_lately(now + pause * kMillisecond - 1)) << pause;
    now += pause * kMillisecond;
    EXPECT_FALSE(cores.seen_lately(now)) << pause;
  }
  cores.note(now, kMillisecond, 0);
  cores.note(now, kMillisecond, 8 * kMillisecond);
  EXPECT_FALSE(cores.seen_lately(now + 20 * kMillisecond));
  cores.forget();
  EXPECT_FALSE(cores.seen_lately(now));
}

TEST(Loop, DearItemsDoNotShareAChunkWithManyOthers) {
  // One item costs as much as all others: chunks follow cost, not count.
  std::vector<double> prefix{0};
  for (int i = 0; i < 1000; ++i) prefix.push_back(prefix.back() + (i == 500 ? 1e7 : 1e4));
  const Context context;
  const Loop loop(context, call_with(2), prefix);
  std::mutex mutex;
  std::int64_t with_dear = 0;
  loop.run([&](std::int64_t begin, std::int64_t end, int) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (begin <= 500 && 500 < end) with_dear = end - begin;
  });
  EXPECT_LE(with_dear, 1000 / 8);
}

TEST(RunOnNewThreads, RunsEachTaskOnce) {
  std::vector<std::atomic<int>> visits(9);
  run_on_new_threads(
      9, [](void* arg, std::int64_t i) { ++(*static_cast<std::vector<std::atomic<int>>*>(arg))[std::size_t(i)]; },
      &visits);
  for (const auto& v : visits) EXPECT_EQ(v, 1);
}

}  // namespace
}  // namespace mluops::cpu::test
