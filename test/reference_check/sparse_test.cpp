// Sparse convolution: examples worked out by hand, the gradients of IndiceConvolution and IndiceMaxPool, and a whole
// convolution against a dense one.
#include <gtest/gtest.h>

#include <cmath>

#include "test/reference/diff_iou_rotated.h"
#include "test/reference/get_indice_pairs.h"
#include "test/reference/indice_convolution.h"
#include "test/reference/indice_max_pool.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using test::central_difference;

// ---- get_indice_pairs ----

constexpr mluopsSparseAxis kLine3 = {5, 5, 3, 1, 1, 1}, kOne = {1, 1, 1, 0, 1, 1};

/// One row of five places (the last axis), two axes of one.
mluopsGetIndicePairsShape line(mluopsSparseAxis axis, std::int64_t inputs, std::int64_t outputs, int sub_m,
                               int transpose = 0) {
  return {3, {kOne, kOne, axis}, 1, sub_m, transpose, inputs, outputs, axis.filter};
}
reference::GetIndicePairsResult pairs_of(const mluopsGetIndicePairsShape& s, const std::vector<std::int32_t>& at) {
  std::vector<std::int32_t> indices;
  for (const std::int32_t x : at) indices.insert(indices.end(), {0, 0, 0, x});
  return reference::get_indice_pairs({s, indices.data(), nullptr, nullptr, nullptr, nullptr});
}

TEST(GetIndicePairsExample, SubmanifoldOutputsAreTheInputs) {
  const auto r = pairs_of(line(kLine3, 3, 3, 1), {1, 4, 2});
  EXPECT_EQ(r.outputs, 3);
  EXPECT_EQ(r.num, (Values{1, 3, 1}));
  // Offset 0: p + 1 = q, so 1 meets 2, which is input 2; offset 2: 2 meets 1.
  EXPECT_EQ(r.pairs, (Values{0, -1, -1, 2, -1, -1, 0, 1, 2, 0, 1, 2, 2, -1, -1, 0, -1, -1}));
}

