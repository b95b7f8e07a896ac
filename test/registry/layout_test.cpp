// Image tensors in a layout that a backend does not name never reach it, whatever the operator.
#include <gtest/gtest.h>

#include "common/dispatch.h"
#include "test/cases/base/nchw.h"
#include "test/support/run.h"

namespace mluops::test {
namespace {

/// What the operator's smallest case answers on a backend, its image tensors in NHWC or in NCHW.
std::string answer(const std::string& op, const std::string& backend, const char* layout) {
  const cases::OperatorCases& cases = cases::find_operator(op);
  Problem problem =
      make_problem(cases::cases_of(cases, cases.smallest).back().set("layout", layout), MLUOP_DTYPE_FLOAT);
  Handle handle(backend);
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  const mluOpStatus_t status = run(problem, handle);
  return status == MLUOP_STATUS_SUCCESS ? "ran on " + handle.last_run_backend() : mluOpExtGetLastErrorText();
}

struct Operator {
  std::string name;
  bool says_layout;  ///< its problem has the member
};

std::vector<Operator> operators() {
  return {
#define MLUOPS_OPERATOR(name, Problem) {#name, HasImages<Problem>},
#include "mluops/operators.inc"
  };
}

bool has_images(const std::string& op) {
  const cases::OperatorCases& cases = cases::find_operator(op);
  return cases::has_images(describe(cases::cases_of(cases, cases.smallest).front(), MLUOP_DTYPE_FLOAT));
}

TEST(Layouts, ProblemsWithImageTensorsSayTheirs) {
  int with_images = 0;
  for (const Operator& op : operators()) {
    EXPECT_EQ(op.says_layout, has_images(op.name)) << op.name;
    with_images += has_images(op.name);
  }
  EXPECT_GE(with_images, 12);
}

TEST(Layouts, APluginThatNamesNoneGetsNhwcAlone) {
  for (const Operator& op : operators()) {
    EXPECT_EQ(answer(op.name, "takes_nhwc", "nhwc"), "ran on takes_nhwc") << op.name;
    if (!has_images(op.name)) continue;
    const std::string text = answer(op.name, "takes_nhwc", "nchw");
    EXPECT_NE(text.find("backend takes_nhwc: layout: wanted NHWC, got LAYOUT_NCHW"), std::string::npos)
        << op.name << ": " << text;
    EXPECT_EQ(answer(op.name, "takes_nhwc,cpu", "nchw"), "ran on cpu") << op.name;
  }
}

TEST(Layouts, APluginThatNamesThemGetsBoth) {
  for (const Operator& op : operators()) {
    for (const char* layout : {"nhwc", "nchw"}) {
      if (!has_images(op.name) && std::string(layout) == "nchw") continue;
      EXPECT_EQ(answer(op.name, "takes_both", layout), "ran on takes_both") << op.name;
    }
  }
}

TEST(Layouts, ANameIsAWholeWord) {
  EXPECT_TRUE(names_layout("NHWC,NCHW", "NCHW"));
  EXPECT_TRUE(names_layout("NCHW", "NCHW"));
  EXPECT_FALSE(names_layout("NHWC,NCHWX", "NCHW"));
  EXPECT_FALSE(names_layout("", "NCHW"));
}

}  // namespace
}  // namespace mluops::test
