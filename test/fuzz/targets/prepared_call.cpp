#include "test/fuzz/targets/prepared_call.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "test/cases/base/element.h"
#include "test/fuzz/targets/small_case.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kMostElements = 1500;
constexpr int kTries = 6;
constexpr unsigned char kGarbage = 0xff;

std::vector<unsigned char> bytes_of(const PreparedTensor& t) {
  const auto* const first = static_cast<const unsigned char*>(t.tensor->buffer().data());
  return {first, first + t.tensor->buffer().bytes()};
}

bool all_garbage(const GuardedBuffer& buffer) {
  const auto* const first = static_cast<const unsigned char*>(buffer.data());
  return std::all_of(first, first + buffer.bytes(), [](unsigned char b) { return b == kGarbage; });
}

bool is_fraction(const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  return !value.empty() && *end == '\0' && number != std::floor(number);
}

/// A number no network has, in place of one that is no size; one the description's own arithmetic bears. Calls by
/// signature have the others.
void set_another_scalar(const cases::OperatorCases& op, cases::Case& text, Choices& choices) {
  const char* const other[] = {"0.001", "0.3333333333333333", "1000"};
  std::vector<const char*> names;
  for (const cases::Parameter& p : op.parameters) {
    if (is_fraction(p.value)) names.push_back(p.name);
  }
  if (!names.empty()) text.set(choices.pick(names), choices.pick(other));
}

std::unique_ptr<PreparedCall> make(const cases::OperatorCases& op, mluOpDataType_t dtype, std::size_t number) {
  const char* const seed = std::getenv("MLUOP_FUZZ_SEED");
  cases::Random random(std::string(op.op) + " " + std::to_string(dtype) + " " + std::to_string(number) + " " +
                       (seed != nullptr ? seed : "1"));
  RandomChoices choices(random);
  for (int i = 0; i < kTries; ++i) {
    std::optional<cases::Description> d = small_case(op, dtype, choices, kMostElements);
    if (!d) continue;
    if (choices.chance(0.3)) {
      cases::Case text = d->text;
      set_another_scalar(op, text, choices);
      try {
        d = cases::describe(text, dtype);
      } catch (const std::exception&) {  // no description of such a number
        continue;
      }
    }
    return std::make_unique<PreparedCall>(std::move(*d));
  }
  return nullptr;
}

}  // namespace

PreparedCall::PreparedCall(cases::Description description)
    : description_(std::move(description)),
      text_(description_.text.text() + " (" + cases::dtype_name(description_.dtype) + ")"),
      arguments_(description_.tensors.size()),
      noted_(description_.tensors.size()) {
  for (const cases::TensorSpec& spec : description_.tensors) {
    auto tensor = std::make_unique<Tensor>(spec.name, spec.layout, spec.dtype, spec.dims);
    if (spec.fill) cases::write(spec.fill, spec.dtype, tensor->count(), tensor->data());
    void* const data = tensor->data();
    tensors.push_back({&spec, std::move(tensor), {}, spec.dims, data});
    if (spec.fill) tensors.back().described = bytes_of(tensors.back());
  }
}

mluOpStatus_t PreparedCall::call(mluOpHandle_t handle) {
  for (std::size_t i = 0; i < tensors.size(); ++i) arguments_[i] = {tensors[i].desc(), tensors[i].data};
  return description_.call(handle, arguments_);
}

void PreparedCall::restore() {
  for (PreparedTensor& t : tensors) {
    const cases::TensorSpec& spec = *t.spec;
    if (t.changed_desc) {
      t.dims = spec.dims;
      mluOpSetTensorDescriptor_v2(t.tensor->desc(), spec.layout, spec.dtype, static_cast<int>(spec.dims.size()),
                                  spec.dims.data());
    }
    t.data = t.tensor->data();
    if (t.spec->is_output()) {
      t.tensor->buffer().fill_with_garbage();
    } else if (t.changed_data) {
      std::memcpy(t.data, t.described.data(), t.described.size());
    }
    t.lost_desc = t.changed_desc = t.changed_data = false;
  }
}

void PreparedCall::forget_inputs() {
  for (PreparedTensor& t : tensors) t.changed_data = true;
}

void PreparedCall::note_inputs() {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].changed_data) noted_[i] = bytes_of(tensors[i]);
  }
}

std::string PreparedCall::harm(bool failed, bool by_signature) const {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PreparedTensor& t = tensors[i];
    const GuardedBuffer& buffer = t.tensor->buffer();
    if (!buffer.fences_intact()) return "bytes beside " + t.spec->name + " were changed";
    if (t.spec->is_output()) {
      if (failed && !all_garbage(buffer)) return t.spec->name + " was changed by a call that failed";
    } else if (failed || !by_signature) {
      const std::vector<unsigned char>& before = t.changed_data ? noted_[i] : t.described;
      if (std::memcmp(before.data(), buffer.data(), before.size()) != 0)
        return "input " + t.spec->name + " was changed";
    }
  }
  return "";
}

std::string PreparedCall::state_of(const PreparedTensor& t) const {
  std::string text = t.spec->name + " [";
  for (const std::int64_t dim : t.dims) text += std::to_string(dim) + " ";
  text += "]";
  if (t.lost_desc) text += ", no descriptor";
  if (t.data != t.tensor->data()) text += t.data == nullptr ? ", no data" : ", absent";
  if (t.changed_desc) text += ", changed";
  return text + (t.changed_data ? ", other data" : "");
}

PreparedCall* prepared_call(std::size_t op, std::size_t dtype, std::size_t number) {
  const mluOpDataType_t dtypes[kPreparedDtypes] = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE,
                                                   MLUOP_DTYPE_BFLOAT16};
  const auto& operators = cases::all_operators();
  struct Place {
    bool asked = false;
    std::unique_ptr<PreparedCall> call;
  };
  static std::vector<Place> all(operators.size() * kPreparedDtypes * kPreparedCalls);
  Place& place = all[(op * kPreparedDtypes + dtype) * kPreparedCalls + number];
  if (!place.asked) {
    place.asked = true;
    place.call = make(operators[op], dtypes[dtype], number);
  }
  return place.call.get();
}

}  // namespace mluops::test
