// Sizes, indices and hashes that no argument can lead astray: the working memory's products, floats that become
// indices, keys made to collide, RoIs and boxes out of all proportion.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <tuple>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/index.h"
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

constexpr std::int64_t kBig = std::int64_t{1} << 60;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// ---- sizes ----

TEST(Sizes, ProductsAndSumsBeyondInt64AreNoSize) {
  EXPECT_EQ(size_product(kBig, 7), 7 * kBig);
  EXPECT_EQ(size_product(kBig, 8), kNoSize);
  EXPECT_EQ(size_product(kBig, kBig, std::int64_t{0}), 0);
  EXPECT_EQ(size_product(-1, 8), kNoSize);
  EXPECT_EQ(size_product(kNoSize, 2), kNoSize);
  EXPECT_EQ(size_sum(kBig, 7 * kBig), kNoSize);
  EXPECT_EQ(size_sum(-1, 5), kNoSize);
  EXPECT_EQ(size_sum(kNoSize, 1), kNoSize);
}

TEST(Sizes, AnAllocatorNeverComesBackFromNoSize) {
  for (const std::int64_t count : {kBig, -kBig, std::int64_t{-1}, kNoSize, kNoSize / 8}) {
    Allocator measure;
    measure.allocate<double>(count, 16);
    EXPECT_EQ(measure.bytes(), kNoSize) << count;
    measure.allocate<double>(count, 16);  // twice could wrap to something small
    measure.allocate<char>(1);
    EXPECT_EQ(measure.bytes(), kNoSize) << count;
  }
  Allocator many;
  for (int i = 0; i < 40; ++i) many.allocate<char>(kNoSize / 16);
  EXPECT_EQ(many.bytes(), kNoSize);
}

TEST(Sizes, AnArenaRefusesWhatIsNoSize) {
  Arena arena;
  EXPECT_NE(arena.reserve(0), nullptr);
  EXPECT_EQ(arena.bytes(), 0);
  std::byte* const block = arena.reserve(1000);
  ASSERT_NE(block, nullptr);
  for (const std::int64_t bytes : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), kNoSize, kBig}) {
    EXPECT_EQ(arena.reserve(bytes), nullptr) << bytes;
  }
  EXPECT_EQ(arena.reserve_array<double>(kBig, 16), nullptr);
  EXPECT_EQ(arena.reserve(1000), block);
  EXPECT_EQ(arena.reserve(0), block);
}

// ---- floats that become indices ----

template <class F>
class IndexOf : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(IndexOf, Floats);

TYPED_TEST(IndexOf, IsInRangeWhateverTheNumber) {
  using F = TypeParam;
  using Limits = std::numeric_limits<F>;
  const F numbers[] = {Limits::quiet_NaN(),
                       -Limits::quiet_NaN(),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::max(),
                       Limits::lowest(),
                       Limits::denorm_min(),
                       Limits::min(),
                       F{-0.0},
                       F{-1},
                       F{0.99},
                       F{0x1p31},
                       F{0x1p32},
                       F{0x1p62},
                       F{0x1p63},
                       F{-0x1p63}};
  const std::int64_t counts[] = {1,
                                 2,
                                 1000,
                                 (std::int64_t{1} << 24) + 1,
                                 std::numeric_limits<std::int32_t>::max(),
                                 std::int64_t{1} << 31,
                                 (std::int64_t{1} << 53) + 1,
                                 std::numeric_limits<std::int64_t>::max()};
  for (const F number : numbers) {
    for (const std::int64_t count : counts) {
      const std::int64_t index = index_of(number, count);
      EXPECT_TRUE(index >= 0 && index < count) << number << " of " << count << ": " << index;
      const F around = static_cast<F>(count);
      for (const F near : {std::nextafter(around, F{0}), around, std::nextafter(around, Limits::infinity())}) {
        EXPECT_LT(index_of(near, count), count);
        EXPECT_GE(index_of(near, count), 0);
      }
    }
  }
  EXPECT_EQ(index_of(Limits::quiet_NaN(), 9), 0);
  EXPECT_EQ(index_of(F{7.9}, 9), 7);
  EXPECT_EQ(index_of(F{9}, 9), 8);
  EXPECT_EQ(index_of(Limits::infinity(), 9), 8);
  EXPECT_EQ(index_of(F{-3}, 9), 0);
}

