// Tensors' memory: a block of cnrtMalloc each, so that a kernel that leaves its tensor faults.
#include <c10/core/impl/alloc_cpu.h>
#include <malloc.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "device.h"

namespace mluops_torch {
namespace {

struct Statistics {
  std::mutex mutex;
  std::unordered_map<void*, std::size_t> blocks;
  std::size_t now = 0, most = 0;
};

Statistics& statistics() {
  static Statistics& instance = *new Statistics;  // tensors may outlive static objects
  return instance;
}

void release(void* pointer) {
  if (pointer == nullptr) return;
  {
    Statistics& s = statistics();
    const std::lock_guard<std::mutex> lock(s.mutex);
    const auto block = s.blocks.find(pointer);
    if (block != s.blocks.end()) {
      s.now -= block->second;
      s.blocks.erase(block);
    }
  }
  cnrtFree(pointer);
}

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* pointer = nullptr;
    if (bytes != 0) {
      TORCH_CHECK_WITH(OutOfMemoryError, cnrtMalloc(&pointer, bytes) == cnrtSuccess, "mlu: no memory for ", bytes,
                       " bytes");
      Statistics& s = statistics();
      const std::lock_guard<std::mutex> lock(s.mutex);
      s.blocks[pointer] = bytes;
      s.now += bytes;
      s.most = std::max(s.most, s.now);
    }
    return {pointer, pointer, &release, c10::Device(kDevice, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    check(cnrtMemcpy(to, const_cast<void*>(from), bytes, cnrtMemcpyDevToDev), "cnrtMemcpy");
  }
};

#ifdef M_MMAP_THRESHOLD
/// Operators of the CPU work on copies of tensors. By default, glibc puts large blocks into the heap once one was
/// freed, and a small result that stays between two of them leaves a hole that the next large block does not fit into:
/// the heap grows by a copy a call. Large blocks in pages of their own go back to the system.
const bool large_blocks_are_mapped = mallopt(M_MMAP_THRESHOLD, 512 * 1024) == 1;
#endif

DeviceAllocator device_allocator;
REGISTER_ALLOCATOR(kDevice, &device_allocator);

}  // namespace

c10::Allocator& allocator() {
  return device_allocator;
}

}  // namespace mluops_torch

std::size_t mluops_torch_memory_allocated() {
  auto& s = mluops_torch::statistics();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.now;
}
std::size_t mluops_torch_max_memory_allocated() {
  auto& s = mluops_torch::statistics();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.most;
}
void mluops_torch_reset_peak_memory() {
  auto& s = mluops_torch::statistics();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.most = s.now;
}
