#include "test/conformance/kit.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "test/cases/base/in_out.h"
#include "test/support/lists.h"
#include "test/support/run.h"

namespace mluops::conformance {
namespace {

using namespace test;  // NOLINT: the kit speaks the words of the tests

constexpr int kRandomCases = 24, kMostFindings = 5;
constexpr std::uint64_t kSeed = 1;

using Handles = std::vector<std::unique_ptr<Handle>>;

/// One handle for each number of threads.
Handles handles_of(const Settings& settings, mluOpExtContract_t contract) {
  Handles handles;
  for (const int threads : {1, 2, settings.threads}) {
    if (threads > settings.threads) continue;
    handles.push_back(std::make_unique<Handle>(settings.backend, threads));
    handles.back()->contract(contract).atomics(MLUOP_ATOMICS_NOT_ALLOWED);
  }
  return handles;
}

std::vector<std::vector<unsigned char>> output_bytes(const Problem& problem) {
  std::vector<std::vector<unsigned char>> all;
  for (const auto& out : problem.outputs) all.push_back(out->bytes());
  return all;
}

Cases all_cases(const OperatorCases& op, const Settings& settings, mluOpDataType_t dtype) {
  if (!settings.only_case.empty()) {
    const Case only = Case::parse(settings.only_case);
    return names_dtype(only, dtype) ? Cases{only} : Cases{};
  }
  Cases all = cases::cases_of(op, op.smallest);
  all = cases::joined(std::move(all), cases::cases_of(op, op.document));
  all = cases::joined(std::move(all), cases::cases_of(op, op.edge));
  const int count = std::max(1, static_cast<int>(kRandomCases * settings.scale));
  all = cases::joined(std::move(all), random_cases(op.op, kSeed, count));
  // A backend may compute in the tensors' type, as a device does: only what has an answer there is asked of half.
  if (dtype == MLUOP_DTYPE_HALF) std::erase_if(all, [](const Case& text) { return !meaningful_in_half(text); });
  return all;
}

/// Adds what was wrong, with the case, as long as there are few.
class Findings {
 public:
  Findings(Result& result, mluOpDataType_t dtype) : result_(result), dtype_(dtype) {}
  void add(const Case& text, const std::string& what) {
    if (std::ssize(result_.findings) == kMostFindings)
      result_.findings.emplace_back("more of the same operator left out");
    if (std::ssize(result_.findings) > kMostFindings) return;
    result_.findings.push_back(what + "\n    --case \"" + text.text() + "\"  (" + dtype_name(dtype_) + ")");
  }

