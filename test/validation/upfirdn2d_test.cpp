// What Upfirdn2d refuses beyond what all operators do.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> set(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

std::function<void(OpCall&)> dims(const std::string& name, const Dims& of) {
  return [=](OpCall& c) {
    for (Arg& each : c.args) each.dims = each.name == name ? of : each.dims;
  };
}

TEST(Upfirdn2dValidation, SizesAndPadding) {
  const OpCall base(Case::parse("upfirdn2d n=2 h=6 w=7 c=5 fh=3 fw=4 ux=2 dy=2 x0=2 x1=1 y0=1"));
  check_table(
      base,
      {{"a filter of more rows than there are", set("y1", -5), MLUOP_STATUS_BAD_PARAM,
        "filter: wanted at most the 2 rows of the padded input, got 3"},
       {"of more columns", set("x0", -12), MLUOP_STATUS_BAD_PARAM,
        "filter: wanted at most the 3 columns of the padded input, got 4"},
       {"everything cut off", set("x1", -2147483647), MLUOP_STATUS_BAD_PARAM,
        "filter: wanted at most the -2147483631 columns of the padded input, got 4"},
       {"no taps", dims("filter", {3, 0}), MLUOP_STATUS_BAD_PARAM, "filter: wanted height and width >= 1, got"},
       {"no rows", dims("input", {2, 0, 7, 5}), MLUOP_STATUS_BAD_PARAM, "input: wanted height and width >= 1, got"},
       {"more rows", set("y1", 2), MLUOP_STATUS_BAD_PARAM, "output: wanted dimension 1 to be 4 (the filtered rows)"},
       {"the most columns", set("ux", 2147483647), MLUOP_STATUS_BAD_PARAM,
        "output: wanted dimension 2 to be 15032385529 (the filtered columns)"},
       {"other columns", set("dx", 3), MLUOP_STATUS_BAD_PARAM,
        "output: wanted dimension 2 to be 5 (the filtered columns)"},
       {"no images",
        [](OpCall& c) {
          for (Arg& each : c.args) each.dims[0] = each.name == "filter" ? each.dims[0] : 0;
        },
        MLUOP_STATUS_SUCCESS, ""},
       {"no channels",
        [](OpCall& c) {
          for (Arg& each : c.args) {
            if (each.name != "filter") each.dims[3] = 0;
          }
        },
        MLUOP_STATUS_SUCCESS, ""}});
}

}  // namespace
}  // namespace mluops::test
