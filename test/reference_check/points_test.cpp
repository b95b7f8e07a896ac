// Operators on points: examples worked out by hand or taken from mmcv's tests, and the gradient of GatherPoints.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/reference/assign_score_withk.h"
#include "test/reference/ball_query.h"
#include "test/reference/chamfer_distance.h"
#include "test/reference/furthest_point_sample.h"
#include "test/reference/gather_points.h"
#include "test/reference/knn.h"
#include "test/reference/three_nn.h"
#include "test/reference_check/central_difference.h"

namespace mluops {
namespace {

using reference::Values;
using test::central_difference;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Points on the x axis.
Values on_axis(const Values& x) {
  Values points;
  for (const double at : x) points.insert(points.end(), {at, 0, 0});
  return points;
}

// ---- three_nn ----

reference::ThreeNNResult three_nn(const Values& unknown, const Values& known) {
  const auto count = [](const Values& v) { return static_cast<std::int64_t>(v.size() / 3); };
  const mluopsThreeNNShape shape{MLUOP_DTYPE_DOUBLE, 1, count(unknown), count(known)};
  return reference::three_nn_forward({shape, unknown.data(), known.data(), nullptr, nullptr});
}

TEST(ThreeNNExample, NearestFirstAndOfEqualOnesTheLowerIndex) {
  const auto r = three_nn(on_axis({2.5, 4}), on_axis({1, 4, 2, 3, 2}));
  EXPECT_EQ(r.idx, (Values{2, 3, 4, 1, 3, 2}));
  EXPECT_EQ(r.dist2, (Values{0.25, 0.25, 0.25, 0, 1, 4}));
}

TEST(ThreeNNExample, MissingNeighboursAreIndexZeroAtTheStartValue) {
  const auto r = three_nn(on_axis({1}), on_axis({kNan, 3, INFINITY}));
  EXPECT_EQ(r.idx, (Values{1, 0, 0}));
  EXPECT_EQ(r.dist2, (Values{4, 1e40, 1e40}));
}

TEST(ThreeNNExample, FloatDistancesTieWhereDoubleOnesDoNot) {
  const float unknown[] = {0, 0, 0}, known[] = {1, 1e-5f, 0, 1, 0, 0};
  const auto r = reference::three_nn_forward({{MLUOP_DTYPE_FLOAT, 1, 1, 2}, unknown, known, nullptr, nullptr});
  EXPECT_EQ(r.idx, (Values{0, 1, 0}));
  EXPECT_EQ(r.dist2, (Values{1, 1, INFINITY}));
}

// ---- knn ----

reference::KnnResult knn(const Values& points, const Values& centres, std::int64_t k) {
  const auto count = [](const Values& v) { return static_cast<std::int64_t>(v.size() / 3); };
  const mluopsKnnShape shape{MLUOP_DTYPE_DOUBLE, 1, count(points), count(centres), k};
  return reference::knn({shape, points.data(), centres.data(), nullptr, nullptr});
}

TEST(KnnExample, NearestFirstAndOfEqualOnesTheLowerIndex) {
  const auto r = knn(on_axis({1, 4, 2, 3, 2}), on_axis({2.5, 4}), 3);
  EXPECT_EQ(r.idx, (Values{2, 3, 4, 1, 3, 2}));
  EXPECT_EQ(r.dist2, (Values{0.25, 0.25, 0.25, 0, 1, 4}));
}

TEST(KnnExample, MissingNeighboursAreIndexZeroAtTheStartValue) {
  const auto r = knn(on_axis({kNan, 3, 2e5, INFINITY}), on_axis({1}), 3);
  EXPECT_EQ(r.idx, (Values{1, 0, 0}));
  EXPECT_EQ(r.dist2, (Values{4, 1e10, 1e10}));
}

// ---- ball_query ----

Values ball(const Values& centres, const Values& points, std::int64_t nsample, float low, float high) {
  const auto count = [](const Values& v) { return static_cast<std::int64_t>(v.size() / 3); };
  const mluopsBallQueryShape shape{MLUOP_DTYPE_DOUBLE, 1, count(centres), count(points), nsample, low, high};
  return reference::ball_query({shape, centres.data(), points.data(), nullptr, shape.min_radius, shape.max_radius});
}

TEST(BallQueryExample, FirstPointsByIndexThenTheFirstAgainThenZeros) {
  const Values points = on_axis({9, 1, 0.5, 0, 1.5, 0.25});
  EXPECT_EQ(ball(on_axis({0}), points, 3, 0, 1), (Values{2, 3, 5}));
  EXPECT_EQ(ball(on_axis({0}), points, 5, 0, 1), (Values{2, 3, 5, 2, 2}));
  EXPECT_EQ(ball(on_axis({20}), points, 3, 0, 1), (Values{0, 0, 0}));
  EXPECT_EQ(ball(on_axis({kNan}), points, 3, 0, 1), (Values{0, 0, 0}));
}

TEST(BallQueryExample, LowerRadiusIsInsideUpperOneIsNotAndTheCentreAlways) {
  const Values points = on_axis({0.5, 1, 2, 0, 0.25});
  EXPECT_EQ(ball(on_axis({0}), points, 4, 0.5, 2), (Values{0, 1, 3, 0}));
  EXPECT_EQ(ball(on_axis({0}), points, 2, 0, 0), (Values{3, 3}));
}

// ---- furthest_point_sample ----

Values with_dist(const Values& distances, std::int64_t n, std::int64_t m) {
  return reference::furthest_point_sample_with_dist({{MLUOP_DTYPE_DOUBLE, 1, n, m}, distances.data(), nullptr});
}

TEST(FurthestPointSampleExample, OfMmcv) {
  const Values points = {-0.2748, 1.0020,  -1.1674, 0.1015,  1.3952,  -1.2681, -0.8070, 2.4137,  -0.5845, -1.0001,
                         2.1982,  -0.5859, 0.3841,  1.8983,  -0.7431, -1.0696, 3.0758,  -0.1899, -0.2559, 3.5521,
                         -0.1402, 0.8164,  4.0081,  -0.1839, -1.1000, 3.0213,  -0.8205, -0.0518, 3.7251,  -0.3950};
  EXPECT_EQ(reference::furthest_point_sample({{MLUOP_DTYPE_DOUBLE, 2, 5, 3}, points.data(), nullptr}),
            (Values{0, 2, 4, 0, 2, 1}));
}

TEST(FurthestPointSampleExample, TiesGoToTheThreadWhoseNumberInReverseIsLeast) {
  Values ones(64, 1.0);
  for (int i = 0; i < 8; ++i) ones[i * 9] = 0;
  EXPECT_EQ(with_dist(ones, 8, 10), (Values{0, 4, 2, 6, 1, 5, 3, 7, 0, 0}));
}

TEST(FurthestPointSampleExample, NanLeavesTheDistanceAndNothingAboveMinusOneGivesPointZero) {
  EXPECT_EQ(with_dist({0, 1, kNan, 1, 0, 1, 1, 1, 0}, 3, 3), (Values{0, 2, 1}));
  EXPECT_EQ(with_dist(Values(9, -1.0), 3, 3), (Values{0, 0, 0}));
}

// ---- gather_points ----

TEST(GatherPointsExample, IndicesOutsideReadZeroAndAddToNothing) {
  const mluopsGatherPointsShape s{MLUOP_DTYPE_DOUBLE, 1, 2, 3, 4};
  const Values points = {1, 2, 3, 10, 20, 30}, grad = {1, 2, 4, 8, 3, 5, 7, 9};
  const std::int32_t idx[] = {2, -1, 2, 3};
  EXPECT_EQ(reference::gather_points_forward({s, points.data(), idx, nullptr}), (Values{3, 0, 3, 0, 30, 0, 30, 0}));
  EXPECT_EQ(reference::gather_points_backward({s, grad.data(), idx, nullptr}), (Values{0, 0, 5, 0, 0, 10}));
}

// Forward is linear: its gradient is what each point adds to the weighted sum of the output.
TEST(GatherPointsGradient, IsTheDifferenceAUnitMakes) {
  const mluopsGatherPointsShape s{MLUOP_DTYPE_DOUBLE, 2, 2, 3, 5};
  const std::int32_t idx[] = {0, 2, 2, 7, 1, 1, 1, -4, 0, 2};
  Values points(12), grad(20);
  for (std::size_t i = 0; i < grad.size(); ++i) grad[i] = std::sin(static_cast<double>(i) + 1);
  const Values gradient = reference::gather_points_backward({s, grad.data(), idx, nullptr});
  for (std::size_t i = 0; i < points.size(); ++i) {
    points.assign(12, 0.0);
    points[i] = 1;
    const Values output = reference::gather_points_forward({s, points.data(), idx, nullptr});
    double loss = 0;
    for (std::size_t j = 0; j < grad.size(); ++j) loss += grad[j] * output[j];
    EXPECT_NEAR(loss, gradient[i], 1e-12) << "element " << i;
  }
}

// ---- chamfer_distance ----

mluopsChamferDistanceShape sets_of(const Values& one, const Values& two) {
  return {MLUOP_DTYPE_DOUBLE, 1, static_cast<std::int64_t>(one.size() / 2), static_cast<std::int64_t>(two.size() / 2)};
}

TEST(ChamferDistanceExample, NearestPointsOfBothSets) {
  const Values one = {0, 0, 3, 0}, two = {1, 0, 5, 0, 1, 0};
  const auto r = reference::chamfer_distance_forward(
      {sets_of(one, two), one.data(), two.data(), nullptr, nullptr, nullptr, nullptr});
  EXPECT_EQ(r.dist1, (Values{1, 4}));
  EXPECT_EQ(r.idx1, (Values{0, 0}));
  EXPECT_EQ(r.dist2, (Values{1, 4, 1}));
  EXPECT_EQ(r.idx2, (Values{0, 1, 0}));
  const Values nowhere = {kNan, 0, 2e5, 0};
  const auto none = reference::chamfer_distance_forward(
      {sets_of(one, nowhere), one.data(), nowhere.data(), nullptr, nullptr, nullptr, nullptr});
  EXPECT_EQ(none.dist1, (Values{1e10, 1e10}));
  EXPECT_EQ(none.idx1, (Values{0, 0}));
}

TEST(ChamferDistanceGradient, IsTheDifferenceOfTheForwardFunction) {
  Values one = {0.1, 0.2, 3, 0.4, 1.7, 2}, two = {1, 0.3, 5, 0.6};
  const Values weights1 = {1, -2, 0.5}, weights2 = {3, 0.25};
  const auto forward = [&] {
    return reference::chamfer_distance_forward(
        {sets_of(one, two), one.data(), two.data(), nullptr, nullptr, nullptr, nullptr});
  };
  const auto loss = [&] {
    const auto r = forward();
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += weights1[i] * r.dist1[i];
    for (std::size_t i = 0; i < 2; ++i) sum += weights2[i] * r.dist2[i];
    return sum;
  };
  const auto r = forward();
  const std::vector<std::int32_t> idx1(r.idx1.begin(), r.idx1.end()), idx2(r.idx2.begin(), r.idx2.end());
  const auto found =
      reference::chamfer_distance_backward({sets_of(one, two), one.data(), two.data(), idx1.data(), idx2.data(),
                                            weights1.data(), weights2.data(), nullptr, nullptr});
  const auto check = [&](Values& x, const Values& gradient) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(central_difference(x[i], 1e-4, loss), gradient[i], 1e-8) << "element " << i;
    }
  };
  check(one, found.xyz1);
  check(two, found.xyz2);
}

