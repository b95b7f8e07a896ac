// The blocks of pixels that a call touches: where their rows lie and what is in them, against plain loops.
#include "backends/cpu/layout/touched.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <vector>

#include "backends/cpu/layout/image_rows.h"
#include "backends/cpu/runtime/isa.h"
#include "mluops/problem/roi_crop.h"
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

struct Found {
  Arena memory;
  std::optional<layout::Touched> touched;
  Context context;

  Found(std::int64_t images, std::int64_t pixels, const std::vector<std::array<std::int64_t, 3>>& runs,
        int threads = 1) {
    touched = allocate<layout::Touched>(memory, images, pixels);
    Backend backend(threads);
    touched->find(context, backend.call(), std::ssize(runs), 1e6, [&](std::int64_t i, auto touch) {
      const auto& [image, first, end] = runs[static_cast<std::size_t>(i)];
      touch(image, first, end);
    });
  }
};

TEST(Touched, PlacesBlocksInTheirOrderWithoutGaps) {
  const Found found(3, 1001, {{0, 0, 1}, {2, 7, 9}, {2, 1000, 1001}, {0, 130, 131}, {2, 500, 500}});
  const layout::Touched& t = *found.touched;
  EXPECT_EQ(t.rows(), 5 * layout::kTouchedPixels);
  EXPECT_EQ(t.rows(0), 8);
  EXPECT_EQ(t.rows(1), 0);
  EXPECT_EQ(t.first_row(2), 8);
  EXPECT_EQ(t.most_rows(), 12);
  EXPECT_EQ(t.places(0)(0), 0);
  EXPECT_EQ(t.places(0)(130), 4 + 130 % 4);
  EXPECT_EQ(t.places(2)(7), 3);
  EXPECT_EQ(t.places(2)(8), 4);
  EXPECT_EQ(t.places(2)(1000), 8);
  const auto run = t.run(t.first_block(2), t.blocks());
  EXPECT_EQ(run.image, 2);
  EXPECT_EQ(run.pixel, 4);
  EXPECT_EQ(run.pixels, 8);
  EXPECT_EQ(t.run(run.end, t.blocks()).pixels, 1);  // the image ends there
  EXPECT_EQ(t.run(t.blocks(), t.blocks()).pixels, 0);
}

TEST(Touched, AllBlocksWhereMostAreTouched) {
  for (const int threads : {1, 4}) {
    const Found found(2, 50, {{0, 0, 50}, {1, 3, 20}}, threads);
    EXPECT_TRUE(found.touched->all(0));
    EXPECT_TRUE(found.touched->all(1));
    for (std::int64_t pixel = 0; pixel < 50; ++pixel) EXPECT_EQ(found.touched->places(1)(pixel), pixel);
  }
}

TEST(Touched, NothingOfNoItems) {
  const Found found(2, 50, {});
  EXPECT_EQ(found.touched->rows(), 0);
  EXPECT_FALSE(found.touched->all(0));
}

template <class T>
void expect_rows(std::int64_t images, std::int64_t pixels, std::int64_t channels, int runs, const char* level) {
  std::mt19937 engine(static_cast<unsigned>(pixels + channels));
  const auto input = random_values<T>(images * pixels * channels, 3);
  std::vector<std::array<std::int64_t, 3>> touch;
  for (int i = 0; i < runs; ++i) {
    const auto first = static_cast<std::int64_t>(engine() % static_cast<unsigned>(pixels));
    touch.push_back({static_cast<std::int64_t>(engine()) % images, first, std::min(pixels, first + 1 + i % 9)});
  }
  Arena memory;
  Context context;
  context.isa = choose_isa(level).value();
  Backend backend(3);
  auto rows = allocate<layout::ImageRows<T>>(memory, MLUOP_LAYOUT_NCHW, images, pixels, channels, std::int64_t{2});
  ASSERT_TRUE(rows->read(context, backend.call(), input.data(), [&](layout::Touched& touched) {
    touched.find(context, backend.call(), runs, 1e6, [&](std::int64_t i, auto one) {
      const auto& [image, first, end] = touch[static_cast<std::size_t>(i)];
      one(image, first, end);
    });
  }));
  for (const auto& [image, first, end] : touch) {
    for (std::int64_t pixel = first; pixel < end; ++pixel) {
      const T* const row = rows->of(image).at(pixel);
      for (std::int64_t c = 0; c < rows->width(); ++c) {
        const T want = c < channels ? input[static_cast<std::size_t>((image * channels + c) * pixels + pixel)] : T{};
        ASSERT_EQ(to_acc(row[c * rows->step()]), to_acc(want))
            << level << " " << pixels << " x " << channels << ", " << pixel;
      }
    }
    for (auto run = rows->of(image).run(first, end - first); run.count > 0; run = rows->of(image).next(run)) {
      ASSERT_EQ(run.row, rows->of(image).at(run.pixel));
      ASSERT_EQ(run.row + (run.count - 1) * rows->of(image).pitch, rows->of(image).at(run.pixel + run.count - 1));
    }
  }
}

