// PsRoiPool, VoxelPooling, MaskedIm2col, RoiCrop, PolyNms: examples worked out by hand, and gradients by differences.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "test/reference/masked_im2col.h"
#include "test/reference/poly_nms.h"
#include "test/reference/ps_roi_pool.h"
#include "test/reference/roi_crop.h"
#include "test/reference/voxel_pooling.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using test::central_difference;
using Indices = std::vector<std::int32_t>;

void expect_near(const Values& found, const Values& wanted, double limit = 1e-12) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], limit) << i;
}

double weighted_sum(const Values& values, const Values& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
  return sum;
}

/// `gradient` is what a small change of each element of `x` does to weighted_sum(f(), weights).
template <class Function>
void expect_gradient(const Values& gradient, Values& x, const Values& weights, const Function& f) {
  ASSERT_EQ(gradient.size(), x.size());
  const auto loss = [&] { return weighted_sum(f(), weights); };
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(gradient[i], central_difference(x[i], 1e-3, loss), 1e-8) << i;
}

// ---- PsRoiPool: maps of 4 x 4 pixels, 2 x 2 bins ----

mluopsPsRoiPoolShape pool_shape(std::int64_t output_dim, std::int64_t rois, double scale = 1) {
  return {MLUOP_DTYPE_DOUBLE, 1, 4, 4, rois, 2, 2, output_dim, static_cast<float>(scale)};
}

reference::PsRoiPoolResult pool(const mluopsPsRoiPoolShape& s, const Values& map, const Values& rois) {
  const auto scale = static_cast<double>(s.spatial_scale);
  return reference::ps_roi_pool_forward({s, map.data(), rois.data(), nullptr, nullptr, MLUOP_LAYOUT_NHWC, scale});
}

/// Channel c of pixel i is 100 c + i.
Values counted(std::int64_t channels) {
  Values map;
  for (std::int64_t i = 0; i < 16; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) map.push_back(static_cast<double>(100 * c + i));
  }
  return map;
}

