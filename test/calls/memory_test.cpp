// The memory a call works in: one block per handle, nothing beside it, kept for the next call.
#include "test/calls/suite.h"
#include "test/calls/tally.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kSlack = 2 * 4096;  ///< of malloc, for the two blocks: it may round them to pages

class WorkingMemory : public OperatorCallTest {};

/// The most bytes that live during the first call of a handle, beyond those that lived before.
std::int64_t peak_of_first_call(const CallVariant& v, Problem& problem, const Handle& handle) {
  const std::int64_t live = tally().live_bytes;
  take_peak_bytes();
  EXPECT_EQ(problem.call(handle.get()), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
  return take_peak_bytes() - live;
}

/// FFT keeps tables of lengths for the process, beside the working memory of handles: docs/op/fft.md.
void make_tables(const CallVariant& v) {
  if (v.text.op() != "fft") return;
  Problem problem = make_problem(v.text, v.dtype);
  EXPECT_EQ(run(problem, *make_handle(v, 1)), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
}

TEST_P(WorkingMemory, IsAllThatACallTakes) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  for (const CallVariant& v : large_calls(GetParam())) {
    make_tables(v);
    Problem problem = make_problem(v.text, v.dtype);
    for (const int threads : {1, 3}) {
      const auto handle = make_handle(v, threads);
      CountingExecutor counter;  // the runtimes' own memory is theirs
      const mluOpExtExecutor_t executor = counter.executor();
      ASSERT_EQ(mluOpExtSetExecutor(handle->get(), &executor), MLUOP_STATUS_SUCCESS);
      const std::int64_t peak = peak_of_first_call(v, problem, *handle);
      EXPECT_GE(peak, working_bytes(*handle)) << v << ", " << threads << " threads";
      EXPECT_LE(peak, working_bytes(*handle) + kSlack) << v << ", " << threads << " threads";
    }
  }
}

std::int64_t bytes_after(const CallVariant& v, Problem& problem, int threads) {
  const auto handle = make_handle(v, threads);
  EXPECT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
  return working_bytes(*handle);
}

/// Bytes of the tensors of a call.
std::int64_t tensor_bytes(const Problem& problem) {
  std::int64_t bytes = 0;
  for (const auto* const tensors : {&problem.inputs, &problem.outputs}) {
    for (const auto& t : *tensors) bytes += t->count() * static_cast<std::int64_t>(element_size(t->dtype()));
  }
  return bytes;
}

/// What docs/performance.md promises.
TEST_P(WorkingMemory, HasABoundInBytesOfTensorsAndThreads) {
  constexpr std::int64_t kTensors = 3, kThread = 1 << 20;
  for (const auto& calls : {small_calls(GetParam()), large_calls(GetParam())}) {
    for (const CallVariant& v : calls) {
      Problem problem = make_problem(v.text, v.dtype);
      const std::int64_t tensors = tensor_bytes(problem);
      for (const int threads : {1, 2, 4, 7}) {
        EXPECT_LE(bytes_after(v, problem, threads), kTensors * tensors + threads * kThread)
            << v << ", " << threads << " threads";
      }
    }
  }
}

TEST_P(WorkingMemory, IsKeptForSmallerCalls) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  const CallVariant large = large_calls(GetParam())[0], small = small_calls(GetParam())[0];
  make_tables(small);
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
TEST(WorkingMemoryOfBorderAlignForward, OfOneBoxWithTheMostPointsIsThatOfItsFourBorders) {
  constexpr std::int64_t kPoints = 65'535, kBorders = 4, kBytesOfAPoint = 8, kRest = 64 << 10;
  const CallVariant v{Case::parse("border_align_forward n=1 h=5 w=5 c=4 k=1 p=65534 boxes=inside"), MLUOP_DTYPE_FLOAT,
                      false};
  Problem problem = make_problem(v.text, v.dtype);
  EXPECT_LE(bytes_after(v, problem, 16), kBorders * kPoints * kBytesOfAPoint + kRest);
  EXPECT_LE(bytes_after(v, problem, 1), kPoints * kBytesOfAPoint + kRest);
}

TEST(WorkingMemoryOfRoiGradients, OfOneTaskIsThatOfOneThread) {
  constexpr std::int64_t kRest = 64 << 10;
  for (const char* const op : {"prroi_pool_backward", "roi_pool_backward"}) {
    const CallVariant v{Case::parse(std::string(op) + " b=1 h=64 w=64 c=15 r=64 scale=1"), MLUOP_DTYPE_HALF, false};
    Problem problem = make_problem(v.text, v.dtype);
    EXPECT_LE(bytes_after(v, problem, 16), bytes_after(v, problem, 1) + kRest) << v;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, WorkingMemory, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
