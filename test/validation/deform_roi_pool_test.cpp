// What DeformRoiPool refuses beyond what its description tells.
#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("deform_roi_pool_forward b=2 h=5 w=6 c=4 r=3 ph=3 pw=2 scale=1 gamma=1"));
}

OpCall backward() {
  return OpCall(Case::parse("deform_roi_pool_backward b=2 h=5 w=6 c=4 r=3 ph=3 pw=2 scale=1 gamma=1"));
}

std::function<void(OpCall&)> absent(std::initializer_list<std::string> names) {
  const std::vector<std::string> list = names;
  return [=](OpCall& c) {
    for (const std::string& n : list) c.arg(n).no_desc = c.arg(n).no_data = true;
  };
}

TEST(DeformRoiPoolValidation, OffsetAndItsGradientTogether) {
  check_table(backward(), {{"offset without grad_offset", absent({"grad_offset"}), MLUOP_STATUS_BAD_PARAM,
                            "grad_offset: wanted it exactly when offset is given, got only offset"},
                           {"grad_offset without offset", absent({"offset"}), MLUOP_STATUS_BAD_PARAM,
                            "grad_offset: wanted it exactly when offset is given, got only grad_offset"}});
}

TEST(DeformRoiPoolValidation, OffsetMayBeAbsent) {
  OpCall fwd = forward();
  absent({"offset"})(fwd);
  EXPECT_EQ(fwd.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  OpCall bwd = backward();
  absent({"offset", "grad_offset"})(bwd);
  EXPECT_EQ(bwd.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
}

}  // namespace
}  // namespace mluops::test