TEST(ImageRows, HoldTheTouchedPixels) {
  for (const char* const level : kLevels) {
    for (const std::int64_t pixels : {1, 5, 63, 700, 2001}) {
      for (const std::int64_t channels : {2, 3, 15, 16, 17, 40}) {
        for (const int runs : {1, 7, 200}) {
          expect_rows<float>(2, pixels, channels, runs, level);
          expect_rows<Half>(2, pixels, channels, runs, level);
          expect_rows<double>(1, pixels, channels, runs, level);
        }
      }
    }
  }
}

TEST(ImageRows, OneChannelAndNhwcLieWhereTheyAre) {
  Arena memory;
  Context context;
  Backend backend;
  const auto input = random_values<float>(600, 1);
  const auto nothing = [](layout::Touched&) { FAIL(); };
  for (const auto& [layout, channels] : {std::pair(MLUOP_LAYOUT_NCHW, 1), std::pair(MLUOP_LAYOUT_NHWC, 3)}) {
    auto rows = allocate<layout::ImageRows<float>>(memory, layout, 2, 100, std::int64_t{channels}, std::int64_t{0});
    ASSERT_TRUE(rows->read(context, backend.call(), input.data(), nothing));
    EXPECT_FALSE(rows->planes());
    EXPECT_EQ(rows->of(1).at(7), input.data() + (100 + 7) * channels);
  }
}

// ---- what a handle keeps ----

struct Crop {
  mluopsRoiCropShape shape{MLUOP_DTYPE_FLOAT, 1, 200, 200, 64, 1, 4, 4};
  std::vector<float> input = random_values<float>(200 * 200 * 64, 1), grid = random_values<float>(32, 2),
                     output = random_values<float>(16 * 64, 3), gradient = poisoned<float>(200 * 200 * 64);

  void run(Backend& backend) {
    const mluopsRoiCropForwardProblem p{shape, input.data(), grid.data(), output.data(), MLUOP_LAYOUT_NCHW};
    ASSERT_EQ(backend.run(&mluopsBackend::roi_crop_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
  }
  void run_backward(Backend& backend) {
    const mluopsRoiCropBackwardProblem p{shape, output.data(), grid.data(), gradient.data(), MLUOP_LAYOUT_NCHW};
    ASSERT_EQ(backend.run(&mluopsBackend::roi_crop_backward, p), MLUOP_STATUS_SUCCESS) << last_error;
  }
};

std::int64_t held(const Backend& backend) {
  return std::stoll(backend.query("scratch_bytes"));
}

/// 16 points touch 128 pixels at most, in blocks of four: 128 KiB; the map is 10 MiB.
TEST(Scratch, IsWhatSamplesTouch) {
  Crop crop;
  Backend forward(2), backward(2);
  crop.run(forward);
  EXPECT_LT(held(forward), 400 << 10);
  crop.run_backward(backward);
  EXPECT_LT(held(backward), 400 << 10);
}

TEST(Scratch, ShrinksAfterSmallerCallsAndIsGivenBackAtOnce) {
  Crop large, small;
  large.shape.out_h = large.shape.out_w = 64;
  large.grid = random_values<float>(2 * 64 * 64, 4);
  large.output = random_values<float>(64 * 64 * 64, 5);
  Backend backend;
  large.run_backward(backend);
  const std::int64_t most = held(backend);
  EXPECT_GT(most, 4 << 20);
  for (int i = 1; i < Arena::kCalls; ++i) small.run_backward(backend);
  EXPECT_EQ(held(backend), most);
  for (int i = 0; i < Arena::kCalls; ++i) small.run_backward(backend);
  EXPECT_LT(held(backend), 1 << 20);
  const std::vector<float> want = small.gradient;
  large.run_backward(backend);
  backend.option("memory", "release");
  EXPECT_EQ(held(backend), 0);
  small.run_backward(backend);
  EXPECT_TRUE(same_bytes(small.gradient, want));
}

}  // namespace
}  // namespace mluops::cpu::test
