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

}  // namespace
}  // namespace bench
