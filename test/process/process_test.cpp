// The library in processes that unload it, fork, or cannot start threads. probe.cpp has the scenarios.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "test/support/sanitized.h"

namespace {

/// "" when the scenario ended well, else how it ended.
std::string outcome(const std::string& scenario, const std::string& runtime) {
  const int status = std::system((PROBE " " LIBRARY " " + scenario + " " + runtime).c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (!WIFEXITED(status)) return "the shell was ended";
  constexpr int kBySignal = 128;
  const int code = WEXITSTATUS(status);
  if (code == kBySignal + SIGALRM) return "hung";
  return code > kBySignal ? "ended by signal " + std::to_string(code - kBySignal)
                          : "exit status " + std::to_string(code);
}

class Process : public ::testing::TestWithParam<const char*> {};

TEST_P(Process, LoadsCallsAndUnloadsAgainWithForksBetween) {
  EXPECT_EQ(outcome("reload", GetParam()), "");
}

TEST_P(Process, MakesItsFirstHandleInAChildOfAProgramThatUsesOpenmp) {
  EXPECT_EQ(outcome("first_handle_in_child", GetParam()), "");
}

TEST_P(Process, LoadsTheLibraryInAChildOfAProgramThatUsesOpenmp) {
  EXPECT_EQ(outcome("first_load_in_child", GetParam()), "");
}

/// Runtimes of the cpu backend: the emulated device itself needs more than the address space left for no stack.
class CpuProcess : public Process {};

TEST_P(CpuProcess, HasNoAddressSpaceForThreads) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer needs its address space";
  EXPECT_EQ(outcome("no_address_space", GetParam()), "");
}

TEST_P(Process, MayStartOnlyAFewThreads) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer's own threads count as well";
  EXPECT_EQ(outcome("few_threads", GetParam()), "");
}

std::string runtime_name(const ::testing::TestParamInfo<const char*>& runtime) {
  return runtime.param;
}

INSTANTIATE_TEST_SUITE_P(Runtime, Process, ::testing::Values("openmp", "tbb", "threads", "emulator"), runtime_name);
INSTANTIATE_TEST_SUITE_P(Runtime, CpuProcess, ::testing::Values("openmp", "tbb", "threads"), runtime_name);

/// What `readelf options LIBRARY` prints.
std::string readelf(const std::string& options) {
  std::string text;
  FILE* const pipe = popen(("readelf " + options + " -W " LIBRARY " 2>&1").c_str(), "r");
  if (pipe == nullptr) return text;
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) text += line;
  pclose(pipe);
  return text;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Hardening, IsInTheLibrary) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "not linked like the library that ships";
  const std::string dynamic = readelf("-d"), segments = readelf("-l"), symbols = readelf("--dyn-syms");
  EXPECT_TRUE(contains(dynamic, "BIND_NOW")) << dynamic;
  EXPECT_TRUE(contains(dynamic, "NODELETE")) << dynamic;
  EXPECT_FALSE(contains(dynamic, "TEXTREL")) << dynamic;
  EXPECT_FALSE(contains(dynamic, "RPATH")) << dynamic;
  EXPECT_TRUE(contains(segments, "GNU_RELRO")) << segments;
  EXPECT_FALSE(contains(segments, "RWE")) << segments;
  EXPECT_TRUE(contains(symbols, "__stack_chk_fail")) << symbols;
#if defined(__GLIBC__) && !defined(__clang__) && defined(NDEBUG)
  EXPECT_TRUE(contains(symbols, "printf_chk@")) << symbols;  // FORTIFY_SOURCE; of clang's C++ glibc leaves it out
#endif
  EXPECT_TRUE(contains(symbols, "mluOpCreate@@MLUOPS_0.1")) << symbols;
}

TEST(Hardening, ExportsNothingButTheApi) {
  std::istringstream symbols(readelf("--dyn-syms"));
  for (std::string line; std::getline(symbols, line);) {
    const bool defined = !contains(line, " UND ") && contains(line, " GLOBAL ");
    if (!defined || contains(line, " ABS ")) continue;
    EXPECT_TRUE(contains(line, " mluOp")) << line;
  }
}

/// A copy of the probe that runs with root's rights for everybody, in a folder of its own.
class SetuidProbe {
 public:
  SetuidProbe() {
    char name[] = "/tmp/mluops_setuid_XXXXXX";
    folder_ = mkdtemp(name);
    std::filesystem::copy_file(PROBE, path());
    EXPECT_EQ(chmod(folder_.c_str(), 0755), 0);
    EXPECT_EQ(chmod(path().c_str(), 04755), 0);
  }
  SetuidProbe(const SetuidProbe&) = delete;
  SetuidProbe& operator=(const SetuidProbe&) = delete;
  ~SetuidProbe() { std::filesystem::remove_all(folder_); }
  const std::string& folder() const { return folder_; }
  std::string path() const { return folder_ + "/probe"; }

 private:
  std::string folder_;
};

constexpr uid_t kNobody = 65534;

/// Exit status of the probe when somebody without rights runs it.
int run_as_nobody(const std::string& program, const char* scenario, const char* runtime) {
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(99);
    execl(program.c_str(), "probe", LIBRARY, scenario, runtime, nullptr);
    _exit(98);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Plugins, AreNotLoadedIntoASetuidProgram) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer's runtime reads the environment too";
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a setuid program for another user";
  setenv("MLUOP_BACKEND_PATH", PLUGIN, 1);
  EXPECT_NE(outcome("no_plugins", "-"), "") << "the plugin is loaded into a program of the caller's own rights";
  const SetuidProbe probe;
  EXPECT_EQ(run_as_nobody(probe.path(), "no_plugins", "-"), 0);
  unsetenv("MLUOP_BACKEND_PATH");
}

TEST(Capture, IsNotBegunInASetuidProgram) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer's runtime reads the environment too";
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a setuid program for another user";
  const SetuidProbe probe;
  const std::string kept = probe.folder() + "/calls";
  std::filesystem::create_directory(kept);
  setenv("MLUOP_CAPTURE", kept.c_str(), 1);
  EXPECT_EQ(run_as_nobody(probe.path(), "one_call", "threads"), 0);
  EXPECT_TRUE(std::filesystem::is_empty(kept));
  EXPECT_EQ(outcome("one_call", "threads"), "");
  EXPECT_FALSE(std::filesystem::is_empty(kept)) << "with the caller's own rights it does";
  unsetenv("MLUOP_CAPTURE");
}

}  // namespace
