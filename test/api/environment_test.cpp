// Variables the library itself reads: thread counts and MLUOP_VERBOSE.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "mlu_op_ext.h"
#include "mluops/verbose.h"
#include "test/support/environment.h"

namespace {

using mluops::test::Environment;
using mluops::test::set_variable;
using mluops::test::unset_variable;

int threads_of_a_fresh_handle() {
  mluOpHandle_t handle = nullptr;
  int threads = 0;
  EXPECT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(mluOpExtGetNumThreads(handle, &threads), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
  return threads;
}

TEST(ThreadVariables, TheLibrarysOwnWinsOverOpenmps) {
  unset_variable("MLUOP_NUM_THREADS");
  unset_variable("OMP_NUM_THREADS");
  EXPECT_GE(threads_of_a_fresh_handle(), 1);
  {
    const Environment env{{"OMP_NUM_THREADS", "5,2"}};
    EXPECT_EQ(threads_of_a_fresh_handle(), 5);
  }
  const int all = threads_of_a_fresh_handle();
  for (const char* none : {"0", "-3", "4097", "many"}) {
    const Environment env{{"OMP_NUM_THREADS", none}};
    EXPECT_EQ(threads_of_a_fresh_handle(), all) << none;
  }
  const Environment env{{"OMP_NUM_THREADS", "5"}, {"MLUOP_NUM_THREADS", "3"}};
  EXPECT_EQ(threads_of_a_fresh_handle(), 3);
}

TEST(ThreadVariables, ANonsenseNumberIsRefused) {
  for (const char* value : {"0", "-1", "many", "3x", "99999999999999999999"}) {
    const Environment env{{"MLUOP_NUM_THREADS", value}};
    mluOpHandle_t handle = nullptr;
    EXPECT_EQ(mluOpCreate(&handle), MLUOP_STATUS_NOT_INITIALIZED);
    EXPECT_EQ(handle, nullptr);
    EXPECT_EQ(
        mluOpExtGetLastErrorText(),
        "mluOpCreate: MLUOP_NUM_THREADS: wanted a whole number from 1 to 4096, got \"" + std::string(value) + "\"");
  }
}

/// What a fresh process prints on stderr while it creates a handle and makes one bad call.
void speak(const char* level) {
  set_variable("MLUOP_VERBOSE", level);
  (void)mluOpDestroy(nullptr);
  std::exit(0);
}

TEST(Verbose, IsSilentByDefaultAndSaysFailuresWhenAsked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(speak("0"), ::testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(speak("1"), ::testing::ExitedWithCode(0),
              "^mluops: MLUOP_STATUS_BAD_PARAM mluOpDestroy: handle: wanted a pointer, got NULL\n$");
}

void speak_of_a_hostile_name() {
  set_variable("MLUOP_VERBOSE", "1");
  set_variable("MLUOP_BACKEND", "a\033[2Jb\nmluops: all is well\x7f");
  mluOpHandle_t handle = nullptr;
  (void)mluOpCreate(&handle);
  std::exit(0);
}

TEST(Verbose, EscapesControlCharacters) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(speak_of_a_hostile_name(), ::testing::ExitedWithCode(0),
              "^mluops: [^\n]*a\\\\x1b\\[2Jb\\\\x0amluops: all is well\\\\x7f[^\n]*\n$");
}

/// What a fresh process prints that makes two handles and three calls of which one fails.
void speak_with(std::initializer_list<std::pair<const char*, const char*>> variables) {
  for (const auto& [name, value] : variables) set_variable(name, value);
  mluOpHandle_t handles[2] = {};
  for (mluOpHandle_t& handle : handles) (void)mluOpCreate(&handle);
  (void)mluOpSetQueue(nullptr, nullptr);
  (void)mluOpExtSetVerbose(0);
  (void)mluOpSetQueue(nullptr, nullptr);
  (void)mluOpExtSetVerbose(-1);
  for (mluOpHandle_t handle : handles) (void)mluOpDestroy(handle);
  std::exit(0);
}

TEST(Verbose, BeginsWithAHeader) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* const header =
      "^mluops: version [0-9.]+,backend cpu isa=[A-Z0-9_]+ threading=[a-z]+,threads 3\n"
      "mluops: MLUOP_STATUS_BAD_PARAM mluOpSetQueue: handle: wanted a pointer, got NULL\n$";
  EXPECT_EXIT(speak_with({{"MLUOP_VERBOSE", "1"}, {"MLUOP_NUM_THREADS", "3"}}), ::testing::ExitedWithCode(0), header);
  EXPECT_EXIT(speak_with({{"MLUOP_VERBOSE", "1"}, {"MLUOP_BACKEND", "mlu_emu,cpu"}}), ::testing::ExitedWithCode(0),
              "^mluops: version [0-9.]+,backend mlu_emu,backend cpu isa=");
}

TEST(Verbose, TimestampsOnRequest) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(speak_with({{"MLUOP_VERBOSE", "1"}, {"MLUOP_VERBOSE_TIMESTAMP", "1"}}), ::testing::ExitedWithCode(0),
              "^mluops: version [^\n]*\nmluops: [0-9]{13,}\\.[0-9]{3},MLUOP_STATUS_BAD_PARAM [^\n]*\n$");
}

TEST(Verbose, VariablesThatAreNotUnderstoodAreSaidOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(speak_with({{"MLUOP_VERBOSE", "yes"}}), ::testing::ExitedWithCode(0),
              "^mluops: MLUOP_VERBOSE: wanted a whole number from 0 to 9, got \"yes\"\n$");
  EXPECT_EXIT(speak_with({{"MLUOP_VERBOSE", "1"}, {"MLUOP_VERBOSE_TIMESTAMP", "2"}}), ::testing::ExitedWithCode(0),
              "\nmluops: MLUOP_VERBOSE_TIMESTAMP: wanted a whole number from 0 to 1, got \"2\"\n[^\n]*\n$");
}

/// A pool's worker that is bound to one core makes handles of as many threads as the process has processors.
TEST(ThreadVariables, OneThreadBoundToACoreIsNotTheProcess) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  const int wanted = threads_of_a_fresh_handle();
  int got = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    got = threads_of_a_fresh_handle();
  }).join();
  EXPECT_EQ(got, wanted);
}

void tell_threads() {
  std::exit(threads_of_a_fresh_handle());
}

TEST(ThreadVariables, OpenmpThatBindsTheFirstThreadIsNotOneProcessor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int wanted = threads_of_a_fresh_handle();
  const Environment env{{"OMP_PROC_BIND", "true"}};
  EXPECT_EXIT(tell_threads(), ::testing::ExitedWithCode(wanted), "");
}

}  // namespace
