// Wrong kernels, launches and calls: a text that names what was wrong, an error state, and the process lives.
#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"
#include "test/support/sanitized.h"

namespace neuware_test {
namespace {

class Faults : public WithQueue {};

TEST_F(Faults, MoreNramThanACoreHas) {
  too_much_nram(queue);
  expect_fault({"uses_all", "lanes", "256 bytes of NRAM", "capacity.mlu"});
}

TEST_F(Faults, WholeWramMayBeFilledOverItsLanesEnds) {
  fill_wram(queue, false);
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");
  fill_wram(queue, true);
  expect_fault({"fills_wram", "__memcpy at ", "whole_wram.mlu", "destination"});
}

TEST_F(Faults, UndefinedLanesStored) {
  OnDevice<float> out(64, 7.0f);
  stores_undefined(queue, out.data());
  expect_fault({"store", "task 0", "__memcpy", "source x+0", "never written", "x+128"});
  EXPECT_EQ(out.values(), std::vector<float>(64, 7.0f));
}

TEST_F(Faults, NothingIsLeftByTheTaskBefore) {
  OnDevice<float> out(64, 7.0f);
  stores_kept(queue, out.data(), true);
  expect_success();
  EXPECT_EQ(out.values()[63], 63.0f);
  stores_kept(queue, out.data(), false);
  expect_fault({"keep", "source kept+0", "never written"});
}

TEST_F(Faults, BlocksHaveBounds) {
  OnDevice<float> in(64);
  reads_beyond(queue, in.data(), 65);
  expect_fault({"load", "__memcpy", "256 bytes", "wanted GDRAM"});
}

TEST_F(Faults, BlocksAreCalledByTheNearestParameter) {
  OnDevice<float> block(64);
  stores_behind(queue, block.data(), 48, 15);
  expect_success();
  const std::string line = std::to_string(stores_behind(queue, block.data(), 48, 16));
  expect_fault(
      {"destination from_the_middle+64 (GDRAM, block ", ", declared at ", "faults.mlu:" + line + "), 4 bytes"});
}

TEST_F(Faults, MemoryThatWasNeverWritten) {
  void* block = nullptr;
  ASSERT_EQ(cnrtMalloc(&block, 1024), cnrtSuccess);
  float* words = static_cast<float*>(block);
  ASSERT_EQ(cnrtMemset(words + 8, 0, 32), cnrtSuccess);
  load_scalars(queue, words, 8, 16);
  expect_success();
  reads_beyond(queue, words, 8);  // some of it is
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");
  reads_beyond(queue, words, 64);
  expect_success();
  EXPECT_NE(std::string(cnrtExtGetLastWarning()).find("never written since cnrtMalloc"), std::string::npos);
  load_scalars(queue, words, 8, 17);
  expect_fault(
      {"load_each", "scalar code at ", "source words+64 (GDRAM, block ", "4 bytes: never written since cnrtMalloc"});
  EXPECT_EQ(cnrtFree(block), cnrtSuccess);
}

TEST_F(Faults, UseAfterFree) {
  void* block = nullptr;
  ASSERT_EQ(cnrtMalloc(&block, 1 << 20), cnrtSuccess);
  ASSERT_EQ(cnrtFree(block), cnrtSuccess);
  reads_beyond(queue, static_cast<float*>(block), 0);
  expect_fault({"load", "__memcpy", "source"});
}

TEST_F(Faults, TwoTasksWriteTheSameBytes) {
  OnDevice<float> out(1);
  races(queue, out.data());
  expect_fault({"all_write", "task 1", "race"});
}

TEST_F(Faults, KernelsThatThrow) {
  throws(queue);
  expect_fault({"throwing", "from a kernel"});
}

TEST_F(Faults, UnknownMlisaIsNamed) {
  unknown_mlisa(queue);
  expect_fault({"strange", "inline MLISA", "launch.rocket;"});
}

TEST_F(Faults, LaunchesTheMachineCannotRun) {
  OnDevice<std::int32_t> out(8);
  who_am_i(queue, {3, 1, 1}, cnrtFuncTypeUnion1, out.data());
  expect_fault({"identify", "UNION1", "multiple of the 4 cores", "got 3"});
  who_am_i(queue, {64, 1, 1}, cnrtFuncTypeUnion16, out.data());
  EXPECT_EQ(cnrtGetLastError(), cnrtErrorKernelFault);
  who_am_i(queue, {4, 1, 1}, static_cast<cnrtFunctionType_t>(5), out.data());
  EXPECT_EQ(cnrtGetLastError(), cnrtErrorLaunchInvalid);
}

TEST_F(Faults, WhatTheProcessorRefusesNamesKernelTaskAndLine) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends the process itself";
#endif
  strays(queue, 0, nullptr);
  expect_fault({"stray, task 0 (cluster 0, core 0): scalar code at ",
                "faults.mlu:", "in stray(int, float*): accessed address 0, a null pointer"});
  strays(queue, 1, nullptr);
  expect_fault({"stray, task 0", "faults.mlu:", "accessed "});
  std::vector<std::string> recursion = {"stray, task 0", "stack overflow"};
  if (!MLUOPS_TEST_SANITIZED)
    recursion.insert(recursion.end(), {"faults.mlu:", "deeper"});  // else it may end in __asan_memcpy
  for (int again = 0; again < 3; ++again) {
    strays(queue, 3, nullptr);
    expect_fault(recursion);
  }
  strays(queue, 5, nullptr);
  EXPECT_EQ(cnrtGetLastError(), cnrtSuccess) << "the machine works on";
}

TEST_F(Faults, DivisionsByZeroGoOn) {
  constexpr std::int64_t kLeast = INT32_MIN, kLeast64 = INT64_MIN;
  OnDevice<std::int64_t> out(20, -1);
  divides_by(queue, 0, -1, out.data());
  expect_success();
  const std::vector<std::int64_t> wanted = {0, 7,  0, 7, 0, 7,      0,      7, 0,        7,
                                            0, -7, 0, 7, 0, kLeast, kLeast, 0, kLeast64, 0};
  EXPECT_EQ(out.values(), wanted);
#if defined(__x86_64__)  // others divide without a word
  const std::string text = cnrtExtGetLastWarning();
  for (const char* part : {"divide_by, task 0", "faults.mlu:", ": in ", "divided ", "the quotient is "}) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
  }
#endif
  divides_by(queue, 2, 3, out.data());
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");
}

