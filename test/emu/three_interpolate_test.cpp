#include "backends/mlu_emu/plan/three_interpolate.h"

#include <limits>

#include "test/emu/support.h"

namespace mluops::emu::test {
namespace {

struct Case {
  std::int64_t b, c, m, n;
};

template <class T>
struct Tensors {
  explicit Tensors(const mluopsThreeInterpolateShape& s)
      : features(random_values<T>(s.b * s.c * s.m, 1)),
        weights(random_values<T>(s.b * s.n * 3, 2)),
        grad_output(random_values<T>(s.b * s.c * s.n, 3)),
        indices(static_cast<std::size_t>(s.b * s.n * 3)) {
    std::mt19937 generator(4);
    // A few on either side of the range, and the extremes.
    std::uniform_int_distribution<std::int32_t> uniform(-2, static_cast<std::int32_t>(s.m) + 1);
    for (auto& i : indices) i = uniform(generator);
    indices[0] = std::numeric_limits<std::int32_t>::min();
    indices[1] = std::numeric_limits<std::int32_t>::max();
  }

  std::vector<T> features, weights, grad_output;
  std::vector<std::int32_t> indices;
};

/// Blocks of Mo features in increasing order; in a block the neighbours in order; product rounded, then added.
template <class T>
std::vector<T> forward_model(const mluopsThreeInterpolateShape& s, const Tensors<T>& t, std::int64_t mo) {
  std::vector<T> output(t.grad_output.size());
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t c = 0; c < s.c; ++c)
      for (std::int64_t n = 0; n < s.n; ++n)
        for (std::int64_t block = 0; block < s.m; block += mo)
          for (std::int64_t j = 0; j < 3; ++j) {
            const auto at = static_cast<std::size_t>((b * s.n + n) * 3 + j);
            const std::int64_t m = t.indices[at];
            if (m < block || m >= std::min(s.m, block + mo)) continue;
            T& sum = output[static_cast<std::size_t>((b * s.c + c) * s.n + n)];
            sum = add(sum, mul(t.weights[at], t.features[static_cast<std::size_t>((b * s.c + c) * s.m + m)]));
          }
  return output;
}

/// Blocks of No points in increasing order; in a block neighbour by neighbour, point by point.
template <class T>
std::vector<T> backward_model(const mluopsThreeInterpolateShape& s, const Tensors<T>& t, std::int64_t no) {
  std::vector<T> gradient(t.features.size());
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t c = 0; c < s.c; ++c)
      for (std::int64_t block = 0; block < s.n; block += no)
        for (std::int64_t j = 0; j < 3; ++j)
          for (std::int64_t n = block; n < std::min(s.n, block + no); ++n) {
            const auto at = static_cast<std::size_t>((b * s.n + n) * 3 + j);
            const std::int64_t m = t.indices[at];
            if (m < 0 || m >= s.m) continue;
            T& sum = gradient[static_cast<std::size_t>((b * s.c + c) * s.m + m)];
            sum = add(sum, mul(t.weights[at], t.grad_output[static_cast<std::size_t>((b * s.c + c) * s.n + n)]));
          }
  return gradient;
}

plan::Machine machine_of(const MachineSpec& m) {
  return {m.nram_bytes, m.clusters, m.cores_per_cluster, std::atoi(m.arch + 4)};
}

std::string describe(const Case& c, const MachineSpec& m, const char* what) {
  return std::string(what) + " on " + m.arch + "/" + std::to_string(m.nram_bytes) + " of B " + std::to_string(c.b) +
         " C " + std::to_string(c.c) + " M " + std::to_string(c.m) + " N " + std::to_string(c.n);
}

template <class T>
void check(const Case& c, const MachineSpec& spec) {
  const mluopsThreeInterpolateShape s{kDtype<T>, c.b, c.c, c.m, c.n};
  const Tensors<T> t(s);
  Emulator emulator(spec);
  const auto forward = plan::plan_three_interpolate(s, plan::Direction::kForward, machine_of(spec));
  const auto backward = plan::plan_three_interpolate(s, plan::Direction::kBackward, machine_of(spec));
  if (!forward.ok() || !backward.ok()) return;
  auto output = untouched<T>(s.b * s.c * s.n), gradient = untouched<T>(s.b * s.c * s.m);
  const mluopsThreeInterpolateForwardProblem f{s, t.features.data(), t.indices.data(), t.weights.data(), output.data()};
  ASSERT_EQ(emulator.run(&mluopsBackend::three_interpolate_forward, f), MLUOP_STATUS_SUCCESS) << error_text();
  expect_same_bits(output, forward_model(s, t, forward.mo), describe(c, spec, "output"));
  const mluopsThreeInterpolateBackwardProblem g{s, t.grad_output.data(), t.indices.data(), t.weights.data(),
                                                gradient.data()};
  ASSERT_EQ(emulator.run(&mluopsBackend::three_interpolate_backward, g), MLUOP_STATUS_SUCCESS) << error_text();
  expect_same_bits(gradient, backward_model(s, t, backward.no), describe(c, spec, "grad_features"));
}

