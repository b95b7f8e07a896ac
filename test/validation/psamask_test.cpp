#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

OpCall forward() {
  return OpCall(Case::parse("psamask_forward n=2 h=4 w=5 hm=3 wm=2 type=0"));
}

OpCall backward() {
  return OpCall(Case::parse("psamask_backward n=2 h=4 w=5 hm=3 wm=2 type=1"));
}

CommonRules rules(const std::string& masks, const std::string& maps) {
  const auto batch = [=](std::int64_t n) { return [=](OpCall& c) { c.arg(masks).dims[0] = c.arg(maps).dims[0] = n; }; };
  return {.strided = MLUOP_STATUS_BAD_PARAM,
          .too_large = MLUOP_STATUS_BAD_PARAM,
          .huge = batch(std::int64_t{1} << 27),
          .overflow = batch(std::int64_t{1} << 61)};
}

std::vector<Wrong> own_wrongs(const std::string& masks, const std::string& maps) {
  const auto set = [](const std::string& name, double value) { return [=](OpCall& c) { c.set(name, value); }; };
  return {
      {"h_mask * w_mask is not the channels", set("hm", 4), MLUOP_STATUS_BAD_PARAM, "h_mask * w_mask"},
      {"half", [=](OpCall& c) { c.arg(masks).dtype = c.arg(maps).dtype = MLUOP_DTYPE_HALF; }, MLUOP_STATUS_BAD_PARAM,
       "wanted dtype DTYPE_FLOAT, got DTYPE_HALF"},
      {"empty batch", [=](OpCall& c) { c.arg(masks).dims[0] = c.arg(maps).dims[0] = 0; }, MLUOP_STATUS_SUCCESS, ""},
      {"empty mask",
       [=](OpCall& c) {
         c.set("hm", 0);
         c.arg(masks).dims[3] = 0;
       },
       MLUOP_STATUS_SUCCESS, ""},
  };
}

TEST(PsamaskValidation, Forward) {
  const OpCall base = forward();
  check_table(base, common_wrongs(base, rules("x", "y")));
  check_table(base, own_wrongs("x", "y"));
}

TEST(PsamaskValidation, Backward) {
  const OpCall base = backward();
  check_table(base, common_wrongs(base, rules("dx", "dy")));
  check_table(base, own_wrongs("dx", "dy"));
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
