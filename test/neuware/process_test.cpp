// The process that kernels run in: its heap, its signal handlers, its children, its end.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"
#include "test/support/sanitized.h"

namespace neuware_test {
namespace {

constexpr unsigned kSoon = 60;  // seconds; a hang ends by SIGALRM

class ProcessDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "the sanitizer has handlers of its own";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

bool works() {
  OnDevice<std::int32_t> out(8);
  who_am_i(nullptr, {1, 1, 1}, cnrtFuncTypeBlock, out.data());
  return cnrtGetLastError() == cnrtSuccess;
}

void stray_for_ever(int form) {
  alarm(kSoon);
  strays(nullptr, form, nullptr);
  std::_Exit(works() ? 0 : 1);
}

TEST_F(ProcessDeathTest, ACorruptedHeapEndsTheProcess) {
  EXPECT_EXIT(stray_for_ever(6), testing::KilledBySignal(SIGABRT), "stray: scalar code failed inside .* C library");
}

TEST_F(ProcessDeathTest, AFaultWithinAStreamEndsTheProcess) {
  EXPECT_EXIT(stray_for_ever(7), testing::KilledBySignal(SIGSEGV), "stray: scalar code failed inside .* C library");
}

// ---- handlers ----

constexpr int kOwnHandler = 77;
void end_by_own_handler(int) {
  _exit(kOwnHandler);
}

void fault_under_a_late_handler() {
  if (!works()) _exit(1);
  std::signal(SIGSEGV, end_by_own_handler);
  for (int again = 0; again < 2; ++again) {
    strays(nullptr, 0, nullptr);
    if (cnrtGetLastError() != cnrtErrorKernelFault || !works()) _exit(2);
  }
  *static_cast<volatile int*>(nullptr) = 1;
}

TEST_F(ProcessDeathTest, HandlersInstalledAfterALaunchGetTheHostsFaultsAlone) {
  EXPECT_EXIT(fault_under_a_late_handler(), testing::ExitedWithCode(kOwnHandler), "");
}

struct sigaction handler_before;
volatile int calls = 0;
void call_the_one_before(int signal, siginfo_t* info, void* context) {
  calls = calls + 1;
  if (calls > 2) _exit(3);
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) handler_before.sa_sigaction(signal, info, context);
}

void fault_under_a_chain() {
  if (!works()) _exit(1);
  struct sigaction action = {};
  action.sa_sigaction = call_the_one_before;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &handler_before);
  strays(nullptr, 0, nullptr);
  if (cnrtGetLastError() != cnrtErrorKernelFault || calls != 0) _exit(2);
  *static_cast<volatile int*>(nullptr) = 1;
}

TEST_F(ProcessDeathTest, HandlersThatCallTheOneBeforeEnd) {
  EXPECT_EXIT(fault_under_a_chain(), testing::KilledBySignal(SIGSEGV), "");
}

// ---- children ----

/// The exit status of a child that launches.
int child_of(bool launched) {
  if (launched && !works()) return 9;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSoon);
    const bool refused = cnrtExtIsInBadFork() != 0, worked = works();
    const bool told = std::string(cnrtExtGetLastFault()).find("was forked") != std::string::npos;
    _exit(refused != launched || worked == launched || told != launched ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 8;
}

TEST_F(ProcessDeathTest, ChildrenOfAProcessThatLaunchedAreRefused) {
  EXPECT_EXIT(_exit(child_of(true)), testing::ExitedWithCode(0), "was forked after its parent used the device");
  EXPECT_EXIT(_exit(child_of(false)), testing::ExitedWithCode(0), "");
}

// ---- the end ----

void end_at_once(const std::string& findings, bool fault) {
  setenv("MLUOP_EMU_FINDINGS", findings.c_str(), 1);
  if (fault) strays(nullptr, 0, nullptr);
  if (!fault) works();
  _exit(0);
}

TEST_F(ProcessDeathTest, FindingsAreWrittenBeforeTheEnd) {
  const std::string own = (std::filesystem::temp_directory_path() / ("findings-" + std::to_string(getpid()))).string();
  setenv("NEUWARE_TEST_FINDINGS", own.c_str(), 0);  // the processes of a death test inherit it
  const std::string file = std::getenv("NEUWARE_TEST_FINDINGS");
  for (const bool fault : {true, false}) {
    EXPECT_EXIT(end_at_once(file, fault), testing::ExitedWithCode(0), "");
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(text.find(fault ? "1 faults, 0 warnings" : "0 faults, 0 warnings"), std::string::npos) << text;
    std::filesystem::remove(file);
  }
}

}  // namespace
}  // namespace neuware_test
