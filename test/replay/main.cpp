// mluops_replay FILE..: calls that MLUOP_CAPTURE kept, again.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "test/replay/keep.h"
#include "test/replay/replay.h"
#include "test/support/json.h"

namespace mluops::replay {
namespace {

using test::json_string;

constexpr const char* kHelp = R"(usage: mluops_replay FILE.. | --case TEXT [options]
Runs recorded calls (MLUOP_CAPTURE=DIR, mluops.capture) on each backend and compares the outputs with what was recorded
(equal, within the tolerance of the dtype, DIFFERS, refused by the backend, left out: data too large to keep) and with the
reference in double (right, WRONG; - where there is none). A case's text, as MLUOP_VERBOSE=2 prints it, runs on numbers made
up. Times are the least of the calls. Exit status: 0; 1 when an output is wrong, or, without a reference, differs from the
recording; 2 when a file cannot be used.
  --backend NAME,..  cpu,mlu_emu; plugins of MLUOP_BACKEND_PATH
  --threads N        default: as recorded
  --calls N          3
  --no-reference     compares with the recording alone: the reference may take long
  --json FILE        the results for programs
  --keep FOLDER      copies the files there as test cases: small ones, test/replay/cases of the source tree has them
)";

struct Options {
  std::vector<std::string> files, cases, backends = {"cpu", "mlu_emu"};
  int threads = 0, calls = 3;  ///< threads 0: as recorded
  bool reference = true;
  std::string json, keep;
};

/// A line of the table.
struct Row {
  std::string what, op, backend;
  double recorded_ms;
  Outcome outcome;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void set(Options& o, const std::string& word, const std::string& value) {
  if (word == "--backend") {
    o.backends = split(value);
  } else if (word == "--threads") {
    o.threads = std::max(1, std::stoi(value));
  } else if (word == "--calls") {
    o.calls = std::max(1, std::stoi(value));
  } else if (word == "--case") {
    o.cases.push_back(value);
  } else if (word == "--json") {
    o.json = value;
  } else if (word == "--keep") {
    o.keep = value;
  } else {
    throw std::invalid_argument("unknown option " + word + ": see --help");
  }
}

Options parse(const std::vector<std::string>& words) {
  Options o;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--no-reference") {
      o.reference = false;
    } else if (!words[i].starts_with("--")) {
      o.files.push_back(words[i]);
    } else {
      if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " wants a value");
      set(o, words[i], words[i + 1]);
      ++i;
    }
  }
  if (o.files.empty() && o.cases.empty()) throw std::invalid_argument("which files? See --help");
  return o;
}

void print(const Row& row) {
  const Outcome& o = row.outcome;
  std::printf("  %-8s %-8s %-5s %10.3f ms  %s\n", row.backend.c_str(), name_of(o.comparison), name_of(o.reference),
              o.seconds * 1e3, (o.mismatch.empty() ? o.text : o.mismatch).c_str());
  std::fflush(stdout);
}

void run_file(const std::string& path, const Options& o, std::vector<Row>& rows) {
  const Recording r = read_recording(path);
  RecordedCase made(r);
  std::printf("%s: %s, %.3f ms, %s\n", path.c_str(), r.backend.c_str(), r.ms, r.text.c_str());
  for (const std::string& backend : o.backends) {
    const int threads = o.threads > 0 ? o.threads : r.threads;
    rows.push_back({path, r.op, backend, r.ms, replay(r, made, backend, threads, o.calls, o.reference)});
    print(rows.back());
  }
}

/// On made-up numbers, through the C API.
Outcome run_case(RecordedCase& made, const std::string& backend, const Options& o) {
  const test::Handle handle(backend, std::max(1, o.threads));
  const test::Report report = made.run(handle, backend);
  Outcome outcome{Comparison::kRefused, report.text};
  if (report.outcome == test::Outcome::kDeclined) return outcome;
  outcome.comparison = Comparison::kNotRecorded;
  outcome.reference = report.outcome == test::Outcome::kRan ? Judgement::kRight : Judgement::kWrong;
  outcome.seconds = time_calls(made, handle, o.calls, [] {}).seconds;
  return outcome;
}

void run_text(const std::string& text, const Options& o, std::vector<Row>& rows) {
  RecordedCase made(cases::Case::parse(text));
  std::printf("%s\n", text.c_str());
  for (const std::string& backend : o.backends) {
    rows.push_back({text, text.substr(0, text.find(' ')), backend, 0, run_case(made, backend, o)});
    print(rows.back());
  }
}

std::string json_of(const std::vector<Row>& rows) {
  std::string text = "[";
  for (const Row& row : rows) {
    const Outcome& o = row.outcome;
    text += std::string(&row == rows.data() ? "" : ",") + "\n {\"what\": " + json_string(row.what) +
            ", \"operator\": " + json_string(row.op) + ", \"backend\": " + json_string(row.backend) +
            ", \"recording\": " + json_string(name_of(o.comparison)) +
            ", \"reference\": " + json_string(name_of(o.reference)) +
            ", \"text\": " + json_string(o.mismatch.empty() ? o.text : o.mismatch) +
            ", \"recorded_ms\": " + std::to_string(row.recorded_ms) + ", \"ms\": " + std::to_string(o.seconds * 1e3) +
            "}";
  }
  return text + "\n]\n";
}

int run(const Options& o) {
  std::vector<Row> rows;
  for (const std::string& path : o.files) {
    run_file(path, o, rows);
    if (!o.keep.empty()) std::printf("  kept as %s\n", keep(path, o.keep).c_str());
  }
  for (const std::string& text : o.cases) run_text(text, o, rows);
  if (!o.json.empty()) std::ofstream(o.json) << json_of(rows);
  const auto good = [](const Row& row) { return row.outcome.good(); };
  return std::ranges::all_of(rows, good) ? 0 : 1;
}

}  // namespace
}  // namespace mluops::replay

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::ranges::find(words, "--help") != words.end()) {
    std::fputs(mluops::replay::kHelp, stdout);
    return 0;
  }
  try {
    return mluops::replay::run(mluops::replay::parse(words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mluops_replay: %s\n", error.what());
    return 2;
  }
}
