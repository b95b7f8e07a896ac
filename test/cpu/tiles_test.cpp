// Products in the register tiles of AMX against the plain loop, and the kernels that use them against their vectors.
#include "backends/cpu/simd/tiles.h"

#include <bit>
#include <limits>
#include <vector>

#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

constexpr std::int64_t kGap = 7;  // elements behind a row that are not its own

/// Numbers that bfloat16 has.
Bfloat16 narrow(double x) {
  return Bfloat16{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16)};
}

/// A product of matrices of whole numbers, so that every order of additions gives the same sums.
class Whole {
 public:
  Whole(std::int64_t rows, std::int64_t depth, std::int64_t width, bool left_parts, bool right_parts)
      : rows_(rows), depth_(depth), width_(width) {
    fill(left_[0], rows, depth);
    fill(right_[0], depth, width);
    if (left_parts) fill(left_[1], rows, depth);
    if (right_parts) fill(right_[1], depth, width);
  }

  void expect_product(tiles::Unit unit, bool overwrite) {
    std::vector<Bfloat16> left, packed;
    for (const auto& part : left_) pack_left(part, left);
    for (const auto& part : right_) pack_right(part, packed);
    const std::int64_t stride = width_ + kGap;
    std::vector<float> sums(static_cast<std::size_t>((rows_ + 1) * stride), 3.0f);
    const tiles::Product product = {.rows = rows_,
                                    .depth = depth_,
                                    .width = width_,
                                    .left = left.data(),
                                    .left_stride = depth_ + kGap,
                                    .packed = packed.data(),
                                    .sums = sums.data(),
                                    .sums_stride = stride,
                                    .overwrite = overwrite,
                                    .left_part = left_[1].empty() ? 0 : rows_ * (depth_ + kGap),
                                    .packed_part = right_[1].empty() ? 0 : depth_ * width_};
    tiles::multiply(product, unit);
    for (std::int64_t r = 0; r <= rows_; ++r) {
      for (std::int64_t c = 0; c < stride; ++c) {
        const bool inside = r < rows_ && c < width_;
        const double before = inside && overwrite ? 0 : 3, wanted = inside ? before + plain(r, c) : before;
        ASSERT_EQ(sums[static_cast<std::size_t>(r * stride + c)], wanted)
            << rows_ << " x " << depth_ << " x " << width_ << " at " << r << ", " << c;
      }
    }
  }

 private:
  using Matrix = std::vector<double>;

  void fill(Matrix& matrix, std::int64_t rows, std::int64_t columns) {
    matrix.resize(static_cast<std::size_t>(rows * columns));
    for (double& x : matrix) x = std::uniform_int_distribution<int>(-9, 9)(random_);
  }
  void pack_left(const Matrix& part, std::vector<Bfloat16>& to) const {
    for (std::size_t i = 0; i < part.size(); ++i) {
      to.push_back(narrow(part[i]));
      if ((i + 1) % static_cast<std::size_t>(depth_) == 0) to.resize(to.size() + kGap, narrow(1000));
    }
  }
  void pack_right(const Matrix& part, std::vector<Bfloat16>& to) const {
    if (part.empty()) return;
    for (std::int64_t block = 0; block < width_; block += 16) {
      for (std::int64_t i = 0; i < depth_ * 16; ++i) {
        const std::int64_t k = i / 32 * 2 + i % 2, c = block + i % 32 / 2;
        to.push_back(narrow(part[static_cast<std::size_t>(k * width_ + c)]));
      }
    }
  }
  double plain(std::int64_t r, std::int64_t c) const {
    double sum = 0;
    for (std::int64_t k = 0; k < depth_; ++k) {
      const double left = at(left_, r * depth_ + k), right = at(right_, k * width_ + c);
      sum += left * right;
    }
    return sum;
  }
  /// The sum of the parts.
  static double at(const Matrix (&parts)[2], std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    return parts[0][place] + (parts[1].empty() ? 0 : parts[1][place]);
  }

  std::int64_t rows_, depth_, width_;
  std::mt19937 random_{7};
  Matrix left_[2], right_[2];
};

class TilesTest : public ::testing::TestWithParam<tiles::Unit> {
  void SetUp() override {
    if (!tiles::has(GetParam())) GTEST_SKIP() << "this processor has none, or the system does not grant them";
  }
};

INSTANTIATE_TEST_SUITE_P(Units, TilesTest, ::testing::Values(tiles::Unit::kVectors, tiles::Unit::kTiles),
                         [](const auto& unit) { return unit.param == tiles::Unit::kTiles ? "tiles" : "vectors"; });

TEST_P(TilesTest, MultipliesAsThePlainLoopDoes) {
  for (const std::int64_t rows : {0, 16, 32, 48, 80}) {
    for (const std::int64_t depth : {32, 64, 160}) {
      for (const std::int64_t width : {16, 32, 48, 112}) {
        for (const bool overwrite : {false, true}) {
          Whole(rows, depth, width, false, false).expect_product(GetParam(), overwrite);
          Whole(rows, depth, width, true, false).expect_product(GetParam(), overwrite);
          Whole(rows, depth, width, false, true).expect_product(GetParam(), overwrite);
        }
      }
    }
  }
}

TEST_P(TilesTest, KeepsInfiniteNumbersAndSumsInFloat) {
  std::vector<Bfloat16> left(16 * 32, narrow(1)), packed(32 * 16, narrow(0x1p-7));
  left[0] = narrow(std::numeric_limits<double>::infinity());
  left[32] = narrow(std::nan(""));
  std::vector<float> sums(16 * 16, 1.0f);
  tiles::multiply({16, 32, 16, left.data(), 32, packed.data(), sums.data(), 16}, GetParam());
  EXPECT_EQ(sums[0], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(sums[16]));
  EXPECT_EQ(sums[32], 1.25f);
}

}  // namespace
}  // namespace mluops::cpu::test