// ---- assign_score_withk ----

constexpr mluopsAssignScoreWithkShape kPairs = {MLUOP_DTYPE_DOUBLE, 1, 3, 2, 2, 2, 3};
constexpr std::int32_t kNeighbours[] = {1, 2, 7, 0, 0, 2};

TEST(AssignScoreWithkExample, ScoresTimesDifferencesAndNothingOutside) {
  const Values points = {1, 2, 4}, centers = {10, 20, 40}, scores = {1, 3, 5};
  const std::int32_t neighbours[] = {1, 2, 7};
  const mluopsAssignScoreWithkShape s = {MLUOP_DTYPE_DOUBLE, 1, 3, 1, 1, 1, 3};
  EXPECT_EQ(
      reference::assign_score_withk_forward({s, points.data(), centers.data(), scores.data(), neighbours, nullptr}),
      (Values{-18, -48, 0}));
}

TEST(AssignScoreWithkGradient, IsTheDifferenceOfTheForwardFunction) {
  const auto numbers = [](std::size_t count, double from) {
    Values values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(from + 1.7 * static_cast<double>(i));
    return values;
  };
  Values points = numbers(12, 1), centers = numbers(12, 2), scores = numbers(12, 3);
  const Values weights = numbers(12, 4);
  const auto loss = [&] {
    const Values output = reference::assign_score_withk_forward(
        {kPairs, points.data(), centers.data(), scores.data(), kNeighbours, nullptr});
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) sum += weights[i] * output[i];
    return sum;
  };
  const auto found = reference::assign_score_withk_backward(
      {kPairs, weights.data(), points.data(), centers.data(), scores.data(), kNeighbours, nullptr, nullptr, nullptr});
  const auto check = [&](Values& x, const Values& gradient) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(central_difference(x[i], 0.5, loss), gradient[i], 1e-12) << "element " << i;
    }
  };
  check(points, found.points);
  check(centers, found.centers);
  check(scores, found.scores);
}

}  // namespace
}  // namespace mluops
