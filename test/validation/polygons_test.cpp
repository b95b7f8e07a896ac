// What operators on quadrilaterals and point sets refuse beyond what all operators do.
#include <gtest/gtest.h>

#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

std::function<void(OpCall&)> dims(const std::string& name, const Dims& of) {
  return [=](OpCall& c) { c.arg(name).dims = of; };
}

OpCall call(const std::string& text) {
  return OpCall(Case::parse(text));
}

TEST(PolygonsValidation, BoxIouQuadri) {
  const auto mode = [](OpCall& c) { c.set("mode", 2); };
  check_table(call("box_iou_quadri n=3 m=5"),
              {{"a third mode", mode, MLUOP_STATUS_BAD_PARAM, "mode: wanted >= 0 and <= 1, got 2"},
               {"pairs that are not", dims("ious", {3}), MLUOP_STATUS_BAD_PARAM, "ious: wanted 2 dimensions"},
               {"too few columns", dims("ious", {3, 4}), MLUOP_STATUS_BAD_PARAM, "ious: wanted dimension 1 to be 5"}});
  check_table(call("box_iou_quadri n=4 aligned=1"),
              {{"a column", dims("ious", {4, 1}), MLUOP_STATUS_BAD_PARAM, "ious: wanted 1 dimension"},
               {"too few", dims("ious", {3}), MLUOP_STATUS_BAD_PARAM, "ious: wanted dimension 0 to be 4"}});
}

TEST(PolygonsValidation, PointsInPolygons) {
  check_table(call("points_in_polygons n=3 m=5"),
              {{"whole numbers", [](OpCall& c) { c.arg("inside").dtype = MLUOP_DTYPE_INT32; }, MLUOP_STATUS_BAD_PARAM,
                "inside: wanted dtype DTYPE_FLOAT, got DTYPE_INT32"}});
}

TEST(PolygonsValidation, NothingIsThere) {
  for (const auto& [text, empty] : {std::pair<std::string, std::string>{"convex_iou n=3 k=5", "polygons"},
                                    {"points_in_polygons n=3 m=5", "polygons"},
                                    {"box_iou_quadri n=3 m=5", "bbox2"}}) {
    OpCall c = call(text);
    c.arg(empty).dims = {0, 8};
    c.args.back().dims = {3, 0};
    EXPECT_EQ(c.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  }
}

}  // namespace
}  // namespace mluops::test
