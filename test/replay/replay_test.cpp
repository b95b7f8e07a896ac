// Every operator's calls, captured and replayed.
#include "test/replay/replay.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "common/capture.h"
#include "test/replay/keep.h"
#include "test/support/run.h"
#include "test/support/sanitized.h"

namespace mluops::replay {
namespace {

namespace fs = std::filesystem;

/// The smallest calls of every operator on cpu, as the library recorded them; made once.
const std::map<std::string, Recording>& recordings() {
  static const std::map<std::string, Recording> all = [] {
    const test::Handle handle("cpu", 2);
    for (const cases::OperatorCases& op : cases::all_operators()) {
      test::Problem problem = test::make_problem(cases::cases_of(op, op.smallest).back(), op.dtypes.strict.back());
      EXPECT_EQ(test::run(problem, handle), MLUOP_STATUS_SUCCESS) << op.op << mluOpExtGetLastErrorText();
    }
    std::map<std::string, Recording> read;
    for (const auto& entry : fs::directory_iterator(std::getenv("MLUOP_CAPTURE"))) {
      if (entry.path().extension() != ".mluops") continue;
      Recording r = read_recording(entry.path());
      const std::string name = r.op;
      read.emplace(name, std::move(r));
    }
    return read;
  }();
  return all;
}

TEST(Replay, EveryOperatorIsRecordedWithItsOutputs) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "to a sanitizer nearly every number is a mapped address";
  for (const std::string& op : test::operators()) {
    const auto found = recordings().find(op);
    ASSERT_NE(found, recordings().end()) << op;
    const Recording& r = found->second;
    EXPECT_EQ(r.backend, "cpu") << op;
    EXPECT_EQ(r.threads, 2) << op;
    int outputs = 0;
    for (const RecordedTensor& t : r.tensors) {
      outputs += t.output;
      EXPECT_TRUE(t.kept) << op << " " << t.name;
    }
    EXPECT_GT(outputs, 0) << op;
  }
}

TEST(Replay, CpuGivesTheSameBits) {
  for (const auto& [op, recording] : recordings()) {
    const Outcome outcome = replay(recording, "cpu", 1, 2);
    EXPECT_EQ(outcome.comparison, Comparison::kEqual) << op << ": " << outcome.text;
  }
}

TEST(Replay, TheReferenceSaysThatEveryOperatorIsRight) {
  for (const auto& [op, recording] : recordings()) {
    RecordedCase reference(recording);
    const Outcome outcome = replay(recording, "cpu", 1, 1, &reference);
    EXPECT_EQ(outcome.reference, Judgement::kRight) << op << ": " << outcome.mismatch;
    const test::Report report = RecordedCase(recording).run(test::Handle("cpu"), "cpu");
    EXPECT_EQ(report.outcome, test::Outcome::kRan) << op << ": " << report.text;
  }
}

TEST(Replay, TheReferenceFindsWhatWasRecordedWrong) {
  Recording wrong = recordings().at("carafe_forward");
  RecordedCase reference(wrong);
  NamedBytes outputs;
  for (const RecordedTensor& t : wrong.tensors) {
    if (t.output) outputs[t.name] = t.after;
  }
  EXPECT_EQ(reference.mismatch(outputs, "cpu"), "");
  outputs.begin()->second[3] ^= 0x40;
  EXPECT_NE(reference.mismatch(outputs, "cpu"), "");
  wrong.text.clear();
  EXPECT_THROW(RecordedCase{wrong}, std::runtime_error);
  wrong = recordings().at("carafe_forward");
  wrong.tensors[0].kept = false;
  EXPECT_THROW(RecordedCase{wrong}, std::runtime_error);
}

// Files that mluops_replay --keep put there.
TEST(Replay, KeptCasesAreRight) {
  int kept = 0;
  for (const auto& entry : fs::directory_iterator(MLUOPS_KEPT_CASES)) {
    if (entry.path().extension() != ".mluops") continue;
    const Recording recording = read_recording(entry.path());
    for (const std::string& backend : test::backend_names()) {
      const test::Report report = RecordedCase(recording).run(test::Handle(backend), backend);
      EXPECT_NE(report.outcome, test::Outcome::kFailed) << entry.path() << ": " << report.text;
      EXPECT_TRUE(report.outcome == test::Outcome::kRan || backend != "cpu") << entry.path() << ": " << report.text;
    }
    ++kept;
  }
  EXPECT_GT(kept, 0);
}

TEST(Replay, OnlyWhatIsATestIsKept) {
  (void)recordings();
  const fs::path folder = fs::path(std::getenv("MLUOP_CAPTURE")) / "kept";
  for (const auto& entry : fs::directory_iterator(std::getenv("MLUOP_CAPTURE"))) {
    if (entry.path().extension() != ".mluops") continue;
    const std::string kept = keep(entry.path(), folder);
    EXPECT_EQ(read_recording(kept).op, read_recording(entry.path()).op);
    EXPECT_EQ(keep(entry.path(), folder), kept);
    std::ofstream(kept, std::ios::app | std::ios::binary) << std::string(300 << 10, 'x');
    EXPECT_THROW(keep(kept, folder), std::runtime_error);
    break;
  }
  EXPECT_THROW(keep(folder / "absent", folder), std::exception);
  fs::remove_all(folder);
}

TEST(Replay, AnotherBackendIsNearOrRefuses) {
  int near = 0;
  for (const auto& [op, recording] : recordings()) {
    const Outcome outcome = replay(recording, "mlu_emu", 1, 1);
    near += outcome.comparison == Comparison::kEqual || outcome.comparison == Comparison::kWithin;
    EXPECT_NE(outcome.comparison, Comparison::kDiffers) << op << ": " << outcome.text;
    if (outcome.comparison == Comparison::kRefused) {
      EXPECT_NE(outcome.text, "") << op;
    }
  }
  EXPECT_GE(near, 10);
}

TEST(Replay, AnotherResultDiffers) {
  Recording changed = recordings().at("carafe_forward");
  for (RecordedTensor& t : changed.tensors) {
    if (t.output) t.after[3] = static_cast<unsigned char>(t.after[3] ^ 0x40);
  }
  EXPECT_EQ(replay(changed, "cpu", 1, 1).comparison, Comparison::kDiffers);
  changed.tensors[0].kept = false;
  EXPECT_EQ(replay(changed, "cpu", 1, 1).comparison, Comparison::kLeftOut);
}

TEST(Replay, WhatCannotBeRunIsSaid) {
  Recording r = recordings().at("nms");
  r.problem.push_back(0);
  EXPECT_THROW(replay(r, "cpu", 1, 1), std::runtime_error);
  r.op = "no_such_operator";
  EXPECT_THROW(replay(r, "cpu", 1, 1), std::runtime_error);
  EXPECT_THROW(replay(recordings().at("nms"), "no_such_backend", 1, 1), std::runtime_error);
}

TEST(Replay, ACallWithAPointerThatNoRuleNamedIsNotKept) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "to a sanitizer nearly every number is a mapped address";
  (void)recordings();
  const auto files = [] {
    int found = 0;
    for (const auto& entry : fs::directory_iterator(std::getenv("MLUOP_CAPTURE"))) {
      found += entry.path().string().find("stray_operator") != std::string::npos;
    }
    return found;
  };
  const std::vector<float> data(8);
  const struct { const void* array; } problem = {data.data()};
  const mluopsCall call = {};
  Capture("stray_operator", &problem, sizeof problem).finish("cpu", call, "");
  EXPECT_EQ(files(), 0);
  note_array("array", MLUOP_DTYPE_FLOAT, data.data(), std::ssize(data));
  Capture("stray_operator", &problem, sizeof problem).finish("cpu", call, "");
  EXPECT_EQ(files(), 1);
}

TEST(Replay, BrokenFilesAreRefused) {
  (void)recordings();
  const fs::path folder = std::getenv("MLUOP_CAPTURE"), broken = folder / "broken";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".mluops") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (const std::size_t size : {std::size_t{0}, std::size_t{9}, bytes.find("data\n"), bytes.size() - 1}) {
      std::ofstream(broken, std::ios::binary) << bytes.substr(0, size);
      EXPECT_THROW(read_recording(broken), std::runtime_error) << entry.path() << " " << size;
    }
    break;
  }
  fs::remove(broken);
  EXPECT_THROW(read_recording(folder / "absent"), std::runtime_error);
}

}  // namespace
}  // namespace mluops::replay

int main(int argc, char** argv) {
  // Read once by the library, so it is set before the first handle.
  std::string folder = (std::filesystem::temp_directory_path() / "mluops_replay.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  setenv("MLUOP_CAPTURE", folder.c_str(), 1);
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  std::filesystem::remove_all(folder);
  return result;
}
