#include "test/replay/reference.h"

#include <algorithm>
#include <chrono>
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

const RecordedTensor* find(const Recording& r, const std::string& name) {
  const auto found = std::ranges::find(r.tensors, name, &RecordedTensor::name);
  return found == r.tensors.end() ? nullptr : &*found;
}

cases::Description description_of(const Recording& r) {
  if (r.text.empty()) throw std::runtime_error("it was recorded before recordings had a case");
  const cases::Case text = cases::Case::parse(r.text);
  cases::Description d = describe(text, dtype_of(cases::find_operator(text.op()), text));
  for (cases::TensorSpec& t : d.tensors) {
    if (!t.is_output()) t.fill = [](std::int64_t) { return 0.0; };  // the recorded numbers are put in
  }
  if (const RecordedTensor* num = find(r, "indice_num"); num != nullptr && num->kept && d.counts != nullptr) {
    if (num->before.size() != d.counts->size() * sizeof(std::int64_t)) throw std::runtime_error("indice_num: its size");
    std::memcpy(d.counts->data(), num->before.data(), num->before.size());
  }
  return d;
}

void put(test::Tensor& tensor, const std::vector<unsigned char>& bytes) {
  if (tensor.buffer().bytes() != bytes.size()) throw std::runtime_error(tensor.name() + " has another size as a case");
  std::memcpy(tensor.data(), bytes.data(), bytes.size());
}

}  // namespace

RecordedCase::RecordedCase(const Recording& r) : problem_(description_of(r)) {
  for (const auto& input : problem_.inputs) {
    const RecordedTensor* const recorded = find(r, input->name());
    if (recorded == nullptr) throw std::runtime_error(input->name() + " was not recorded");
    if (!recorded->kept) throw std::runtime_error(input->name() + ": its data were left out");
    put(*input, recorded->before);
  }
}

RecordedCase::RecordedCase(const cases::Case& text)
    : problem_(describe(text, dtype_of(cases::find_operator(text.op()), text))) {}

double RecordedCase::seconds(const test::Handle& handle) {
  const auto start = std::chrono::steady_clock::now();
  problem_.call(handle.get());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

const test::Expected& RecordedCase::expected(reference::Coordinates coordinates) {
  auto found = expected_.find(coordinates);
  if (found == expected_.end()) found = expected_.emplace(coordinates, problem_.expect(coordinates)).first;
  return found->second;
}

std::string RecordedCase::mismatch(const NamedBytes& outputs, const std::string& backend) {
  for (const auto& output : problem_.outputs) {
    const auto found = outputs.find(output->name());
    if (found == outputs.end()) throw std::runtime_error(output->name() + " was not recorded");
    put(*output, found->second);
  }
  const test::Tolerance tolerance = test::tolerance_of(backend, problem_.dtype());
  return test::mismatch(problem_, expected(tolerance.coordinates), tolerance);
}

test::Report RecordedCase::run(const test::Handle& handle, const std::string& backend) {
  const test::Tolerance tolerance = test::tolerance_of(backend, problem_.dtype());
  return run_and_check(problem_, handle, backend, expected(tolerance.coordinates), tolerance);
}

}  // namespace mluops::replay
