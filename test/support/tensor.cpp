#include "test/support/tensor.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <stdexcept>

#include "test/cases/base/element.h"
#include "test/support/sanitized.h"

#if MLUOPS_TEST_ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
#endif

namespace mluops::test {
namespace {

constexpr std::size_t kFence = 256;
constexpr std::size_t kBoundary = 64;
constexpr unsigned char kFenceByte = 0xff;

bool all_fence(const unsigned char* first, const unsigned char* last) {
  return std::all_of(first, last, [](unsigned char b) { return b == kFenceByte; });
}

/// Pages of the system, of which some can be out of bounds.
#ifdef _WIN32
std::size_t page_size() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

void* map_pages(std::size_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

bool forbid(void* first, std::size_t bytes) {
  DWORD before = 0;
  return VirtualProtect(first, bytes, PAGE_NOACCESS, &before) != 0;
}

void unmap_pages(void* first, std::size_t /*bytes*/) {
  VirtualFree(first, 0, MEM_RELEASE);
}
#else
std::size_t page_size() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void* map_pages(std::size_t bytes) {
  void* const all = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return all == MAP_FAILED ? nullptr : all;
}

bool forbid(void* first, std::size_t bytes) {
  return mprotect(first, bytes, PROT_NONE) == 0;
}

void unmap_pages(void* first, std::size_t bytes) {
  munmap(first, bytes);
}
#endif

std::size_t up_to_multiple(std::size_t value, std::size_t of) {
  return (value + of - 1) / of * of;
}

}  // namespace

GuardPage guard_page() {
  static const GuardPage chosen = [] {
    const char* text = std::getenv("MLUOP_TEST_GUARD");
    const std::string word = text == nullptr ? "" : text;
    if (word.empty()) return GuardPage::kNone;
    if (word == "before") return GuardPage::kBefore;
    if (word == "after") return GuardPage::kAfter;
    throw std::runtime_error("MLUOP_TEST_GUARD: wanted before or after, got " + word);
  }();
  return chosen;
}

GuardedBuffer::GuardedBuffer(std::size_t bytes, std::size_t misalign, GuardPage guard) : bytes_(bytes) {
  if (guard != GuardPage::kNone) {
    map(guard);
  } else {
    begin_ = up_to_multiple(kFence, kBoundary) + misalign;
    size_ = begin_ + bytes + kFence;
    memory_ = static_cast<unsigned char*>(::operator new (size_, std::align_val_t{kBoundary}));
  }
  std::fill_n(memory_, size_, kFenceByte);
  watch(true);
}

void GuardedBuffer::map(GuardPage guard) {
  const std::size_t page = page_size();
  size_ = up_to_multiple(bytes_ + 1, page);
  mapped_ = size_ + page;
  auto* const first = static_cast<unsigned char*>(map_pages(mapped_));
  if (first == nullptr) throw std::bad_alloc();
  const bool before = guard == GuardPage::kBefore;
  if (!forbid(before ? first : first + size_, page)) throw std::bad_alloc();
  memory_ = before ? first + page : first;
  begin_ = before ? 0 : size_ - bytes_;
}

GuardedBuffer::~GuardedBuffer() {
  watch(false);
  if (mapped_ == 0) {
    ::operator delete (memory_, std::align_val_t{kBoundary});
  } else {
    unmap_pages(begin_ == 0 ? memory_ - (mapped_ - size_) : memory_, mapped_);
  }
}

void GuardedBuffer::watch([[maybe_unused]] bool on) const {
#if MLUOPS_TEST_ADDRESS_SANITIZED
  const auto set = [on](const unsigned char* at, std::size_t count) {
    if (on) {
      ASAN_POISON_MEMORY_REGION(at, count);
    } else {
      ASAN_UNPOISON_MEMORY_REGION(at, count);
    }
  };
  set(memory_, begin_);
  set(memory_ + begin_ + bytes_, size_ - begin_ - bytes_);
#endif
}

void GuardedBuffer::fill_with_garbage() {
  std::fill_n(memory_ + begin_, bytes_, kFenceByte);
}

bool GuardedBuffer::fences_intact() const {
  watch(false);
  const bool intact = all_fence(memory_, memory_ + begin_) && all_fence(memory_ + begin_ + bytes_, memory_ + size_);
  watch(true);
  return intact;
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
      buffer_(static_cast<std::size_t>(count_) * cases::element_size(dtype), misalign * cases::element_size(dtype)) {}

void Tensor::fill(const reference::Values& values) {
  if (static_cast<std::int64_t>(values.size()) != count_) throw std::logic_error(name_ + ": wrong number of values");
  cases::encode(dtype_, values, buffer_.data());
}

reference::Values Tensor::values() const {
  return reference::decode(dtype_, buffer_.data(), count_);
}

std::vector<unsigned char> Tensor::bytes() const {
  const unsigned char* first = static_cast<const unsigned char*>(buffer_.data());
  return {first, first + buffer_.bytes()};
}

}  // namespace mluops::test
