// Bits across instruction-set levels: the same where a kernel moves, compares or adds in one order, else a few of the
// last ones. docs/reliability.md has the figures, which this test prints.
#include <algorithm>
#include <cmath>

#include "test/cases/base/element.h"
#include "test/op/suite.h"

namespace mluops::test {
namespace {

/// Operators that add in an order of the level's own, or multiply and add in one step where the level has that. The
/// others move, compare, have one order of additions, or no code of a level.
const std::vector<std::string> kOtherBits = {"carafe_forward",
                                             "carafe_backward",
                                             "three_interpolate_forward",
                                             "three_interpolate_backward",
                                             "three_interpolate_backward_weight",
                                             "deform_roi_pool_forward",
                                             "deform_roi_pool_backward",
                                             "border_align_forward",
                                             "border_align_backward",
                                             "roi_align_forward",
                                             "roi_align_backward",
                                             "roi_align_rotated_forward",
                                             "prroi_pool_forward",
                                             "prroi_pool_backward",
                                             "bezier_align_forward",
                                             "rotated_feature_align_forward",
                                             "roi_crop_forward",
                                             "soft_nms",
                                             "yolo_box",
                                             "focal_loss_sigmoid_forward",
                                             "focal_loss_sigmoid_backward",
                                             "focal_loss_softmax_forward",
                                             "focal_loss_softmax_backward",
                                             "assign_score_withk_forward",
                                             "assign_score_withk_backward",
                                             "ms_deform_attn_forward",
                                             "ms_deform_attn_backward",
                                             "indice_convolution_forward",
                                             "indice_convolution_backward_data",
                                             "indice_convolution_backward_filter",
                                             "correlation_forward",
                                             "correlation_backward",
                                             "upfirdn2d",
                                             "dcn_forward",
                                             "dcn_backward_data",
                                             "dcn_backward_weight",
                                             "log",
                                             "logspace",
                                             "lgamma",
                                             "moe_dispatch_backward_gate",
                                             "fft",
                                             "sync_batch_norm_elemt",
                                             "sync_batch_norm_backward_elemt",
                                             "sync_batch_norm_backward_elemt_v2"};
constexpr double kMostSpacings = 12;

/// How the outputs of two levels differ.
struct Difference {
  std::int64_t elements = 0, other = 0;
  double most = 0;  ///< largest distance by the spacing of numbers at the largest output

  void add(const Values& a, const Values& b, mluOpDataType_t dtype) {
    double largest = 0;
    for (const double v : a) largest = std::isfinite(v) ? std::max(largest, std::fabs(v)) : largest;
    for (std::size_t i = 0; i < a.size(); ++i) {
      ++elements;
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
      ++other;
      if (is_float(dtype)) most = std::max(most, std::fabs(a[i] - b[i]) / spacing(dtype, largest));
    }
  }
};

class LevelsTest : public ::testing::TestWithParam<std::string> {};

Expected outputs(Problem& problem, const std::string& level) {
  Handle handle("cpu", 2, {"isa=" + level});
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  EXPECT_EQ(run(problem, handle), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  Expected values;
  for (const auto& output : problem.outputs) values.push_back(output->values());
  return values;
}

Difference difference(const std::string& op, mluOpDataType_t dtype, const std::vector<std::string>& usable) {
  Difference all;
  for (const Case& text : random_cases(op, 31, scaled(24))) {
    Problem problem = make_problem(text, dtype);
    const Expected first = outputs(problem, usable.front());
    for (std::size_t i = 1; i < usable.size(); ++i) {
      const Expected other = outputs(problem, usable[i]);
      for (std::size_t j = 0; j < first.size(); ++j) all.add(first[j], other[j], problem.outputs[j]->dtype());
    }
  }
  return all;
}

TEST_P(LevelsTest, GiveTheSameBitsOrNearlySo) {
  const std::vector<std::string> usable = cpu_levels();
  if (usable.size() < 2) GTEST_SKIP() << "this machine has one level";
  const bool same = std::find(kOtherBits.begin(), kOtherBits.end(), GetParam()) == kOtherBits.end();
  for (const mluOpDataType_t dtype : {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF}) {
    if (duty("cpu", GetParam(), dtype) == Duty::kNone) continue;
    const Difference d = difference(GetParam(), dtype, usable);
    std::printf("%s %s: %.3f %% of %lld elements differ, by %.2f spacings at most\n", GetParam().c_str(),
                dtype_name(dtype).c_str(), 100.0 * static_cast<double>(d.other) / static_cast<double>(d.elements),
                static_cast<long long>(d.elements), d.most);
    EXPECT_GT(d.elements, 0);
    EXPECT_TRUE(!same || d.other == 0) << dtype_name(dtype) << ": " << d.other << " elements";
    EXPECT_LE(d.most, kMostSpacings) << dtype_name(dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LevelsTest, ::testing::ValuesIn(operators()),
                         [](const ::testing::TestParamInfo<std::string>& op) { return op.param; });

}  // namespace
}  // namespace mluops::test
