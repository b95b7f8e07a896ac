// ThreeInterpolate of the cpu backend at every instruction-set level: shapes with odd ends, non-temporal stores,
// crowds.
#include <limits>

#include "test/cpu/support.h"
#include "test/reference/reference.h"

namespace mluops::cpu::test {
namespace {

struct Case {
  std::int64_t b, c, m, n;
};

/// Squares of every size, tails in every direction, few channels, few points among many, one block with many points,
/// few features with many channels.
const Case kCases[] = {{1, 1, 1, 1},    {2, 3, 7, 5},      {2, 16, 64, 96},  {1, 17, 33, 129},   {3, 33, 5, 70},
                       {2, 1, 40, 300}, {1, 2, 500, 10},   {1, 40, 900, 20}, {1, 5, 16, 20'000}, {2, 64, 17, 64},
                       {1, 6, 15, 70},  {1, 5, 32, 70},    {1, 7, 63, 70},   {1, 19, 128, 90},   {8, 70, 16, 100},
                       {9, 61, 11, 37}, {1, 530, 100, 300}};

template <class T>
struct Data {
  explicit Data(const Case& k)
      : shape{dtype_of<T>(), k.b, k.c, k.m, k.n},
        features(random_values<T>(k.b * k.c * k.m, 1)),
        weights(random_values<T>(k.b * k.n * 3, 2)),
        grad_output(random_values<T>(k.b * k.c * k.n, 3)),
        indices(weights.size()) {
    std::mt19937 engine(4);
    // A few fall outside [0, M-1], near and far; what their weight says must not matter.
    std::uniform_int_distribution<std::int64_t> near(-1, k.m);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      indices[i] = static_cast<std::int32_t>(near(engine));
      if (i % 37 == 5) indices[i] = i % 2 ? std::numeric_limits<std::int32_t>::min() : 1 << 30;
      if (indices[i] < 0 || indices[i] >= k.m) std::memset(static_cast<void*>(&weights[i]), 0xff, sizeof(T));
    }
  }

  mluopsThreeInterpolateShape in_double() const {
    mluopsThreeInterpolateShape wide = shape;
    wide.dtype = MLUOP_DTYPE_DOUBLE;
    return wide;
  }

  mluopsThreeInterpolateShape shape;
  std::vector<T> features, weights, grad_output;
  std::vector<std::int32_t> indices;
};

template <class T>
std::vector<T> forward(const Data<T>& data, Backend& backend) {
  auto output = poisoned<T>(data.shape.b * data.shape.c * data.shape.n);
  const mluopsThreeInterpolateForwardProblem problem{data.shape, data.features.data(), data.indices.data(),
                                                     data.weights.data(), output.data()};
  EXPECT_EQ(backend.run(&mluopsBackend::three_interpolate_forward, problem), MLUOP_STATUS_SUCCESS) << last_error;
  return output;
}

template <class T>
std::vector<T> backward(const Data<T>& data, Backend& backend) {
  auto gradient = poisoned<T>(data.shape.b * data.shape.c * data.shape.m);
  const mluopsThreeInterpolateBackwardProblem problem{data.shape, data.grad_output.data(), data.indices.data(),
                                                      data.weights.data(), gradient.data()};
  EXPECT_EQ(backend.run(&mluopsBackend::three_interpolate_backward, problem), MLUOP_STATUS_SUCCESS) << last_error;
  return gradient;
}

template <class T>
std::vector<T> weight_gradient(const Data<T>& data, Backend& backend) {
  auto gradient = poisoned<T>(data.shape.b * data.shape.n * 3);
  const mluopsThreeInterpolateBackwardWeightProblem problem{data.shape, data.grad_output.data(), data.features.data(),
                                                            data.indices.data(), gradient.data()};
  EXPECT_EQ(backend.run(&mluopsBackend::three_interpolate_backward_weight, problem), MLUOP_STATUS_SUCCESS)
      << last_error;
  return gradient;
}

template <class T>
void check_forward(const Data<T>& d, const std::vector<T>& output) {
  const auto features = magnitudes_of(d.features), weights = magnitudes_of(d.weights);
  const auto want =
      reference::three_interpolate_forward({d.shape, d.features.data(), d.indices.data(), d.weights.data(), nullptr});
  const auto scale =
      reference::three_interpolate_forward({d.in_double(), features.data(), d.indices.data(), weights.data(), nullptr});
  expect_close(output, want, scale, 4);
}

template <class T>
void check_backward(const Data<T>& d, const std::vector<T>& gradient) {
  const auto grad = magnitudes_of(d.grad_output), weights = magnitudes_of(d.weights);
  const auto want = reference::three_interpolate_backward(
      {d.shape, d.grad_output.data(), d.indices.data(), d.weights.data(), nullptr});
  const auto scale =
      reference::three_interpolate_backward({d.in_double(), grad.data(), d.indices.data(), weights.data(), nullptr});
  expect_close(gradient, want, scale, 3.0 * static_cast<double>(d.shape.n) + 2);
}

template <class T>
void check_weight_gradient(const Data<T>& d, const std::vector<T>& gradient) {
  const auto grad = magnitudes_of(d.grad_output), features = magnitudes_of(d.features);
  const auto want = reference::three_interpolate_backward_weight(
      {d.shape, d.grad_output.data(), d.features.data(), d.indices.data(), nullptr});
  const auto scale = reference::three_interpolate_backward_weight(
      {d.in_double(), grad.data(), features.data(), d.indices.data(), nullptr});
  expect_close(gradient, want, scale, static_cast<double>(d.shape.c) + 2);
}

template <class T>
class ThreeInterpolate : public testing::Test {};
using Elements = testing::Types<Half, Bfloat16, float, double>;
TYPED_TEST_SUITE(ThreeInterpolate, Elements);

TYPED_TEST(ThreeInterpolate, MatchesTheReferenceAtEveryLevel) {
  for (const Case& k : kCases) {
    SCOPED_TRACE(testing::Message() << k.b << "x" << k.c << "x" << k.m << "->" << k.n);
    const Data<TypeParam> data(k);
    for (const char* level : kLevels) {
      SCOPED_TRACE(level);
      Backend backend(2);
      backend.option("isa", level);
      check_forward(data, forward(data, backend));
      check_backward(data, backward(data, backend));
      check_weight_gradient(data, weight_gradient(data, backend));
    }
  }
}

TYPED_TEST(ThreeInterpolate, SameBitsForEveryThreadCountAndRun) {
  for (const Case& k : {Case{3, 40, 50, 3000}, Case{1, 7, 100, 60'000}, Case{2, 250, 16, 700}, Case{2, 530, 40, 700}}) {
    const Data<TypeParam> data(k);
    Backend alone(1);
    const auto output = forward(data, alone), weights = weight_gradient(data, alone), gradient = backward(data, alone);
    EXPECT_EQ(alone.query("last_scatter"), "owner");
    for (int threads = 2; threads <= 16; ++threads) {
      Backend backend(threads);
      EXPECT_TRUE(same_bytes(output, forward(data, backend))) << threads;
      EXPECT_TRUE(same_bytes(gradient, backward(data, backend))) << threads;
      EXPECT_TRUE(same_bytes(weights, weight_gradient(data, backend))) << threads;
    }
  }
}

TYPED_TEST(ThreeInterpolate, AtomicAdditionsGiveTheSameSums) {
  for (const Case& k : kCases) {
    const Data<TypeParam> data(k);
    Backend backend(3);
    backend.option("scatter", "atomic");
    backend.call().atomics = MLUOP_ATOMICS_ALLOWED;
    check_backward(data, backward(data, backend));
    EXPECT_EQ(backend.query("last_scatter"), "atomic");
  }
}

/// Rows that are whole cache lines, in an output large enough to be written past the caches.
TYPED_TEST(ThreeInterpolate, StreamedRowsAreTheSameAsOthers) {
  const Data<TypeParam> data({1, 50, 30, 1 << 16});
  const auto& s = data.shape;
  std::vector<TypeParam> room(static_cast<std::size_t>(s.c * s.n + 64));
  auto* aligned = room.data();
  while (reinterpret_cast<std::uintptr_t>(aligned) % 64 != 0) ++aligned;
  for (TypeParam* out : {aligned, aligned + 1}) {
    Backend backend(2);
    const mluopsThreeInterpolateForwardProblem problem{s, data.features.data(), data.indices.data(),
                                                       data.weights.data(), out};
    ASSERT_EQ(backend.run(&mluopsBackend::three_interpolate_forward, problem), MLUOP_STATUS_SUCCESS);
    check_forward(data, std::vector<TypeParam>(out, out + s.c * s.n));
  }
}

/// The same of gradients, in each of the ways they are summed.
TYPED_TEST(ThreeInterpolate, StreamedGradientsAreTheSameAsOthers) {
  for (const Case& k :
       {Case{2, 37, 8192, 90}, Case{4, 1060, 128, 200}, Case{16, 1030, 16, 50}, Case{1, 40, 8192, 60'000}}) {
    SCOPED_TRACE(testing::Message() << k.b << "x" << k.c << "x" << k.m << "->" << k.n);
    const Data<TypeParam> data(k);
    const auto size = static_cast<std::size_t>(k.b * k.c * k.m);
    std::vector<TypeParam> room(size + 64);
    auto* aligned = room.data();
    while (reinterpret_cast<std::uintptr_t>(aligned) % 64 != 0) ++aligned;
    std::vector<TypeParam> results[2];
    for (const bool shifted : {false, true}) {
      TypeParam* const out = aligned + (shifted ? 1 : 0);
      Backend backend(2);
      const mluopsThreeInterpolateBackwardProblem problem{data.shape, data.grad_output.data(), data.indices.data(),
                                                          data.weights.data(), out};
      ASSERT_EQ(backend.run(&mluopsBackend::three_interpolate_backward, problem), MLUOP_STATUS_SUCCESS);
      results[shifted].assign(out, out + size);
    }
    check_backward(data, results[0]);
    EXPECT_TRUE(same_bytes(results[0], results[1]));
  }
}

/// Most points near to the same feature or two, which the paths for few features must not take badly.
TYPED_TEST(ThreeInterpolate, CrowdedFeaturesGetAllTheirGradients) {
  for (const std::int64_t features : {1, 2, 5}) {
    Data<TypeParam> data({8, 70, 16, 100});
    for (std::size_t i = 0; i < data.indices.size(); ++i) {
      const std::int32_t index = data.indices[i];
      if (index >= 0 && index < 16 && i % 1500 >= 300) data.indices[i] = static_cast<std::int32_t>(index % features);
    }
    Backend backend(2);
    check_backward(data, backward(data, backend));
  }
}

TEST(ThreeInterpolateSpecials, InfiniteGradientsReachOnlyTheirOwnFeatures) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (const Case& k : {Case{8, 70, 16, 100}, Case{1, 530, 100, 300}, Case{1, 20, 200, 50}}) {
    SCOPED_TRACE(k.m);
    Data<float> data(k);
    const std::size_t point = 19, n = static_cast<std::size_t>(k.n), m = static_cast<std::size_t>(k.m);
    for (std::size_t i = 0; i < data.indices.size(); ++i) {
      const bool there = i / 3 % n == point;
      data.indices[i] = static_cast<std::int32_t>(there ? i % 3 : 3 + i % (m - 3));
      data.weights[i] = 0.5f;
    }
    for (std::size_t i = point; i < data.grad_output.size(); i += n) data.grad_output[i] = inf;
    Backend backend(2);
    const auto gradient = backward(data, backend);
    for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_EQ(std::isfinite(gradient[i]), i % m >= 3) << i;
  }
}

TEST(ThreeInterpolateSpecials, InfinityAndNanReachOnlyTheirOwnPoints) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (const std::int64_t m : {16, 32, 40, 64, 128, 200}) {
    SCOPED_TRACE(m);
    Data<float> data({1, 20, m, 50});
    for (std::size_t i = 0; i < data.indices.size(); ++i) {
      data.indices[i] = static_cast<std::int32_t>(1 + i % static_cast<std::size_t>(m - 1));
      data.weights[i] = 0.5f;
    }
    for (std::int64_t c = 0; c < 20; ++c) data.features[static_cast<std::size_t>(c * m)] = inf;
    Backend backend(1);
    for (const float v : forward(data, backend)) ASSERT_TRUE(std::isfinite(v));
    data.indices[9] = static_cast<std::int32_t>(m);
    data.indices[10] = -1;
    data.weights[10] = inf;
    for (const float v : forward(data, backend)) ASSERT_TRUE(std::isfinite(v));
    data.indices[6] = 0;
    data.weights[6] = 0;
    const auto output = forward(data, backend);
    for (std::size_t i = 0; i < output.size(); ++i) ASSERT_EQ(std::isnan(output[i]), i % 50 == 2) << i;
  }
}

}  // namespace
}  // namespace mluops::cpu::test
