// Quadrilaterals and point sets: examples worked out by hand, those of mmcv's tests, and gradients by differences.
#include "test/reference/polygons.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "test/cases/base/quadrilaterals.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;

const double kNan = std::nan("");

void expect_near(const Values& found, const Values& wanted, double limit = 1e-12) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], limit) << i;
}

std::int64_t rows(const Values& all, std::size_t width) {
  return static_cast<std::int64_t>(all.size() / width);
}

Values quadri(const Values& a, const Values& b, int mode = 0, int aligned = 0) {
  return reference::box_iou_quadri(
      {{MLUOP_DTYPE_DOUBLE, rows(a, 8), rows(b, 8), mode, aligned, 0}, a.data(), b.data(), nullptr});
}
Values convex(const Values& sets, const Values& quads) {
  return reference::convex_iou(
      {{MLUOP_DTYPE_DOUBLE, rows(sets, 18), rows(quads, 8)}, sets.data(), quads.data(), nullptr});
}
reference::ConvexGiouResult giou(const Values& sets, const Values& quads) {
  return reference::convex_giou({{MLUOP_DTYPE_DOUBLE, rows(sets, 18)}, sets.data(), quads.data(), nullptr, nullptr});
}
Values min_area(const Values& sets) {
  return reference::min_area_polygons({{MLUOP_DTYPE_DOUBLE, rows(sets, 18)}, sets.data(), nullptr});
}
Values inside(const Values& points, const Values& quads) {
  return reference::points_in_polygons(
      {{MLUOP_DTYPE_DOUBLE, rows(points, 2), rows(quads, 8)}, points.data(), quads.data(), nullptr});
}

const Values kSets = {1,   1,   2,   2,   1,   2,   2,   1,   1,   3,   3,   1,   2,   3,   3,   2,   1.5, 1.5,
                      1.5, 1.5, 2.5, 2.5, 1.5, 2.5, 2.5, 1.5, 1.5, 3.5, 3.5, 1.5, 2.5, 3.5, 3.5, 2.5, 2,   2};
const Values kSquares = {1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3, 1};

TEST(BoxIouQuadriExample, OfMmcv) {
  const Values a = {1, 1, 3, 4, 4, 4, 4, 1, 2, 2, 3, 4, 4, 2, 3, 1, 7, 7, 8, 8, 9, 7, 8, 6};
  const Values b = {0, 0, 0, 2, 2, 2, 2, 0, 2, 1, 2, 4, 4, 4, 4, 1, 7, 6, 7, 8, 9, 8, 9, 6};
  expect_near(quadri(a, b), {1.0 / 14, 7.0 / 9, 0, 0, 0.5, 0, 0, 0, 0.5}, 1e-12);
  expect_near(quadri(a, b, 1, 1), {1.0 / 9, 1, 1}, 1e-12);
}

