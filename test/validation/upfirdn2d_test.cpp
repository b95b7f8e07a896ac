// What Upfirdn2d refuses beyond what its description tells.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> set(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

TEST(Upfirdn2dValidation, NumbersThatNoSizeFits) {
  const OpCall base(Case::parse("upfirdn2d n=2 h=6 w=7 c=5 fh=3 fw=4 ux=2 dy=2 x0=2 x1=1 y0=1"));
  check_table(base, {{"everything cut off", set("x1", -2147483647), MLUOP_STATUS_BAD_PARAM,
                      "filter: wanted at most the -2147483631 columns of the padded input, got 4"},
                     {"the most columns", set("ux", 2147483647), MLUOP_STATUS_BAD_PARAM,
                      "output: wanted dimension 2 to be 15032385529 (the filtered columns)"},
                     {"other columns", set("dx", 3), MLUOP_STATUS_BAD_PARAM,
                      "output: wanted dimension 2 to be 5 (the filtered columns)"}});
}

}  // namespace
}  // namespace mluops::test
