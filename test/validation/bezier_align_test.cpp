// What BezierAlign and RotatedFeatureAlign refuse beyond what all operators do.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> number(const std::string& name, double value) {
  return [=](OpCall& c) { c.set(name, value); };
}

TEST(BezierAlignValidation, BothDirections) {
  for (const std::string op : {"bezier_align_forward", "bezier_align_backward"}) {
    check_table(
        OpCall(Case::parse(op + " b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside")),
        {{"too many samples", number("ratio", 257), MLUOP_STATUS_NOT_SUPPORTED, "sampling_ratio: wanted at most 256"}});
  }
}

TEST(BezierAlignValidation, GradientOfNoBinsIsZeros) {
  OpCall c(Case::parse("bezier_align_backward b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside"));
  c.arg("grad_output").dims = {4, 0, 3, 5};
  EXPECT_EQ(c.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_TRUE(c.outputs_touched());
}

/// The call by the vendor's name.
OpCall vendor_call(bool forward, float scale) {
  OpCall c(Case::parse(std::string("rotated_feature_align_") + (forward ? "forward" : "backward") +
                       " b=2 h=3 w=4 c=6 scale=1 points=5 boxes=any"));
  c.call = [=](mluOpHandle_t handle, const Arguments& t) {
    const auto function = forward ? mluOpRotatedFeatureAlignForward : mluOpRotatedFeatureAlignBackward;
    return function(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, scale, 5, t[2].desc, t[2].data);
  };
  return c;
}

TEST(RotatedFeatureAlignValidation, VendorNames) {
  for (const bool forward : {true, false}) {
    OpCall ours(Case::parse(std::string("rotated_feature_align_") + (forward ? "forward" : "backward") +
                            " b=2 h=3 w=4 c=6 scale=1 points=5 boxes=any"));
    OpCall vendors = vendor_call(forward, 1);
    ASSERT_EQ(ours.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    ASSERT_EQ(vendors.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    EXPECT_TRUE(vendors.outputs_touched());
    EXPECT_EQ(vendors.args[2].memory, ours.args[2].memory);
    EXPECT_EQ(vendor_call(forward, 0).make(), MLUOP_STATUS_BAD_PARAM);
    OpCall empty = vendor_call(forward, 1);
    for (Arg& each : empty.args) each.dims[0] = 0;
    EXPECT_EQ(empty.make(), MLUOP_STATUS_BAD_PARAM);
  }
}

}  // namespace
}  // namespace mluops::test
