// The counting itself: a test that counts nothing proves nothing.
#include <cstdlib>
#include <new>
#include <thread>

#include "test/calls/suite.h"
#include "test/calls/tally.h"

namespace mluops::test {
namespace {

TEST(Tally, CountsEveryKindOfAllocation) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const Tally before = tally();
  int* volatile number = new int(1);  // volatile: or the compiler leaves allocations out
  void* volatile block = ::operator new (1000, std::align_val_t{64});
  void* volatile raw = std::malloc(10);
  raw = std::realloc(raw, 5000);
  EXPECT_EQ(tally().allocations - before.allocations, 4);
  EXPECT_GE(tally().live_bytes - before.live_bytes, 1000 + 5000);
  delete number;
  ::operator delete (block, std::align_val_t{64});
  std::free(raw);
  EXPECT_EQ(tally().live_bytes, before.live_bytes);
}

TEST(Tally, RemembersThePeak) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const std::int64_t live = tally().live_bytes;
  take_peak_bytes();
  void* volatile block = std::malloc(100'000);
  std::free(block);
  const std::int64_t peak = take_peak_bytes();
  EXPECT_GE(peak - live, 100'000);
  EXPECT_LT(peak - live, 110'000);
  EXPECT_EQ(tally().live_bytes, live);
}

TEST(Tally, SeesIntoTheLibrary) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const Tally before = tally();
  mluOpHandle_t handle = nullptr;
  ASSERT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);
  EXPECT_GT(tally().allocations, before.allocations);
  mluOpDestroy(handle);
}

TEST(Tally, CountsThreads) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const Tally before = tally();
  std::thread([] {}).join();
  EXPECT_EQ(tally().threads - before.threads, 1);
}

/// Nothing would stop a small call from looking right if large ones did not look different.
TEST(Tally, SeesTheLoopsOfALargeCall) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const CallVariant v = {Case::parse("carafe_forward n=1 h=40 w=40 c=64 k=5 g=1 s=2"), MLUOP_DTYPE_FLOAT, false};
  Problem problem = make_problem(v.text, v.dtype);
  const auto handle = make_handle(v, 4);
  CountingExecutor counter;
  const mluOpExtExecutor_t executor = counter.executor();
  ASSERT_EQ(mluOpExtSetExecutor(handle->get(), &executor), MLUOP_STATUS_SUCCESS);
  const Tally before = tally();
  ASSERT_EQ(problem.call(handle->get()), MLUOP_STATUS_SUCCESS);
  EXPECT_GT(tally().allocations, before.allocations);
  EXPECT_GT(counter.loops, 0);
}

}  // namespace
}  // namespace mluops::test
