#include "test/fuzz/targets/size_lies.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "test/cases/base/element.h"
#include "test/cases/base/strides.h"
#include "test/fuzz/absent.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kStrictMost = std::int64_t{1} << 31;  ///< elements: STRICT refuses a tensor of as many

/// Shared by all tensors without memory, and never touched in this process.
void* nothing() {
  static void* const memory = absent_memory(std::int64_t{1} << 40, 8);
  return memory;
}

bool is_absent(const PreparedTensor& t) {
  return t.data != nullptr && t.data == nothing();
}

/// Elements, -1 where they are more than 2^63; 0 of no size.
std::int64_t count_of(const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  bool beyond = false;
  for (const std::int64_t dim : dims) {
    if (dim <= 0) return 0;
    beyond = beyond || __builtin_mul_overflow(count, dim, &count);
  }
  return beyond ? -1 : count;
}

bool has_desc(const PreparedTensor& t) {
  return !t.lost_desc && !t.spec->pointer_only;
}

void set_dims(PreparedTensor& t, std::vector<std::int64_t> dims) {
  if (!has_desc(t)) return;
  const cases::TensorSpec& spec = *t.spec;
  if (spec.name == "indice_pairs") dims[0] = std::min(dims[0], spec.dims[0]);  // as many counts lie behind indice_num
  if (mluOpSetTensorDescriptor_v2(t.tensor->desc(), spec.layout, spec.dtype, static_cast<int>(dims.size()),
                                  dims.data()) != MLUOP_STATUS_SUCCESS) {
    return;  // it has kept what it was
  }
  t.changed_desc = true;
  t.dims = dims;
  const std::int64_t count = count_of(dims);
  if (t.data != nullptr && (count < 0 || count > t.tensor->count())) t.data = nothing();
}

std::int64_t odd_dim(Choices& choices) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t refused[] = {-1, least, std::numeric_limits<std::int64_t>::max()};
  const std::int64_t kind = choices.integer(0, 15);
  if (kind == 0) return choices.pick(refused);
  if (kind == 1) return 0;
  if (kind < 6) return choices.integer(1, 40);
  return (std::int64_t{1} << choices.integer(1, 62)) + choices.integer(-1, 1);
}

/// Wherever a size stands, another.
void resize_everywhere(PreparedCall& call, PreparedTensor& first, Choices& choices) {
  if (first.dims.empty()) return;
  const std::int64_t before = choices.pick(first.dims), after = odd_dim(choices);
  for (PreparedTensor& t : call.tensors) {
    std::vector<std::int64_t> dims = t.dims;
    std::replace(dims.begin(), dims.end(), before, after);
    if (dims != t.dims) set_dims(t, dims);
  }
}

void resize_one(PreparedTensor& t, Choices& choices) {
  std::vector<std::int64_t> dims = t.dims;
  if (dims.empty()) return;
  dims[static_cast<std::size_t>(choices.integer(0, std::ssize(dims) - 1))] = odd_dim(choices);
  if (choices.chance(0.1)) dims.pop_back();
  if (choices.chance(0.1)) dims.push_back(1);
  if (!dims.empty()) set_dims(t, dims);
}

void set_type(PreparedTensor& t, Choices& choices) {
  if (!has_desc(t)) return;
  const auto layout = static_cast<mluOpTensorLayout_t>(choices.integer(0, 10));
  const auto dtype = static_cast<mluOpDataType_t>(choices.integer(0, 20));
  std::size_t size = 0;
  if (mluOpGetSizeOfDataType(dtype, &size) != MLUOP_STATUS_SUCCESS || size > cases::element_size(t.spec->dtype)) return;
  t.changed_desc = true;
  mluOpSetTensorDescriptor_v2(t.tensor->desc(), layout, dtype, static_cast<int>(t.dims.size()), t.dims.data());
}

void set_strides(PreparedTensor& t, Choices& choices) {
  if (!has_desc(t)) return;
  std::vector<std::int64_t> strides(t.dims.size());
  for (std::int64_t& s : strides) s = choices.integer(-2, 5);
  cases::keep_within(strides, t.dims, count_of(t.dims));
  t.changed_desc = true;
  mluOpSetTensorDescriptorEx_v2(t.tensor->desc(), t.spec->layout, t.spec->dtype, static_cast<int>(t.dims.size()),
                                t.dims.data(), strides.data());
}

double odd_number(mluOpDataType_t dtype, Choices& choices) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {kInfinity, -kInfinity, NAN, 1e30, -1e30, 65504, -65504,       1e-40,
                           -1e-320,   -1,         0,   0.5,  3,     1e6,   2147483648.0, 1e300};
  const double wild[] = {-1, -2147483648.0, 2147483647.0, 1e6, 0, 1, 7, 64};
  if (!cases::is_float(dtype))
    return choices.chance(0.5) ? choices.pick(wild) : static_cast<double>(choices.integer(0, 16));
  if (choices.chance(0.7)) return choices.pick(values);
  const std::uint64_t bits = choices.bits(8);
  double any;
  std::memcpy(&any, &bits, sizeof any);
  return any;
}

void change_data(PreparedTensor& t, Choices& choices) {
  const std::int64_t count = t.tensor->count();
  if (t.spec->is_output() || count == 0) return;
  t.changed_data = true;
  for (std::int64_t i = choices.integer(1, 6); i > 0; --i) {
    const std::int64_t first = choices.integer(0, count - 1);
    const std::int64_t end = choices.chance(0.1) ? count : first + 1;
    const double number = odd_number(t.spec->dtype, choices);
    cases::store(
        t.spec->dtype, [number](std::int64_t) { return number; }, first, end, t.tensor->data());
  }
}

}  // namespace

const PreparedTensor* tell_lies(PreparedCall& call, Choices& choices) {
  const std::int64_t lies = choices.integer(0, 4);
  const PreparedTensor* culprit = nullptr;
  for (std::int64_t i = lies; i > 0; --i) {
    PreparedTensor& t = call.tensors[static_cast<std::size_t>(choices.integer(0, std::ssize(call.tensors) - 1))];
    switch (choices.integer(0, 15)) {
      case 0:
      case 1:
      case 2:
        resize_everywhere(call, t, choices);
        break;
      case 3:
        resize_one(t, choices);
        break;
      case 4:
        set_type(t, choices);
        break;
      case 5:
        set_strides(t, choices);
        break;
      case 6:
        t.data = nullptr;
        culprit = &t;
        break;
      case 7:
        t.lost_desc = true;
        culprit = &t;
        break;
      default:
        change_data(t, choices);
    }
  }
  return lies == 1 ? culprit : nullptr;
}

bool any_tensor_is_absent(const PreparedCall& call) {
  return std::any_of(call.tensors.begin(), call.tensors.end(), is_absent);
}

bool beyond_strict(const PreparedCall& call) {
  return std::any_of(call.tensors.begin(), call.tensors.end(), [](const PreparedTensor& t) {
    const std::int64_t count = has_desc(t) ? count_of(t.dims) : 0;
    return count < 0 || count >= kStrictMost;
  });
}

bool spread_absent_tensors(PreparedCall& call) {
  for (PreparedTensor& t : call.tensors) {
    if (!is_absent(t)) continue;
    const std::int64_t count = count_of(t.dims);
    t.data = absent_memory(count < 0 ? std::numeric_limits<std::int64_t>::max() : count, 8);
    if (t.data == nullptr) return false;
  }
  return true;
}

}  // namespace mluops::test
