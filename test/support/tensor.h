// Tensors for tests: a descriptor and memory fenced by guard bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mlu_op.h"
#include "test/reference/reference.h"

namespace mluops::test {

/// Where a page that may not be touched lies: MLUOP_TEST_GUARD=before|after.
enum class GuardPage {
  kNone,
  kBefore,  ///< ends where the tensor begins
  kAfter,   ///< begins where the tensor ends
};
GuardPage guard_page();

/// Memory between two fences of bytes 0xff: NaN in every float type, so that reading them shows in the result, and
/// writing them is noticed. AddressSanitizer ends the program that touches them. With a guard page there is no fence on
/// its side, and any machine does.
class GuardedBuffer {
 public:
  /// `misalign` bytes behind a 64-byte boundary, without a guard page.
  explicit GuardedBuffer(std::size_t bytes, std::size_t misalign = 0, GuardPage guard = guard_page());
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  void* data() { return memory_ + begin_; }
  const void* data() const { return memory_ + begin_; }
  std::size_t bytes() const { return bytes_; }
  /// All bytes 0xff.
  void fill_with_garbage();
  bool fences_intact() const;

 private:
  void map(GuardPage guard);
  /// Lets AddressSanitizer watch the fences, or not.
  void watch(bool on) const;

  unsigned char* memory_ = nullptr;
  std::size_t size_ = 0, begin_ = 0, bytes_;
  std::size_t mapped_ = 0;  ///< bytes with the guard page; 0: memory from the heap
};

/// Owns a descriptor.
class Descriptor {
 public:
  Descriptor(mluOpTensorLayout_t layout, mluOpDataType_t dtype, const std::vector<std::int64_t>& dims);
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  mluOpTensorDescriptor_t get() const { return desc_; }

 private:
  mluOpTensorDescriptor_t desc_ = nullptr;
};

class Tensor {
 public:
  Tensor(std::string name, mluOpTensorLayout_t layout, mluOpDataType_t dtype, std::vector<std::int64_t> dims,
         std::size_t misalign = 0);

  const std::string& name() const { return name_; }
  mluOpDataType_t dtype() const { return dtype_; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::int64_t count() const { return count_; }
  mluOpTensorDescriptor_t desc() const { return desc_lost_ ? nullptr : desc_.get(); }
  void* data() { return lost_ ? nullptr : buffer_.data(); }
  const void* data() const { return lost_ ? nullptr : buffer_.data(); }
  /// data() is NULL from now on.
  void lose_data() { lost_ = true; }
  /// desc() is NULL from now on.
  void lose_desc() { desc_lost_ = true; }
  GuardedBuffer& buffer() { return buffer_; }
  const GuardedBuffer& buffer() const { return buffer_; }

  /// Values must number count().
  void fill(const reference::Values& values);
  reference::Values values() const;
  /// Bytes of the elements.
  std::vector<unsigned char> bytes() const;

 private:
  std::string name_;
  mluOpDataType_t dtype_;
  std::vector<std::int64_t> dims_;
  std::int64_t count_;
  Descriptor desc_;
  GuardedBuffer buffer_;
  bool lost_ = false, desc_lost_ = false;
};

}  // namespace mluops::test
