// The run without a selection: when it is one, what it chooses, what its lines say of known rows.
#include "bench/output/brief.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/study/plan.h"

namespace bench {
namespace {

Options parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "mluops_bench");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

/// A call of half a second on a roof of 100 bytes and 100 flops a second.
Row row(const std::string& backend, Verdict verdict, double bytes = 10, double peer = 0) {
  Row r;
  r.op = "some_operator";
  r.shape = "n=1";
  r.backend = backend;
  r.verdict = verdict;
  r.read_bytes = bytes;
  r.roof = {1, 100, 100, 100, 100, 100};
  r.peer = peer;
  if (verdict == Verdict::ok || verdict == Verdict::wrong) r.seconds = {0.5};
  return r;
}

TEST(Brief, NothingSelectedIsBriefAndFloat) {
  const Options plain = parsed({});
  EXPECT_TRUE(plain.brief);
  EXPECT_EQ(plain.dtypes, std::vector<mluOpDataType_t>{MLUOP_DTYPE_FLOAT});
  EXPECT_TRUE(parsed({"--backend", "cpu", "--threads", "1", "--json", "file"}).brief);
  EXPECT_EQ(parsed({"--dtype", "half"}).dtypes, std::vector<mluOpDataType_t>{MLUOP_DTYPE_HALF});
}

TEST(Brief, ASelectionOrAStudyIsNot) {
  for (const char* word : {"--all", "--quick", "--list", "--limits", "--scaling", "--peers", "--op=nms", "--case=n=1",
                           "--report=file", "--against=HEAD"}) {
    const Options options = parsed({word});
    EXPECT_FALSE(options.brief) << word;
    EXPECT_EQ(options.dtypes.size(), 2u) << word;
  }
}

TEST(Brief, SeveralThreadsOrDtypesWantASelection) {
  EXPECT_THROW(parsed({"--threads", "1,2"}), std::invalid_argument);
  EXPECT_THROW(parsed({"--dtype", "float,half"}), std::invalid_argument);
  EXPECT_EQ(parsed({"--threads", "1,2", "--all"}).threads.size(), 2u);
}

TEST(Selection, AWholeCaseRunsInItsOwnDtypeAlone) {
  const std::string text = "carafe_forward n=1 h=9 w=8 c=64 k=5 g=1 s=2 dtype=bfloat16 contract=extended";
  const Options options = parsed({"--case", text + ",knn b=1 n=9 m=3 k=2"});
  const std::vector<Group> groups = chosen_groups(options);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].text.text(), text);
  EXPECT_EQ(groups[1].text.text(), "knn b=1 n=9 m=3 k=2");
  const std::vector<Job> jobs = jobs_of(groups[0], options, {Target("cpu", 1)});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].spec.dtype, MLUOP_DTYPE_BFLOAT16);
  EXPECT_EQ(jobs_of(groups[1], options, {Target("cpu", 1)}).size(), 2u);
  EXPECT_THROW(chosen_groups(parsed({"--case", "knn no_such_key=3"})), std::invalid_argument);
}

TEST(Brief, OneNetworkCaseOfEveryOperator) {
  const std::vector<Group> groups = chosen_groups(parsed({}));
  std::set<std::string> seen;
  for (const Group& g : groups) {
    EXPECT_TRUE(seen.insert(g.op->op).second) << g.op->op;
    const Cases network = cases_of(*g.op, g.op->network);
    EXPECT_TRUE(std::ranges::any_of(network, [&](const Case& c) { return c.text() == g.text.text(); }))
        << g.text.text();
  }
  EXPECT_EQ(seen.size(), all_operators().size());
}

TEST(Brief, ALineAboutAFamily) {
  EXPECT_EQ(
      family_line("f", {row("cpu", Verdict::ok, 10, 1), row("cpu", Verdict::ok, 40, 20), row("mlu_emu", Verdict::ok)}),
      "f: cpu ok, 20 to 80 % of the bound, 2.0 to 40 times as fast as PyTorch; mlu_emu ok");
  EXPECT_EQ(family_line("f", {row("cpu", Verdict::ok), row("mlu_emu", Verdict::absent)}),
            "f: cpu ok, 20 % of the bound");
  EXPECT_EQ(family_line("f", {row("cpu", Verdict::ok), row("cpu", Verdict::wrong)}),
            "f: cpu 1 of 2 WRONG, 1 of 2 ok, 20 % of the bound");
  EXPECT_EQ(family_line("f", {row("mine", Verdict::absent)}), "f: no backend here has it");
}

TEST(Brief, ARowEndsWithItsCaseAndReason) {
  Row bad = row("cpu", Verdict::wrong);
  bad.reason = "an output is not finite";
  const BriefTable table(13);
  EXPECT_TRUE(table.line(bad).ends_with("WRONG     n=1: an output is not finite\n")) << table.line(bad);
  EXPECT_NE(table.line(row("cpu", Verdict::ok)).find(" 500.000 "), std::string::npos);
}

TEST(Brief, AbsentRowsAreOneLine) {
  EXPECT_EQ(absent_text({row("cpu", Verdict::ok)}), "");
  EXPECT_EQ(absent_text({row("cpu", Verdict::ok), row("mlu_emu", Verdict::absent), row("mlu_emu", Verdict::ok)}),
            "mlu_emu has no kernel of 1 of these 2\n");
}

}  // namespace
}  // namespace bench
