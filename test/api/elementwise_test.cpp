// Elementwise functions number by number: within 4 units in the last place of double precision over the whole range of
// float, doubles, all numbers of 16 bits, special numbers, INT32 and complex numbers, in place.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "mlu_op_ext.h"
#include "test/cases/base/element.h"
#include "test/support/tensor.h"

namespace mluops::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Elementwise : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mluOpCreate(&handle_), MLUOP_STATUS_SUCCESS); }
  void TearDown() override { mluOpDestroy(handle_); }

  mluOpTensorDescriptor_t desc(mluOpDataType_t dtype, std::int64_t n) {
    mluOpTensorDescriptor_t made = nullptr;
    EXPECT_EQ(mluOpCreateTensorDescriptor(&made), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(mluOpSetTensorDescriptor_v2(made, MLUOP_LAYOUT_ARRAY, dtype, 1, &n), MLUOP_STATUS_SUCCESS);
    return made;
  }
  /// The largest error in units in the last place, where both are finite; 1e9 where they are of another kind.
  template <class Call, class Wanted>
  double most_units(const std::vector<float>& x, Call call, Wanted wanted) {
    std::vector<float> y(x.size());
    const mluOpTensorDescriptor_t of = desc(MLUOP_DTYPE_FLOAT, static_cast<std::int64_t>(x.size()));
    EXPECT_EQ(call(of, x.data(), y.data()), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    mluOpDestroyTensorDescriptor(of);
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double right = wanted(static_cast<double>(x[i])), got = static_cast<double>(y[i]);
      if (std::isnan(right) && std::isnan(got)) continue;
      const double rounded = cases::rounded(MLUOP_DTYPE_FLOAT, right);
      if (got == rounded) continue;
      const double units = std::isfinite(got) && std::isfinite(rounded)
                               ? std::fabs(got - right) / cases::spacing(MLUOP_DTYPE_FLOAT, right)
                               : 1e9;
      if (units > most) std::printf("%.9g: wanted %.17g, got %.9g\n", static_cast<double>(x[i]), right, got);
      most = std::max(most, units);
    }
    return most;
  }

  /// Calls f once for each instruction-set level of this machine; a level it lacks is the one below.
  template <class F>
  void at_every_level(F f) {
    for (const char* level : {"neon", "sse2", "sse4", "avx2", "avx512"}) {
      if (mluOpExtSetOption(handle_, "cpu", "isa", level) != MLUOP_STATUS_SUCCESS) continue;
      SCOPED_TRACE(level);
      f();
    }
  }

  mluOpHandle_t handle_ = nullptr;
};

/// Every 4001st float, both signs; and those around what functions are 0 or infinite at.
std::vector<float> all_floats() {
  std::vector<float> made;
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 4001) {
    const auto pattern = static_cast<std::uint32_t>(bits);
    float x;
    std::memcpy(&x, &pattern, sizeof x);
    made.push_back(x);
  }
  for (const float centre :
       {0.0f, 1.0f, 2.0f, -1.0f, -2.0f, -2.457024738f, -2.747682647f, -3.143580889f, 0.5f, 1.5f, 2.5f, 8.0f}) {
    float low = centre, high = centre;
    for (int i = 0; i < 300; ++i) {
      low = std::nextafter(low, -std::numeric_limits<float>::infinity());
      high = std::nextafter(high, std::numeric_limits<float>::infinity());
      made.insert(made.end(), {low, high});
    }
    made.push_back(centre);
  }
  for (int i = -40000; i < 40000; ++i) made.push_back(static_cast<float>(i) * 0.000317f);
  for (int i = -200; i < 0; ++i) made.push_back(static_cast<float>(i));
  made.insert(made.end(), {static_cast<float>(kInfinity), static_cast<float>(-kInfinity), -0.0f, std::nanf("")});
  return made;
}