TEST(GetIndicePairsExample, StrideTwoAndItsTranspose) {
  const mluopsSparseAxis halved = {5, 3, 3, 1, 2, 1}, doubled = {3, 5, 3, 1, 2, 1};
  const auto r = pairs_of(line(halved, 2, 4, 0), {3, 4});
  // 3 + 1 = 2q + k: k = 0, q = 2 and k = 2, q = 1; 4 + 1: k = 1, q = 2.
  EXPECT_EQ(r.outputs, 2);
  EXPECT_EQ(r.out_indices, (Values{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(r.num, (Values{1, 1, 1}));
  EXPECT_EQ(r.pairs, (Values{0, -1, 1, -1, 1, -1, 1, -1, 0, -1, 0, -1}));
  const auto t = pairs_of(line(doubled, 1, 3, 0, 1), {1});  // q + 1 = 2 + k: 1, 2, 3
  EXPECT_EQ(t.out_indices, (Values{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3}));
  EXPECT_EQ(t.pairs, (Values{0, 0, 0, 1, 0, 2}));
}

TEST(GetIndicePairsExample, OneAfterTheOtherAtOnePlaceAndOutside) {
  const auto r = pairs_of(line(kLine3, 4, 4, 1), {1, 1, 7, -1});
  EXPECT_EQ(r.num, (Values{0, 2, 0}));
  EXPECT_EQ((Values{r.pairs.begin() + 8, r.pairs.begin() + 16}), (Values{0, 1, -1, -1, 1, 1, -1, -1}));
}

// ---- indice_convolution ----

constexpr std::int32_t kPairs[] = {0, 2, -1, 1, 0, 7, 1, 0, 0, 0, 1, 1};  // K 2, 3 places
constexpr std::int64_t kNum[] = {2, 3};
constexpr mluopsIndicePairs kTwoOffsets = {2, 3, kPairs, kNum};
constexpr mluopsIndiceConvolutionShape kShape = {MLUOP_DTYPE_DOUBLE, 3, 2, 2, 1, {2, 1, 1}, 0};

const Values kFeatures = {1, 2, 3, 4, 5, 6}, kFilters = {10, 1, 0.5, -1};

TEST(IndiceConvolutionExample, SumsOverPairs) {
  // Offset 0: row 0 to output 1, row 2 to output 0; offset 1: rows 1, 0, 0 to outputs 0, 1, 1.
  EXPECT_EQ(reference::indice_convolution_forward({kShape, kTwoOffsets, kFeatures.data(), kFilters.data(), nullptr}),
            (Values{56 - 2.5, 12 - 1.5 - 1.5}));
  mluopsIndiceConvolutionShape inverse = kShape;
  inverse.inverse = 1;
  inverse.inputs = 2, inverse.outputs = 3;
  EXPECT_EQ(reference::indice_convolution_forward({inverse, kTwoOffsets, kFeatures.data(), kFilters.data(), nullptr}),
            (Values{34 - 2.5 - 2.5, -1.5, 12}));
}

TEST(IndiceConvolutionGradient, IsTheDifferenceOfTheForwardFunction) {
  Values features = kFeatures, filters = kFilters;
  const Values grad = {2, -3};
  const auto loss = [&] {
    const Values out =
        reference::indice_convolution_forward({kShape, kTwoOffsets, features.data(), filters.data(), nullptr});
    return grad[0] * out[0] + grad[1] * out[1];
  };
  const auto check = [&](Values& at, const Values& found) {
    ASSERT_EQ(at.size(), found.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_NEAR(central_difference(at[i], 0.25, loss), found[i], 1e-12) << "element " << i;
    }
  };
  check(features,
        reference::indice_convolution_backward_data({kShape, kTwoOffsets, grad.data(), filters.data(), nullptr}));
  check(filters,
        reference::indice_convolution_backward_filter({kShape, kTwoOffsets, features.data(), grad.data(), nullptr}));
}

TEST(SparseConvolutionExample, IsADenseOneAtItsOutputs) {
  const mluopsSparseAxis axis = {5, 3, 3, 1, 2, 1};
  const std::vector<std::int32_t> at = {3, 0, 4};
  const auto r = pairs_of(line(axis, 3, 9, 0), at);
  const Values features = {2, 3, 5}, filters = {100, 10, 1};
  const std::vector<std::int32_t> pairs(r.pairs.begin(), r.pairs.end());
  const std::vector<std::int64_t> num(r.num.begin(), r.num.end());
  const mluopsIndiceConvolutionShape s = {MLUOP_DTYPE_DOUBLE, 3, r.outputs, 1, 1, {1, 1, 1}, 0};
  const Values out = reference::indice_convolution_forward(
      {s, {3, 3, pairs.data(), num.data()}, features.data(), filters.data(), nullptr});
  const double dense[] = {0, 3, 0, 0, 2, 5, 0};  // padded by one
  ASSERT_EQ(out.size(), 3u);
  for (int q = 0; q < 3; ++q) {
    EXPECT_EQ(out[q], 100 * dense[2 * q] + 10 * dense[2 * q + 1] + dense[2 * q + 2]) << "output " << q;
  }
}

// ---- indice_max_pool ----

constexpr mluopsIndiceMaxPoolShape kPool = {MLUOP_DTYPE_DOUBLE, 3, 2, 1};

TEST(IndiceMaxPoolExample, StartsFromZeroAndPassesOverNan) {
  const Values features = {-1, 4, std::nan("")};
  EXPECT_EQ(reference::indice_max_pool_forward({kPool, kTwoOffsets, features.data(), nullptr}), (Values{4, 0}));
}

TEST(IndiceMaxPoolExample, EveryEqualInputGetsTheGradient) {
  const Values features = {3, 4, 4}, greatest = {4, 3}, grad = {10, 1};
  EXPECT_EQ(
      reference::indice_max_pool_backward({kPool, kTwoOffsets, features.data(), greatest.data(), grad.data(), nullptr}),
      (Values{3, 10, 10}));  // three pairs of row 0 with output 1
}

TEST(IndiceMaxPoolGradient, IsTheDifferenceOfTheForwardFunction) {
  constexpr std::int32_t pairs[] = {0, 2, -1, 1, 0, -1, 1, -1, -1, 0, -1, -1};
  constexpr std::int64_t num[] = {2, 1};
  Values features = {5, 3, 4};
  const Values grad = {2, 7};
  const auto forward = [&] {
    return reference::indice_max_pool_forward({kPool, {2, 3, pairs, num}, features.data(), nullptr});
  };
  const auto loss = [&] {
    const Values out = forward();
    return grad[0] * out[0] + grad[1] * out[1];
  };
  const Values out = forward();
  const Values found = reference::indice_max_pool_backward(
      {kPool, {2, 3, pairs, num}, features.data(), out.data(), grad.data(), nullptr});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(central_difference(features[i], 0.25, loss), found[i], 1e-12) << "element " << i;
  }
}

// ---- diff_iou_rotated_sort_vertices ----

TEST(DiffIouRotatedExample, GoesRoundFromTheXAxis) {
  Values vertices(48, 0.0);
  std::uint8_t mask[24] = {};
  const double corners[] = {1, -1, -1, 1, 1, 1, -1, -1};
  for (int i = 0; i < 8; ++i) vertices[i] = corners[i];
  for (int i = 0; i < 4; ++i) mask[i] = 1;
  mask[8] = 1;  // the first place for a pad is 9
  mask[0] = 0;
  vertices[16] = 0.5, vertices[17] = -1;
  const std::int32_t valid = 4, few = 2;
  const mluopsDiffIouRotatedSortVerticesShape shape = {MLUOP_DTYPE_DOUBLE, 1};
  EXPECT_EQ(reference::diff_iou_rotated_sort_vertices({shape, vertices.data(), mask, &valid, nullptr}),
            (Values{2, 1, 3, 8, 2, 9, 9, 9, 9}));
  EXPECT_EQ(reference::diff_iou_rotated_sort_vertices({shape, vertices.data(), mask, &few, nullptr}), Values(9, 9));
}

TEST(DiffIouRotatedExample, RectanglesThatAreTheSameCountOnce) {
  Values vertices(48, 0.0);
  std::uint8_t mask[24] = {};
  const double corners[] = {1, 1, -1, 1, -1, -1, 1, -1};
  for (int i = 0; i < 16; ++i) vertices[i] = corners[i % 8];
  for (int i = 0; i < 8; ++i) mask[i] = 1;
  const std::int32_t valid = 8;
  EXPECT_EQ(
      reference::diff_iou_rotated_sort_vertices({{MLUOP_DTYPE_DOUBLE, 1}, vertices.data(), mask, &valid, nullptr}),
      (Values{0, 1, 2, 3, 0, 8, 8, 8, 8}));
}

}  // namespace
}  // namespace mluops