TEST_F(Faults, StacksUsedUpInTheLibraryLeaveNothingLocked) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends the process itself";
#endif
  constexpr int kStep = 16, kMost = 1536;  // bytes; a level of the recursion takes less than the most
  for (int bytes = kStep; bytes <= kMost; bytes += kStep) {
    sinks(queue, bytes);
    expect_fault({"sink, task 0", "stack overflow"});
  }
  OnDevice<std::int32_t> out(8);
  who_am_i(queue, {1, 1, 1}, cnrtFuncTypeBlock, out.data());
  EXPECT_EQ(cnrtGetLastError(), cnrtSuccess) << "the machine works on";
}

TEST_F(Faults, MemoryOfTheHostIsNamedSo) {
  std::vector<float> host(64);
  strays(queue, 4, host.data());
  expect_fault({"stray, task 0 (cluster 0, core 0): __memcpy at ", "no block of device memory",
                "cnrtMalloc and cnrtMemcpy", "wanted GDRAM"});
}

/// In a process of its own, since the limit is read once.
void end_of_endless_loops() {
  setenv("MLUOP_EMU_LIMIT", "1s", 1);
  for (int form = 0; form < 4; ++form) {
    endless(nullptr, form);
    const std::string text = cnrtExtGetLastFault();
    if (cnrtGetLastError() != cnrtErrorKernelFault || text.find("1 s MLUOP_EMU_LIMIT") == std::string::npos) {
      std::_Exit(10 + form);
    }
  }
  OnDevice<std::int32_t> out(5);
  loops(nullptr, out.data());
  std::_Exit(cnrtGetLastError() == cnrtSuccess && out.values()[4] == 20 ? 0 : 1);  // the machine is as it was
}

