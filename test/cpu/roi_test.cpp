// DeformRoiPool and BorderAlign of the cpu backend where the operator suite does not go: every instruction-set level, 1
// to 16 threads, RoIs and boxes that are enormous, inverted or NaN, infinities, sample counts beyond int32.
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/sampling/roi.h"
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct RoiData {
  mluopsDeformRoiPoolShape shape;
  std::vector<float> input, rois, offset, grad_output;

  RoiData(std::int64_t channels, int sampling_ratio, std::vector<float> corners)
      : shape{MLUOP_DTYPE_FLOAT, 2, 20, 30, channels, static_cast<std::int64_t>(corners.size() / 4), 3, 2, 1.0f, 0.5f,
              sampling_ratio},
        input(random_values<float>(2 * 20 * 30 * channels, 1)),
        offset(random_values<float>(shape.rois * 2 * 6, 2)),
        grad_output(random_values<float>(shape.rois * 6 * channels, 3)) {
    for (std::size_t i = 0; i < corners.size(); ++i) {
      if (i % 4 == 0) rois.push_back(static_cast<float>(i / 4 % 2));
      rois.push_back(corners[i]);
    }
  }
};

struct RoiResult {
  std::vector<float> output, grad_input, grad_offset;
  bool operator==(const RoiResult& other) const {
    return same_bytes(output, other.output) && same_bytes(grad_input, other.grad_input) &&
           same_bytes(grad_offset, other.grad_offset);
  }
};

RoiResult run(const RoiData& data, Backend& backend, mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC) {
  const auto& s = data.shape;
  RoiResult r{poisoned<float>(s.rois * 6 * s.c), poisoned<float>(s.batch * s.h * s.w * s.c),
              poisoned<float>(s.rois * 12)};
  const mluopsDeformRoiPoolForwardProblem forward{
      s, data.input.data(), data.rois.data(), data.offset.data(), r.output.data(), layout, s.spatial_scale, s.gamma};
  EXPECT_EQ(backend.run(&mluopsBackend::deform_roi_pool_forward, forward), MLUOP_STATUS_SUCCESS) << last_error;
  const mluopsDeformRoiPoolBackwardProblem backward{s,
                                                    data.grad_output.data(),
                                                    data.input.data(),
                                                    data.rois.data(),
                                                    data.offset.data(),
                                                    r.grad_input.data(),
                                                    r.grad_offset.data(),
                                                    layout,
                                                    s.spatial_scale,
                                                    s.gamma};
  EXPECT_EQ(backend.run(&mluopsBackend::deform_roi_pool_backward, backward), MLUOP_STATUS_SUCCESS) << last_error;
  return r;
}

/// [rows, columns] of each image, transposed.
template <class T>
std::vector<T> transposed(const std::vector<T>& from, std::int64_t images, std::int64_t rows, std::int64_t columns) {
  std::vector<T> to(from.size());
  for (std::int64_t i = 0; i < images * rows * columns; ++i) {
    const std::int64_t image = i / (rows * columns), row = i / columns % rows, column = i % columns;
    to[static_cast<std::size_t>((image * columns + column) * rows + row)] = from[static_cast<std::size_t>(i)];
  }
  return to;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-4 * (1 + std::abs(want[i]))) << i;
}

/// Near where finite, within absolute + relative * |want|; else the same: NaN, or an infinity.
void expect_alike(const std::vector<float>& got, const std::vector<float>& want, double absolute, double relative) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isfinite(want[i])) {
      ASSERT_NEAR(got[i], want[i], absolute + relative * std::abs(want[i])) << i;
    } else {
      ASSERT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i]) << i << ' ' << got[i];
    }
  }
}

/// Small, large, inverted, partly and wholly outside; corners of 40 RoIs.
std::vector<float> many_rois(float low = -10, float high = 40) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<float> anywhere(low, high);
  std::vector<float> corners;
  for (int i = 0; i < 160; ++i) corners.push_back(anywhere(engine));
  return corners;
}

