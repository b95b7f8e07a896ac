// Every operator's calls, captured and replayed.
#include "test/replay/replay.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "common/capture.h"
#include "mluops/capture.h"
#include "test/replay/keep.h"
#include "test/support/run.h"

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
    RecordedCase made(recording);
    const Outcome outcome = replay(recording, made, "cpu", 1, 2);
    EXPECT_EQ(outcome.comparison, Comparison::kEqual) << op << ": " << outcome.text;
  }
}

TEST(Replay, TheReferenceSaysThatEveryOperatorIsRight) {
  for (const auto& [op, recording] : recordings()) {
    RecordedCase made(recording);
    const Outcome outcome = replay(recording, made, "cpu", 1, 1, true);
    EXPECT_EQ(outcome.reference, Judgement::kRight) << op << ": " << outcome.mismatch;
    const test::Report report = RecordedCase(recording).run(test::Handle("cpu"), "cpu");
    EXPECT_EQ(report.outcome, test::Outcome::kRan) << op << ": " << report.text;
  }
}

TEST(Replay, TheReferenceFindsWhatWasRecordedWrong) {
  Recording wrong = recordings().at("carafe_forward");
  RecordedCase made(wrong);
  made.put_outputs(wrong, &RecordedTensor::after);
  EXPECT_EQ(made.mismatch("cpu"), "");
  for (RecordedTensor& t : wrong.tensors) {
    if (t.output) t.after[3] ^= 0x40;
  }
  made.put_outputs(wrong, &RecordedTensor::after);
  EXPECT_NE(made.mismatch("cpu"), "");
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
    RecordedCase made(recording);
    const Outcome outcome = replay(recording, made, "mlu_emu", 1, 1);
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
  RecordedCase made(changed);
  EXPECT_EQ(replay(changed, made, "cpu", 1, 1).comparison, Comparison::kDiffers);
  changed.tensors[0].kept = false;
  changed.tensors[0].before.clear();
  RecordedCase zeros(changed);
  EXPECT_FALSE(zeros.complete());
  const Outcome outcome = replay(changed, zeros, "cpu", 1, 1, true);
  EXPECT_EQ(outcome.comparison, Comparison::kLeftOut);
  EXPECT_EQ(outcome.reference, Judgement::kNotAsked);
}

TEST(Replay, WhatCannotBeRunIsSaid) {
  const Recording& r = recordings().at("nms");
  RecordedCase made(r);
  EXPECT_THROW(replay(r, made, "no_such_backend", 1, 1), std::runtime_error);
}

// A file may come from anybody: its numbers lead nowhere but into the tensors of its case.
TEST(Replay, RecordingsThatContradictThemselvesAreRefused) {
  const auto refuses = [](const char* what, const std::function<void(Recording&)>& change) {
    Recording r = recordings().at("nms");
    change(r);
    EXPECT_THROW(RecordedCase{r}, std::exception) << what;
  };
  refuses("no text", [](Recording& r) { r.text.clear(); });
  refuses("unknown operator", [](Recording& r) { r.text.replace(0, 3, "no_such_operator"); });
  refuses("another operator", [](Recording& r) { r.op = "../nms"; });
  refuses("another size", [](Recording& r) { ++r.tensors[0].bytes; });
  refuses("a case that is larger", [](Recording& r) { r.text.replace(r.text.find("n="), 3, "n=9000"); });
  refuses("a tensor less", [](Recording& r) { r.tensors.clear(); });
  refuses("no number", [](Recording& r) { r.text.replace(r.text.find("n="), 3, "n=x"); });
}

/// Each of every operator, so that no operator relies on what its file says.
TEST(Replay, HostileRecordingsOfEveryOperatorAreRefused) {
  const auto refused = [](const Recording& r, const std::string& what) {
    EXPECT_THROW(RecordedCase{r}, std::exception) << r.op << ": " << what;
  };
  for (const auto& [op, good] : recordings()) {
    for (std::size_t i = 0; i < good.tensors.size(); ++i) {
      if (good.tensors[i].name == "indice_num" || good.tensors[i].name == "num_act_out")
        continue;  // none of the case's
      Recording r = good;
      r.tensors[i].output = !r.tensors[i].output;
      refused(r, "the direction of " + r.tensors[i].name);
      r = good;
      r.tensors[i].name = "x" + r.tensors[i].name;
      refused(r, "the name of " + r.tensors[i].name);
      r = good;
      r.tensors.push_back(r.tensors[i]);
      r.tensors.back().name = "another";
      refused(r, "a tensor more");
    }
  }
}

