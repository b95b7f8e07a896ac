// mluops_conformance PLUGIN.so: is it a backend that can be relied on?
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "mlu_op_ext.h"
#include "test/cases/base/nearest.h"
#include "test/conformance/junit.h"
#include "test/conformance/kit.h"
#include "test/conformance/library_report.h"
#include "test/support/json.h"

namespace mluops::conformance {
namespace {

using test::json_string;

constexpr const char* kHelp = R"(usage: mluops_conformance PLUGIN.so|BACKEND [options]
       mluops_conformance --library LIB [options]
Tests the operators of a backend, built in or in a plugin's file, on the cases of this library: values against a float64
reference, memory accesses, bitwise equality for every number of threads, statuses and texts, outputs unchanged by
refused calls, times beside cpu. Exit status: 0 no finding, 1 findings, 2 the backend cannot be loaded.
  --op PART,..     operators whose name contains one of the parts
  --case "OP KEY=VALUE .."  only this case, as a finding prints it
  --scale X        factor on the number of random cases (1)
  --threads N      most threads of a call (5)
  --no-times       measure no times
  --json FILE      the results for programs
  --junit FILE     the results as JUnit XML: one test per operator
With --library the same cases run through the C API of any mluOp library. Tensors lie in memory of its cnrtMalloc if it
has one; LIB:RUNTIME names a runtime that LIB does not load itself. The result of each call is bitwise equal to this
library's, within the reference's tolerance, or different; or LIB refuses or crashes. Refusals must agree in status.
  --beside NAME,.. backends of this library to compare with (cpu); equal refers to the first
  --every          one line per case
  --record FILE    a line per call that ran: case, hashes of inputs and outputs, a few elements
  --timeout S      for one call (60)
)";

struct Options {
  Settings kit;
  std::string backend, json, junit, record;
  LibrarySettings library;
  bool every = false;
  std::string answer;  ///< "FD:FROM": this is the child of --library
  std::vector<std::string> parts;
};

std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : words + ",") {
    if (c != ',') part += c;
    if (c == ',' && !part.empty()) parts.push_back(std::exchange(part, ""));
  }
  return parts;
}

Options parse(const std::vector<std::string>& words) {
  Options o;
  o.library.words = words;
  const std::map<std::string, std::function<void(const std::string&)>> with_value = {
      {"--op", [&](const std::string& v) { o.parts = split(v); }},
      {"--library", [&](const std::string& v) { o.library.library = v; }},
      {"--beside", [&](const std::string& v) { o.library.beside = split(v); }},
      {"--timeout", [&](const std::string& v) { o.library.seconds = std::stoi(v); }},
      {"--answer", [&](const std::string& v) { o.answer = v; }},
      {"--case", [&](const std::string& v) { o.kit.only_case = v; }},
      {"--scale", [&](const std::string& v) { o.kit.scale = std::stod(v); }},
      {"--threads", [&](const std::string& v) { o.kit.threads = std::stoi(v); }},
      {"--json", [&](const std::string& v) { o.json = v; }},
      {"--junit", [&](const std::string& v) { o.junit = v; }},
      {"--record", [&](const std::string& v) { o.record = v; }},
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--no-times") {
      o.kit.timing = false;
    } else if (words[i] == "--every") {
      o.every = true;
    } else if (const auto option = with_value.find(words[i]); option != with_value.end()) {
      if (++i == words.size()) throw std::invalid_argument(option->first + " wants a value");
      option->second(words[i]);
    } else if (words[i].starts_with("--") || !o.backend.empty()) {
      throw std::invalid_argument("\"" + words[i] + "\": see --help");
    } else {
      o.backend = words[i];
    }
  }
  if (o.backend.empty() == o.library.library.empty())
    throw std::invalid_argument("which plugin, or which library? See --help");
  cases::demand_parts("--op", o.parts, cases::api_operators());
  if (o.kit.threads < 1 || !(o.kit.scale >= 0))
    throw std::invalid_argument("--threads wants 1 or more, --scale 0 or more");
  return o;
}

