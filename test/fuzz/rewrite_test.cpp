// Files that end in the middle of what cncc rewrites: each once read or wrote beyond the last token.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <stdexcept>
#include <string>

#include "backends/mlu_emu/neuware/cncc/rewrite.h"

namespace mluops::test {
namespace {

std::string reason_for(const char* text) {
  try {
    cncc::rewrite(text);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

TEST(Rewrite, SaysWhatIsNotClosedOrMissing) {
  EXPECT_EQ(reason_for("<<<1, 2, 3>>>(4)"), "a launch needs a kernel name before <<<");
  EXPECT_EQ(reason_for("(<<<1, 2, 3>>>(4)"), "a launch needs a kernel name before <<<");
  EXPECT_EQ(reason_for("void f() { k<<<1, 2, 3>>>(4"), "a launch whose arguments are not closed");
  EXPECT_EQ(reason_for("__mlu_func__ void f() { asm volatile(\"sync;\""), "asm volatile(...) that is not closed");
}

TEST(Rewrite, RefusesWhatNobodyNests) {
  std::string text = "__mlu_func__ void f() { ";
  for (int i = 0; i < 100000; ++i) text += "do ";
  EXPECT_EQ(reason_for(text.c_str()), "statements are nested too deeply");
}

TEST(Rewrite, LeavesWhatTheCompilerWillRefuse) {
  for (const char* text : {"template", "x R\"", "extern {", "__nram__ float a[", "__nram__ float a[2",
                           "__mlu_func__ ~(", "__mlu_func__ (", "__nram__ float a __attribute__", ".\xb5"}) {
    EXPECT_EQ(reason_for(text), "") << text;
  }
}

/// CPU time of the calling thread, the least of three rewritings of `head`, `count` times `row`, and `tail`.
double seconds_for(const std::string& head, const std::string& row, const std::string& tail, int count) {
  std::string text = head;
  for (int i = 0; i < count; ++i) text += row;
  text += tail;
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double start = now();
    cncc::rewrite(text);
    least = std::min(least, now() - start);
  }
  return least;
}

TEST(Rewrite, TakesTimeInProportionToLongLists) {
  constexpr int kFew = 1000, kMany = 16000;
  const std::string function = "__mlu_func__ void f(int* p) { ";
  const std::string lists[][3] = {{"int t[][2] = {", "{1, 2},\n", "};"},
                                  {"int t[][2] {", "{1, 2},\n", "};"},
                                  {"__nram__ int t[][2] = {", "{1, 2},\n", "};"},
                                  {"", "int a{1},\n", "z{1};"},
                                  {"struct S { int ", "a{1},\n", "z{1}; };"},
                                  {function + "const int t[][2] = {", "{p[1], *p},\n", "}; }"},
                                  {function + "int t[] = {", "p[1], *p, (p[2]),\n", "}; }"},
                                  {function + "g(", "p[1], *p,\n", "0); }"},
                                  {function, "{ p[1] = 1; }\n", "}"},
                                  {function, "int &a = p[1]; a = 2;\n", "}"},
                                  {function, "p[1] = p[2] ? p[3] : *p;\n", "}"},
                                  {"void g(int& a, int b) {} " + function, "g(p[1], p[2]);\n", "}"},
                                  {"void g(int& a, ...) {} " + function + "g(", "p[1], *p,\n", "0); }"},
                                  {"int& g(int* p) { ", "if (*p) return p[1];\n", "}"},
                                  {function + "int a = 0", ", b = p[1]\n", "; }"}};
  for (const auto& [head, row, tail] : lists) {
    const double growth = seconds_for(head, row, tail, kMany) / seconds_for(head, row, tail, kFew);
    EXPECT_LT(growth, 4.0 * kMany / kFew) << head << row << tail;  // 256 where it is quadratic
  }
}

}  // namespace
}  // namespace mluops::test