// Without offset the bins of a RoI share their samples' search, and come in runs: 300 channels are sorted by tile.
TEST(DeformRoiPool, NoOffsetsAreOffsetsOfZero) {
  for (const std::int64_t channels : {5, 300}) {
    for (const int sampling_ratio : {0, 1, 2, 5, 60, 200}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, sampling_ratio " << sampling_ratio);
      RoiData data(channels, sampling_ratio, many_rois());
      for (std::size_t i = 0; i < data.input.size(); i += 997) data.input[i] = i % 2 == 0 ? kInf : kNan;
      std::fill(data.offset.begin(), data.offset.end(), 0.0f);
      const auto output = [&](const void* offset, int threads) {
        std::vector<float> out = poisoned<float>(data.shape.rois * 6 * channels);
        const mluopsDeformRoiPoolForwardProblem p{
            data.shape, data.input.data(), data.rois.data(),         offset,
            out.data(), MLUOP_LAYOUT_NHWC, data.shape.spatial_scale, data.shape.gamma};
        Backend backend(threads);
        EXPECT_EQ(backend.run(&mluopsBackend::deform_roi_pool_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
        return out;
      };
      const std::vector<float> want = output(data.offset.data(), 1);
      for (const int threads : {1, 3}) EXPECT_TRUE(same_bytes(output(nullptr, threads), want)) << threads << " threads";
    }
  }
}

// Whole blocks of channels, and some that share channels with the one before; the bits of any number of threads.
TEST(DeformRoiPool, NchwHasTheValuesOfNhwcAlsoWherePixelsAreNotFinite) {
  for (const std::int64_t channels : {16, 20, 37, 160}) {
    RoiData data(channels, 2, many_rois());
    for (std::size_t i = 3; i < data.input.size(); i += 2503) data.input[i] = i % 2 == 0 ? kInf : kNan;
    RoiData planes = data;
    planes.input = transposed(data.input, 2, 600, channels);
    planes.grad_output = transposed(data.grad_output, data.shape.rois, 6, channels);
    for (const char* level : kLevels) {
      Backend nhwc(1);
      const RoiResult want = run(data, nhwc.option("isa", level));
      for (const int threads : {1, 2, 7}) {
        SCOPED_TRACE(testing::Message() << level << " channels " << channels << " threads " << threads);
        Backend backend(threads);
        const RoiResult got = run(planes, backend.option("isa", level), MLUOP_LAYOUT_NCHW);
        ASSERT_EQ(backend.query("last_path"), "nchw_tiles");
        expect_alike(got.output, transposed(want.output, data.shape.rois, 6, channels), 2e-4, 2e-4);
        expect_alike(got.grad_input, transposed(want.grad_input, 2, 600, channels), 2e-4, 2e-4);
        expect_alike(got.grad_offset, want.grad_offset, 2e-4, 2e-4);
        Backend alone(1);
        EXPECT_TRUE(got == run(planes, alone.option("isa", level), MLUOP_LAYOUT_NCHW));
      }
    }
  }
}

TEST(DeformRoiPool, EveryLevelGivesTheSameValues) {
  for (const std::int64_t channels : {1, 5, 37, 160}) {
    const RoiData data(channels, 2, many_rois());
    Backend plain(1);
    plain.option("isa", kLowestLevel);
    const RoiResult want = run(data, plain);
    for (const char* level : kLevels) {
      SCOPED_TRACE(level);
      Backend backend(2);
      const RoiResult got = run(data, backend.option("isa", level));
      expect_near(got.output, want.output);
      expect_near(got.grad_input, want.grad_input);
      expect_near(got.grad_offset, want.grad_offset);
    }
  }
}

TEST(DeformRoiPool, SameBitsFor1To16ThreadsAlsoWhereRoisDifferInSize) {
  for (const int ratio : {0, 3}) {
    const RoiData data(64, ratio, many_rois());
    Backend alone(1);
    const RoiResult want = run(data, alone);
    for (int threads = 2; threads <= 16; ++threads) {
      Backend backend(threads);
      EXPECT_TRUE(run(data, backend) == want) << threads << " threads, ratio " << ratio;
    }
  }
}

TEST(DeformRoiPool, EnormousRoisEndSoonAndStayFinite) {
  RoiData data(3, 0, {-1e9f, -1, 1e9f, 2, 5, 0, 5, 1e30f, 9, -1e30f, 4, 1e30f, 3e38f, 0, -3e38f, 9, 0, 0, 1e8f, 7});
  std::fill(data.offset.begin(), data.offset.end(), 0.0f);
  Backend backend(2);
  const RoiResult got = run(data, backend);
  for (const auto* values : {&got.output, &got.grad_input, &got.grad_offset}) {
    for (const float v : *values) ASSERT_TRUE(std::isfinite(v));
  }
}

/// Nothing to sample: zeros, not garbage.
TEST(DeformRoiPool, EmptyInvertedAndNanRoisGiveZeros) {
  const RoiData data(4, 0, {5, 5, 5, 9, 9, 9, 3, 3, kNan, 1, 8, 8, 1, kNan, 9, 9, kInf, 2, 4, 9, 500, 500, 600, 600});
  Backend backend(1);
  const RoiResult got = run(data, backend);
  for (const float v : got.output) ASSERT_EQ(v, 0);
  for (const float v : got.grad_input) ASSERT_EQ(v, 0);
  for (const float v : got.grad_offset) ASSERT_EQ(v, 0);
}

/// As the definition has it: an infinite neighbour of weight zero makes a sample NaN.
TEST(DeformRoiPool, ZeroWeightTimesInfinityIsNan) {
  RoiData data(1, 1, {3, 3, 5, 6});  // bins of one pixel, samples on whole pixels from (3, 3) on
  std::fill(data.offset.begin(), data.offset.end(), 0.0f);
  data.input[3 * 30 + 4] = kInf;
  Backend backend(1);
  const RoiResult got = run(data, backend);
  EXPECT_TRUE(std::isnan(got.output[0]));
  EXPECT_EQ(got.output[1], kInf);
  for (std::size_t i = 2; i < 6; ++i) EXPECT_TRUE(std::isfinite(got.output[i])) << i;
}

/// As the emulated device does.
TEST(DeformRoiPool, DeclinesRoisWhoseBinsHaveMoreSamplesThanInt32Counts) {
  for (const std::vector<float>& corners : {std::vector<float>{-1e9f, -1e9f, 1e9f, 1e9f}, {-1e30f, 0, 1e30f, 50}}) {
    const RoiData data(1, 0, corners);
    Backend backend(1);
    auto output = poisoned<float>(6);
    const mluopsDeformRoiPoolForwardProblem problem{
        data.shape,    data.input.data(), data.rois.data(),         nullptr,
        output.data(), MLUOP_LAYOUT_NHWC, data.shape.spatial_scale, data.shape.gamma};
    EXPECT_EQ(backend.run(&mluopsBackend::deform_roi_pool_forward, problem), MLUOP_STATUS_NOT_SUPPORTED);
    EXPECT_NE(last_error.find("less than 2^31 samples"), std::string::npos) << last_error;
    EXPECT_TRUE(same_bytes(output, poisoned<float>(6)));
  }
}

/// Samples that share a pixel are merged, but not a weight of zero with another: an infinite pixel must not vanish.
TEST(DeformRoiPool, AZeroWeightOnAnInfinitePixelIsNanAlsoWhereSamplesShareThePixel) {
  const mluopsDeformRoiPoolShape shape{MLUOP_DTYPE_FLOAT, 1, 8, 8, 1, 1, 1, 1, 1.0f, 0.0f, 4};
  // Samples at 2, 2.5, 3, 3.5 on both axes: those at 2 and 3 touch their upper neighbour with weight zero.
  const std::vector<float> rois = {0, 2.25f, 2.25f, 4.25f, 4.25f};
  std::vector<float> input(64, 1.0f);
  input[3 * 8 + 3] = kInf;
  float output = 0;
  const mluopsDeformRoiPoolForwardProblem problem{shape,   input.data(),      rois.data(),         nullptr,
                                                  &output, MLUOP_LAYOUT_NHWC, shape.spatial_scale, shape.gamma};
  Backend backend(1);
  ASSERT_EQ(backend.run(&mluopsBackend::deform_roi_pool_forward, problem), MLUOP_STATUS_SUCCESS);
  EXPECT_TRUE(std::isnan(output)) << output;
}

TEST(RoiAxis, CountsSamplesWithinTheDevicesInt32) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto grid = [](float low, float high) { return RoiAxis<float>(low, high, 1.0f, 1, 0).grid; };
  EXPECT_EQ(grid(3, 3), 0);
  EXPECT_EQ(grid(4, 3), 0);
  EXPECT_EQ(grid(3, 5), 2);
  EXPECT_EQ(grid(3, 5.5f), 3);
  EXPECT_EQ(grid(0, 1e30f), kMost);
  EXPECT_EQ(grid(0, kInf), 0);
  EXPECT_EQ(grid(0, kNan), 0);
}

TEST(DeformRoiPool, DeclinesMoreSamplesThanInt32Counts) {
  RoiData data(1, 46'341, {1, 1, 5, 5});
  Backend backend(1);
  auto output = poisoned<float>(6);
  const mluopsDeformRoiPoolForwardProblem problem{
      data.shape,    data.input.data(), data.rois.data(),         nullptr,
      output.data(), MLUOP_LAYOUT_NHWC, data.shape.spatial_scale, data.shape.gamma};
  EXPECT_EQ(backend.run(&mluopsBackend::deform_roi_pool_forward, problem), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(last_error.find("sampling_ratio"), std::string::npos);
  EXPECT_TRUE(same_bytes(output, poisoned<float>(6)));
}

struct BoxData {
  mluopsBorderAlignShape shape;
  std::vector<float> input, boxes, grad_output;

  BoxData(std::int64_t channels, std::int64_t pool_size, std::vector<float> corners, std::int64_t h = 14,
          std::int64_t w = 22)
      : shape{MLUOP_DTYPE_FLOAT, 1, h, w, channels, static_cast<std::int64_t>(corners.size() / 4), pool_size},
        input(random_values<float>(h * w * 4 * channels, 1)),
        boxes(std::move(corners)),
        grad_output(random_values<float>(shape.k * 4 * channels, 3)) {}
};

struct BoxResult {
  std::vector<float> output;
  std::vector<std::int32_t> argmax;
  std::vector<float> grad_input;
  bool operator==(const BoxResult& other) const {
    return same_bytes(output, other.output) && argmax == other.argmax && same_bytes(grad_input, other.grad_input);
  }
};

BoxResult run(const BoxData& data, Backend& backend) {
  const auto& s = data.shape;
  BoxResult r{poisoned<float>(s.k * 4 * s.c), std::vector<std::int32_t>(static_cast<std::size_t>(s.k * 4 * s.c), -7),
              poisoned<float>(s.h * s.w * 4 * s.c)};
  const mluopsBorderAlignForwardProblem forward{
      s, data.input.data(), data.boxes.data(), r.output.data(), r.argmax.data(), MLUOP_LAYOUT_NHWC};
  EXPECT_EQ(backend.run(&mluopsBackend::border_align_forward, forward), MLUOP_STATUS_SUCCESS) << last_error;
  const mluopsBorderAlignBackwardProblem backward{
      s, data.grad_output.data(), data.boxes.data(), r.argmax.data(), r.grad_input.data(), MLUOP_LAYOUT_NHWC};
  EXPECT_EQ(backend.run(&mluopsBackend::border_align_backward, backward), MLUOP_STATUS_SUCCESS) << last_error;
  return r;
}

/// Some points, and a few that do not exist.
std::vector<std::int32_t> random_indices(std::int64_t count, int pool_size) {
  std::mt19937 engine(7);
  std::uniform_int_distribution<std::int32_t> point(-1, pool_size + 1);
  std::vector<std::int32_t> indices(static_cast<std::size_t>(count));
  for (std::int32_t& i : indices) i = point(engine);
  return indices;
}

std::vector<float> backward(const BoxData& data, const std::vector<std::int32_t>& argmax, const char* level,
                            int threads) {
  const auto& s = data.shape;
  auto gradient = poisoned<float>(s.h * s.w * 4 * s.c);
  Backend backend(threads);
  const mluopsBorderAlignBackwardProblem problem{
      s, data.grad_output.data(), data.boxes.data(), argmax.data(), gradient.data(), MLUOP_LAYOUT_NHWC};
  EXPECT_EQ(backend.option("isa", level).run(&mluopsBackend::border_align_backward, problem), MLUOP_STATUS_SUCCESS);
  return gradient;
}

TEST(BorderAlign, EveryLevelGivesTheSameValues) {
  for (const std::int64_t channels : {1, 7, 40, 130}) {
    for (const std::int64_t pool_size : {1, 10, 15, 16, 40}) {
      const BoxData data(channels, pool_size, many_rois());
      Backend plain(1);
      plain.option("isa", kLowestLevel);
      const BoxResult want = run(data, plain);
      for (const char* level : kLevels) {
        SCOPED_TRACE(testing::Message() << level << " channels " << channels << " pool_size " << pool_size);
        Backend backend(2);
        const BoxResult got = run(data, backend.option("isa", level));
        expect_near(got.output, want.output);
        // Fused or not, the last bit differs; a point may win by that. What follows is compared for equal argmax.
        if (got.argmax == want.argmax) expect_near(got.grad_input, want.grad_input);
      }
    }
  }
}

TEST(BorderAlign, SameBitsFor1To16Threads) {
  const BoxData data(96, 10, many_rois());
  Backend alone(1);
  const BoxResult want = run(data, alone);
  for (int threads = 2; threads <= 16; ++threads) {
    Backend backend(threads);
    EXPECT_TRUE(run(data, backend) == want) << threads;
  }
}

// Every width of a block of channels, one chunk of boxes and several, and tasks that share an image.
TEST(BorderAlign, NchwHasTheBitsOfNhwc) {
  struct Case {
    std::int64_t h, w, channels, boxes, pool_size;
  };
  for (const Case& c : {Case{14, 22, 96, 28, 10}, Case{14, 22, 256, 28, 255}, Case{3, 5, 7, 28, 1},
                        Case{9, 1, 128, 28, 3}, Case{40, 61, 40, 3000, 4}}) {
    std::vector<float> corners = many_rois(-1.5f, 24);
    corners.resize(static_cast<std::size_t>(4 * c.boxes), 1.25f);
    BoxData data(c.channels, c.pool_size, corners, c.h, c.w);
    for (std::size_t i = 3; i < data.input.size(); i += 97) data.input[i] = i % 2 == 0 ? kInf : kNan;
    for (const char* level : kLevels) {
      Backend nhwc(1);
      const BoxResult want = run(data, nhwc.option("isa", level));
      const auto input = transposed(data.input, 1, c.h * c.w, 4 * c.channels);
      for (const auto& [path, threads] :
           {std::pair("lines", 1), {"lines", 7}, {"panels", 1}, {"panels", 2}, {"panels", 7}}) {
        SCOPED_TRACE(testing::Message() << level << " channels " << c.channels << " " << path << " threads "
                                        << threads);
        auto output = poisoned<float>(std::ssize(want.output));
        std::vector<std::int32_t> argmax(want.argmax.size(), -7);
        const mluopsBorderAlignForwardProblem problem{data.shape,    input.data(),  data.boxes.data(),
                                                      output.data(), argmax.data(), MLUOP_LAYOUT_NCHW};
        Backend backend(threads);
        ASSERT_EQ(backend.option("isa", level).option("path", path).run(&mluopsBackend::border_align_forward, problem),
                  MLUOP_STATUS_SUCCESS);
        EXPECT_TRUE(same_bytes(output, transposed(want.output, 1, 4 * c.boxes, c.channels)));
        EXPECT_EQ(argmax, transposed(want.argmax, 1, 4 * c.boxes, c.channels));
      }
    }
  }
}

// Short lines and long ones, whole blocks of channels and parts of one; infinite gradients stay where they belong.
TEST(BorderAlign, NchwHasTheGradientsOfNhwcForAnyNumberOfThreads) {
  struct Case {
    std::int64_t h, w, channels;
  };
  for (const Case& c : {Case{14, 22, 96}, Case{7, 10, 256}, Case{9, 1, 128}, Case{5, 3, 21}, Case{30, 33, 40}}) {
    BoxData data(c.channels, 10, many_rois(-1.5f, 24), c.h, c.w);
    for (std::size_t i = 5; i < data.grad_output.size(); i += 1201) data.grad_output[i] = i % 2 == 0 ? kInf : kNan;
    const auto argmax = random_indices(data.shape.k * 4 * c.channels, 10);
    const auto grad_output = transposed(data.grad_output, 1, 4 * data.shape.k, c.channels);
    const auto planes = transposed(argmax, 1, 4 * data.shape.k, c.channels);
    const auto want = transposed(backward(data, argmax, kLowestLevel, 1), 1, c.h * c.w, 4 * c.channels);
    for (const char* level : kLevels) {
      std::vector<float> first;
      for (const int threads : {1, 2, 7}) {
        SCOPED_TRACE(testing::Message() << level << " channels " << c.channels << " threads " << threads);
        auto got = poisoned<float>(std::ssize(want));
        const mluopsBorderAlignBackwardProblem problem{data.shape,    grad_output.data(), data.boxes.data(),
                                                       planes.data(), got.data(),         MLUOP_LAYOUT_NCHW};
        Backend backend(threads);
        ASSERT_EQ(backend.option("isa", level).run(&mluopsBackend::border_align_backward, problem),
                  MLUOP_STATUS_SUCCESS);
        ASSERT_EQ(backend.query("last_path"), "panels");
        EXPECT_TRUE(first.empty() || same_bytes(got, first));
        first = got;
        expect_alike(got, want, 1e-5, 0);
      }
    }
  }
}

TEST(BorderAlign, AtomicAdditionsGiveTheGradientsOfTheOwnerInBothLayouts) {
  BoxData data(21, 10, many_rois(-1.5f, 24), 9, 13);
  const auto argmax = random_indices(data.shape.k * 4 * 21, 10);
  const auto want = backward(data, argmax, kHighestLevel, 1);
  const auto grad_output = transposed(data.grad_output, 1, 4 * data.shape.k, 21);
  const auto planes = transposed(argmax, 1, 4 * data.shape.k, 21);
  for (const mluOpTensorLayout_t layout : {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_NCHW}) {
    const bool nchw = layout == MLUOP_LAYOUT_NCHW;
    auto got = poisoned<float>(std::ssize(want));
    const mluopsBorderAlignBackwardProblem problem{
        data.shape,        nchw ? grad_output.data() : data.grad_output.data(),
        data.boxes.data(), nchw ? planes.data() : argmax.data(),
        got.data(),        layout};
    Backend backend(2);
    backend.option("scatter", "atomic").call().atomics = MLUOP_ATOMICS_ALLOWED;
    ASSERT_EQ(backend.run(&mluopsBackend::border_align_backward, problem), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(backend.query("last_path"), "atomic");
    expect_alike(got, nchw ? transposed(want, 1, 9 * 13, 4 * 21) : want, 1e-5, 0);
  }
}

// AVX-512 keeps the sums of short lines in registers and looks weights up, which infinity must not get past.
TEST(BorderAlign, ShortLinesGiveTheSameGradientsAlsoWhereTheseAreNotFinite) {
  for (const std::int64_t width : {1, 3, 6, 7, 10, 11}) {
    for (const std::int64_t pool_size : {1, 10, 15, 16}) {
      SCOPED_TRACE(testing::Message() << "width " << width << " pool_size " << pool_size);
      BoxData data(48, pool_size, many_rois(-1.5f, 10), 9, width);
      for (std::size_t i = 5; i < data.grad_output.size(); i += 1201) data.grad_output[i] = i % 2 == 0 ? kInf : kNan;
      const auto argmax = random_indices(data.shape.k * 4 * 48, static_cast<int>(pool_size));
      std::vector<float> got;
      for (const int threads : {1, 2, 5}) {
        const std::vector<float> last = backward(data, argmax, kHighestLevel, threads);
        EXPECT_TRUE(got.empty() || same_bytes(last, got)) << threads;
        got = last;
      }
      const std::vector<float> want = backward(data, argmax, kLowestLevel, 1);
      for (std::size_t i = 0; i < want.size(); ++i) {
        if (std::isfinite(want[i])) {
          ASSERT_NEAR(got[i], want[i], 1e-5) << i;
        } else {
          ASSERT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i]) << i << ' ' << got[i];
        }
      }
    }
  }
}

TEST(BorderAlign, BoxesFarOutsideAndNanGiveZeroAtTheFirstPoint) {
  const BoxData data(
      5, 10, {-900, -900, -800, -850, 1e30f, 1e30f, 2e30f, 3e38f, kNan, kNan, kNan, kNan, -3e38f, -9, 3e38f, -8});
  Backend backend(1);
  const BoxResult got = run(data, backend);
  for (const float v : got.output) ASSERT_EQ(v, 0);
  for (const std::int32_t v : got.argmax) ASSERT_EQ(v, 0);
  for (const float v : got.grad_input) ASSERT_EQ(v, 0);
}

TEST(BorderAlign, ArgmaxOutOfRangeAndInfiniteGradientsStayAmongThemselves) {
  BoxData data(3, 4, {2.25f, 3.5f, 9.75f, 8.25f});
  std::vector<std::int32_t> argmax(12, 99);
  argmax[0] = 1;   // top border, channel 0, point 1 at (4.125, 3.5)
  argmax[1] = -1;  // nowhere
  data.grad_output[0] = kInf;
  auto gradient = poisoned<float>(14 * 22 * 12);
  Backend backend(1);
  const mluopsBorderAlignBackwardProblem problem{data.shape,    data.grad_output.data(), data.boxes.data(),
                                                 argmax.data(), gradient.data(),         MLUOP_LAYOUT_NHWC};
  ASSERT_EQ(backend.run(&mluopsBackend::border_align_backward, problem), MLUOP_STATUS_SUCCESS);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const std::size_t y = i / 12 / 22, x = i / 12 % 22;
    const bool touched = i % 12 == 0 && (y == 3 || y == 4) && (x == 4 || x == 5);
    ASSERT_EQ(gradient[i], touched ? kInf : 0) << i;
  }
}

}  // namespace
}  // namespace mluops::cpu::test
