// The command line of cncc: what a build system asks of a compiler driver.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "test/support/sanitized.h"

/// A sanitized runtime cannot serve programs built without this tree's flags.
#define NEUWARE_SKIP_WITHOUT_PROGRAMS() \
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "cncc's programs cannot link a sanitized runtime"

namespace neuware_test {
namespace {

namespace fs = std::filesystem;

/// A folder with one kernel file, gone with the test.
class Command : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cncc-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    put("sub/answer.h", "#define ANSWER 42\n");
    put("k.mlu",
        "#include <mlu.h>\n#include \"answer.h\"\n"
        "__mlu_entry__ void k(int *out) { int i = 0; while (i < ANSWER) i++; *out = i; }\n"
        "int main() {\n  int *d, h = 0;\n  cnrtMalloc((void **)&d, 4);\n"
        "  k<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(d);\n"
        "  cnrtMemcpy(&h, d, 4, cnrtMemcpyDevToHost);\n  return h == ANSWER ? __BANG_ARCH__ / 10 : 1;\n}\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool exists(const std::string& name) const { return fs::exists(folder_ / name); }
  /// The exit status of a shell's line within the folder; "cncc" is the driver.
  int shell(const std::string& line) const {
    const std::string all =
        "cd '" + folder_.string() + "' && cncc() { \"" CNCC "\" \"$@\"; } && { " + line + "\n} >out.txt 2>err.txt";
    const int status = std::system(all.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void expect_text(const std::string& file, const std::string& part) const {
    EXPECT_NE(text(file).find(part), std::string::npos) << file << ": " << text(file) << "\nlacks " << part;
  }

  fs::path folder_;
};

TEST_F(Command, BinariesCarryTheirArchitecture) {
  NEUWARE_SKIP_WITHOUT_PROGRAMS();
  ASSERT_EQ(
      shell("cncc -Isub k.mlu -o a && cncc -Isub --bang-arch=compute_50 k.mlu -o b && "
            "cncc -Isub --bang-arch=compute_99 --bang-arch=compute_30,compute_50 --bang-mlu-arch=mtp_592 k.mlu -o c"),
      0)
      << text("err.txt");
  EXPECT_EQ(shell("unset MLUOP_EMU_ARCH; ./a"), 37);
  EXPECT_EQ(shell("unset MLUOP_EMU_ARCH; ./b"), 59);
  EXPECT_EQ(shell("unset MLUOP_EMU_ARCH; ./c"), 37);
  EXPECT_EQ(shell("MLUOP_EMU_ARCH=mtp_592 ./a"), 1);
  expect_text("err.txt", "was compiled for mtp_372");
  EXPECT_EQ(shell("cncc --bang-arch=compute_99 -Isub k.mlu"), 1);
  expect_text("err.txt", "no known architecture");
}

TEST_F(Command, DependenciesLieBesideTheObject) {
  ASSERT_EQ(shell("cncc -Isub -MMD -c k.mlu -o o/k.o || { mkdir o && cncc -Isub -MMD -MP -c k.mlu -o o/k.o; }"), 0);
  expect_text("o/k.d", "o/k.o: k.mlu");
  expect_text("o/k.d", "sub/answer.h:");
  ASSERT_EQ(shell("cncc -Isub -MD -c k.mlu"), 0);
  expect_text("k.d", "k.o: k.mlu");
  ASSERT_EQ(shell("cncc -Isub -MMD -MF x.d -MT target -c k.mlu"), 0);
  expect_text("x.d", "target: k.mlu");
}

TEST_F(Command, DependenciesOfAProgramLieBesideItsSource) {
  NEUWARE_SKIP_WITHOUT_PROGRAMS();
  ASSERT_EQ(shell("cncc -Isub -MMD k.mlu -o program"), 0);
  expect_text("k.d", "sub/answer.h");
}

TEST_F(Command, DependenciesAlone) {
  ASSERT_EQ(shell("cncc -Isub -MM k.mlu"), 0);
  expect_text("out.txt", "k.o: k.mlu");
  expect_text("out.txt", "sub/answer.h");
  ASSERT_EQ(shell("cncc -Isub -M -MT other k.mlu -o m.d"), 0);
  expect_text("m.d", "other: k.mlu");
  EXPECT_FALSE(exists("k.o"));
  EXPECT_FALSE(exists("a.out"));
}

TEST_F(Command, SyntaxAlone) {
  EXPECT_EQ(shell("cncc -Isub -fsyntax-only k.mlu"), 0) << text("err.txt");
  put("bad.mlu", "#include <mlu.h>\n__mlu_entry__ void k() { int i }\n");
  EXPECT_NE(shell("cncc -fsyntax-only bad.mlu"), 0);
  expect_text("err.txt", "bad.mlu:2:");
  EXPECT_FALSE(exists("k.o") || exists("a.out"));
}

/// The compiler sees the rewritten text, the author reads about the one that was written.
TEST_F(Command, ColumnsAndCaretsAreTheAuthors) {
  put("bad.mlu",
      "#include <mlu.h>\n#define TWICE(x) ((x) + (x))\n__nram__ float x[64];\n"
      "__mlu_entry__ void k(float *p, int n) {\n"
      "  for (int i = 0; i < n; i++) p[i] = p[i] * 2 + missing;\n"
      "  if (n > 3) __bang_add(x, x, x, 64), p[1] = absent;\n"
      "  p[2] = TWICE(p[n]) + lost;\n"
      "  x[n] = p[0] + *(p + 1) + gone;\n}\n");
  EXPECT_NE(shell("cncc -c bad.mlu"), 0);
  for (const char* const place :
       {"bad.mlu:5:49: error", "bad.mlu:6:46: error", "bad.mlu:7:24: error", "bad.mlu:8:28: error"}) {
    expect_text("err.txt", place);
  }
  expect_text("err.txt", "p[i] * 2 + missing;\n      |                                                 ^~~~~~~\n");
}

TEST_F(Command, AMissingSemicolonSaysSo) {
  for (const char* const before :
       {"__memcpy(x, p, 256, GDRAM2NRAM)", "p[0] = 3", "if (p[0] > 0) __bang_add(x, x, x, 64)", "float y = p[1]"}) {
    SCOPED_TRACE(before);
    put("bad.mlu", std::string("#include <mlu.h>\n__nram__ float x[64];\n__mlu_entry__ void k(float *p) {\n") + before +
                       "\n  __bang_mul(x, x, x, 64);\n}\n");
    EXPECT_NE(shell("cncc -fsyntax-only bad.mlu"), 0);
    for (const char* const part : {"bad.mlu:", "error: expected", "__bang_mul"}) expect_text("err.txt", part);
    const std::string said = text("err.txt");
    EXPECT_TRUE(said.find("\u2018;\u2019") != std::string::npos || said.find("';'") != std::string::npos) << said;
    EXPECT_EQ(said.find("::neuware"), std::string::npos) << said;
  }
}

TEST_F(Command, AnArrayOnTheChipWithoutAConstantLengthIsOneError) {
  put("bad.mlu",
      "#include <mlu.h>\n__mlu_entry__ void k(float *p, int n) {\n  __nram__ float x[n];\n  x[0] = n;\n"
      "  p[0] = x[1] + *x;\n}\n");
  EXPECT_NE(shell("cncc -fsyntax-only bad.mlu"), 0);
  const std::string said = text("err.txt");
  expect_text("err.txt", "bad.mlu:3:3: error: the length of an on-chip array must be a constant\n");
  EXPECT_EQ(said.find("error:"), said.rfind("error:")) << said;
  EXPECT_EQ(said.find("note:"), std::string::npos) << said;
}

TEST_F(Command, ALaunchThatIsNoneHidesNothing) {
  put("bad.mlu",
      "#include <mlu.h>\n__mlu_entry__ void k(float *p) { p[0] = 1; }\nvoid f(float *p) {\n"
      "  k<<<1, cnrtFuncTypeBlock>>>(p);\n  if (p != nullptr) k<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>;\n"
      "  absent();\n}\n");
  EXPECT_EQ(shell("cncc -c bad.mlu -o bad.o"), 1);
  for (const char* const said : {"bad.mlu:4:4: error: a launch needs <<<dimensions, type, queue>>>\n",
                                 "bad.mlu:5:22: error: a launch without arguments", "bad.mlu:6:3: error: "}) {
    expect_text("err.txt", said);
  }
  EXPECT_FALSE(exists("bad.o"));
  EXPECT_EQ(shell("cncc -E bad.mlu"), 1);
  EXPECT_EQ(text("out.txt"), "");
}

/// What the host's compiler knows and the device has not is a warning; what both have is none.
TEST_F(Command, WhatTheDeviceHasNotIsAWarning) {
  put("host.mlu",
      "#include <mlu.h>\n#include <vector>\n"
      "float plain(float a) { return a + 1; }\n"
      "template <class T> __mlu_func__ T marked(T a) { return a; }\n"
      "constexpr int known(int a) { return a; }\n"
      "struct Pair { float a; __mlu_func__ float sum() { return a; } };\n"
      "__mlu_entry__ void k(float *p) {\n"
      "  Pair pair{marked(p[0])};\n  p[known(0)] = pair.sum();\n"
      "  auto local = [](float a) { return a; };\n  p[2] = local(p[1]);\n"
      "#ifdef BAD\n"
      "  p[3] = plain(p[0]);\n  float *q = new float[4];\n  delete[] q;\n  std::vector<float> v(3);\n"
      "  if (p[4] > 3) throw 3;\n"
      "#endif\n}\n"
      "#ifdef BAD\n__mlu_entry__ int value(float *p) { return 3; }\n#endif\n"
      "int main() { std::vector<float> v(1); float *q = new float(plain(v[0])); delete q; throw 3; }\n");
  ASSERT_EQ(shell("cncc -c host.mlu"), 0) << text("err.txt");
  EXPECT_EQ(text("err.txt"), "");
  ASSERT_EQ(shell("cncc -DBAD -c host.mlu"), 0) << text("err.txt");
  for (const char* const said :
       {"host.mlu:13:10: warning: device code calls the host function 'plain': functions of the device are marked "
        "__mlu_func__\n  p[3] = plain(p[0]);\n         ^~~~~\n",
        "host.mlu:14:14: warning: device code uses new", "host.mlu:15:3: warning: device code uses delete",
        "host.mlu:16:3: warning: device code uses std::vector", "host.mlu:17:17: warning: device code uses throw",
        "host.mlu:21:19: warning: kernel 'value' returns a value: a kernel returns void"}) {
    expect_text("err.txt", said);
  }
  ASSERT_EQ(shell("cncc -w -DBAD -c host.mlu"), 0);
  EXPECT_EQ(text("err.txt"), "");
}

/// What C++20 took away, and what it brought.
TEST_F(Command, FilesAreCpp17UnlessALaterOneIsAskedFor) {
  put("old.mlu",
      "#include <mlu.h>\nconst char *name = u8\"k\";\n__mlu_entry__ void k(float *x) { x[taskId] = x[0]; }\n");
  EXPECT_EQ(shell("cncc -fsyntax-only old.mlu && cncc -std=c++11 -fsyntax-only old.mlu"), 0) << text("err.txt");
  EXPECT_NE(shell("cncc -std=c++20 -fsyntax-only old.mlu"), 0);
  put("new.mlu",
      "#include <mlu.h>\ntemplate <class T>\nconcept Small = sizeof(T) < 4;\n"
      "__mlu_entry__ void k(float *x) { x[taskId] = Small<half>; }\n");
  EXPECT_NE(shell("cncc -fsyntax-only new.mlu"), 0);
  EXPECT_EQ(shell("cncc -std=gnu++20 -fsyntax-only new.mlu"), 0) << text("err.txt");
}

TEST_F(Command, ItsOwnPreprocessedTextCompiles) {
  NEUWARE_SKIP_WITHOUT_PROGRAMS();
  ASSERT_EQ(shell("cncc -Isub -E k.mlu -o k.ii && cncc -c k.ii -o k1.o && cncc k1.o -o a"), 0) << text("err.txt");
  EXPECT_EQ(shell("./a"), 37);
  ASSERT_EQ(shell("cncc -Isub -E k.mlu > again.mlu && cncc again.mlu -o b"), 0) << text("err.txt");
  EXPECT_EQ(shell("./b"), 37);
  EXPECT_EQ(shell("cncc -Isub -S k.mlu && test -s k.s"), 0);
}

TEST_F(Command, OutputThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(shell("cncc -Isub -E k.mlu -o /dev/full"), 1);
  expect_text("err.txt", "cannot write '/dev/full'");
  EXPECT_EQ(shell("cncc -Isub -E k.mlu >/dev/full"), 1);
  EXPECT_NE(shell("cncc -Isub -c k.mlu -o /dev/full"), 0);
  EXPECT_NE(shell("cncc -Isub -MM k.mlu -o missing/folder"), 0);
}

TEST_F(Command, ResponseFiles) {
  NEUWARE_SKIP_WITHOUT_PROGRAMS();
  put("options", "-Isub -DSPACED=\"a b\" '-DQUOTED=1'\n@more");
  put("more", "k.mlu\n-o\nwith\\ space");
  ASSERT_EQ(shell("cncc @options && ./'with space'; test $? = 37"), 0) << text("err.txt");
  put("loop", "@loop");
  EXPECT_EQ(shell("cncc @loop"), 1);
  expect_text("err.txt", "too many response files");
  EXPECT_NE(shell("cncc @missing"), 0);
}

TEST_F(Command, HeadersOfTheCommandLineMayUseTheWords) {
  put("words.h", "__mlu_func__ float one(half h) { return __BANG_ARCH__ > 0 ? (float)h : 0.0f; }\n");
  for (const char* const header : {"bang_device_functions.h", "bang_device_functions_decls.h", "bang_device_types.h"}) {
    EXPECT_EQ(shell(std::string("cncc -Isub -include words.h -include ") + header + " -c k.mlu"), 0) << text("err.txt");
  }
  EXPECT_EQ(shell("cncc -Isub -x bang --bang-device-only -fPIC -shared k.mlu -lbangc -lm -o k.so"), 0)
      << text("err.txt");
}

TEST_F(Command, WhiteSpaceOfUnicodeIsWhiteSpace) {
  put("wide.h", "\u00a0inline\u00a0int answer(int a,\u3000int\u2009\u53d8\u91cf) {\u00a0return a + \u53d8\u91cf; }\n");
  put("wide.mlu",
      "#include \"wide.h\"\n__mlu_entry__\u00a0void k()\u00a0{ __nram__\u3000float x[64]; __bang_add(x,\u00a0x, x, "
      "64); }\n"
      "int main() {\u00a0return answer(20, 22) + (sizeof(\"\u00a0\") == 3 ? 0 : 1); }\n");
  ASSERT_EQ(shell("cncc -c wide.mlu -o wide.o"), 0) << text("err.txt");
  NEUWARE_SKIP_WITHOUT_PROGRAMS();
  ASSERT_EQ(shell("cncc wide.mlu -o wide && ./wide; test $? = 42"), 0) << text("err.txt");
}

TEST_F(Command, SignalsLeaveNothingBehind) {
  put("endless.sh", "#!/bin/sh\nexec sleep 30\n");
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ASSERT_EQ(shell("chmod +x endless.sh; rm -rf tmp; mkdir tmp"), 0);
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.c_str()) != 0) _exit(1);
      setenv("TMPDIR", "tmp", 1);
      setenv("CNCC_HOST_COMPILER", "./endless.sh", 1);
      execl(CNCC, CNCC, "-c", "k.mlu", static_cast<char*>(nullptr));
      _exit(1);
    }
    for (int i = 0; i < 500 && fs::is_empty(folder_ / "tmp"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_FALSE(fs::is_empty(folder_ / "tmp"));
    kill(child, signal);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_TRUE(fs::is_empty(folder_ / "tmp")) << signal;
  }
}

}  // namespace
}  // namespace neuware_test