 private:
  Result& result_;
  mluOpDataType_t dtype_;
};

/// Bitwise equal to one thread, on every other handle.
void compare_threads(Problem& problem, const Handles& handles, Findings& findings) {
  const auto first = output_bytes(problem);
  for (std::size_t i = 1; i < handles.size(); ++i) {
    if (run(problem, *handles[i]) != MLUOP_STATUS_SUCCESS) {
      findings.add(problem.text(), "runs with one thread, not with more: " + std::string(mluOpExtGetLastErrorText()));
    } else if (output_bytes(problem) != first) {
      findings.add(problem.text(), "other bits with more threads, though atomics are not allowed");
    }
  }
}

void check_case(Problem& problem, const Settings& settings, const Handles& handles, Result& result,
                Findings& findings) {
  const Tolerance tolerance = tolerance_of(settings.backend, problem.dtype());
  const bool declines = run(problem, *handles[0]) == MLUOP_STATUS_NOT_SUPPORTED;  // then nobody asks the reference
  const Expected expected = declines ? Expected() : problem.expect(tolerance.coordinates);
  const Report report = run_and_check(problem, *handles[0], settings.backend, expected, tolerance);
  if (report.outcome == Outcome::kFailed) return findings.add(problem.text(), report.text);
  if (report.outcome == Outcome::kRan) {
    ++result.ran;
    return compare_threads(problem, handles, findings);
  }
  ++result.declined;
  const std::string prefix = "backend " + settings.backend + ": ";
  const std::size_t at = report.text.find(prefix);
  const std::string reason = at == std::string::npos ? report.text : report.text.substr(at + prefix.size());
  if (reason.empty()) findings.add(problem.text(), "declined without a text");
  if (result.reason.empty()) result.reason = reason;
}

/// A missing input is refused, whoever would have run the call, and writes nothing.
void check_hostile(const OperatorCases& op, const Handle& handle, mluOpDataType_t dtype, Findings& findings) {
  const Case text = cases::cases_of(op, op.smallest).back();
  const Description description = describe(text, dtype);
  std::vector<bool> needed;
  for (const TensorSpec& t : description.tensors) {
    if (!t.is_output()) needed.push_back(cases::must_be_given(t));
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    Problem problem = make_problem(text, dtype);
    problem.inputs[i]->lose_data();
    const mluOpStatus_t status = run(problem, handle);
    const auto untouched = [](const std::vector<unsigned char>& bytes) {
      return std::ranges::all_of(bytes, [](unsigned char b) { return b == 0xff; });
    };
    const auto outputs = output_bytes(problem);
    const std::string name = problem.inputs[i]->name();
    if (status != MLUOP_STATUS_BAD_PARAM) findings.add(text, name + " is NULL: wanted BAD_PARAM");
    if (!std::ranges::all_of(outputs, untouched)) findings.add(text, name + " is NULL, and an output was touched");
  }
}

/// Least seconds of some calls; 0 where it does not run.
double least_seconds(Problem& problem, const std::string& backend, int threads) {
  const Handle handle(backend, threads);
  double least = 0;
  for (int i = 0; i < 4; ++i) {  // the first one is cold
    const auto start = std::chrono::steady_clock::now();
    if (problem.call(handle.get()) != MLUOP_STATUS_SUCCESS) return 0;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    least = i <= 1 ? seconds : std::min(least, seconds);
  }
  return least;
}

void take_times(const OperatorCases& op, const Settings& settings, Result& result) {
  Problem problem = make_problem(cases::cases_of(op, op.network).front(), op.dtypes.strict.back());
  result.seconds = least_seconds(problem, settings.backend, settings.threads);
  if (result.seconds == 0) return;
  result.cpu_seconds = least_seconds(problem, "cpu", settings.threads);
  result.timed = problem.text().shape();
}

void check_dtype(const OperatorCases& op, const Settings& settings, mluOpDataType_t dtype, mluOpExtContract_t contract,
                 Result& result) {
  const Handles handles = handles_of(settings, contract);
  Findings findings(result, dtype);
  for (const Case& text : all_cases(op, settings, dtype)) {
    Problem problem = make_problem(text, dtype);
    check_case(problem, settings, handles, result, findings);
  }
  if (settings.only_case.empty()) check_hostile(op, *handles[0], dtype, findings);
}

}  // namespace

Result examine(const OperatorCases& op, const Settings& settings) {
  Result result;
  result.op = op.op;
  for (const mluOpDataType_t dtype : op.dtypes.strict) {
    check_dtype(op, settings, dtype, MLUOP_EXT_CONTRACT_STRICT, result);
  }
  for (const mluOpDataType_t dtype : op.dtypes.extended) {
    check_dtype(op, settings, dtype, MLUOP_EXT_CONTRACT_EXTENDED, result);
  }
  if (result.ran == 0) result.findings.emplace_back("it declined every case");
  if (settings.timing && settings.only_case.empty()) take_times(op, settings, result);
  return result;
}

std::vector<std::string> provided(const std::string& backend) {
  const Handle handle(backend);
  std::size_t length = 0;
  if (mluOpExtQuery(handle.get(), backend.c_str(), "operators", nullptr, 0, &length) != MLUOP_STATUS_SUCCESS) {
    throw std::runtime_error(mluOpExtGetLastErrorText());
  }
  std::string text(length, '\0');
  mluOpExtQuery(handle.get(), backend.c_str(), "operators", text.data(), length + 1, nullptr);
  std::istringstream words(text);
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

}  // namespace mluops::conformance
