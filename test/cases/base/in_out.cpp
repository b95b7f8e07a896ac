#include "test/cases/base/in_out.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace mluops::cases {
namespace {

/// What the small outputs of a call held. Calls whose memory is counted allocate nothing.
std::array<unsigned char, 1 << 20> saved;
std::atomic_flag memory_is_taken = ATOMIC_FLAG_INIT;

struct Form {
  mluOpDataType_t dtype = MLUOP_DTYPE_INVALID;
  int rank = 0;
  std::int64_t dims[8] = {}, strides[8] = {};
};

bool read_form(mluOpTensorDescriptor_t desc, Form& form) {
  mluOpTensorLayout_t layout;
  int rank = 0;
  if (mluOpGetTensorDescriptor_v2(desc, &layout, nullptr, &rank, nullptr) != MLUOP_STATUS_SUCCESS || rank > 8)
    return false;
  return mluOpGetTensorDescriptorEx_v2(desc, &layout, &form.dtype, &form.rank, form.dims, form.strides) ==
         MLUOP_STATUS_SUCCESS;
}

std::size_t bytes_of(const Argument& t) {
  Form form;
  if (t.desc == nullptr || t.data == nullptr || !read_form(t.desc, form)) return 0;
  return static_cast<std::size_t>(mluOpGetTensorElementNum(t.desc)) * element_size(form.dtype);
}

/// Whether an output lies in the memory of another tensor, as in a test of what is refused.
bool is_elsewhere(const Arguments& t, std::size_t output) {
  const auto begin = reinterpret_cast<std::uintptr_t>(t[output].data);
  for (std::size_t i = 0; i < t.size(); ++i) {
    const auto other = reinterpret_cast<std::uintptr_t>(t[i].data);
    if (i != output && begin >= other && begin < other + bytes_of(t[i])) return true;
  }
  return false;
}

/// Bytes of a tensor that call_in_place may copy: 0 where the two differ or one is absent.
std::size_t bytes_to_copy(const Argument& from, const Argument& to) {
  if (from.desc == nullptr || to.desc == nullptr || from.data == nullptr || to.data == nullptr) return 0;
  Form a, b;
  if (!read_form(from.desc, a) || !read_form(to.desc, b)) return 0;
  if (a.dtype != b.dtype || a.rank != b.rank || !std::equal(a.dims, a.dims + a.rank, b.dims) ||
      !std::equal(a.strides, a.strides + a.rank, b.strides)) {
    return 0;
  }
  return bytes_of(from);
}

}  // namespace

bool is_initial(const std::string& tensor) {
  return tensor.rfind("initial_", 0) == 0;
}

bool must_be_given(const TensorSpec& t) {
  return !t.is_output() && !t.optional && !is_initial(t.name) && t.elements() > 0;
}

InPlace::InPlace(const Arguments& t, std::initializer_list<InOut> pairs)
    : saves_(!memory_is_taken.test_and_set(std::memory_order_acquire)), t_(t), pairs_(pairs) {}

InPlace::~InPlace() {
  if (saves_) memory_is_taken.clear(std::memory_order_release);
}

std::size_t InPlace::bytes(const InOut& pair) const {
  return is_elsewhere(t_, pair.output) ? 0 : bytes_to_copy(t_[pair.input], t_[pair.output]);
}

void InPlace::copy_in() {
  for (const InOut& pair : pairs_) {
    const std::size_t size = bytes(pair);
    const bool fits = saves_ && size <= saved.size() - used_;
    if (fits && size > 0) std::memcpy(saved.data() + used_, t_[pair.output].data, size);
    used_ += fits ? size : 0;
    if (size > 0) std::memmove(t_[pair.output].data, t_[pair.input].data, size);
  }
}

void InPlace::restore() {
  std::size_t at = 0;
  for (const InOut& pair : pairs_) {
    const std::size_t size = bytes(pair);
    if (size > used_ - at) continue;
    if (size > 0) std::memcpy(t_[pair.output].data, saved.data() + at, size);
    at += size;
  }
}

}  // namespace mluops::cases
