// What a description in api/operators refuses, each once: the text names it, and what is wanted.
#include "test/validation/described.h"

#include <gtest/gtest.h>

namespace mluops::test {
namespace {

class Described : public ::testing::TestWithParam<std::string> {};

TEST_P(Described, EachRuleIsHeld) {
  const OperatorCases& op = find_operator(GetParam());
  const OpCall base(cases_of(op, op.smallest).back(), op.dtypes.strict.back());
  check_table(base, described(base));
}

INSTANTIATE_TEST_SUITE_P(All, Described, ::testing::ValuesIn(operators()),
                         [](const ::testing::TestParamInfo<std::string>& op) { return op.param; });

}  // namespace
}  // namespace mluops::test
