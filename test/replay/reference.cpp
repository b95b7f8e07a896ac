#include "test/replay/reference.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace mluops::replay {
namespace {

mluOpDataType_t dtype_of(const cases::OperatorCases& op, const cases::Case& text) {
  std::vector<mluOpDataType_t> all = op.dtypes.extended;
  all.insert(all.end(), op.dtypes.strict.begin(), op.dtypes.strict.end());
  const auto named = std::ranges::find_if(all, [&](mluOpDataType_t dtype) { return names_dtype(text, dtype); });
  if (named == all.end()) throw std::runtime_error(text.text() + ": the operator has no such dtype");
  return text.has("dtype") ? *named : op.dtypes.strict.back();
}

/// Before any memory is asked for. A tensor without elements is not recorded.
void demand_sizes(const cases::Description& d, const Recording& r) {
  for (const cases::TensorSpec& t : d.tensors) {
    const RecordedTensor* const recorded = r.find(t.name);
    const std::uintmax_t got = recorded == nullptr ? 0 : recorded->bytes;
    if (got == static_cast<std::uintmax_t>(t.bytes())) continue;
    throw std::runtime_error(t.name + ": wanted " + std::to_string(t.bytes()) + " bytes, as the case says, got " +
                             std::to_string(got));
  }
}

cases::Description description_of(const Recording& r) {
  if (r.text.empty()) throw std::runtime_error("it was recorded before recordings had a case");
  const cases::Case text = cases::Case::parse(r.text);
  if (text.op() != r.op) throw std::runtime_error("operator: wanted that of the case, " + text.op() + ", got " + r.op);
  cases::Description d = describe(text, dtype_of(cases::find_operator(text.op()), text));
  demand_sizes(d, r);
  for (cases::TensorSpec& t : d.tensors) {
    if (!t.is_output()) t.fill = [](std::int64_t) { return 0.0; };  // the recorded numbers are put in
  }
  if (const RecordedTensor* num = r.find("indice_num"); num != nullptr && num->kept && d.counts != nullptr) {
    if (num->before.size() != d.counts->size() * sizeof(std::int64_t)) throw std::runtime_error("indice_num: its size");
    std::memcpy(d.counts->data(), num->before.data(), num->before.size());
  }
  return d;
}

}  // namespace

RecordedCase::RecordedCase(const Recording& r) : problem_(description_of(r)) {
  for (const auto& input : problem_.inputs) {
    const RecordedTensor* const recorded = r.find(input->name());
    if (recorded == nullptr) continue;
    complete_ = complete_ && recorded->kept;
    std::copy(recorded->before.begin(), recorded->before.end(), static_cast<unsigned char*>(input->data()));
  }
}

RecordedCase::RecordedCase(const cases::Case& text)
    : problem_(describe(text, dtype_of(cases::find_operator(text.op()), text))) {}

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
  const test::Tolerance tolerance = test::tolerance_of(backend, problem_.dtype());
  return run_and_check(problem_, handle, backend, expected(tolerance.coordinates), tolerance);
}

}  // namespace mluops::replay
