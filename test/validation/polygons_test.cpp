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
               {"other boxes", dims("bbox2", {5, 5}), MLUOP_STATUS_BAD_PARAM, "bbox2: wanted dimension 1 to be 8"},
               {"pairs that are not", dims("ious", {3}), MLUOP_STATUS_BAD_PARAM, "ious: wanted 2 dimensions"},
               {"too few columns", dims("ious", {3, 4}), MLUOP_STATUS_BAD_PARAM, "ious: wanted dimension 1 to be 5"}});
  check_table(call("box_iou_quadri n=4 aligned=1"),
              {{"a column", dims("ious", {4, 1}), MLUOP_STATUS_BAD_PARAM, "ious: wanted 1 dimension"},
               {"too few", dims("ious", {3}), MLUOP_STATUS_BAD_PARAM, "ious: wanted dimension 0 to be 4"}});
}

TEST(PolygonsValidation, ConvexIou) {
  check_table(call("convex_iou n=3 k=5"), {{"eight points", dims("pointsets", {3, 16}), MLUOP_STATUS_BAD_PARAM,
                                            "pointsets: wanted dimension 1 to be 18 (x and y of nine points)"},
                                           {"triangles", dims("polygons", {5, 6}), MLUOP_STATUS_BAD_PARAM,
                                            "polygons: wanted dimension 1 to be 8 (x and y of four corners)"},
                                           {"too few rows", dims("ious", {2, 5}), MLUOP_STATUS_BAD_PARAM,
                                            "ious: wanted dimension 0 to be 3 (pointsets)"},
                                           {"too few columns", dims("ious", {3, 4}), MLUOP_STATUS_BAD_PARAM,
                                            "ious: wanted dimension 1 to be 5 (polygons)"}});
}

TEST(PolygonsValidation, ConvexGiou) {
  check_table(
      call("convex_giou n=9"),
      {{"other polygons", dims("polygons", {8, 8}), MLUOP_STATUS_BAD_PARAM,
        "polygons: wanted dimension 0 to be 9 (pointsets)"},
       {"a short result", dims("giou", {8}), MLUOP_STATUS_BAD_PARAM, "giou: wanted dimension 0 to be 9"},
       {"a column", dims("giou", {9, 1}), MLUOP_STATUS_BAD_PARAM, "giou: wanted 1 dimension"},
       {"a short gradient", dims("grad_pointsets", {8, 18}), MLUOP_STATUS_BAD_PARAM, "grad_pointsets: wanted"},
       {"a gradient of polygons", dims("grad_pointsets", {9, 8}), MLUOP_STATUS_BAD_PARAM, "grad_pointsets: wanted"}});
}

TEST(PolygonsValidation, MinAreaPolygons) {
  check_table(
      call("min_area_polygons n=9"),
      {{"eight points", dims("pointsets", {9, 16}), MLUOP_STATUS_BAD_PARAM, "pointsets: wanted dimension 1 to be 18"},
       {"too few", dims("polygons", {8, 8}), MLUOP_STATUS_BAD_PARAM,
        "polygons: wanted dimension 0 to be 9 (pointsets)"},
       {"triangles", dims("polygons", {9, 6}), MLUOP_STATUS_BAD_PARAM, "polygons: wanted dimension 1 to be 8"}});
}

TEST(PolygonsValidation, PointsInPolygons) {
  check_table(
      call("points_in_polygons n=3 m=5"),
      {{"points in space", dims("points", {3, 3}), MLUOP_STATUS_BAD_PARAM, "points: wanted dimension 1 to be 2"},
       {"triangles", dims("polygons", {5, 6}), MLUOP_STATUS_BAD_PARAM, "polygons: wanted dimension 1 to be 8"},
       {"too few rows", dims("inside", {2, 5}), MLUOP_STATUS_BAD_PARAM, "inside: wanted dimension 0 to be 3 (points)"},
       {"too few columns", dims("inside", {3, 4}), MLUOP_STATUS_BAD_PARAM,
        "inside: wanted dimension 1 to be 5 (polygons)"},
       {"whole numbers", [](OpCall& c) { c.arg("inside").dtype = MLUOP_DTYPE_INT32; }, MLUOP_STATUS_BAD_PARAM,
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
