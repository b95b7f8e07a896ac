// The memory a call works in: one block per handle, nothing beside it, kept for the next call.
#include <map>
#include <utility>

#include "test/calls/documented_memory.h"
#include "test/calls/suite.h"
#include "test/calls/tally.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kSlack = 2 * 4096;  ///< of malloc, for the two blocks: it may round them to pages

class WorkingMemory : public OperatorCallTest {};

/// The most bytes that live during the first call of a handle, beyond those that lived before.
std::int64_t peak_of_first_call(const CallVariant& v, const Handle& handle) {
  Problem problem = make_problem(v.text, v.dtype);
  const std::int64_t live = tally().live_bytes;
  take_peak_bytes();
  EXPECT_EQ(problem.call(handle.get()), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
  return take_peak_bytes() - live;
}

TEST_P(WorkingMemory, IsAllThatACallTakes) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  for (const CallVariant& v : large_calls(GetParam())) {
    for (const int threads : {1, 3}) {
      const auto handle = make_handle(v, threads);
      CountingExecutor counter;  // the runtimes' own memory is theirs
      const mluOpExtExecutor_t executor = counter.executor();
      ASSERT_EQ(mluOpExtSetExecutor(handle->get(), &executor), MLUOP_STATUS_SUCCESS);
      const std::int64_t peak = peak_of_first_call(v, *handle);
      EXPECT_GE(peak, working_bytes(*handle)) << v << ", " << threads << " threads";
      EXPECT_LE(peak, working_bytes(*handle) + kSlack) << v << ", " << threads << " threads";
    }
  }
}

std::int64_t bytes_after(const CallVariant& v, int threads) {
  Problem problem = make_problem(v.text, v.dtype);
  const auto handle = make_handle(v, threads);
  EXPECT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
  return working_bytes(*handle);
}

TEST_P(WorkingMemory, IsWhatThePageSays) {
  for (const auto& calls : {small_calls(GetParam()), large_calls(GetParam())}) {
    for (const CallVariant& v : calls) {
      for (const int threads : {1, 2, 4, 7}) {
        EXPECT_LE(bytes_after(v, threads), documented_bytes(v, threads)) << v << ", " << threads << " threads";
      }
    }
  }
}

/// A bound that nothing comes near says nothing: of all calls of a type and a way, the largest by the page takes more
/// than half of what it says.
TEST_P(WorkingMemory, IsNotHalfOfWhatThePageSays) {
  constexpr int kThreads = 2;
  std::map<std::pair<mluOpDataType_t, bool>, CallVariant> largest;
  for (const CallVariant& v : large_calls(GetParam())) {
    const auto at = largest.try_emplace({v.dtype, v.atomic}, v).first;
    if (documented_bytes(v, kThreads) > documented_bytes(at->second, kThreads)) at->second = v;
  }
  for (const auto& [key, v] : largest) {
    EXPECT_GT(bytes_after(v, kThreads), documented_bytes(v, kThreads) / 2 - array_padding(kThreads)) << v;
  }
}

TEST_P(WorkingMemory, IsKeptForSmallerCalls) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const CallVariant large = large_calls(GetParam())[0], small = small_calls(GetParam())[0];
  Problem first = make_problem(large.text, large.dtype), second = make_problem(small.text, small.dtype);
  const auto handle = make_handle(large, 1);
  ASSERT_EQ(run(first, *handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  const std::int64_t bytes = working_bytes(*handle);
  const Tally before = tally();
  EXPECT_EQ(second.call(handle->get()), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(tally().allocations - before.allocations, 0);
  EXPECT_EQ(working_bytes(*handle), bytes);
}

/// Scratch follows the work there is, not the threads that could be had.
TEST(WorkingMemoryOfBorderAlignForward, OfOneBoxWithAMillionPointsIsThatOfItsFourBorders) {
  constexpr std::int64_t kPoints = 1'000'001, kBorders = 4, kBytesOfAPoint = 8, kRest = 256 << 10;
  const CallVariant v{Case::parse("border_align_forward n=1 h=5 w=5 c=4 k=1 p=1000000 boxes=inside"), MLUOP_DTYPE_FLOAT,
                      false};
  EXPECT_LE(bytes_after(v, 16), kBorders * kPoints * kBytesOfAPoint + kRest);
  EXPECT_LE(bytes_after(v, 1), kPoints * kBytesOfAPoint + kRest);
}

INSTANTIATE_TEST_SUITE_P(Cpu, WorkingMemory, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
