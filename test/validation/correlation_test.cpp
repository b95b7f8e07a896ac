// What Correlation refuses beyond what all operators do.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> set(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

TEST(CorrelationValidation, BothDirections) {
  const std::string sizes = " n=2 h=6 w=7 c=5 displacement=1 kh=2 kw=3 ph=2 pw=1";
  for (const std::string direction : {"forward", "backward"}) {
    const bool forward = direction == "forward";
    const std::string products = forward ? "output" : "grad_output";
    const auto all_images = [=](const Dims& of) {
      return [=](OpCall& c) {
        for (Arg& each : c.args) each.dims = each.name == products ? each.dims : of;
      };
    };
    const OpCall base(Case::parse("correlation_" + direction + sizes));
    check_table(base, {{"a window larger than the image", set("kh", 11), MLUOP_STATUS_BAD_PARAM,
                        "kernel_h: wanted a window inside of 6 pixels and their padding"},
                       {"a wide window", set("dw", 2000000000), MLUOP_STATUS_BAD_PARAM,
                        "kernel_w: wanted a window inside of 7 pixels and their padding"},
                       {"other displacements", set("displacement", 2), MLUOP_STATUS_BAD_PARAM,
                        products + ": wanted dimension 1 to be 5 (2 max_displacement + 1)"},
                       {"the most displacements", set("displacement", 2000000000), MLUOP_STATUS_BAD_PARAM,
                        products + ": wanted dimension 1 to be 4000000001"},
                       {"other windows", set("sh", 2), MLUOP_STATUS_BAD_PARAM,
                        products + ": wanted dimension 3 to be 5 (the windows down)"},
                       {"other windows across", set("pw", 2), MLUOP_STATUS_BAD_PARAM,
                        products + ": wanted dimension 4 to be 9 (the windows across)"},
                       {"no channels", all_images({2, 6, 7, 0}), MLUOP_STATUS_SUCCESS, ""},
                       {"no images",
                        [=](OpCall& c) {
                          for (Arg& each : c.args) each.dims[0] = 0;
                        },
                        MLUOP_STATUS_SUCCESS, ""}});
  }
}

}  // namespace
}  // namespace mluops::test
