// What Correlation refuses beyond what its description tells.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> set(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

TEST(CorrelationValidation, NumbersThatNoSizeFits) {
  const std::string sizes = " n=2 h=6 w=7 c=5 displacement=1 kh=2 kw=3 ph=2 pw=1";
  for (const auto& [op, products] : {std::pair<std::string, std::string>{"correlation_forward", "output"},
                                     {"correlation_backward", "grad_output"}}) {
    check_table(OpCall(Case::parse(op + sizes)),
                {{"a wide window", set("dw", 2000000000), MLUOP_STATUS_BAD_PARAM,
                  "kernel_w: wanted a window inside of 7 pixels and their padding"},
                 {"the most displacements", set("displacement", 2000000000), MLUOP_STATUS_BAD_PARAM,
                  products + ": wanted dimension 1 to be 4000000001 (2 max_displacement + 1)"},
                 {"other windows", set("sh", 2), MLUOP_STATUS_BAD_PARAM,
                  products + ": wanted dimension 3 to be 5 (the windows down)"},
                 {"other windows across", set("pw", 2), MLUOP_STATUS_BAD_PARAM,
                  products + ": wanted dimension 4 to be 9 (the windows across)"}});
  }
}

}  // namespace
}  // namespace mluops::test
