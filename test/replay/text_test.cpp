// The text of a problem (common/case_text.h) and the cases of test/cases are one language.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "mluops/capture.h"
#include "test/replay/recording.h"
#include "test/support/lists.h"
#include "test/support/run.h"

namespace mluops::replay {
namespace {

namespace fs = std::filesystem;

using test::Case;
using test::Cases;

/// What the library calls the problems of the calls that are made while it lives.
class Texts {
 public:
  Texts() : folder_(fs::path(std::getenv("MLUOP_CAPTURE")) / "texts") {
    fs::create_directories(folder_);
    EXPECT_EQ(mluOpExtSetCapture(folder_.c_str(), nullptr, 1 << 20, 0), MLUOP_STATUS_SUCCESS);
  }
  ~Texts() {
    mluOpExtSetCapture(std::getenv("MLUOP_CAPTURE"), nullptr, 1000, 64 << 20);
    fs::remove_all(folder_);
  }
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;

  /// "" where cpu does not run the case.
  std::string of(const Case& text, mluOpDataType_t dtype) {
    const test::Handle handle("cpu");
    test::Problem problem = test::make_problem(text, dtype);
    if (test::run(problem, handle) != MLUOP_STATUS_SUCCESS) return "";
    std::string said;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      said = read_recording(entry.path()).text;
      fs::remove(entry.path());
    }
    return said;
  }

 private:
  fs::path folder_;
};

/// Keys that say what numbers the tensors hold, or how a call is made that a problem does not tell.
const std::set<std::string> kOfTheData = {
    "data",     "indices", "boxes", "centres", "spread", "argmax", "rois",  "size",  "reach", "target",
    "logits",   "side",    "coors", "feats",   "loc",    "scores", "share", "pairs", "gap",   "offsets",
    "extended", "axes",    "h",     "w",       "s",      "index",  "t",     "z",     "out",   "grid",
    "sets",     "shifts",  "rank",  "places",  "least",  "shape",  "step"};

Cases cases_of(const cases::OperatorCases& op) {
  Cases all = cases::joined(cases::cases_of(op, op.smallest), test::edge_cases(op.op));
  return cases::joined(std::move(all), test::random_cases(op.op, 5, 6, 0.2));
}

std::int64_t elements(const cases::Description& d) {
  std::int64_t sum = 0;
  for (const cases::TensorSpec& t : d.tensors) sum += t.bytes();
  return sum;
}

TEST(CaseText, TheTextOfACaseIsACaseOfTheSameText) {
  Texts texts;
  for (const cases::OperatorCases& op : cases::all_operators()) {
    const mluOpDataType_t dtype = op.dtypes.strict.back();
    std::set<std::string> keys;
    int compared = 0;
    for (const Case& text : cases_of(op)) {
      const std::string said = texts.of(text, dtype);
      if (said.empty()) continue;
      ASSERT_EQ(said.substr(0, said.find(' ')), op.op);
      const Case again = Case::parse(said);
      EXPECT_EQ(texts.of(again, dtype), said) << text.text();
      EXPECT_EQ(elements(describe(again, dtype)), elements(describe(text, dtype))) << text.text() << "\n" << said;
      for (const auto& [key, value] : again.values()) keys.insert(key);
      ++compared;
    }
    EXPECT_GT(compared, 3) << op.op;
    for (const cases::Parameter& p : op.parameters) {
      EXPECT_TRUE(keys.contains(p.name) || kOfTheData.contains(p.name)) << op.op << ": " << p.name << " is not told";
    }
  }
}

TEST(CaseText, EveryDtypeAndLayoutIsTold) {
  Texts texts;
  const Case text = Case::parse("carafe_forward n=1 h=2 w=3 c=5 k=3 g=1 s=2");
  EXPECT_EQ(texts.of(text, MLUOP_DTYPE_HALF), text.text() + " dtype=half");
  const Case wide = Case::parse(text.text() + " dtype=bfloat16 contract=extended");
  EXPECT_EQ(texts.of(wide, MLUOP_DTYPE_BFLOAT16), wide.text());
  const Case nchw = Case::parse(text.text() + " layout=nchw dtype=double contract=extended");
  EXPECT_EQ(texts.of(nchw, MLUOP_DTYPE_DOUBLE), nchw.text());
}

/// Scalars of float64 calls in all digits, as the call was given them.
TEST(CaseText, FloatsAreToldAsTheCallComputesWithThem) {
  Texts texts;
  for (const cases::OperatorCases& op : cases::all_operators()) {
    const Case smallest = cases::cases_of(op, op.smallest).back();
    if (std::ranges::count(op.dtypes.extended, MLUOP_DTYPE_DOUBLE) == 0) continue;
    if (describe(smallest, MLUOP_DTYPE_DOUBLE).scalars.empty()) continue;
    Case text = Case::parse(texts.of(smallest, MLUOP_DTYPE_FLOAT)).set("dtype", "double").set("contract", "extended");
    for (const char* const key :
         {"scale", "gamma", "alpha", "iou", "sigma", "min_score", "min", "max", "steph", "eps", "start", "gain"}) {
      if (text.has(key)) text.set(key, "0.1234567890123456");
    }
    EXPECT_EQ(texts.of(text, MLUOP_DTYPE_DOUBLE), text.text());
    text.set("dtype", "float");
    EXPECT_NE(texts.of(text, MLUOP_DTYPE_FLOAT).find("=0.12345679 "), std::string::npos) << text.text();
  }
}

TEST(CaseText, AxesThatDifferAreTold) {
  Texts texts;
  for (const char* const words :
       {"dcn_forward n=1 h=7 w=7 ci=4 co=4 kh=3 kw=2 stride=2x1 pad=1x0x2x1 dilation=1x2 g=1 dg=1 mask=0 bias=1 "
        "dtype=float",
        "get_indice_pairs n=60 b=1 z=4 y=5 x=6 k=3x1x1 stride=2x1x1 pad=1x0x0 dilation=1 out=2x5x6 kind=regular axes=3 "
        "rows=60",
        "ms_deform_attn_forward b=1 q=3 m=2 d=4 l=2 p=2 shapes=4x7+3x3 keys=40 dtype=float",
        "indice_convolution_forward l=9 m=9 ci=3 co=4 k=3x1x1 inverse=0 filters=array dtype=float",
        "nms n=9 iou=0.3 index=int32 offset=1 max=4 score=0.25 output=indices layout=columns box=centre half_scores=0 "
        "room=7 "
        "pad=0 dtype=float"}) {
    const Case text = Case::parse(words);
    EXPECT_EQ(texts.of(text, MLUOP_DTYPE_FLOAT), text.text());
  }
}

}  // namespace
}  // namespace mluops::replay
