// Variables the library itself reads: thread counts and MLUOP_VERBOSE.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "mlu_op_ext.h"

namespace {

/// Sets variables for its lifetime.
class Env {
 public:
  Env(std::initializer_list<std::pair<const char*, const char*>> variables) : variables_(variables) {
    for (const auto& [name, value] : variables_) setenv(name, value, 1);
  }
  ~Env() {
    for (const auto& [name, value] : variables_) unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, const char*>> variables_;
};

int threads_of_a_fresh_handle() {
  mluOpHandle_t handle = nullptr;
  int threads = 0;
  EXPECT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(mluOpExtGetNumThreads(handle, &threads), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
  return threads;
}

TEST(ThreadVariables, TheLibrarysOwnWinsOverOpenmps) {
  unsetenv("MLUOP_NUM_THREADS");
  unsetenv("OMP_NUM_THREADS");
  EXPECT_GE(threads_of_a_fresh_handle(), 1);
  {
    const Env env({{"OMP_NUM_THREADS", "5,2"}});
    EXPECT_EQ(threads_of_a_fresh_handle(), 5);
  }
  const Env env({{"OMP_NUM_THREADS", "5"}, {"MLUOP_NUM_THREADS", "3"}});
  EXPECT_EQ(threads_of_a_fresh_handle(), 3);
}

TEST(ThreadVariables, ANonsenseNumberIsRefused) {
  for (const char* value : {"0", "-1", "many", "3x", "99999999999999999999"}) {
    const Env env({{"MLUOP_NUM_THREADS", value}});
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
  setenv("MLUOP_VERBOSE", level, 1);
  (void)mluOpDestroy(nullptr);
  std::exit(0);
}

TEST(Verbose, IsSilentByDefaultAndSaysFailuresWhenAsked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(speak("0"), ::testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(speak("1"), ::testing::ExitedWithCode(0),
              "^mluops: MLUOP_STATUS_BAD_PARAM mluOpDestroy: handle: wanted a pointer, got NULL\n$");
}

}  // namespace
