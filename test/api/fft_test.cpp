// Plans of transforms: strides and embedded signals, in place, and what a plan refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "mlu_op_ext.h"

namespace {

using Complex = std::complex<float>;

class Fft : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(mluOpCreate(&handle_), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpCreateFFTPlan(&plan_), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpCreateTensorDescriptor(&in_), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpCreateTensorDescriptor(&out_), MLUOP_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(mluOpDestroyFFTPlan(plan_), MLUOP_STATUS_SUCCESS);
    mluOpDestroyTensorDescriptor(in_);
    mluOpDestroyTensorDescriptor(out_);
    mluOpDestroy(handle_);
  }
  void set(mluOpTensorDescriptor_t desc, mluOpDataType_t dtype, const std::vector<int>& dims,
           const std::vector<int>& strides = {}) {
    const int rank = static_cast<int>(dims.size());
    ASSERT_EQ(strides.empty()
                  ? mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, dtype, rank, dims.data())
                  : mluOpSetTensorDescriptorEx(desc, MLUOP_LAYOUT_ARRAY, dtype, rank, dims.data(), strides.data()),
              MLUOP_STATUS_SUCCESS);
    const bool half = dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_COMPLEX_HALF;
    mluOpSetTensorDescriptorOnchipDataType(desc, half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT);
  }
  mluOpStatus_t make(const std::vector<int>& n) {
    std::size_t reserve = 1, workspace = 1;
    const mluOpStatus_t status =
        mluOpMakeFFTPlanMany(handle_, plan_, in_, out_, static_cast<int>(n.size()), n.data(), &reserve, &workspace);
    if (status == MLUOP_STATUS_SUCCESS) {
      EXPECT_EQ(reserve + workspace, 0u);
    }
    return status;
  }

  mluOpHandle_t handle_ = nullptr;
  mluOpFFTPlan_t plan_ = nullptr;
  mluOpTensorDescriptor_t in_ = nullptr, out_ = nullptr;
};

/// Number k of the transform of n numbers in steps.
std::complex<double> number(const Complex* x, int n, int step, int k) {
  std::complex<double> sum;
  for (int j = 0; j < n; ++j) {
    sum += std::complex<double>(x[j * step]) * std::polar(1.0, -2 * 3.14159265358979323846 * j * k / n);
  }
  return sum;
}