TEST(PsRoiPoolExample, EveryBinHasItsChannel) {
  const auto r = pool(pool_shape(1, 1), counted(4), {0, 0, 0, 3, 3});
  expect_near(r.output, {2.5, 104.5, 210.5, 312.5});  // means of 0 1 4 5, 2 3 6 7, 8 9 12 13, 10 11 14 15
  EXPECT_EQ(r.mapping_channel, (Values{0, 1, 2, 3}));
  const auto two = pool(pool_shape(2, 1), counted(8), {0, 0, 0, 3, 3});
  expect_near(two.output, {2.5, 402.5, 104.5, 504.5, 210.5, 610.5, 312.5, 712.5});
  EXPECT_EQ(two.mapping_channel, (Values{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(PsRoiPoolExample, CornersAreRoundedTheLastPixelIsInsideAndBinsOverlap) {
  // 0.4 -> 0, 2.5 -> 3; three pixels in two bins: each has two.
  expect_near(pool(pool_shape(1, 1), counted(4), {0, 0.4, 0.4, 2, 2}).output, {2.5, 103.5, 206.5, 307.5});
  expect_near(pool(pool_shape(1, 1), counted(4), {0, 0.4, 0.4, 2.5, 2.5}).output, {2.5, 104.5, 210.5, 312.5});
  // Far above and left: nothing but bins without pixels; beyond the right border: cut.
  expect_near(pool(pool_shape(1, 1), counted(4), {0, -9, -9, -5, -5}).output, {0, 0, 0, 0});
  expect_near(pool(pool_shape(1, 1), counted(4), {0, 2, 2, 5, 5}).output, {12.5, 0, 0, 0});
  // Inverted: 0.1 of a pixel.
  expect_near(pool(pool_shape(1, 1), counted(4), {0, 2, 2, 0, 0}).output, {10, 110, 210, 310});
  const double nan = std::nan("");
  expect_near(pool(pool_shape(1, 1), counted(4), {0, nan, 0, 3, 3}).output, {0, 0, 0, 0});
}

TEST(PsRoiPoolGradient, IsThatOfDifferencesAndGoesToTheChannelsNamed) {
  const mluopsPsRoiPoolShape s = pool_shape(2, 2, 0.5);
  const Values rois = {0, 1, 0, 5, 6, 0, 3, 2, 9, 4}, grads = {1, -2, 3, 0.5, -1, 2, 0.25, 4, 5, 6, 7, 8, -3, 2, 1, 9};
  Values map = counted(8);
  const auto gradient = [&](const std::int32_t* named) {
    return reference::ps_roi_pool_backward({s, grads.data(), rois.data(), named, nullptr, MLUOP_LAYOUT_NHWC, 0.5});
  };
  const Values found = gradient(nullptr);
  expect_gradient(found, map, grads, [&] { return pool(s, map, rois).output; });
  Indices named;
  for (const double c : pool(s, map, rois).mapping_channel) named.push_back(static_cast<std::int32_t>(c));
  EXPECT_EQ(gradient(named.data()), found);
  for (std::int32_t& c : named) c = c == 0 ? 8 : 3;  // outside, and all others in channel 3
  const Values moved = gradient(named.data());
  double of_three = 0, elsewhere = 0, all = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    all += i % 8 == 0 ? 0 : found[i];
    of_three += i % 8 == 3 ? moved[i] : 0;
    elsewhere += i % 8 == 3 ? 0 : std::fabs(moved[i]);
  }
  EXPECT_NEAR(of_three, all, 1e-12);
  EXPECT_EQ(elsewhere, 0);
}

// ---- VoxelPooling ----

TEST(VoxelPoolingExample, SumsOverZAndForgetsWhatIsOutside) {
  const Indices voxels = {0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 2, -1, 0, 0, 2, 1, 1};
  const Values features = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60};
  const auto r = reference::voxel_pooling_forward(
      {{MLUOP_DTYPE_DOUBLE, 2, 3, 2, 2, 2, 2}, voxels.data(), features.data(), nullptr, nullptr});
  EXPECT_EQ(r.output, (Values{1, 10, 5, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(r.pos_memo, (Values{0, 0, 0, 0, 0, 1, 0, 0, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
  const Indices inside = {0, 0, 0, 1, 0, 1, 1, 1, 0};
  const auto one = reference::voxel_pooling_forward(
      {{MLUOP_DTYPE_DOUBLE, 1, 3, 1, 2, 2, 2}, inside.data(), features.data(), nullptr, nullptr});
  EXPECT_EQ(one.output, (Values{1, 10, 0, 2}));
}

// ---- MaskedIm2col and MaskedCol2im ----

TEST(MaskedIm2colExample, OfTheHeader) {
  const Values image = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Indices at = {-1, 1};
  EXPECT_EQ(reference::masked_im2col_forward(
                {{MLUOP_DTYPE_DOUBLE, 1, 3, 3, 2, 2, 2, 1, 1}, image.data(), at.data(), at.data(), nullptr}),
            (Values{0, 1, 0, 2, 0, 4, 0, 5}));
  const Indices h = {0, 2}, w = {1, 2};
  EXPECT_EQ(reference::masked_im2col_forward(
                {{MLUOP_DTYPE_DOUBLE, 1, 3, 3, 2, 1, 3, 0, 1}, image.data(), h.data(), w.data(), nullptr}),
            (Values{1, 8, 2, 9, 3, 0}));
}

TEST(MaskedCol2imExample, TheLastOfSeveralAndNoneOutside) {
  const Values col = {1, 2, 3, 4, 5, 6, 7, 8};
  const Indices h = {0, 1, 0, 2}, w = {1, 0, 1, 0};
  EXPECT_EQ(reference::masked_col2im_forward(
                {{MLUOP_DTYPE_DOUBLE, 2, 2, 2, 4, 1, 1, 0, 0}, col.data(), h.data(), w.data(), nullptr}),
            (Values{0, 3, 2, 0, 0, 7, 6, 0}));
}

// ---- RoiCrop ----

Values crop(const mluopsRoiCropShape& s, const Values& map, const Values& grid) {
  return reference::roi_crop_forward({s, map.data(), grid.data(), nullptr, MLUOP_LAYOUT_NHWC});
}

TEST(RoiCropExample, CornersMiddlesAndZerosOutside) {
  const mluopsRoiCropShape s{MLUOP_DTYPE_DOUBLE, 1, 2, 3, 1, 1, 1, 6};
  const Values map = {1, 2, 3, 4, 5, 6};
  expect_near(crop(s, map, {-1, -1, 1, 1, -1, 1, 0, 0, 1, -0.5, -1, 2}), {1, 6, 3, 3.5, 4.5, 0});
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  expect_near(crop(s, map, {nan, 0, 0, infinity, 0, -infinity, 2, 0, -2, -1, 0, 1.25}), {0, 0, 0, 2.5, 0.5, 3.375});
}

TEST(RoiCropExample, GridsOfAnImageFollowEachOther) {
  const mluopsRoiCropShape s{MLUOP_DTYPE_DOUBLE, 2, 1, 1, 1, 4, 1, 1};
  expect_near(crop(s, {3, 7}, {0, 0, 0, 0, 0, 0, 0, 0}), {3, 3, 7, 7});
}

TEST(RoiCropGradient, IsThatOfDifferences) {
  const mluopsRoiCropShape s{MLUOP_DTYPE_DOUBLE, 2, 3, 2, 2, 2, 2, 2};
  const Values grid = {-0.3, 0.2, 0.9, -1, 1.7, 0.5, 0, 0, 0.25, -0.75, -1.2, 1.1, 0.5, 0.5, 1, 1};
  const Values grads = {1, -2, 3, 0.5, -1, 2, 0.25, 4, 5, 6, 7, 8, -3, 2, 1, 9};
  Values map(24);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = std::sin(static_cast<double>(i));
  const Values found = reference::roi_crop_backward({s, grads.data(), grid.data(), nullptr, MLUOP_LAYOUT_NHWC});
  expect_gradient(found, map, grads, [&] { return crop(s, map, grid); });
}

// ---- PolyNms ----

TEST(PolyNmsExample, IousOfQuadrilaterals) {
  const auto iou = [](const Values& a, const Values& b) { return reference::iou_of_quadrilaterals(&a[0], &b[0]); };
  const Values square = {0, 0, 2, 0, 2, 2, 0, 2}, moved = {1, 1, 1, 3, 3, 3, 3, 1},
               diamond = {1, -1, 3, 1, 1, 3, -1, 1};
  EXPECT_NEAR(iou(square, moved), 1.0 / 7, 1e-12);  // the second runs the other way round
  EXPECT_NEAR(iou(square, square), 1, 1e-12);
  EXPECT_NEAR(iou(square, diamond), 0.5, 1e-12);
  EXPECT_EQ(iou(square, {2, 0, 4, 0, 4, 2, 2, 2}), 0);
  const Values arrow = {0, 0, 4, 0, 4, 4, 3, 1};  // concave at its last corner: an area of 4
  EXPECT_NEAR(iou(arrow, {0, 0, 4, 0, 4, 4, 0, 4}), 4.0 / 16, 1e-12);
  EXPECT_NEAR(iou({4, 4, 3, 1, 0, 0, 4, 0}, {0, 0, 1, 3, 4, 4, 0, 4}), 0, 1e-12);  // beside each other
  const Values point = {1, 1, 1, 1, 1, 1, 1, 1}, line = {5, 5, 6, 6, 7, 7, 6, 6};
  EXPECT_EQ(iou(point, line), 1);
  EXPECT_EQ(iou(point, square), 0);
  EXPECT_EQ(iou(square, {0, 0, 2, 0, 2, std::nan(""), 0, 2}), 0);
}

TEST(PolyNmsExample, OfTheVendorsDocument) {
  const auto kept = [](const Values& boxes) {
    const auto n = static_cast<std::int64_t>(boxes.size() / 9);
    const auto r = reference::poly_nms({{MLUOP_DTYPE_DOUBLE, n}, boxes.data(), nullptr, nullptr, 0.1});
    return Values(r.output.begin(), r.output.begin() + static_cast<std::ptrdiff_t>(r.output_size[0]));
  };
  const double nan = std::nan("");
  EXPECT_EQ(kept({0, 0, 1, 0, 1, 1, 0, 1, 3}), Values{0});
  EXPECT_EQ(kept({0,   0,   1,   0, 1, 1, 0,    1, 1,    0.5,  0.5, 1.5,  0.5, 1.5,
                  1.5, 0.5, 1.5, 2, 0, 0, -0.5, 0, -0.5, -0.5, 0,   -0.5, 3}),
            (Values{1, 2}));
  EXPECT_EQ(kept({0,   0,   2,   0, 2, 2, 0,    2, nan,  1.5,  1.5, 2.5,  1.5, 2.5,
                  2.5, 1.5, 2.5, 1, 0, 0, -0.5, 0, -0.5, -0.5, 0,   -0.5, 3}),
            (Values{0, 1, 2}));  // what they share is 1/19 of both
  EXPECT_EQ(kept({0, 0, 2, 0, 2, 2, 0, nan, 2, 0, 0, 2, 0, 2, 2, 0, 2, 1}), (Values{0, 1}));
}

}  // namespace
}  // namespace mluops
