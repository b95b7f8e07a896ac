#include "test/replay/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "test/cases/base/in_out.h"

namespace mluops::replay {
namespace {

mluOpDataType_t dtype_of(const cases::OperatorCases& op, const cases::Case& text) {
  std::vector<mluOpDataType_t> all = op.dtypes.extended;
  all.insert(all.end(), op.dtypes.strict.begin(), op.dtypes.strict.end());
  const auto named = std::ranges::find_if(all, [&](mluOpDataType_t dtype) { return names_dtype(text, dtype); });
  if (named == all.end()) throw std::runtime_error(text.text() + ": the operator has no such dtype");
  return text.has("dtype") ? *named : op.dtypes.strict.back();
}

/// What the library notes of a call and no description has: the counts of pairs of sparse convolutions, and the number
/// that mluOpGetIndicePairs leaves in its descriptor.
constexpr const char *kCounts = "indice_num", *kNumber = "num_act_out";

void demand(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}

/// Before a description counts to any of its numbers.
void demand_numbers(const cases::Case& text, std::uintmax_t bytes, const Limits& limits) {
  constexpr double kAlways = 1 << 16;
  const double most = std::max(kAlways, static_cast<double>(bytes));
  for (const auto& [key, value] : text.values()) {
    const bool fits = key == "seed" || std::fabs(std::strtod(value.c_str(), nullptr)) <= most;  // NaN does not
    demand(fits, key + ": wanted at most " + std::to_string(static_cast<std::uintmax_t>(most)) +
                     ", for tensors of so many bytes, got " + value);
  }
  demand(cases::work_of(cases::with_defaults(text)) <= limits.work, "case: its sizes are too large together");
}

/// A tensor that a call reads and writes is recorded as an output; a case has what it held before as an input, too.
const RecordedTensor* recorded_of(const Recording& r, const std::string& tensor) {
  return r.find(cases::is_initial(tensor) ? tensor.substr(tensor.find('_') + 1) : tensor);
}

/// Before memory is asked for. Of the recorded tensors each is one of the case. One without elements is not recorded.
void demand_tensors(const cases::Description& d, const Recording& r) {
  for (const cases::TensorSpec& t : d.tensors) {
    const RecordedTensor* const recorded = recorded_of(r, t.name);
    const std::uintmax_t got = recorded == nullptr ? 0 : recorded->bytes,
                         wanted = static_cast<std::uintmax_t>(t.bytes());
    demand(got == wanted,
           t.name + ": wanted " + std::to_string(wanted) + " bytes, as the case says, got " + std::to_string(got));
    demand(recorded == nullptr || recorded->output == (t.is_output() || cases::is_initial(t.name)),
           t.name + ": wanted an " + (t.is_output() ? "output" : "input") + ", as the case says");
  }
  for (const RecordedTensor& t : r.tensors) {
    const auto is_it = [&](const cases::TensorSpec& of_case) { return of_case.name == t.name; };
    demand(t.name == kCounts || t.name == kNumber || std::ranges::any_of(d.tensors, is_it),
           t.name + ": the case has no such tensor");
  }
}

std::uintmax_t bytes_of(const Recording& r, bool kept) {
  std::uintmax_t sum = 0;
  for (const RecordedTensor& t : r.tensors) sum += t.kept == kept ? t.bytes : 0;
  return sum;
}

void put_counts(const Recording& r, cases::Description& d) {
  const RecordedTensor* const num = r.find(kCounts);
  if (num == nullptr || !num->kept || d.counts == nullptr) return;
  demand(num->before.size() == d.counts->size() * sizeof(std::int64_t), "indice_num: its size");
  std::memcpy(d.counts->data(), num->before.data(), num->before.size());
}

void demand_memory(std::uintmax_t bytes, const Limits& limits) {
  demand(bytes <= limits.bytes, "tensors whose data are not in a file: wanted at most " +
                                    std::to_string(limits.bytes >> 20) + " MiB, got " + std::to_string(bytes >> 20) +
                                    " MiB (--memory)");
}

cases::Description description_of(const Recording& r, const Limits& limits) {
  demand(!r.text.empty(), "it was recorded before recordings had a case");
  const cases::Case text = cases::Case::parse(r.text);
  demand(text.op() == r.op, "operator: wanted that of the case, " + text.op() + ", got " + r.op);
  demand_memory(bytes_of(r, false), limits);
  demand_numbers(text, bytes_of(r, false) + bytes_of(r, true), limits);
  cases::Description d = describe(text, dtype_of(cases::find_operator(text.op()), text));
  demand_tensors(d, r);
  for (cases::TensorSpec& t : d.tensors) {
    if (!t.is_output()) t.fill = [](std::int64_t) { return 0.0; };  // the recorded numbers are put in
  }
  put_counts(r, d);
  return d;
}

cases::Description description_of(const cases::Case& text, const Limits& limits) {
  demand_numbers(text, limits.bytes, limits);
  cases::Description d = describe(text, dtype_of(cases::find_operator(text.op()), text));
  demand_memory(static_cast<std::uintmax_t>(d.all_bytes()), limits);
  return d;
}

}  // namespace

RecordedCase::RecordedCase(const Recording& r, const Limits& limits) : problem_(description_of(r, limits)) {
  for (const auto& input : problem_.inputs) {
    const RecordedTensor* const recorded = recorded_of(r, input->name());
    if (recorded == nullptr) continue;
    complete_ = complete_ && recorded->kept;
    std::copy(recorded->before.begin(), recorded->before.end(), static_cast<unsigned char*>(input->data()));
  }
}

RecordedCase::RecordedCase(const cases::Case& text, const Limits& limits) : problem_(description_of(text, limits)) {}

void RecordedCase::put_outputs(const Recording& r, std::vector<unsigned char> RecordedTensor::*bytes) {
  for (const auto& output : problem_.outputs) {
    const RecordedTensor* const recorded = r.find(output->name());
    if (recorded == nullptr) continue;
    const std::vector<unsigned char>& from = recorded->*bytes;
    std::copy_n(from.begin(), std::min(from.size(), output->buffer().bytes()),
                static_cast<unsigned char*>(output->data()));
  }
}

const test::Expected& RecordedCase::expected(reference::Coordinates coordinates) {
  auto found = expected_.find(coordinates);
  if (found == expected_.end()) found = expected_.emplace(coordinates, problem_.expect(coordinates)).first;
  return found->second;
}

std::string RecordedCase::mismatch(const std::string& backend) {
  const test::Tolerance tolerance = test::tolerance_of(backend, problem_.dtype());
  return test::mismatch(problem_, expected(tolerance.coordinates), tolerance);
}

test::Report RecordedCase::run(const test::Handle& handle, const std::string& backend) {
  const mluOpStatus_t status = test::run(problem_, handle);
  if (status == MLUOP_STATUS_NOT_SUPPORTED) return {test::Outcome::kDeclined, mluOpExtGetLastErrorText()};
  if (status != MLUOP_STATUS_SUCCESS) return {test::Outcome::kFailed, mluOpExtGetLastErrorText()};
  const test::Tolerance tolerance = test::tolerance_of(backend, problem_.dtype());
  return run_and_check(problem_, handle, backend, expected(tolerance.coordinates), tolerance);
}

}  // namespace mluops::replay