// ---- hashes ----

struct Voxels {
  std::vector<float> voxels;
  std::vector<std::int32_t> coors, counts;
  std::int32_t number = -1;
};

Voxels voxelize(const std::vector<float>& points, std::int64_t most, double* seconds) {
  const auto n = static_cast<std::int64_t>(points.size() / 3);
  const float size[] = {1, 1, 1}, range[] = {0, 0, 0, 0x1p24f, 0x1p24f, 0x1p24f};
  Voxels v{poisoned<float>(most * 2 * 3), poisoned<std::int32_t>(most * 3), poisoned<std::int32_t>(most)};
  Backend backend;
  const double start = cpu_seconds();
  const mluopsVoxelizationProblem problem{{MLUOP_DTYPE_FLOAT, n, 3, 2, most},
                                          points.data(),
                                          size,
                                          range,
                                          v.voxels.data(),
                                          v.coors.data(),
                                          v.counts.data(),
                                          &v.number};
  EXPECT_EQ(backend.run(&mluopsBackend::voxelization, problem), MLUOP_STATUS_SUCCESS) << last_error;
  *seconds = cpu_seconds() - start;
  return v;
}

/// Points, each twice, on every 2^x-th place of every 2^y-th line.
std::vector<float> points_apart(std::int64_t count, int x, int y) {
  std::vector<float> points;
  for (int i = 0; std::ssize(points) < 3 * count; ++i) {
    for (int j = 0; j < 1 << (24 - x) && std::ssize(points) < 3 * count; ++j) {
      points.insert(points.end(), {std::ldexp(static_cast<float>(j), x), std::ldexp(static_cast<float>(i), y), 0});
    }
  }
  points.insert(points.end(), points.begin(), points.end());
  return points;
}

