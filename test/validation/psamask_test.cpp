#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

// 2 images of 4x5, mask 3x2.
OpCall forward() {
  return {"mluOpPsamaskForward",
          [](const OpCall& c, Prepared& p) {
            return mluOpPsamaskForward(p.handle, c.integer("psa_type"), p.desc["x"], p.data["x"], c.integer("h_mask"),
                                       c.integer("w_mask"), p.desc["y"], p.data["y"]);
          },
          {{.name = "x", .dims = {2, 4, 5, 6}}, {.name = "y", .output = true, .dims = {2, 4, 5, 20}}},
          {{"psa_type", 0}, {"h_mask", 3}, {"w_mask", 2}}};
}

OpCall backward() {
  return {"mluOpPsamaskBackward",
          [](const OpCall& c, Prepared& p) {
            return mluOpPsamaskBackward(p.handle, c.integer("psa_type"), p.desc["dy"], p.data["dy"],
                                        c.integer("h_mask"), c.integer("w_mask"), p.desc["dx"], p.data["dx"]);
          },
          {{.name = "dy", .dims = {2, 4, 5, 20}}, {.name = "dx", .output = true, .dims = {2, 4, 5, 6}}},
          {{"psa_type", 1}, {"h_mask", 3}, {"w_mask", 2}}};
}

CommonRules rules(const std::string& masks, const std::string& maps) {
  const auto batch = [=](std::int64_t n) { return [=](OpCall& c) { c.arg(masks).dims[0] = c.arg(maps).dims[0] = n; }; };
  return {.strided = MLUOP_STATUS_BAD_PARAM,
          .too_large = MLUOP_STATUS_BAD_PARAM,
          .huge = batch(std::int64_t{1} << 27),
          .overflow = batch(std::int64_t{1} << 61)};
}

std::vector<Wrong> own_wrongs(const std::string& masks, const std::string& maps) {
  const auto set = [](const std::string& name, double value) { return [=](OpCall& c) { c.params[name] = value; }; };
  return {
      {"psa_type 2", set("psa_type", 2), MLUOP_STATUS_BAD_PARAM, "psa_type: wanted >= 0 and <= 1, got 2"},
      {"psa_type -1", set("psa_type", -1), MLUOP_STATUS_BAD_PARAM, "psa_type"},
      {"h_mask negative",
       [](OpCall& c) {
         c.params["h_mask"] = -3;
         c.params["w_mask"] = -2;
       },
       MLUOP_STATUS_BAD_PARAM, "h_mask: wanted >= 0"},
      {"w_mask negative", set("w_mask", -2), MLUOP_STATUS_BAD_PARAM, "w_mask: wanted >= 0"},
      {"h_mask * w_mask is not the channels", set("h_mask", 4), MLUOP_STATUS_BAD_PARAM, "h_mask * w_mask"},
      {"half", [=](OpCall& c) { c.arg(masks).dtype = c.arg(maps).dtype = MLUOP_DTYPE_HALF; }, MLUOP_STATUS_BAD_PARAM,
       "wanted dtype DTYPE_FLOAT, got DTYPE_HALF"},
      {"empty batch", [=](OpCall& c) { c.arg(masks).dims[0] = c.arg(maps).dims[0] = 0; }, MLUOP_STATUS_SUCCESS, ""},
      {"empty mask",
       [=](OpCall& c) {
         c.params["h_mask"] = 0;
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

}  // namespace
}  // namespace mluops::test
