// mlu_emu against outputs of the vendor's kernels: outputs/CARD.txt has what these left behind on the emulated CARD, a
// line a case, in the form of test/support/recorded.h. `mluops_conformance --library LIB --record FILE` wrote the
// lines. docs/lab/emulator.md says which cases were left out, and why.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "test/support/handle.h"
#include "test/support/metrics.h"
#include "test/support/recorded.h"
#include "test/support/run.h"
#include "test/support/tolerance.h"

namespace mluops::test {
namespace {

/// Operators whose design document leaves the order of operations open, or whose kernel here has another one, with the
/// reason. All others are bitwise equal; so are all integer outputs.
const std::map<std::string, const char*>& within_tolerance() {
  static const std::map<std::string, const char*> list = {
      {"focal_loss_sigmoid_forward", "logarithms of sums that nothing cancels in"},
      {"focal_loss_sigmoid_backward", "logarithms of sums that nothing cancels in"},
      {"box_iou_rotated", "the shared area is a sum of integrals, not a hull of 24 points"},
      {"ms_deform_attn_forward", "the order of a level's samples is open"},
      {"ms_deform_attn_backward", "atomic sums"},
      {"roi_align_rotated_forward", "the order of a bin's samples is open"},
      {"roi_align_rotated_backward", "atomic sums"},
      {"ps_roi_pool_backward", "atomic sums"},
  };
  return list;
}

const std::vector<std::string>& cards() {
  static const std::vector<std::string> list = {"mlu370-x4", "mlu370-x8", "mlu590"};
  return list;
}

std::vector<Record> records_of(const std::string& card) {
  std::ifstream file(std::string(MLUOPS_RECORDS) + "/" + card + ".txt");
  std::vector<Record> records;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("#")) records.push_back(read_record(line));
  }
  return records;
}

mluOpDataType_t dtype_named(const std::string& name) {
  return name == dtype_name(MLUOP_DTYPE_HALF) ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT;
}

/// "" where the output is the recorded one, bit by bit.
std::string bits_mismatch(const RecordedOutput& got, const RecordedOutput& want) {
  if (got.hash == want.hash) return "";
  std::string text = want.name + ": other bits; some elements, got:";
  for (const double element : got.elements) text.append(" ").append(std::to_string(element));
  text += ", recorded:";
  for (const double element : want.elements) text.append(" ").append(std::to_string(element));
  return text;
}

/// "" where its few elements are within twice the tolerance: the recorded ones may be off by one, too.
std::string elements_mismatch(const RecordedOutput& got, const RecordedOutput& want, mluOpDataType_t dtype) {
  const Tolerance tolerance = tolerance_of("mlu_emu", dtype);
  if (got.elements.size() != want.elements.size()) return want.name + ": another number of elements";
  const Metrics m = measure(got.elements, want.elements, tolerance.small);
  const double limit = 2 * tolerance.diff;
  if (m.wrong_nonfinite == 0 && (m.diff3_2 <= tolerance.small || (m.diff1 <= limit && m.diff2 <= limit))) return "";
  return want.name + ": diff1 " + std::to_string(m.diff1) + ", diff2 " + std::to_string(m.diff2) + ", largest " +
         std::to_string(m.diff3_2);
}

class RecordedTest : public ::testing::TestWithParam<std::string> {
 protected:
  void compare(const Record& want, const Handle& handle) {
    const Case text = Case::parse(want.text);
    const mluOpDataType_t dtype = dtype_named(want.dtype);
    Problem problem = make_problem(text, dtype);
    ASSERT_EQ(run(problem, handle), MLUOP_STATUS_SUCCESS) << want.text << ": " << mluOpExtGetLastErrorText();
    const Record got = record_of(problem);
    ASSERT_EQ(got.inputs, want.inputs) << want.text << ": the case makes other data than when it was recorded";
    ASSERT_EQ(got.outputs.size(), want.outputs.size());
    for (std::size_t i = 0; i < got.outputs.size(); ++i) {
      const bool close = within_tolerance().contains(text.op()) && is_float(problem.outputs[i]->dtype());
      const std::string bits = bits_mismatch(got.outputs[i], want.outputs[i]);
      EXPECT_EQ(close ? elements_mismatch(got.outputs[i], want.outputs[i], dtype) : bits, "")
          << want.dtype << " " << want.text;
      (bits.empty() ? equal_ : close_)++;
    }
  }

  int equal_ = 0, close_ = 0;
};

TEST_P(RecordedTest, TheEmulatedDeviceHasTheVendorsOutputs) {
  const Handle handle("mlu_emu", 1, {"device=" + GetParam()});
  for (const Record& record : records_of(GetParam())) compare(record, handle);
  std::printf("%s: %d outputs bitwise equal, %d within the tolerance\n", GetParam().c_str(), equal_, close_);
  EXPECT_GT(equal_, close_);
}

TEST_P(RecordedTest, EveryFamilyIsRecorded) {
  const std::vector<Record> records = records_of(GetParam());
  for (const std::string op :
       {"three_nn_forward", "ball_query", "points_in_boxes_part", "ps_roi_pool_forward", "ps_roi_pool_backward",
        "focal_loss_sigmoid_forward", "focal_loss_sigmoid_backward", "voxelization", "dynamic_point_to_voxel_forward",
        "dynamic_point_to_voxel_backward", "roi_align_rotated_forward", "roi_align_rotated_backward", "box_iou_rotated",
        "ms_deform_attn_forward", "ms_deform_attn_backward"}) {
    EXPECT_GE(std::ranges::count_if(records, [&](const Record& r) { return r.text.starts_with(op + " "); }), 2) << op;
  }
}

std::string name_of(const ::testing::TestParamInfo<std::string>& card) {
  std::string name = card.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedTest, ::testing::ValuesIn(cards()), name_of);

}  // namespace
}  // namespace mluops::test