class Hashes : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Hashes, TakeTimeThatGrowsAsTheNumberOfPlacesWhateverThoseAre) {
  constexpr std::int64_t kCount = 8000;
  const std::vector<float> points = points_apart(kCount, std::get<0>(GetParam()), std::get<1>(GetParam()));
  for (const std::int64_t most : {kCount, kCount / 3}) {
    double seconds = 0;
    const Voxels v = voxelize(points, most, &seconds);
    EXPECT_LT(seconds, 0.1);  // if all probed the same slots, 16000 * 4000 steps and more
    EXPECT_EQ(v.number, most);
    for (std::int64_t i = 0; i < most; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(v.counts[at], 2);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        ASSERT_EQ(static_cast<float>(v.coors[3 * at + 2 - axis]), points[3 * at + axis]);
        ASSERT_EQ(v.voxels[6 * at + axis], points[3 * at + axis]);
        ASSERT_EQ(v.voxels[6 * at + 3 + axis], points[3 * at + axis]);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Steps, Hashes, ::testing::Combine(::testing::Values(0, 8, 16), ::testing::Values(0, 8, 11)));

// ---- sums of a convolution's slices ----

/// 70 offsets of one pair and one of 2100; 512 channels of each side: sums of all offsets take more than all slices
/// may.
TEST(Slices, AreFewWhereTheirSumsAreLargeAndGiveTheSameBits) {
  constexpr std::int64_t kOffsets = 71, kPlaces = 2100, kChannels = 512, kRows = 40;
  std::vector<std::int32_t> pairs(kOffsets * 2 * kPlaces, -1);
  std::vector<std::int64_t> num(kOffsets, 1);
  num[5] = kPlaces;
  for (std::int64_t k = 0; k < kOffsets; ++k) {
    for (std::int64_t i = 0; i < num[static_cast<std::size_t>(k)]; ++i) {
      pairs[static_cast<std::size_t>(2 * k * kPlaces + i)] = static_cast<std::int32_t>((i + k) % kRows);
      pairs[static_cast<std::size_t>((2 * k + 1) * kPlaces + i)] = static_cast<std::int32_t>(i * 7 % kRows);
    }
  }
  const auto features = random_values<float>(kRows * kChannels, 1),
             gradients = random_values<float>(kRows * kChannels, 2);
  const mluopsIndiceConvolutionShape shape{
      MLUOP_DTYPE_FLOAT, kRows, kRows, kChannels, kChannels, {kChannels * kChannels, kChannels, 1}, 0};
  const auto filters = [&](int threads) {
    Backend backend(threads);
    auto out = poisoned<float>(kOffsets * kChannels * kChannels);
    const mluopsIndiceConvolutionBackwardFilterProblem p{
        shape, {kOffsets, kPlaces, pairs.data(), num.data()}, features.data(), gradients.data(), out.data()};
    EXPECT_EQ(backend.run(&mluopsBackend::indice_convolution_backward_filter, p), MLUOP_STATUS_SUCCESS) << last_error;
    EXPECT_LT(std::stoll(backend.query("scratch_bytes")), (kOffsets + 34) << 20);
    return out;
  };
  const std::vector<float> few = filters(1), many = filters(40);
  EXPECT_TRUE(same_bytes(few, many));
  for (const std::int64_t k : {0, 5, 70}) {
    for (const std::int64_t i : {0, 300}) {
      double want = 0;
      for (std::int64_t n = 0; n < num[static_cast<std::size_t>(k)]; ++n) {
        want += double{features[static_cast<std::size_t>((n + k) % kRows * kChannels + i)]} *
                double{gradients[static_cast<std::size_t>(n * 7 % kRows * kChannels + 511)]};
      }
      EXPECT_NEAR(few[static_cast<std::size_t>((k * kChannels + i) * kChannels + 511)], want, 1e-3);
    }
  }
}

// ---- numbers of the data ----

TEST(BoundsOfData, BoxesOfNearlyNothingLieInStrips) {
  for (const float unit : {1e-45f, 1e-40f, 1.2e-38f, 1e30f, 3e38f}) {
    std::vector<float> dets;
    for (int i = 0; i < 400; ++i) {
      const float x = unit * static_cast<float>(i % 7);
      dets.insert(dets.end(), {x, 0, x + unit, unit, static_cast<float>(i)});
    }
    std::vector<std::int32_t> indices(400), sizes(400);
    std::int32_t groups = 0;
    Backend backend;
    const mluopsNmsMatchProblem problem{
        {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_INT32, 400, 0.5f, 0}, dets.data(), indices.data(), sizes.data(), &groups};
    EXPECT_EQ(backend.run(&mluopsBackend::nms_match, problem), MLUOP_STATUS_SUCCESS) << last_error;
    EXPECT_GE(groups, 1);
  }
}

struct RoiAlignCall {
  mluopsRoiAlignShape shape;
  mluOpTensorLayout_t layout;
  std::vector<float> rois, input, grad_output;

  RoiAlignCall(mluOpTensorLayout_t order, std::int64_t batch, std::int64_t rois_of_image, float side, int ratio)
      : shape{MLUOP_DTYPE_FLOAT, batch, 40, 44, 3, batch * rois_of_image, 5, 6, 1, ratio, 1, 1},
        layout(order),
        input(random_values<float>(batch * 40 * 44 * 3, 1)),
        grad_output(random_values<float>(shape.rois * 5 * 6 * 3, 2)) {
    const std::vector<float> corners = random_values<float>(2 * rois_of_image, 3);
    for (std::int64_t r = 0; r < shape.rois; ++r) {
      const auto i = static_cast<std::size_t>(r % rois_of_image);
      const float x = 20 * corners[2 * i], y = 20 * corners[2 * i + 1];
      rois.insert(rois.end(), {static_cast<float>(r / rois_of_image), x, y, x + side, y + side});
    }
  }
  std::vector<float> forward(Backend& backend) const {
    std::vector<float> output = poisoned<float>(std::ssize(grad_output));
    const mluopsRoiAlignForwardProblem p{shape,   input.data(), rois.data(), output.data(),
                                         nullptr, nullptr,      layout,      shape.spatial_scale};
    EXPECT_EQ(backend.run(&mluopsBackend::roi_align_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return output;
  }
  std::vector<float> backward(Backend& backend) const {
    std::vector<float> gradient = poisoned<float>(std::ssize(input));
    const mluopsRoiAlignBackwardProblem p{shape,   grad_output.data(), rois.data(), nullptr,
                                          nullptr, gradient.data(),    layout,      shape.spatial_scale};
    EXPECT_EQ(backend.run(&mluopsBackend::roi_align_backward, p), MLUOP_STATUS_SUCCESS) << last_error;
    return gradient;
  }
};

/// On a map of 63 KB, 3000 RoIs whose bins' samples cover all of it.
TEST(BoundsOfData, RoiAlignsScratchDoesNotGrowWithTheSizeOfRois) {
  for (const mluOpTensorLayout_t layout : {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_NCHW}) {
    for (const float side : {1e2f, 1e4f, 1e6f}) {
      const RoiAlignCall call(layout, 1, 3000, side, 0);
      Backend forward(2), backward(2);
      call.forward(forward);
      call.backward(backward);
      for (const Backend* backend : {&forward, &backward}) {
        EXPECT_LT(std::stoll(backend->query("scratch_bytes")), 18 << 20) << layout << " " << side;
      }
    }
  }
}

/// Bins of 2^31 samples, nearly all of them off the map: looked at one by one they took 20 s.
TEST(BoundsOfData, RoiAlignLooksAtSamplesOnTheMapAlone) {
  for (const mluOpTensorLayout_t layout : {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_NCHW}) {
    for (const std::vector<float>& roi :
         {std::vector<float>{0, -1e30f, -100, 65504, 160}, {0, -100, -1e30f, 160, 1e30f}}) {
      RoiAlignCall call(layout, 1, 1, 10, 0);
      call.rois = roi;
      Backend forward, backward;
      const double start = cpu_seconds();
      call.forward(forward);
      call.backward(backward);
      EXPECT_LT(cpu_seconds() - start, 5) << layout << " " << roi[1];
    }
  }
}

/// Both directions of a correlation of ones; returns the sum of the outputs.
double correlate(const mluopsCorrelationShape& s, Backend& backend) {
  const auto side = static_cast<std::int64_t>(2 * s.max_displacement + 1);
  const auto pixels = static_cast<std::size_t>(s.h * s.w * s.c);
  const std::vector<float> input(pixels, 1.0f);
  std::vector<float> output = poisoned<float>(side * side * s.out_h * s.out_w), grad1(pixels), grad2(pixels);
  const mluopsCorrelationForwardProblem forward{s, input.data(), input.data(), output.data(), MLUOP_LAYOUT_NHWC};
  const mluopsCorrelationBackwardProblem backward{
      s, output.data(), input.data(), input.data(), grad1.data(), grad2.data(), MLUOP_LAYOUT_NHWC};
  EXPECT_EQ(backend.run(&mluopsBackend::correlation_forward, forward), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(backend.run(&mluopsBackend::correlation_backward, backward), MLUOP_STATUS_SUCCESS) << last_error;
  double sum = 0;
  for (const float value : output) sum += static_cast<double>(value);
  return sum;
}

/// Windows of 10^9 taps: walked one by one they took minutes.
TEST(BoundsOfData, CorrelationLooksAtTapsOnTheMapAlone) {
  constexpr int kTaps = 1'000'000'001, kPad = 500'000'000;
  Backend backend;
  const double start = cpu_seconds();
  // Each of 8 x 8 windows has the whole map.
  EXPECT_EQ(correlate({MLUOP_DTYPE_FLOAT, 1, 8, 8, 1, 8, 8, 0, kTaps, kTaps, 1, 1, kPad, kPad, 1, 1, 1, 1}, backend),
            64.0 * 64);
  // Windows of 1000 taps, 10^7 apart: the last one has the first row of the map, the others have none.
  const mluopsCorrelationShape far{MLUOP_DTYPE_FLOAT, 1, 8,    8, 1, 1, 51, 0, 1, 1000, 1,
                                   10'000'000,        0, kPad, 1, 1, 1, 1};
  EXPECT_EQ(correlate(far, backend), 8);
  EXPECT_LT(cpu_seconds() - start, 1);
}

TEST(BoundsOfData, CorrelationsScratchDoesNotGrowWithTheSquareOfDisplacements) {
  for (const int stride : {1, 4, 64}) {
    const std::int64_t outputs = (64 - 1) / stride + 1;
    const mluopsCorrelationShape s{
        MLUOP_DTYPE_FLOAT, 1, 64, 64, 1, outputs, outputs, 40, 1, 1, stride, stride, 0, 0, 1, 1, 1, 1};
    Backend backend(2);
    correlate(s, backend);
    EXPECT_LT(std::stoll(backend.query("scratch_bytes")), 8 << 20) << stride;  // 81^2 x 64^2 floats are 107 MB
  }
}

}  // namespace
}  // namespace mluops::cpu::test
