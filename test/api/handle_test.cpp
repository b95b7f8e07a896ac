// Handle, queue and version functions; what mlu_op_ext.h adds to a handle.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "mlu_op_ext.h"
#include "test/support/environment.h"

namespace {

class Handle : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mluOpCreate(&handle_), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText(); }
  void TearDown() override { EXPECT_EQ(mluOpDestroy(handle_), MLUOP_STATUS_SUCCESS); }
  mluOpHandle_t handle_ = nullptr;
};

TEST_F(Handle, NullArgumentsAreBadParamsThatNameThem) {
  const auto expect = [](mluOpStatus_t status, const std::string& text) {
    EXPECT_EQ(status, MLUOP_STATUS_BAD_PARAM) << text;
    EXPECT_EQ(mluOpExtGetLastErrorText(), text + ": wanted a pointer, got NULL");
  };
  cnrtQueue_t queue = nullptr;
  mluOpAtomicsMode_t atomics;
  mluOpQuantizeRoundMode_t round;
  mluOpExtContract_t contract;
  const char* text = nullptr;
  char buffer[8];
  int threads = 0;
  expect(mluOpCreate(nullptr), "mluOpCreate: handle");
  expect(mluOpDestroy(nullptr), "mluOpDestroy: handle");
  expect(mluOpUpdateContextInformation(nullptr), "mluOpUpdateContextInformation: handle");
  expect(mluOpSetQueue(nullptr, nullptr), "mluOpSetQueue: handle");
  expect(mluOpGetQueue(nullptr, &queue), "mluOpGetQueue: handle");
  expect(mluOpGetQueue(handle_, nullptr), "mluOpGetQueue: queue");
  expect(mluOpSetAtomicsMode(nullptr, MLUOP_ATOMICS_ALLOWED), "mluOpSetAtomicsMode: handle");
  expect(mluOpGetAtomicsMode(nullptr, &atomics), "mluOpGetAtomicsMode: handle");
  expect(mluOpGetAtomicsMode(handle_, nullptr), "mluOpGetAtomicsMode: atomics_mode");
  expect(mluOpSetQuantizeRoundMode(nullptr, MLUOP_ROUND_HALF_UP), "mluOpSetQuantizeRoundMode: handle");
  expect(mluOpGetQuantizeRoundMode(nullptr, &round), "mluOpGetQuantizeRoundMode: handle");
  expect(mluOpGetQuantizeRoundMode(handle_, nullptr), "mluOpGetQuantizeRoundMode: round_mode");
  expect(mluOpGetReservedMemSize(nullptr), "mluOpGetReservedMemSize: mem_size");
  expect(mluOpExtSetBackend(nullptr, "cpu"), "mluOpExtSetBackend: handle");
  expect(mluOpExtGetBackend(nullptr, &text), "mluOpExtGetBackend: handle");
  expect(mluOpExtGetBackend(handle_, nullptr), "mluOpExtGetBackend: chain");
  expect(mluOpExtGetLastRunBackend(nullptr, &text), "mluOpExtGetLastRunBackend: handle");
  expect(mluOpExtGetLastRunBackend(handle_, nullptr), "mluOpExtGetLastRunBackend: name");
  expect(mluOpExtReleaseMemory(nullptr), "mluOpExtReleaseMemory: handle");
  expect(mluOpExtSetOption(nullptr, "cpu", "isa", "auto"), "mluOpExtSetOption: handle");
  expect(mluOpExtSetOption(handle_, nullptr, "isa", "auto"), "mluOpExtSetOption: backend");
  expect(mluOpExtSetOption(handle_, "cpu", nullptr, "auto"), "mluOpExtSetOption: key");
  expect(mluOpExtSetOption(handle_, "cpu", "isa", nullptr), "mluOpExtSetOption: value");
  expect(mluOpExtQuery(nullptr, "cpu", "isa", buffer, 8, nullptr), "mluOpExtQuery: handle");
  expect(mluOpExtQuery(handle_, nullptr, "isa", buffer, 8, nullptr), "mluOpExtQuery: backend");
  expect(mluOpExtQuery(handle_, "cpu", nullptr, buffer, 8, nullptr), "mluOpExtQuery: key");
  expect(mluOpExtQuery(handle_, "cpu", "isa", nullptr, 8, nullptr), "mluOpExtQuery: buffer");
  expect(mluOpExtSetNumThreads(nullptr, 1), "mluOpExtSetNumThreads: handle");
  expect(mluOpExtGetNumThreads(nullptr, &threads), "mluOpExtGetNumThreads: handle");
  expect(mluOpExtGetNumThreads(handle_, nullptr), "mluOpExtGetNumThreads: threads");
  expect(mluOpExtSetExecutor(nullptr, nullptr), "mluOpExtSetExecutor: handle");
  expect(mluOpExtSetContract(nullptr, MLUOP_EXT_CONTRACT_STRICT), "mluOpExtSetContract: handle");
  expect(mluOpExtGetContract(nullptr, &contract), "mluOpExtGetContract: handle");
  expect(mluOpExtGetContract(handle_, nullptr), "mluOpExtGetContract: contract");
}

