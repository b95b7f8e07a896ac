// Work that follows from numbers in the data has a bound: extreme RoIs get the same status from every backend, soon.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "mlu_op_ext.h"

namespace {

constexpr int kSide = 8, kPooled = 2;

mluOpTensorDescriptor_t describe(mluOpTensorLayout_t layout, const std::vector<int>& dims) {
  mluOpTensorDescriptor_t desc = nullptr;
  EXPECT_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc, layout, MLUOP_DTYPE_FLOAT, static_cast<int>(dims.size()), dims.data()),
            MLUOP_STATUS_SUCCESS);
  return desc;
}

struct Outcome {
  mluOpStatus_t status;
  std::vector<float> output;
  std::string text;
};

/// deform_roi_pool_forward, sampling_ratio 0, of one RoI on a map of ones.
Outcome pool(const char* backend, const std::vector<float>& roi) {
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtSetBackend(handle, backend), MLUOP_STATUS_SUCCESS);
  const std::vector<float> input(kSide * kSide, 1.0f);
  Outcome outcome{MLUOP_STATUS_SUCCESS, std::vector<float>(kPooled * kPooled, -1.0f), {}};
  const auto input_desc = describe(MLUOP_LAYOUT_NHWC, {1, kSide, kSide, 1});
  const auto rois_desc = describe(MLUOP_LAYOUT_ARRAY, {1, 5});
  const auto output_desc = describe(MLUOP_LAYOUT_NHWC, {1, kPooled, kPooled, 1});
  outcome.status = mluOpDeformRoiPoolForward(handle, input_desc, input.data(), rois_desc, roi.data(), nullptr, nullptr,
                                             kPooled, kPooled, 1.0f, 0, 0.1f, output_desc, outcome.output.data());
  outcome.text = mluOpExtGetLastErrorText();
  for (const auto desc : {input_desc, rois_desc, output_desc}) mluOpDestroyTensorDescriptor(desc);
  mluOpDestroy(handle);
  return outcome;
}

struct Extreme {
  const char* name;
  std::vector<float> roi;  ///< batch, x1, y1, x2, y2
  mluOpStatus_t status;
};

const Extreme kExtremes[] = {
    {"EmptyInXAndTall", {0, 3, 0, 3, 1e30f}, MLUOP_STATUS_SUCCESS},
    {"EmptyInYAndWide", {0, 0, 3, 1e30f, 3}, MLUOP_STATUS_SUCCESS},
    {"InvertedInXAndTall", {0, 3, 0, 2, 1e30f}, MLUOP_STATUS_SUCCESS},
    {"Infinite", {0, 0, 0, 4, INFINITY}, MLUOP_STATUS_SUCCESS},
    {"NotANumber", {0, 0, NAN, 4, 1e30f}, MLUOP_STATUS_SUCCESS},
    {"Tall", {0, 0, 0, 4, 1e30f}, MLUOP_STATUS_NOT_SUPPORTED},
    {"Wide", {0, 0, 0, 1e30f, 4}, MLUOP_STATUS_NOT_SUPPORTED},
    {"MoreSamplesThanInt32", {0, 0, 0, 1e5f, 1e5f}, MLUOP_STATUS_NOT_SUPPORTED},
};

class ExtremeRoi : public ::testing::TestWithParam<Extreme> {};

TEST_P(ExtremeRoi, GetsTheSameStatusAndNumbersFromEveryBackendSoon) {
  for (const char* backend : {"cpu", "mlu_emu"}) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = pool(backend, GetParam().roi);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << backend;
    EXPECT_EQ(outcome.status, GetParam().status) << backend << ": " << outcome.text;
    const float expected = outcome.status == MLUOP_STATUS_SUCCESS ? 0.0f : -1.0f;  // no samples, or untouched
    EXPECT_EQ(outcome.output, std::vector<float>(kPooled * kPooled, expected)) << backend;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExtremeRoi, ::testing::ValuesIn(kExtremes),
                         [](const auto& extreme) { return std::string(extreme.param.name); });

}  // namespace