TEST(FaultsDeathTest, LoopsWithoutWordsEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_of_endless_loops(), testing::ExitedWithCode(0),
              "spin, task 0 .cluster 0, core 0.: a loop at [^ ]*faults.mlu:[1-9]");
}

TEST(Runtime, RefusesBadCalls) {
  void* block = nullptr;
  EXPECT_EQ(cnrtMalloc(nullptr, 4), cnrtErrorArgsInvalid);
  ASSERT_EQ(cnrtMalloc(&block, 0), cnrtSuccess) << "an empty tensor's memory";
  EXPECT_EQ(cnrtMemset(block, 1, 1), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtFree(block), cnrtSuccess);
  EXPECT_EQ(cnrtMalloc(&block, ~std::size_t{0}), cnrtErrorNoMem);
  ASSERT_EQ(cnrtMalloc(&block, 16), cnrtSuccess);
  char host[32] = {};
  EXPECT_EQ(cnrtMemcpy(block, host, 17, cnrtMemcpyHostToDev), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtMemcpy(host, host + 16, 16, cnrtMemcpyDevToHost), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtMemset(block, 1, 17), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtMemset(block, 1, 16), cnrtSuccess);
  EXPECT_EQ(cnrtFree(block), cnrtSuccess);
  EXPECT_EQ(cnrtFree(block), cnrtErrorArgsInvalid) << "freed twice";
  EXPECT_EQ(cnrtFree(host), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtSetDevice(1), cnrtErrorNoDevice);
  cnrtGetLastError();
}

TEST(Runtime, RefusesDirectionsThereAreNot) {
  void* block = nullptr;
  char host[16] = {};
  ASSERT_EQ(cnrtMalloc(&block, 16), cnrtSuccess);
  for (const int direction : {-1, 6, 99}) {
    EXPECT_EQ(cnrtMemcpy(host, block, 16, static_cast<cnrtMemTransDir_t>(direction)), cnrtErrorArgsInvalid);
  }
  EXPECT_EQ(cnrtMemcpy(host, host + 8, 8, cnrtMemcpyHostToHost), cnrtSuccess);
  EXPECT_EQ(cnrtFree(block), cnrtSuccess);
  cnrtGetLastError();
}

TEST(Runtime, HandlesAreKnownWhileTheyLive) {
  cnrtQueue_t queue = nullptr;
  cnrtNotifier_t start = nullptr, end = nullptr;
  cnrtQuantizedParam_t param = nullptr;
  float us = 7;
  ASSERT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  ASSERT_EQ(cnrtNotifierCreate(&start), cnrtSuccess);
  ASSERT_EQ(cnrtNotifierCreate(&end), cnrtSuccess);
  ASSERT_EQ(cnrtCreateQuantizedParam(&param, 0, 1, 0), cnrtSuccess);
  EXPECT_EQ(cnrtNotifierDestroy(start), cnrtSuccess);
  EXPECT_EQ(cnrtNotifierDestroy(start), cnrtErrorArgsInvalid) << "destroyed twice";
  EXPECT_EQ(cnrtPlaceNotifier(start, queue), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtWaitNotifier(start), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtNotifierDuration(start, end, &us), cnrtErrorArgsInvalid);
  EXPECT_EQ(us, 7);
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtErrorArgsInvalid) << "destroyed twice";
  EXPECT_EQ(cnrtQueueDestroy(nullptr), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtQueueSync(queue), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtPlaceNotifier(end, queue), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtQueueWaitNotifier(end, queue, 0), cnrtErrorArgsInvalid);
  cnrtGetLastError();
  no_arguments(queue);
  EXPECT_EQ(cnrtGetLastError(), cnrtErrorLaunchInvalid);
  EXPECT_NE(std::string(cnrtExtGetLastFault()).find("the queue is invalid or was destroyed"), std::string::npos);
  EXPECT_EQ(cnrtDestroyQuantizedParam(param), cnrtSuccess);
  EXPECT_EQ(cnrtDestroyQuantizedParam(param), cnrtErrorArgsInvalid);
  EXPECT_EQ(cnrtNotifierDestroy(end), cnrtSuccess);
  cnrtGetLastError();
}

}  // namespace
}  // namespace neuware_test