TEST_F(Handle, FreshState) {
  cnrtQueue_t queue = reinterpret_cast<cnrtQueue_t>(&queue);
  EXPECT_EQ(mluOpGetQueue(handle_, &queue), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(queue, nullptr);
  mluOpAtomicsMode_t atomics = MLUOP_ATOMICS_ALLOWED;
  EXPECT_EQ(mluOpGetAtomicsMode(handle_, &atomics), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(atomics, MLUOP_ATOMICS_NOT_ALLOWED);
  mluOpQuantizeRoundMode_t round = MLUOP_ROUND_HALF_UP;
  EXPECT_EQ(mluOpGetQuantizeRoundMode(handle_, &round), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(round, MLUOP_ROUND_HALF_TO_EVEN);
  mluOpExtContract_t contract = MLUOP_EXT_CONTRACT_EXTENDED;
  EXPECT_EQ(mluOpExtGetContract(handle_, &contract), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(contract, MLUOP_EXT_CONTRACT_STRICT);
  const char* last = nullptr;
  EXPECT_EQ(mluOpExtGetLastRunBackend(handle_, &last), MLUOP_STATUS_SUCCESS);
  EXPECT_STREQ(last, "");
}

TEST_F(Handle, KeepsWhatIsSet) {
  cnrtQueue_t queue = nullptr, got = nullptr;
  ASSERT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mluOpSetQueue(handle_, queue), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetQueue(handle_, &got), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(got, queue);
  EXPECT_EQ(mluOpSetQueue(handle_, nullptr), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);

  mluOpAtomicsMode_t atomics = MLUOP_ATOMICS_NOT_ALLOWED;
  EXPECT_EQ(mluOpSetAtomicsMode(handle_, MLUOP_ATOMICS_ALLOWED), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetAtomicsMode(handle_, &atomics), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(atomics, MLUOP_ATOMICS_ALLOWED);

  mluOpQuantizeRoundMode_t round = MLUOP_ROUND_HALF_TO_EVEN;
  EXPECT_EQ(mluOpSetQuantizeRoundMode(handle_, MLUOP_ROUND_HALF_OFF_ZERO), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpSetQuantizeRoundMode(handle_, static_cast<mluOpQuantizeRoundMode_t>(3)), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpGetQuantizeRoundMode(handle_, &round), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(round, MLUOP_ROUND_HALF_OFF_ZERO);
  EXPECT_EQ(mluOpUpdateContextInformation(handle_), MLUOP_STATUS_SUCCESS);

  EXPECT_EQ(mluOpExtSetContract(handle_, static_cast<mluOpExtContract_t>(2)), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExtSetContract(handle_, MLUOP_EXT_CONTRACT_EXTENDED), MLUOP_STATUS_SUCCESS);
}

TEST_F(Handle, ThreadsSetByTheCallerWinAndZeroReturnsToTheDefault) {
  int fresh = 0, threads = 0;
  EXPECT_EQ(mluOpExtGetNumThreads(handle_, &fresh), MLUOP_STATUS_SUCCESS);
  EXPECT_GE(fresh, 1);
  EXPECT_EQ(mluOpExtSetNumThreads(handle_, fresh + 3), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtGetNumThreads(handle_, &threads), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(threads, fresh + 3);
  EXPECT_EQ(mluOpExtSetNumThreads(handle_, -1), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExtSetNumThreads(handle_, 0), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtGetNumThreads(handle_, &threads), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(threads, fresh);
}

TEST_F(Handle, ExecutorNeedsAFunction) {
  mluOpExtExecutor_t empty = {};
  EXPECT_EQ(mluOpExtSetExecutor(handle_, &empty), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExtSetExecutor(handle_, nullptr), MLUOP_STATUS_SUCCESS);
}

TEST_F(Handle, QueriesAndOptionsNameTheirBackend) {
  char buffer[64] = "";
  EXPECT_EQ(mluOpExtQuery(handle_, "nobody", "isa", buffer, sizeof(buffer), nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExtQuery(handle_, "cpu", "no such key", buffer, sizeof(buffer), nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExtQuery(handle_, "cpu", "isa", nullptr, 1, nullptr), MLUOP_STATUS_BAD_PARAM);
  std::size_t length = 0;
  ASSERT_EQ(mluOpExtQuery(handle_, "cpu", "isa", nullptr, 0, &length), MLUOP_STATUS_SUCCESS);
  ASSERT_LT(length, sizeof(buffer));
  EXPECT_EQ(mluOpExtQuery(handle_, "cpu", "isa", buffer, sizeof(buffer), &length), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(std::strlen(buffer), length);
  EXPECT_GT(length, 0u);
  length = 7;
  EXPECT_EQ(mluOpExtQuery(handle_, "cpu", "last_path", buffer, sizeof(buffer), &length), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(length, 0u) << "no call yet: an empty text is an answer";
  EXPECT_EQ(mluOpExtSetOption(handle_, "cpu", "no such key", "1"), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExtSetOption(handle_, "cpu", nullptr, "1"), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExtSetOption(handle_, "nobody", "scatter", "owner"), MLUOP_STATUS_BAD_PARAM);
}

TEST(Version, IsThatOfTheApi) {
  int major = 0, minor = 0, patch = 0;
  mluOpGetLibVersion(&major, &minor, &patch);
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 11);
  EXPECT_EQ(patch, 1);
  mluOpGetLibVersion(nullptr, nullptr, nullptr);
  EXPECT_EQ(mluOpGetVersion(), 2101u);
  EXPECT_STRNE(mluOpExtGetVersion(), "");
}

TEST(ErrorText, BelongsToTheThread) {
  EXPECT_EQ(mluOpDestroy(nullptr), MLUOP_STATUS_BAD_PARAM);
  std::string there;
  std::thread([&] { there = mluOpExtGetLastErrorText(); }).join();
  EXPECT_EQ(there, "");
  EXPECT_STREQ(mluOpExtGetLastErrorText(), "mluOpDestroy: handle: wanted a pointer, got NULL");
}

TEST(ReservedMemory, IsTheVendorsDefaultUnlessTheEnvironmentSays) {
  uint64_t bytes = 0;
  EXPECT_EQ(mluOpGetReservedMemSize(&bytes), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(bytes, 2081ull << 20);
  const mluops::test::Environment environment{{"MLUOP_MEM_POOL_SIZE", "4096"}};
  EXPECT_EQ(mluOpGetReservedMemSize(&bytes), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(bytes, 4096u);
}

}  // namespace