/// Whatever stands for a number: refused with a text, or a case that runs; quickly, and in little memory.
TEST(Replay, HostileNumbersOfEveryCaseAreRefusedOrRun) {
  for (const auto& [op, good] : recordings()) {
    const cases::Case text = cases::Case::parse(good.text);
    for (const auto& [key, value] : text.values()) {
      for (const char* const number : {"-1", "0", "0.5", "nan", "inf", "1e8", "4294967297", "-1x2x3", "4x7+3x-3"}) {
        Recording r = good;
        r.text = cases::Case(text).set(key, number).text();
        try {
          RecordedCase made(r, {.bytes = 1 << 20, .work = 1 << 17});
          (void)replay(r, made, "cpu", 1, 1, true);
        } catch (const std::exception& error) {
          EXPECT_STRNE(error.what(), "") << r.text;
        }
        try {
          RecordedCase made(cases::Case::parse(r.text), {.bytes = 1 << 20, .work = 1 << 17});
          (void)made.run(test::Handle("cpu"), "cpu");
        } catch (const std::exception& error) {
          EXPECT_STRNE(error.what(), "") << r.text;
        }
      }
    }
  }
}

TEST(Replay, TensorsWithoutDataTakeNoMoreMemoryThanAllowed) {
  Recording r = recordings().at("carafe_forward");
  const std::string hostile = "carafe_forward n=1 h=4096 w=4096 c=4 k=1 g=1 s=1 dtype=float";
  r.text = hostile;
  for (RecordedTensor& t : r.tensors) {
    t.kept = false;
    t.bytes = std::uintmax_t{4096} * 4096 * (t.name == "mask" ? 4 : 16);
    t.before.clear(), t.after.clear();
  }
  const auto text_of = [](const std::function<void()>& made) -> std::string {
    try {
      made();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  const char* const wanted = "wanted at most 256 MiB, got 576 MiB (--memory)";
  EXPECT_NE(text_of([&] { RecordedCase{r}; }).find(wanted), std::string::npos);
  EXPECT_NE(text_of([&] { RecordedCase{cases::Case::parse(hostile)}; }).find(wanted), std::string::npos);
}

TEST(Replay, UnknownNamesSuggestTheNearest) {
  const auto text_of = [](const std::string& text) -> std::string {
    try {
      (void)cases::Case::parse(text);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(text_of("carfae_forward").find("did you mean carafe_forward?"), std::string::npos);
  EXPECT_NE(text_of("roialign").find("did you mean roi_align_forward?"), std::string::npos);
  EXPECT_NE(text_of("knn neighbours=3 bb=2").find("unknown parameter \"neighbours\""), std::string::npos);
  EXPECT_NE(text_of("carafe_forward nn=2").find("did you mean n?"), std::string::npos);
  EXPECT_EQ(text_of("xyzzyxyzzy").find("did you mean"), std::string::npos);
}

TEST(Replay, SettingsThatAreNoneAreRefused) {
  Recording r = recordings().at("nms");
  RecordedCase made(r);
  r.contract = static_cast<mluOpExtContract_t>(77);
  EXPECT_THROW(replay(r, made, "cpu", 1, 1), std::runtime_error);
}

TEST(Replay, ACallWithAPointerThatNoRuleNamedIsNotKept) {
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
  const Member members[] = {{0, sizeof data.data(), true}};
  const mluopsCall call = {};
  Capture("stray_operator", &problem, sizeof problem, members).finish("cpu", call, "");
  EXPECT_EQ(files(), 0);
  note_array("array", MLUOP_DTYPE_FLOAT, data.data(), std::ssize(data));
  Capture("stray_operator", &problem, sizeof problem, members).finish("cpu", call, "");
  EXPECT_EQ(files(), 1);
}

/// The file of a call whose problem lies in memory that held `before`, without the line of its time; "": none is made.
std::string file_of_nms(const std::vector<float>& boxes, std::uintptr_t before, float offset) {
  mluopsNmsProblem problem;
  auto* const bytes = reinterpret_cast<unsigned char*>(&problem);
  for (std::size_t at = 0; at < sizeof problem; at += sizeof before) std::memcpy(bytes + at, &before, sizeof before);
  problem.shape.dtype = MLUOP_DTYPE_FLOAT, problem.shape.index_dtype = MLUOP_DTYPE_INT32;
  problem.shape.boxes = 2, problem.shape.iou_threshold = 0.5, problem.shape.offset = offset;
  problem.score_dtype = MLUOP_DTYPE_INVALID, problem.box_mode = {}, problem.output_mode = {};
  problem.transposed = 0, problem.score_threshold = 0.25, problem.max_output = 1, problem.room = 1, problem.pad = 0;
  problem.boxes = boxes.data(), problem.scores = nullptr, problem.output = nullptr, problem.output_size = nullptr;
  problem.box_numbers = 4;
  note_array("boxes", MLUOP_DTYPE_FLOAT, boxes.data(), std::ssize(boxes));
  Capture("padded_operator", &problem, sizeof problem, op::members_of(problem)).finish("cpu", {}, "");
  std::string text;
  for (const auto& entry : fs::directory_iterator(std::getenv("MLUOP_CAPTURE"))) {
    if (entry.path().string().find("padded_operator") == std::string::npos) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    text.erase(text.find("\nms "), text.find("\nproblem ") - text.find("\nms "));
    fs::remove(entry.path());
  }
  return text;
}

// Behind the offset of boxes are four bytes of padding: with the offset they may be a number that is an address.
TEST(Replay, NumbersAndPaddingThatLookLikeAPointerAreKept) {
  (void)recordings();
  const std::vector<float> boxes(8), same(boxes);
  const auto address = reinterpret_cast<std::uintptr_t>(boxes.data());
  const auto offset = std::bit_cast<float>(static_cast<std::uint32_t>(address));
  const std::string file = file_of_nms(boxes, address, offset);
  EXPECT_NE(file, "");
  EXPECT_TRUE(file == file_of_nms(same, ~address, offset)) << "neither padding nor addresses are in a file";
}

TEST(Replay, OneTensorForTwoArgumentsIsRecordedAsBoth) {
  (void)recordings();
  const fs::path folder = fs::path(std::getenv("MLUOP_CAPTURE")) / "shared";
  fs::create_directories(folder);
  ASSERT_EQ(mluOpExtSetCapture(folder.c_str(), nullptr, 9, 1 << 20), MLUOP_STATUS_SUCCESS);
  const cases::Description d =
      describe(cases::Case::parse("bbox_overlaps n=3 m=3 mode=0 aligned=0"), MLUOP_DTYPE_FLOAT);
  test::Problem problem(d);
  test::Tensor &boxes = *problem.inputs[0], &ious = *problem.outputs[0];
  const test::Handle handle("cpu");
  const cases::Argument both = {boxes.desc(), boxes.data()};
  EXPECT_EQ(d.call(handle.get(), {both, {boxes.desc(), nullptr}, {ious.desc(), ious.data()}}), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(d.call(handle.get(), {both, both, {ious.desc(), ious.data()}}), MLUOP_STATUS_SUCCESS);
  mluOpExtSetCapture(std::getenv("MLUOP_CAPTURE"), nullptr, 1000, 64 << 20);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const Recording r = read_recording(entry.path());
    RecordedCase made(r);
    EXPECT_EQ(r.tensors.size(), 3u);
    EXPECT_EQ(replay(r, made, "cpu", 1, 1, true).reference, Judgement::kRight);
    ++files;
  }
  EXPECT_EQ(files, 1);
  fs::remove_all(folder);
}

TEST(Replay, BrokenFilesAreRefused) {
  (void)recordings();
  const fs::path folder = std::getenv("MLUOP_CAPTURE"), broken = folder / "broken";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".mluops") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::string huge = bytes;
    huge.replace(huge.find(" data ") - 1, 1, "999999999999");  // the size of the first tensor
    std::ofstream(broken, std::ios::binary) << huge;
    EXPECT_THROW(read_recording(broken), std::runtime_error) << entry.path();
    for (const std::size_t size : {std::size_t{0}, std::size_t{9}, bytes.find("data\n"), bytes.size() - 1}) {
      std::ofstream(broken, std::ios::binary) << bytes.substr(0, size);
      EXPECT_THROW(read_recording(broken), std::runtime_error) << entry.path() << " " << size;
    }
    break;
  }
  fs::remove(broken);
  EXPECT_THROW(read_recording(folder / "absent"), std::runtime_error);
  EXPECT_THROW(read_recording(folder), std::runtime_error);
  EXPECT_THROW(read_recording("/dev/zero"), std::runtime_error) << "it has no end";
  const auto reads = [](const std::string& text) {
    std::istringstream in(text);
    return read_recording(in, text.size());
  };
  const std::string begin = "mluops-capture 1\n", end = "data\n", line = "tensor in x F L 1 0 1 data 0\n";
  EXPECT_EQ(reads(begin + line + end + "x").tensors.size(), 1u);
  for (const char* const bad :
       {"threads 0\n", "threads 1e9\n", "threads 99999999999\n", "threads\n", "ms nan\n", "ms -1\n", "problem -1\n",
        "problem 99\n", "atomics x\n", "contract -1\n", "tensor in x F L 1 0 -1 data 0\n",
        "tensor in x F L 1 0 1e3 hash 0\n", "tensor up x F L 1 0 1 data 0\n", "tensor in x F\n"}) {
    EXPECT_THROW(reads(begin + bad + end + "x"), std::runtime_error) << bad;
  }
  EXPECT_THROW(reads(begin + line + line + end + "xx"), std::runtime_error) << "two tensors of one name";
  EXPECT_THROW(reads(begin + std::string(1 << 20, 'x')), std::runtime_error) << "a line without an end";
  std::string many = begin;
  for (int i = 0; i < 100; ++i) many += "tensor in x" + std::to_string(i) + " F L 1 0 0 data 0\n";
  EXPECT_THROW(reads(many + end), std::runtime_error);
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