TEST_F(Fft, OfInterleavedSignals) {
  constexpr int kN = 12, kBatch = 3;  // number j of signal b at j * 3 + b; the result with gaps
  std::vector<Complex> x(kN * kBatch), y(kN * kBatch * 2, {7, 7});
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = {std::sin(static_cast<float>(i)), std::cos(static_cast<float>(3 * i))};
  set(in_, MLUOP_DTYPE_COMPLEX_FLOAT, {kBatch, kN}, {1, kBatch});
  set(out_, MLUOP_DTYPE_COMPLEX_FLOAT, {kBatch, kN}, {2 * kN, 2});
  ASSERT_EQ(make({kN}), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  ASSERT_EQ(mluOpSetFFTReserveArea(handle_, plan_, nullptr), MLUOP_STATUS_SUCCESS);
  ASSERT_EQ(mluOpExecFFT(handle_, plan_, x.data(), 0.5f, nullptr, y.data(), 0), MLUOP_STATUS_SUCCESS);
  for (int b = 0; b < kBatch; ++b) {
    for (int k = 0; k < kN; ++k) {
      const std::complex<double> wanted = 0.5 * number(x.data() + b, kN, kBatch, k);
      EXPECT_LT(std::abs(wanted - std::complex<double>(y[static_cast<std::size_t>(b * 2 * kN + 2 * k)])), 1e-5);
      EXPECT_EQ(y[static_cast<std::size_t>(b * 2 * kN + 2 * k + 1)], Complex(7, 7));
    }
  }
}

TEST_F(Fft, ThereAndBackInPlace) {
  for (const int n : {1, 8, 30, 37, 1000}) {
    std::vector<Complex> x(static_cast<std::size_t>(n) * 2), before;
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = {std::sin(static_cast<float>(i)), 1.0f / static_cast<float>(i + 1)};
    before = x;
    set(in_, MLUOP_DTYPE_COMPLEX_FLOAT, {2, n});
    set(out_, MLUOP_DTYPE_COMPLEX_FLOAT, {2, n});
    ASSERT_EQ(make({n}), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpExecFFT(handle_, plan_, x.data(), 1, nullptr, x.data(), 0), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpExecFFT(handle_, plan_, x.data(), 1.0f / static_cast<float>(n), nullptr, x.data(), 1),
              MLUOP_STATUS_SUCCESS);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LT(std::abs(x[i] - before[i]), 1e-5f) << n << ", " << i;
  }
}

TEST_F(Fft, RefusesWhatDoesNotFit) {
  float memory[256] = {};
  EXPECT_EQ(mluOpExecFFT(handle_, plan_, memory, 1, nullptr, memory, 0), MLUOP_STATUS_BAD_PARAM);  // not made
  set(in_, MLUOP_DTYPE_FLOAT, {2, 8});
  set(out_, MLUOP_DTYPE_COMPLEX_FLOAT, {2, 8});
  EXPECT_EQ(make({8}), MLUOP_STATUS_BAD_PARAM);  // 5 numbers
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("output: "), std::string::npos) << mluOpExtGetLastErrorText();
  set(out_, MLUOP_DTYPE_COMPLEX_FLOAT, {3, 5});
  EXPECT_EQ(make({8}), MLUOP_STATUS_BAD_PARAM);  // another batch
  set(out_, MLUOP_DTYPE_COMPLEX_HALF, {2, 5});
  EXPECT_EQ(make({8}), MLUOP_STATUS_BAD_PARAM);
  set(out_, MLUOP_DTYPE_COMPLEX_FLOAT, {2, 5}, {5, 0});
  EXPECT_EQ(make({8}), MLUOP_STATUS_NOT_SUPPORTED);  // numbers that share memory
  set(out_, MLUOP_DTYPE_COMPLEX_FLOAT, {2, 5}, {-5, 1});
  EXPECT_EQ(make({8}), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("output: wanted strides >= 0, got -5"), std::string::npos);
  set(in_, MLUOP_DTYPE_FLOAT, {1, 8}, {-1, 1});
  set(out_, MLUOP_DTYPE_COMPLEX_FLOAT, {1, 5});
  EXPECT_EQ(make({8}), MLUOP_STATUS_BAD_PARAM);  // of one signal too
  set(in_, MLUOP_DTYPE_FLOAT, {2, 8});
  set(out_, MLUOP_DTYPE_COMPLEX_FLOAT, {2, 5});
  EXPECT_EQ(make({0}), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(make({8, 8, 8}), MLUOP_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(make({8}), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(mluOpExecFFT(handle_, plan_, memory, std::nanf(""), nullptr, memory + 128, 0), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExecFFT(handle_, plan_, memory, 1, nullptr, memory + 4, 0), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpExecFFT(handle_, plan_, nullptr, 1, nullptr, memory, 0), MLUOP_STATUS_BAD_PARAM);
  std::size_t size = 0;
  const int n = 8;
  EXPECT_EQ(mluOpMakeFFTPlanMany(handle_, nullptr, in_, out_, 1, &n, &size, &size), MLUOP_STATUS_NOT_INITIALIZED);
  set(in_, MLUOP_DTYPE_COMPLEX_HALF, {12});
  set(out_, MLUOP_DTYPE_COMPLEX_HALF, {12});
  EXPECT_EQ(make({12}), MLUOP_STATUS_NOT_SUPPORTED);  // no power of two
  EXPECT_EQ(mluOpExtSetContract(handle_, MLUOP_EXT_CONTRACT_EXTENDED), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(make({12}), MLUOP_STATUS_SUCCESS);
}

}  // namespace