TEST(EmuThreeInterpolate, bits_on_every_machine) {
  for (const MachineSpec& spec : machine_specs())
    for (const Case& c : {Case{1, 1, 1, 1}, {2, 5, 6, 6}, {3, 70, 40, 129}, {1, 130, 300, 70}, {2, 33, 1000, 65}}) {
      check<float>(c, spec);
      check<Half>(c, spec);
    }
}

TEST(EmuThreeInterpolate, bits_with_every_axis_split) {
  for (std::int64_t nram : {20480, 40960, 65536})
    for (const Case& c : {Case{2, 70, 200, 200}, {1, 65, 97, 161}, {3, 33, 129, 31}}) {
      check<float>(c, {"mtp_372", nram, 3, 3});
      check<Half>(c, {"mtp_372", nram, 3, 3});
    }
}

TEST(EmuThreeInterpolate, nan_matters_only_where_it_is_selected) {
  const mluopsThreeInterpolateShape s{MLUOP_DTYPE_FLOAT, 1, 3, 200, 40};
  Tensors<float> t(s);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 0; i < t.indices.size(); ++i) t.indices[i] = static_cast<std::int32_t>(i * 7 % 200);
  t.weights[3] = nan;  // point 1
  t.indices[6] = -1;   // point 2: dropped together with its NaN
  t.weights[6] = nan;
  t.features[199] = nan;  // channel 0, feature 199: nobody's neighbour or somebody's, see below
  for (auto& i : t.indices)
    if (i == 199) i = 198;
  for (const MachineSpec& spec : {MachineSpec{"mtp_372", 20480, 3, 3}, {"mtp_592", 393216, 8, 4}}) {
    auto output = untouched<float>(s.c * s.n);
    Emulator emulator(spec);
    const mluopsThreeInterpolateForwardProblem f{s, t.features.data(), t.indices.data(), t.weights.data(),
                                                 output.data()};
    ASSERT_EQ(emulator.run(&mluopsBackend::three_interpolate_forward, f), MLUOP_STATUS_SUCCESS) << error_text();
    for (std::int64_t i = 0; i < s.c * s.n; ++i)
      EXPECT_EQ(std::isnan(output[static_cast<std::size_t>(i)]), i % s.n == 1) << i;
    auto gradient = untouched<float>(s.c * s.m);
    const mluopsThreeInterpolateBackwardProblem g{s, t.grad_output.data(), t.indices.data(), t.weights.data(),
                                                  gradient.data()};
    ASSERT_EQ(emulator.run(&mluopsBackend::three_interpolate_backward, g), MLUOP_STATUS_SUCCESS) << error_text();
    for (std::int64_t i = 0; i < s.c * s.m; ++i)
      EXPECT_EQ(std::isnan(gradient[static_cast<std::size_t>(i)]), i % s.m == t.indices[3]) << i;
  }
}

TEST(EmuThreeInterpolate, declines_nram_below_one_block) {
  const mluopsThreeInterpolateShape s{MLUOP_DTYPE_FLOAT, 1, 1, 1, 1};
  const Tensors<float> t(s);
  auto gradient = untouched<float>(1);
  Emulator emulator({"mtp_372", 16384, 1, 1});
  const mluopsThreeInterpolateBackwardProblem g{s, t.grad_output.data(), t.indices.data(), t.weights.data(),
                                                gradient.data()};
  EXPECT_EQ(emulator.run(&mluopsBackend::three_interpolate_backward, g), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(error_text().find("NRAM"), std::string::npos) << error_text();
  expect_same_bits(gradient, untouched<float>(1), "grad_features");
}

}  // namespace
}  // namespace mluops::emu::test
