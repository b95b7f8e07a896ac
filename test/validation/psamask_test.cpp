// What Psamask refuses beyond what its description tells.
#include <gtest/gtest.h>

#include <utility>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("psamask_forward n=2 h=4 w=5 hm=3 wm=2 type=0"));
}

OpCall backward() {
  return OpCall(Case::parse("psamask_backward n=2 h=4 w=5 hm=3 wm=2 type=1"));
}

TEST(PsamaskValidation, AMaskOfNoCellsHasNothingToDo) {
  for (const auto& [base, masks] : {std::pair(forward(), "x"), std::pair(backward(), "dx")}) {
    const auto none = [masks = masks](OpCall& c) {
      c.set("hm", 0);
      c.arg(masks).dims[3] = 0;
    };
    check_table(base, {{"empty mask", none, MLUOP_STATUS_SUCCESS, ""}});
  }
}

TEST(PsamaskValidation, ExtendedTakesFloatsAlone) {
  for (OpCall base : {forward(), backward()}) {
    base.contract = MLUOP_EXT_CONTRACT_EXTENDED;
    check_table(base, {{"int8", [](OpCall& c) { c.args[0].dtype = c.args[1].dtype = MLUOP_DTYPE_INT8; },
                        MLUOP_STATUS_BAD_PARAM, base.args[0].name + ": wanted dtype"}});
  }
}

}  // namespace
}  // namespace mluops::test