/// The name of the backend in a plugin's file, which joins the registry; or of one that is there already.
std::string load(const std::string& backend) {
  if (backend.find('/') == std::string::npos && !backend.ends_with(".so")) return backend;
  setenv("MLUOP_BACKEND_PATH", std::filesystem::absolute(backend).c_str(), 1);
  const int count = mluOpExtGetBackendCount();
  setenv("MLUOP_BACKEND", "no_such_backend", 1);
  mluOpHandle_t handle = nullptr;
  mluOpCreate(&handle);  // its text lists what was left out, and why
  const std::string text = mluOpExtGetLastErrorText();
  unsetenv("MLUOP_BACKEND");
  if (const std::size_t at = text.find("plugin "); at != std::string::npos) throw std::runtime_error(text.substr(at));
  return mluOpExtGetBackendName(count - 1);
}

std::string line_of(const Result& r) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%5d ran %5d declined  ", r.ran, r.declined);
  std::string line = r.op + std::string(r.op.size() < 40 ? 40 - r.op.size() : 1, ' ') + numbers;
  line += r.good() ? "ok" : "FOUND " + std::to_string(r.findings.size());
  if (!r.timed.empty()) {
    std::snprintf(numbers, sizeof numbers, "  %.3f ms, cpu %.3f ms: ", r.seconds * 1e3, r.cpu_seconds * 1e3);
    line += numbers + r.timed;
  }
  return line + (r.reason.empty() ? "" : "  (declined e.g.: " + r.reason + ")");
}