TEST_F(Elementwise, LogarithmsOfEveryBase) {
  const std::vector<float> x = all_floats();
  const auto log = [this](mluOpLogBase_t base) {
    return [this, base](mluOpTensorDescriptor_t of, const float* from, float* to) {
      return mluOpLog(handle_, MLUOP_COMPUTATION_HIGH_PRECISION, base, of, from, of, to);
    };
  };
  at_every_level([&] {
    EXPECT_LE(most_units(x, log(MLUOP_LOG_E), [](double v) { return std::log(v); }), 2);
    EXPECT_LE(most_units(x, log(MLUOP_LOG_2), [](double v) { return std::log2(v); }), 2);
    EXPECT_LE(most_units(x, log(MLUOP_LOG_10), [](double v) { return std::log10(v); }), 2);
  });
}

TEST_F(Elementwise, LogarithmsOfPowersOfTwoAreExact) {
  std::vector<float> x;
  for (int power = -149; power < 128; ++power) x.push_back(std::ldexp(1.0f, power));
  EXPECT_EQ(most_units(
                x,
                [this](mluOpTensorDescriptor_t of, const float* from, float* to) {
                  return mluOpLog(handle_, MLUOP_COMPUTATION_FAST, MLUOP_LOG_2, of, from, of, to);
                },
                [](double v) { return std::log2(v); }),
            0);
}

TEST_F(Elementwise, LgammaBesideItsZerosToo) {
  const std::vector<float> x = all_floats();
  const auto call = [this](mluOpTensorDescriptor_t of, const float* from, float* to) {
    return mluOpLgamma(handle_, of, from, of, to);
  };
  at_every_level([&] { EXPECT_LE(most_units(x, call, [](double v) { return std::lgamma(v); }), 4); });
}

