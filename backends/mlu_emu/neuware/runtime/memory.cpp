#include "backends/mlu_emu/neuware/runtime/memory.h"

#include <cstdlib>
#include <limits>

namespace neuware {
namespace {

constexpr std::size_t kAlignment = 512;

}  // namespace

Blocks& Blocks::instance() {
  static Blocks& blocks = *new Blocks;  // static destructors may still free
  return blocks;
}

void* Blocks::allocate(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) return nullptr;
  void* memory = std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment);  // never of 0 bytes
  if (memory == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  blocks_[static_cast<const char*>(memory)] = {bytes, "block " + std::to_string(++count_)};
  allocated_ += bytes;
  return memory;
}

bool Blocks::release(void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto block = blocks_.find(static_cast<const char*>(pointer));
  if (block == blocks_.end()) return false;
  allocated_ -= block->second.bytes;
  blocks_.erase(block);
  std::free(pointer);
  return true;
}

bool Blocks::contains(const void* pointer, std::size_t bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const char* p = static_cast<const char*>(pointer);
  auto block = blocks_.upper_bound(p);
  if (block == blocks_.begin()) return false;
  --block;
  const auto offset = static_cast<std::size_t>(p - block->first);
  return offset <= block->second.bytes && bytes <= block->second.bytes - offset;
}

std::size_t Blocks::allocated() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return allocated_;
}

std::vector<mluops::emu::Tensor> Blocks::windows() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<mluops::emu::Tensor> list;
  list.reserve(blocks_.size());
  for (const auto& [begin, block] : blocks_) {
    if (block.bytes == 0) continue;
    list.push_back({block.name.c_str(), const_cast<char*>(begin), static_cast<std::int64_t>(block.bytes),
                    mluops::emu::Access::kReadWrite});
  }
  return list;
}

}  // namespace neuware
