// When a run as a whole is good.
#include <gtest/gtest.h>

#include "bench/output/table.h"

namespace bench {
namespace {

Row row(const std::string& backend, Verdict verdict) {
  Row r;
  r.backend = backend;
  r.verdict = verdict;
  if (verdict == Verdict::ok || verdict == Verdict::wrong) r.seconds = {1e-3};
  r.checked = r.measured();
  return r;
}

TEST(Totals, ABackendWithoutTheOperatorIsNoFault) {
  EXPECT_TRUE(count({row("cpu", Verdict::ok), row("mlu_emu", Verdict::absent)}).good());
}

TEST(Totals, ABackendThatDeclinesAllIsOne) {
  const Totals t = count({row("cpu", Verdict::ok), row("mlu_emu", Verdict::declined), row("mlu_emu", Verdict::absent)});
  EXPECT_FALSE(t.good());
  EXPECT_NE(totals_text(t).find("mlu_emu ran nothing"), std::string::npos);
}

TEST(Totals, NothingRan) {
  EXPECT_FALSE(count({row("mine", Verdict::absent)}).good());
}

TEST(Totals, WrongAndFailed) {
  EXPECT_FALSE(count({row("cpu", Verdict::ok), row("cpu", Verdict::wrong)}).good());
  EXPECT_FALSE(count({row("cpu", Verdict::ok), row("cpu", Verdict::failed)}).good());
}

TEST(Totals, WhatNobodyLookedAtIsNotOk) {
  Row unseen = row("cpu", Verdict::ok);
  unseen.checked = false;
  const std::string none = totals_text(count({unseen}));
  EXPECT_NE(none.find("0 ok, 0 wrong, 0 failed, 0 declined, 1 not judged;"), std::string::npos) << none;
  EXPECT_NE(none.find("\nnothing was judged\n"), std::string::npos) << none;
  EXPECT_TRUE(count({unseen}).good());
  const std::string some = totals_text(count({unseen, row("cpu", Verdict::ok), row("mlu_emu", Verdict::absent)}));
  EXPECT_NE(some.find("2 rows: 1 ok, 0 wrong, 0 failed, 0 declined, 1 not judged;"), std::string::npos) << some;
  EXPECT_NE(some.find("\nall verdicts hold\n"), std::string::npos) << some;
}

}  // namespace
}  // namespace bench