/// Positive numbers, negative ones and those left to float64 are computed apart from each other.
TEST_F(Elementwise, LgammaDoesNotDependOnTheNeighbours) {
  const std::vector<float> kinds = {3.5f, 20.0f, 0.25f, -0.25f, -2.4570248f, -7.3f, -30.2f, -4.0f, 0.0f, 1e-40f};
  const mluOpTensorDescriptor_t one = desc(MLUOP_DTYPE_FLOAT, 1), many = desc(MLUOP_DTYPE_FLOAT, 3000);
  std::vector<float> x(3000), y(3000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = kinds[i * i % 10] + (i % 10 < 5 ? 0 : static_cast<float>(i % 7));
  at_every_level([&] {
    ASSERT_EQ(mluOpLgamma(handle_, many, x.data(), many, y.data()), MLUOP_STATUS_SUCCESS);
    for (std::size_t i = 0; i < x.size(); ++i) {
      float alone = 0;
      ASSERT_EQ(mluOpLgamma(handle_, one, &x[i], one, &alone), MLUOP_STATUS_SUCCESS);
      EXPECT_EQ(std::memcmp(&alone, &y[i], sizeof alone), 0) << x[i] << ": " << alone << ", " << y[i];
    }
  });
  mluOpDestroyTensorDescriptor(one);
  mluOpDestroyTensorDescriptor(many);
}

/// Where long double is no wider than double, the last numbers beside the zeros are the C library's on both sides.
TEST_F(Elementwise, LgammaOfDoubles) {
  ASSERT_EQ(mluOpExtSetContract(handle_, MLUOP_EXT_CONTRACT_EXTENDED), MLUOP_STATUS_SUCCESS);
  std::vector<double> x = {kInfinity, -kInfinity, 0.0, -0.0, -1, -2, -30, -1e300, 1e300, 5e-324, -1e-320, 1, 2, 0.5, 8};
  for (const float v : all_floats()) x.push_back(static_cast<double>(v) * 1.0000000123456789);
  for (int i = -40000; i < 40000; ++i) x.push_back(i * 0.00031700000000123);
  for (int power = 1; power < 45; ++power) {
    for (const double centre : {1.0, 2.0, -1.0, -2.0, -3.0, -2.4570247382208008, -2.7476826467274127,
                                -3.1435808883499801, -3.9552942848585979, -7.0001983331, -11.0, -12.0, -13.0, -21.0}) {
      x.push_back(centre + std::ldexp(1.37, -power));
      x.push_back(centre - std::ldexp(1.37, -power));
    }
  }
  std::vector<double> y(x.size());
  const mluOpTensorDescriptor_t of = desc(MLUOP_DTYPE_DOUBLE, static_cast<std::int64_t>(x.size()));
  at_every_level([&] {
    ASSERT_EQ(mluOpLgamma(handle_, of, x.data(), of, y.data()), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double right = std::lgamma(static_cast<long double>(x[i]));
      const auto rounded = static_cast<double>(right);
      if (y[i] == rounded || (std::isnan(y[i]) && std::isnan(rounded))) continue;
      const long double unit = std::nextafter(std::fabs(rounded), kInfinity) - std::fabs(rounded);
      ASSERT_LE(std::fabs(static_cast<long double>(y[i]) - right), 4 * unit) << x[i] << ": " << y[i] << ", " << rounded;
    }
  });
  mluOpDestroyTensorDescriptor(of);
}

/// Large tensors look results up.
TEST_F(Elementwise, LgammaOfAllNumbersOf16Bits) {
  ASSERT_EQ(mluOpExtSetContract(handle_, MLUOP_EXT_CONTRACT_EXTENDED), MLUOP_STATUS_SUCCESS);
  constexpr std::size_t kAll = 65536, kPart = 4096, kMore = 100;
  std::vector<std::uint16_t> x(kAll + kMore), y(x.size()), part(kPart);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i * 40503);
  for (const mluOpDataType_t dtype : {MLUOP_DTYPE_HALF, MLUOP_DTYPE_BFLOAT16}) {
    const mluOpTensorDescriptor_t all = desc(dtype, kAll + kMore), some = desc(dtype, kPart);
    at_every_level([&] {
      ASSERT_EQ(mluOpLgamma(handle_, all, x.data(), all, y.data()), MLUOP_STATUS_SUCCESS);
      for (std::size_t first = 0; first < kAll; first += kPart) {
        ASSERT_EQ(mluOpLgamma(handle_, some, &x[first], some, part.data()), MLUOP_STATUS_SUCCESS);
        ASSERT_EQ(std::memcmp(part.data(), &y[first], 2 * kPart), 0) << first;
      }
      const auto n = static_cast<std::int64_t>(x.size());
      const auto values = reference::decode(dtype, x.data(), n), got = reference::decode(dtype, y.data(), n);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double right = std::lgamma(values[i]), rounded = cases::rounded(dtype, right);
        if (got[i] == rounded || (std::isnan(got[i]) && std::isnan(rounded))) continue;
        ASSERT_LE(std::fabs(got[i] - right), 0.51 * cases::spacing(dtype, right)) << values[i] << ": " << got[i];
      }
    });
    mluOpDestroyTensorDescriptor(all);
    mluOpDestroyTensorDescriptor(some);
  }
}

TEST_F(Elementwise, RootsAreRoundedCorrectly) {
  EXPECT_EQ(most_units(
                all_floats(),
                [this](mluOpTensorDescriptor_t of, const float* from, float* to) {
                  return mluOpSqrt(handle_, MLUOP_COMPUTATION_FAST, of, from, of, to);
                },
                [](double v) { return std::sqrt(v); }),
            0);
}

