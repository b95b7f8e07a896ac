#include "test/conformance/library_report.h"

#include <cstdio>

#include "test/support/json.h"

namespace mluops::conformance {
namespace {

using test::json_string;

const char* const kVerdicts[] = {"equal", "within", "differs", "refused", "crashed"};

bool worth_a_line(const LibraryCase& c) {
  return c.verdict == "differs" || c.verdict == "crashed" || c.other_status();
}

std::string case_line(const LibraryCase& c) {
  std::string line = "  " + c.verdict + " " + c.text + " (" + c.dtype + "): status " + c.status;
  if (c.other_status()) line += ", here " + c.status_here;
  return line + (c.note.empty() ? "" : ": " + c.note) + "\n";
}

std::string json_of(const LibraryCase& c) {
  std::string beside;
  for (const std::string& one : c.beside) beside += (beside.empty() ? "" : ", ") + json_string(one);
  return "{\"case\": " + json_string(c.text) + ", \"dtype\": " + json_string(c.dtype) +
         ", \"verdict\": " + json_string(c.verdict) + ", \"beside\": [" + beside +
         "], \"status\": " + json_string(c.status) + ", \"status_here\": " + json_string(c.status_here) +
         ", \"note\": " + json_string(c.note) + "}";
}

}  // namespace

std::string library_heading() {
  char line[160];
  std::snprintf(line, sizeof line, "%-40s %6s %6s %7s %7s %7s %12s\n", "operator", "equal", "within", "differs",
                "refused", "crashed", "other status");
  return line;
}

std::string library_lines(const LibraryResult& r, bool every) {
  char line[160];
  if (r.cases.empty()) {
    std::snprintf(line, sizeof line, "%-40s absent\n", r.op.c_str());
    return line;
  }
  std::snprintf(line, sizeof line, "%-40s %6d %6d %7d %7d %7d %12d\n", r.op.c_str(), r.count(kVerdicts[0]),
                r.count(kVerdicts[1]), r.count(kVerdicts[2]), r.count(kVerdicts[3]), r.count(kVerdicts[4]),
                r.statuses());
  std::string text = line;
  for (const LibraryCase& c : r.cases) {
    if (every || worth_a_line(c)) text += case_line(c);
  }
  return text;
}

std::string library_records(const std::vector<LibraryResult>& results) {
  std::string text;
  for (const LibraryResult& r : results) {
    for (const LibraryCase& c : r.cases) {
      if (!c.record.empty()) text += c.record + "\n";
    }
  }
  return text;
}

std::string library_json(const LibrarySettings& settings, const std::vector<LibraryResult>& results) {
  std::string beside;
  for (const std::string& one : settings.beside) beside += (beside.empty() ? "" : ", ") + json_string(one);
  std::string text =
      "{\"library\": " + json_string(settings.library) + ", \"beside\": [" + beside + "], \"operators\": [";
  for (const LibraryResult& r : results) {
    text += std::string(&r == results.data() ? "" : ",") + "\n {\"operator\": " + json_string(r.op) +
            ", \"absent\": " + (r.absent ? "true" : "false") + ", \"ok\": " + (r.good() ? "true" : "false") +
            ", \"cases\": [";
    for (const LibraryCase& c : r.cases) text += (&c == r.cases.data() ? "\n  " : ",\n  ") + json_of(c);
    text += "]}";
  }
  return text + "]}\n";
}

}  // namespace mluops::conformance
