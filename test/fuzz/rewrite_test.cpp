// Files that end in the middle of what cncc rewrites: each once read or wrote beyond the last token.
#include <gtest/gtest.h>

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
  EXPECT_EQ(reason_for("<<<1, 2, 3>>>(4)"), "a launch without a kernel's name before <<<");
  EXPECT_EQ(reason_for("(<<<1, 2, 3>>>(4)"), "a launch without a kernel's name before <<<");
  EXPECT_EQ(reason_for("void f() { k<<<1, 2, 3>>>(4"), "a launch whose arguments are not closed");
  EXPECT_EQ(reason_for("__mlu_func__ void f() { asm volatile(\"sync;\""), "asm volatile(...) that is not closed");
}

TEST(Rewrite, RefusesWhatNobodyNests) {
  std::string text = "__mlu_func__ void f() { ";
  for (int i = 0; i < 100000; ++i) text += "do ";
  EXPECT_EQ(reason_for(text.c_str()), "statements within statements, too deep");
}

TEST(Rewrite, LeavesWhatTheCompilerWillRefuse) {
  for (const char* text : {"template", "x R\"", "extern {", "__nram__ float a[", "__nram__ float a[2",
                           "__mlu_func__ ~(", "__mlu_func__ (", "__nram__ float a __attribute__", ".\xb5"}) {
    EXPECT_EQ(reason_for(text), "") << text;
  }
}

}  // namespace
}  // namespace mluops::test