TEST_F(Elementwise, AbsOfIntegersAndComplexNumbers) {
  const std::int32_t ints[] = {0, -1, 5, INT32_MIN, INT32_MAX, -7};
  std::int32_t sizes[6] = {};
  const mluOpTensorDescriptor_t of_ints = desc(MLUOP_DTYPE_INT32, 6);
  ASSERT_EQ(mluOpAbs(handle_, of_ints, ints, of_ints, sizes), MLUOP_STATUS_SUCCESS);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(sizes[i], ints[i] == INT32_MIN ? INT32_MIN : std::abs(ints[i]));
  mluOpDestroyTensorDescriptor(of_ints);

  const float big = 3e38f, nan = std::nanf(""), infinity = static_cast<float>(kInfinity);
  std::vector<std::complex<float>> z = {{3, 4},   {0, 0},           {-0.0f, 0},    {big, big / 4}, {1e-42f, -1e-42f},
                                        {nan, 1}, {nan, -infinity}, {infinity, 2}, {-5, 0},        {1e-30f, 1e-38f}};
  for (int i = 0; i < 100; ++i) z.emplace_back(std::sin(i) * 10, std::cos(3 * i));
  std::vector<float> moduli(z.size());
  const auto n = static_cast<std::int64_t>(z.size());
  const mluOpTensorDescriptor_t of_z = desc(MLUOP_DTYPE_COMPLEX_FLOAT, n), of_y = desc(MLUOP_DTYPE_FLOAT, n);
  ASSERT_EQ(mluOpAbs(handle_, of_z, z.data(), of_y, moduli.data()), MLUOP_STATUS_SUCCESS);
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double wanted = std::hypot(static_cast<double>(z[i].real()), static_cast<double>(z[i].imag()));
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(moduli[i])) << i;
    } else if (std::isinf(wanted)) {
      EXPECT_EQ(static_cast<double>(moduli[i]), wanted) << i;
    } else {
      EXPECT_LE(std::fabs(static_cast<double>(moduli[i]) - wanted), 4 * cases::spacing(MLUOP_DTYPE_FLOAT, wanted)) << i;
    }
  }
  EXPECT_EQ(mluOpAbs(handle_, of_z, z.data(), of_z, z.data()), MLUOP_STATUS_BAD_PARAM);
  mluOpDestroyTensorDescriptor(of_z);
  mluOpDestroyTensorDescriptor(of_y);
}

TEST_F(Elementwise, WorkInPlace) {
  constexpr std::int64_t kCount = 5000;
  std::vector<float> x(kCount), y(kCount);
  for (std::size_t i = 0; i < kCount; ++i) x[i] = static_cast<float>(i) - 1000, y[i] = static_cast<float>(i % 7 + 1);
  std::vector<float> quotients(kCount), in_x = x, in_y = y;
  const mluOpTensorDescriptor_t of = desc(MLUOP_DTYPE_FLOAT, kCount);
  const auto divide = [&](const float* a, const float* b, float* to) {
    return mluOpDiv(handle_, MLUOP_COMPUTATION_FAST, of, a, of, b, of, to);
  };
  ASSERT_EQ(divide(x.data(), y.data(), quotients.data()), MLUOP_STATUS_SUCCESS);
  ASSERT_EQ(divide(in_x.data(), y.data(), in_x.data()), MLUOP_STATUS_SUCCESS);
  ASSERT_EQ(divide(x.data(), in_y.data(), in_y.data()), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(in_x, quotients);
  EXPECT_EQ(in_y, quotients);
  mluOpDestroyTensorDescriptor(of);
}

TEST_F(Elementwise, LogspaceOfIntegersAndIntoPartOfATensor) {
  std::int32_t ints[6] = {9, 9, 9, 9, 9, 9};
  const mluOpTensorDescriptor_t of = desc(MLUOP_DTYPE_INT32, 6);
  ASSERT_EQ(mluOpLogspace(handle_, -1, 11, 4, 10, of, ints), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(std::vector<std::int32_t>(ints, ints + 6), (std::vector<std::int32_t>{0, 1000, 10000000, INT32_MAX, 9, 9}));
  EXPECT_EQ(mluOpLogspace(handle_, 0, 1, 7, 10, of, ints), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpLogspace(handle_, 0, 1, -1, 10, of, ints), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpLogspace(handle_, 0, 1, 2, std::nanf(""), of, ints), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpLogspace(handle_, 0, 1, 0, 10, of, nullptr), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(ints[0], 0);
  mluOpDestroyTensorDescriptor(of);
}

}  // namespace
}  // namespace mluops::test
