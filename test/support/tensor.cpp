#include "test/support/tensor.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "test/support/encode.h"

namespace mluops::test {
namespace {

constexpr std::size_t kFence = 256;
constexpr std::size_t kBoundary = 64;
constexpr unsigned char kFenceByte = 0xff;

bool all_fence(const unsigned char* first, const unsigned char* last) {
  return std::all_of(first, last, [](unsigned char b) { return b == kFenceByte; });
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::size_t misalign)
    : memory_(bytes + 2 * kFence + kBoundary + misalign, kFenceByte), begin_(0), bytes_(bytes) {
  const std::size_t address = reinterpret_cast<std::uintptr_t>(memory_.data()) + kFence;
  begin_ = kFence + (kBoundary - address % kBoundary) % kBoundary + misalign;
}

void GuardedBuffer::fill_with_garbage() {
  std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(begin_), bytes_, kFenceByte);
}

bool GuardedBuffer::fences_intact() const {
  const unsigned char* memory = memory_.data();
  return all_fence(memory, memory + begin_) && all_fence(memory + begin_ + bytes_, memory + memory_.size());
}

Descriptor::Descriptor(mluOpTensorLayout_t layout, mluOpDataType_t dtype, const std::vector<std::int64_t>& dims) {
  if (mluOpCreateTensorDescriptor(&desc_) != MLUOP_STATUS_SUCCESS ||
      mluOpSetTensorDescriptor_v2(desc_, layout, dtype, static_cast<int>(dims.size()), dims.data()) !=
          MLUOP_STATUS_SUCCESS) {
    throw std::runtime_error("cannot make a tensor descriptor");
  }
}

Descriptor::~Descriptor() {
  mluOpDestroyTensorDescriptor(desc_);
}

Tensor::Tensor(std::string name, mluOpTensorLayout_t layout, mluOpDataType_t dtype, std::vector<std::int64_t> dims,
               std::size_t misalign)
    : name_(std::move(name)),
      dtype_(dtype),
      dims_(std::move(dims)),
      count_(std::accumulate(dims_.begin(), dims_.end(), std::int64_t{1}, std::multiplies<>())),
      desc_(layout, dtype, dims_),
      buffer_(static_cast<std::size_t>(count_) * element_size(dtype), misalign * element_size(dtype)) {}

void Tensor::fill(const reference::Values& values) {
  if (static_cast<std::int64_t>(values.size()) != count_) throw std::logic_error(name_ + ": wrong number of values");
  encode(dtype_, values, buffer_.data());
}

reference::Values Tensor::values() const {
  return reference::decode(dtype_, buffer_.data(), count_);
}

std::vector<unsigned char> Tensor::bytes() const {
  const unsigned char* first = static_cast<const unsigned char*>(buffer_.data());
  return {first, first + buffer_.bytes()};
}

}  // namespace mluops::test
