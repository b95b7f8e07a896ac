// mluops_replay FILE..: calls that MLUOP_CAPTURE kept, again.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "common/trust.h"
#include "test/replay/keep.h"
#include "test/replay/options.h"
#include "test/replay/replay.h"
#include "test/replay/watchdog.h"
#include "test/support/json.h"

namespace mluops::replay {
namespace {

using test::json_string;

/// A line of the table.
struct Row {
  std::string what, op, backend;
  double recorded_ms;
  Outcome outcome;
};

void print(const Row& row) {
  const Outcome& o = row.outcome;
  std::printf("  %-8s %-8s %-5s %10.3f ms  %s\n", row.backend.c_str(), name_of(o.comparison), name_of(o.reference),
              o.seconds * 1e3, printable(o.mismatch.empty() ? o.text : o.mismatch).c_str());
  std::fflush(stdout);
}

void run_file(const std::string& path, const Options& o, std::vector<Row>& rows) {
  const Watchdog watchdog(path, o.seconds);
  const Recording r = read_recording(path);
  RecordedCase made(r, o.limits);
  std::printf("%s: %s, %.3f ms, %s\n", printable(path).c_str(), printable(r.backend).c_str(), r.ms,
              printable(r.text).c_str());
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
  const Watchdog watchdog(text, o.seconds);
  RecordedCase made(cases::Case::parse(text), o.limits);
  std::printf("%s\n", printable(text).c_str());
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

void write_json(const std::string& path, const std::vector<Row>& rows) {
  OutputFile file = OutputFile::named(path);
  file.write(json_of(rows));
  const std::string problem = file.close();
  if (!problem.empty()) throw std::runtime_error(path + ": cannot be written: " + problem);
}

/// Data, doubles of the reference, its sums and the backends' working memory: a few times what the tensors take.
std::uintmax_t memory_for(const Options& o) {
  constexpr std::uintmax_t kTimes = 12, kGround = 1 << 30;
  std::uintmax_t largest = o.limits.bytes;
  std::error_code absent;
  for (const std::string& path : o.files) {
    const std::uintmax_t size = std::filesystem::file_size(path, absent);
    if (!absent) largest = std::max(largest, size);
  }
  return kGround + kTimes * largest;
}

int run(const Options& o) {
  limit_memory(memory_for(o));
  std::vector<Row> rows;
  for (const std::string& path : o.files) {
    run_file(path, o, rows);
    if (!o.keep.empty()) std::printf("  kept as %s\n", printable(keep(path, o.keep)).c_str());
  }
  for (const std::string& text : o.cases) run_text(text, o, rows);
  if (!o.json.empty()) write_json(o.json, rows);
  const auto good = [](const Row& row) { return row.outcome.good(); };
  return std::ranges::all_of(rows, good) ? 0 : 1;
}

}  // namespace
}  // namespace mluops::replay

int main(int argc, char** argv) {
  using namespace mluops::replay;  // NOLINT: the program is this
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::ranges::find(words, "--help") != words.end()) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  try {
    return run(parse(words));
  } catch (const std::bad_alloc&) {
    std::fputs("mluops_replay: no memory for a file or case of such sizes (--memory)\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mluops_replay: %s\n", mluops::printable(error.what()).c_str());
  }
  return 2;
}
