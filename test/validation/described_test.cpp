// Each size and number that a description in api/operators speaks of, broken once: the text names it, and what is
// wanted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

struct Size {
  const char *function, *tensor;
  std::size_t axis;
  const char* meaning;
};

struct Shape {
  const char *function, *tensor, *like;
};

struct Number {
  const char *function, *name, *parameter;
  double wrong;
  const char* wanted;
};

constexpr Size kSizes[] = {
#define MLUOPS_SIZE(function, tensor, axis, meaning) {#function, #tensor, axis, meaning},
#define MLUOPS_SHAPE(function, tensor, like)
#define MLUOPS_NUMBER(function, name, parameter, wrong, wanted)
#include "test/validation/described.inc"
};

constexpr Shape kShapes[] = {
#define MLUOPS_SIZE(function, tensor, axis, meaning)
#define MLUOPS_SHAPE(function, tensor, like) {#function, #tensor, #like},
#define MLUOPS_NUMBER(function, name, parameter, wrong, wanted)
#include "test/validation/described.inc"
};

const Number kNumbers[] = {
#define MLUOPS_SIZE(function, tensor, axis, meaning)
#define MLUOPS_SHAPE(function, tensor, like)
#define MLUOPS_NUMBER(function, name, parameter, wrong, wanted) {#function, #name, #parameter, wrong, wanted},
#include "test/validation/described.inc"
};

/// The tensor of a case; an optional one may be missing.
const Arg* find(const OpCall& call, const std::string& name) {
  const auto found = std::find_if(call.args.begin(), call.args.end(), [&](const Arg& a) { return a.name == name; });
  return found == call.args.end() ? nullptr : &*found;
}

Wrong larger(const std::string& tensor, std::size_t axis, const std::string& text) {
  return {tensor + ": dimension " + std::to_string(axis) + " larger by one",
          [=](OpCall& c) { ++c.arg(tensor).dims[axis]; }, MLUOP_STATUS_BAD_PARAM, tensor + ": wanted " + text};
}

std::vector<Wrong> described(const OpCall& base) {
  std::vector<Wrong> table;
  for (const Size& s : kSizes) {
    const Arg* const a = base.function == s.function ? find(base, s.tensor) : nullptr;
    if (a == nullptr) continue;
    table.push_back(larger(
        s.tensor, s.axis,
        "dimension " + std::to_string(s.axis) + " to be " + std::to_string(a->dims[s.axis]) + " (" + s.meaning + ")"));
  }
  for (const Shape& s : kShapes) {
    if (base.function != s.function || find(base, s.tensor) == nullptr) continue;
    table.push_back(larger(s.tensor, 0, std::string("the shape of ") + s.like));
  }
  for (const Number& n : kNumbers) {
    if (base.function != n.function) continue;
    table.push_back({std::string(n.name) + " " + std::to_string(n.wrong),
                     [n](OpCall& c) { c.set(n.parameter, n.wrong); }, MLUOP_STATUS_BAD_PARAM,
                     std::string(n.name) + ": wanted " + n.wanted});
  }
  return table;
}

class Described : public ::testing::TestWithParam<std::string> {};

TEST_P(Described, EachSizeAndNumberIsHeld) {
  const OperatorCases& op = find_operator(GetParam());
  const OpCall base(cases_of(op, op.smallest).back(), op.dtypes.strict.back());
  check_table(base, described(base));
}

INSTANTIATE_TEST_SUITE_P(All, Described, ::testing::ValuesIn(operators()),
                         [](const ::testing::TestParamInfo<std::string>& op) { return op.param; });

}  // namespace
}  // namespace mluops::test
