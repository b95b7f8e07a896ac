// What every operator refuses, from its description: a new one is held to it without a line here.
#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

class Refusal : public ::testing::TestWithParam<std::string> {};

TEST_P(Refusal, NamesTheArgumentAndLeavesTheOutputsAlone) {
  const OperatorCases& op = find_operator(GetParam());
  const OpCall base(cases_of(op, op.smallest).back(), op.dtypes.strict.back());
  check_table(base, refused_by_all(base));
}

INSTANTIATE_TEST_SUITE_P(All, Refusal, ::testing::ValuesIn(operators()),
                         [](const ::testing::TestParamInfo<std::string>& op) { return op.param; });

}  // namespace
}  // namespace mluops::test
