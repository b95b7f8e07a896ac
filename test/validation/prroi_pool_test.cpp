// What PrRoIPool refuses beyond what its description tells.
#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

TEST(PrRoiPoolValidation, SomeGradientIsWanted) {
  const OpCall base(Case::parse("prroi_pool_backward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside"));
  const auto none = [](OpCall& c) {
    for (const char* const name : {"grad_input", "grad_rois"}) c.arg(name).no_desc = c.arg(name).no_data = true;
  };
  check_table(base, {{"no gradient", none, MLUOP_STATUS_BAD_PARAM, "grad_input: wanted it or grad_rois, got neither"}});
}

}  // namespace
}  // namespace mluops::test