std::string json_of(const std::string& backend, const std::vector<Result>& results,
                    const std::vector<std::string>& missing) {
  std::string text = "{\"backend\": " + json_string(backend) + ", \"version\": " + json_string(mluOpExtGetVersion()) +
                     ",\n\"operators\": [";
  for (const Result& r : results) {
    text += std::string(&r == results.data() ? "" : ",") + "\n  {\"operator\": " + json_string(r.op) +
            ", \"ran\": " + std::to_string(r.ran) + ", \"declined\": " + std::to_string(r.declined) +
            ", \"ok\": " + (r.good() ? "true" : "false") + ", \"reason\": " + json_string(r.reason);
    if (!r.timed.empty()) {
      text += ", \"case\": " + json_string(r.timed) + ", \"ms\": " + std::to_string(r.seconds * 1e3) +
              ", \"cpu_ms\": " + std::to_string(r.cpu_seconds * 1e3);
    }
    text += ", \"findings\": [";
    for (const std::string& f : r.findings) text += (&f == r.findings.data() ? "" : ", ") + json_string(f);
    text += "]}";
  }
  text += "],\n\"not_provided\": [";
  for (const std::string& name : missing) text += (&name == missing.data() ? "" : ", ") + json_string(name);
  return text + "]}\n";
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

/// Declined altogether: skipped, with the reason.
JunitTest junit_of(const std::string& backend, const Result& r) {
  JunitTest test = {.group = backend, .name = r.op, .seconds = r.seconds, .failures = r.findings};
  if (r.ran == 0 && r.findings.empty()) test.skipped = r.reason.empty() ? "nothing ran" : r.reason;
  return test;
}

JunitTest junit_of(const std::string& library, const LibraryResult& r) {
  JunitTest test = {.group = library, .name = r.op};
  if (r.cases.empty()) test.skipped = "absent";
  for (const LibraryCase& c : r.cases) {
    if (c.verdict == "differs" || c.verdict == "crashed")
      test.failures.push_back(c.verdict + " " + c.text + ": " + c.note);
  }
  if (!r.good() && test.failures.empty()) test.failures.emplace_back("not as this library");
  return test;
}

template <class Results>
std::vector<JunitTest> junit_tests(const std::string& group, const Results& results) {
  std::vector<JunitTest> tests;
  for (const auto& r : results) tests.push_back(junit_of(group, r));
  return tests;
}

bool chosen(const Options& o, const std::string& op) {
  if (!o.kit.only_case.empty()) return o.kit.only_case.substr(0, o.kit.only_case.find(' ')) == op;
  return o.parts.empty() ||
         std::ranges::any_of(o.parts, [&](const std::string& part) { return op.find(part) != std::string::npos; });
}

/// Every library of LIB:RUNTIME as a path that another process finds.
std::string absolute_paths(const std::string& libraries) {
  std::string all, one;
  for (const char c : libraries + ":") {
    if (c != ':') {
      one += c;
      continue;
    }
    if (!std::filesystem::exists(one)) throw std::runtime_error(one + ": no such file");
    all.append(all.empty() ? "" : ":").append(std::filesystem::absolute(one).string());
    one.clear();
  }
  return all;
}

int run_library(Options o) {
  LibrarySettings& settings = o.library;
  settings.kit = o.kit;
  settings.library = absolute_paths(settings.library);
  settings.chosen = [&o](const std::string& op) { return chosen(o, op); };
  if (const std::size_t colon = o.answer.find(':'); colon != std::string::npos) {
    // No handlers of the end: the parent kills this process once it has the last answer, wherever they are then.
    std::_Exit(answer(settings, std::stoi(o.answer), std::stoul(o.answer.substr(colon + 1))));
  }
  std::vector<LibraryResult> results;
  std::fputs(library_heading().c_str(), stdout);
  examine_library(settings, [&](const LibraryResult& result) {
    results.push_back(result);
    std::fputs(library_lines(result, o.every).c_str(), stdout);
    std::fflush(stdout);
  });
  if (!o.json.empty()) write(o.json, library_json(settings, results));
  if (!o.record.empty()) write(o.record, library_records(results));
  if (!o.junit.empty()) write(o.junit, junit_text(junit_tests(settings.library, results)));
  const bool good = std::ranges::all_of(results, [](const LibraryResult& r) { return r.good(); });
  const bool any = std::ranges::any_of(results, [](const LibraryResult& r) { return !r.cases.empty(); });
  std::printf("%s\n", !any ? "nothing was examined" : good ? "ok" : "NOT ok");
  return any && good ? 0 : 1;
}

int run(Options o) {
  if (!o.library.library.empty()) return run_library(std::move(o));
  o.kit.backend = load(o.backend);
  const std::vector<std::string> has = provided(o.kit.backend);
  std::vector<Result> results;
  std::vector<std::string> missing;
  for (const cases::OperatorCases& op : cases::all_operators()) {
    if (!chosen(o, op.op)) continue;
    if (std::ranges::find(has, op.op) == has.end()) {
      missing.emplace_back(op.op);
      continue;
    }
    results.push_back(examine(op, o.kit));
    std::printf("%s\n", line_of(results.back()).c_str());
    for (const std::string& finding : results.back().findings) std::printf("  %s\n", finding.c_str());
    std::fflush(stdout);
  }
  if (!o.json.empty()) write(o.json, json_of(o.kit.backend, results, missing));
  if (!o.junit.empty()) write(o.junit, junit_text(junit_tests(o.kit.backend, results)));
  const auto good = std::ranges::count_if(results, [](const Result& r) { return r.good(); });
  std::printf("%s: %d of %zu operators ok, %zu not provided\n", o.kit.backend.c_str(), static_cast<int>(good),
              results.size(), missing.size());
  if (results.empty()) std::printf("nothing was examined\n");
  return !results.empty() && good == std::ssize(results) ? 0 : 1;
}

}  // namespace
}  // namespace mluops::conformance

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::ranges::find(words, "--help") != words.end()) {
    std::fputs(mluops::conformance::kHelp, stdout);
    return 0;
  }
  try {
    return mluops::conformance::run(mluops::conformance::parse(words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mluops_conformance: %s\n", error.what());
    return 2;
  }
}