TEST(BoxIouQuadriExample, SquaresMovedConcaveAndNone) {
  const Values square = {0, 0, 2, 0, 2, 2, 0, 2}, moved = {1, 1, 1, 3, 3, 3, 3, 1};
  expect_near(quadri(square, moved), {1.0 / 7});
  expect_near(quadri(square, moved, 1), {1.0 / 4});
  const Values arrow = {0, 0, 4, 0, 4, 4, 3, 1};  // concave at its last corner: an area of 4
  expect_near(quadri(arrow, {0, 0, 4, 0, 4, 4, 0, 4}, 1), {1});
  const Values point = {1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(quadri(point, point), Values{0});
  EXPECT_EQ(quadri(square, {2, 0, 4, 0, 4, 2, 2, 2}), Values{0});
  EXPECT_EQ(quadri(square, {0, 0, 2, 0, 2, kNan, 0, 2}), Values{0});
}

TEST(ConvexIouExample, OfMmcvLinesAndPoints) {
  expect_near(convex(kSets, kSquares), {0.2857, 0.8750, 0.0588, 0.4286}, 1e-4);
  Values line, point(18, 1.5);
  for (int i = 0; i < 18; ++i) line.push_back(i / 2);
  EXPECT_EQ(convex(line, kSquares), (Values{0, 0}));
  EXPECT_EQ(convex(point, kSquares), (Values{0, 0}));
  line[3] = kNan;
  EXPECT_EQ(convex(line, kSquares), (Values{0, 0}));
}

TEST(ConvexGiouExample, OfMmcv) {
  const auto found = giou(kSets, kSquares);
  expect_near(found.giou, {0.2857, 0.3831}, 1e-4);
  const Values wanted = {-0.1848, -0.1848, 0,       0,       0,       0,       0,       0, -0.1076,
                         -0.0801, -0.0801, -0.1076, -0.0367, -0.0734, -0.0734, -0.0367, 0, 0};
  expect_near({found.grad_pointsets.begin() + 18, found.grad_pointsets.end()}, wanted, 1e-4);
}

TEST(ConvexGiouExample, ApartAndWithoutArea) {
  Values apart = kSquares;
  for (double& v : apart) v += 10;
  const auto found = giou(kSets, apart);
  EXPECT_LT(found.giou[0], -0.5);
  EXPECT_LT(found.giou[1], -0.5);
  const Values points(18, 1);
  EXPECT_EQ(giou(points, Values(8, 1)).giou, Values{0});
  EXPECT_EQ(giou(points, {0, 0, 2, 0, 2, 2, 0, kNan}).giou, Values{0});
  EXPECT_EQ(giou(points, {0, 0, 2, 0, 2, 2, 0, 2}).giou, Values{0});  // inside, and nothing around both
}

TEST(ConvexGiouExample, GradientByDifferences) {
  const cases::Fill sets = cases::pointsets("random", 3), quads = cases::quadrilaterals("random", 8, 5);
  int overlapping = 0;
  for (std::int64_t pair = 0; pair < 60; ++pair) {
    Values set, quad;
    for (std::int64_t i = 0; i < 18; ++i) set.push_back(sets(18 * pair + i) / 4);
    for (std::int64_t i = 0; i < 8; ++i) quad.push_back(quads(8 * pair + i) / 4);
    const Values found = giou(set, quad).grad_pointsets;
    overlapping += convex(set, quad)[0] > 0;
    for (std::size_t i = 0; i < 18; ++i) {
      EXPECT_NEAR(found[i], test::central_difference(set[i], 1e-6, [&] { return giou(set, quad).giou[0]; }), 1e-6)
          << pair << " " << i;
    }
  }
  EXPECT_GT(overlapping, 5);
}

TEST(MinAreaPolygonsExample, OfMmcvLinesAndPoints) {
  expect_near(min_area({kSets.begin(), kSets.begin() + 18}), {3, 1, 1, 1, 1, 3, 3, 3}, 1e-12);
  Values wide(kSets.begin(), kSets.begin() + 18);
  wide[2] = wide[3] = 8;
  expect_near(min_area(wide), {8, 8, 2.3243, 0.0541, 0.0541, 1.6757, 5.7297, 9.6216}, 1e-4);
  Values line, point(18, 1.5);
  for (int i = 0; i < 18; ++i) line.push_back(i / 2);
  expect_near(min_area(line), {8, 8, 0, 0, 0, 0, 8, 8}, 1e-12);
  EXPECT_EQ(min_area(point), Values(8, 1.5));
  point[7] = kNan;
  for (const double v : min_area(point)) EXPECT_TRUE(std::isnan(v));
}

TEST(PointsInPolygonsExample, OfMmcv) {
  const Values points = {300, 300, 400, 400, 100, 100, 300, 250, 100, 0};
  const Values quads = {200, 200, 400, 400, 500, 200, 400, 100, 400, 400, 500, 500,
                        600, 300, 500, 200, 300, 300, 600, 700, 700, 700, 700, 100};
  EXPECT_EQ(inside(points, quads), (Values{0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(inside({kNan, 250, 300, kNan}, {200, 200, 400, 400, 500, 200, 400, 100}), (Values{0, 0}));
}

}  // namespace
}  // namespace mluops
