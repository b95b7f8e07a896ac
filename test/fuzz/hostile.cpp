#include "test/fuzz/hostile.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "mlu_op_ext.h"
#include "test/cases/base/element.h"
#include "test/cases/base/strides.h"

namespace mluops::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor& any_tensor(Problem& p, Choices& choices) {
  const std::int64_t inputs = static_cast<std::int64_t>(p.inputs.size());
  const std::int64_t i = choices.integer(0, inputs + static_cast<std::int64_t>(p.outputs.size()) - 1);
  return i < inputs ? *p.inputs[static_cast<std::size_t>(i)] : *p.outputs[static_cast<std::size_t>(i - inputs)];
}

// Whether the call of the case is EXTENDED whatever the handle says (test/cases/base/contract.h).
bool sets_extended(const Case& text) {
  return text.text_or("index", "") == "int64" || text.text_or("score", "") == "none" ||
         text.text_or("layout", "") == "nchw" || text.text_or("extended", "") == "1";
}

// A shape that is refused or needs no more memory than the tensor has: smaller, empty, negative, or 2^31 elements and
// up.
void lie_about_shape(Tensor& t, Choices& choices, bool huge, Lies& lies) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t refused[] = {0, -1, least},
                     beyond[] = {std::int64_t{1} << 31, std::int64_t{1} << 40, std::int64_t{1} << 62, most};
  std::vector<std::int64_t> dims = t.dims();
  std::int64_t& dim = dims[static_cast<std::size_t>(choices.integer(0, std::ssize(dims) - 1))];
  dim = choices.chance(0.3) && dim > 1 ? choices.integer(1, dim - 1)
        : huge && choices.chance(0.6)  ? choices.pick(beyond)
                                       : choices.pick(refused);
  if (choices.chance(0.2)) dims.pop_back();
  lies.about_shape = true;
  mluOpSetTensorDescriptor_v2(t.desc(), MLUOP_LAYOUT_NHWC, t.dtype(), static_cast<int>(dims.size()), dims.data());
}

void lie_about_type(Tensor& t, Choices& choices) {
  const mluOpDataType_t narrow[] = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_INT8, MLUOP_DTYPE_BOOL, MLUOP_DTYPE_INVALID,
                                    MLUOP_DTYPE_BFLOAT16};  // none wider than what the memory holds
  const mluOpTensorLayout_t layout = static_cast<mluOpTensorLayout_t>(choices.integer(0, 10));
  mluOpSetTensorDescriptor_v2(t.desc(), layout, choices.pick(narrow), static_cast<int>(t.dims().size()),
                              t.dims().data());
}

void stride(Tensor& t, Choices& choices) {
  const std::vector<std::int64_t>& dims = t.dims();
  std::vector<std::int64_t> strides(dims.size());
  for (std::int64_t& s : strides) s = choices.integer(-2, 5);
  cases::keep_within(strides, dims, t.count());
  mluOpSetTensorDescriptorEx_v2(t.desc(), MLUOP_LAYOUT_NHWC, t.dtype(), static_cast<int>(dims.size()), dims.data(),
                                strides.data());
}

double odd_number(mluOpDataType_t dtype, Choices& choices) {
  const double values[] = {kInfinity, -kInfinity, NAN, 1e30, -1e30, 65504, -65504,
                           1e-40,     -1,         0,   0.5,  3,     1e6,   2147483648.0};
  const double wild[] = {-1, -2147483648.0, 2147483647.0, 1e6, 0, 1, 7, 64};
  if (!cases::is_float(dtype)) return choices.pick(wild);
  if (choices.chance(0.7)) return choices.pick(values);
  const std::uint64_t bits = choices.bits(8);
  double any;
  std::memcpy(&any, &bits, sizeof any);
  return any;
}

void tell_a_lie(Problem& p, Choices& choices, Lies& lies) {
  Tensor& t = any_tensor(p, choices);
  const auto told = [&](const char* what) { lies.log += std::string(" ") + what + " of " + t.name() + ";"; };
  switch (choices.integer(0, 7)) {
    case 0:
      return told("dims"), t.desc() == nullptr ? void() : lie_about_shape(t, choices, !sets_extended(p.text()), lies);
    case 1:
      return told("type"), t.desc() == nullptr ? void() : lie_about_type(t, choices);
    case 2:
      return told("strides"), t.desc() == nullptr ? void() : stride(t, choices);
    case 3:
      return told("no data"), t.lose_data();
    case 4:
      return told("no descriptor"), t.lose_desc();
    default:
      if (p.inputs.empty()) return;
      lies.log += " data;";
      return poison(*p.inputs[static_cast<std::size_t>(choices.integer(0, std::ssize(p.inputs) - 1))], choices);
  }
}

bool fences_intact(const Problem& p) {
  bool intact = true;
  for (const auto& t : p.inputs) intact = intact && t->buffer().fences_intact();
  for (const auto& t : p.outputs) intact = intact && t->buffer().fences_intact();
  return intact;
}

std::vector<std::vector<unsigned char>> bytes_of(const std::vector<std::unique_ptr<Tensor>>& tensors) {
  std::vector<std::vector<unsigned char>> all;
  for (const auto& t : tensors) all.push_back(t->bytes());
  return all;
}

}  // namespace

void poison(Tensor& input, Choices& choices) {
  reference::Values v = input.values();
  for (std::int64_t i = choices.integer(1, 16); i > 0; --i) {
    const std::int64_t first = choices.integer(0, input.count() - 1);
    const std::int64_t count = choices.chance(0.1) ? input.count() - first : 1;
    const double number = odd_number(input.dtype(), choices);
    std::fill_n(v.begin() + first, count, number);
  }
  input.fill(v);
}

Lies lie(Problem& problem, Choices& choices) {
  Lies lies;
  for (std::int64_t i = choices.integer(0, 2); i >= 0; --i) tell_a_lie(problem, choices, lies);
  return lies;
}

Harm call_and_look(Problem& p, mluOpHandle_t handle) {
  for (const auto& out : p.outputs) out->buffer().fill_with_garbage();
  const auto inputs = bytes_of(p.inputs), garbage = bytes_of(p.outputs);
  const mluOpStatus_t status = p.call(handle);
  const std::string reason = mluOpExtGetLastErrorText();
  if (!fences_intact(p)) return {"bytes beside a tensor were changed", status};
  if (bytes_of(p.inputs) != inputs) return {"an input was changed", status};
  if (status == MLUOP_STATUS_SUCCESS) return {"", status};
  if (status != MLUOP_STATUS_BAD_PARAM && status != MLUOP_STATUS_NOT_SUPPORTED) {
    return {std::string(mluOpGetErrorString(status)) + ": " + reason, status};
  }
  if (reason.empty()) return {"failed without a text", status};
  if (bytes_of(p.outputs) != garbage) return {"an output was changed by a call that failed: " + reason, status};
  return {"", status};
}

}  // namespace mluops::test
