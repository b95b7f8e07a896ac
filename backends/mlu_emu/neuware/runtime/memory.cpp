#include "backends/mlu_emu/neuware/runtime/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

#include "backends/mlu_emu/device/nram.h"

namespace neuware {
namespace {

constexpr std::size_t kAlignment = 512;
constexpr std::size_t kMostFreed = std::size_t{1} << 26;   // kept from being given out again
constexpr std::size_t kMostFilled = std::size_t{1} << 28;  // more may be more than a program ever touches

/// On the device, too, nobody knows what is there.
void fill(void* memory, std::size_t bytes) {
  auto* words = static_cast<std::uint32_t*>(memory);
  std::fill(words, words + (bytes + sizeof(*words) - 1) / sizeof(*words), mluops::emu::kPoison);
}

}  // namespace

Blocks& Blocks::instance() {
  static Blocks& blocks = *new Blocks;  // static destructors may still free
  return blocks;
}

void* Blocks::allocate(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) return nullptr;
  const std::size_t whole = (bytes / kAlignment + 1) * kAlignment;  // never 0
  void* memory = std::aligned_alloc(kAlignment, whole);
  if (memory == nullptr) memory = allocate_again(whole);
  if (memory == nullptr) return nullptr;
  const bool fresh = bytes <= kMostFilled;
  if (fresh) fill(memory, bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  blocks_[static_cast<const char*>(memory)] = {bytes, "block " + std::to_string(++count_), fresh};
  allocated_ += bytes;
  return memory;
}

/// With the memory of freed blocks.
void* Blocks::allocate_again(std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  forget_freed(0);
  return std::aligned_alloc(kAlignment, bytes);
}

bool Blocks::release(void* pointer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto block = blocks_.find(static_cast<const char*>(pointer));
  if (block == blocks_.end()) return false;
  allocated_ -= block->second.bytes;
  freed_bytes_ += block->second.bytes;
  freed_.emplace_back(block->first, std::move(block->second));
  blocks_.erase(block);
  forget_freed(kMostFreed);
  return true;
}

void Blocks::forget_freed(std::size_t most) {
  constexpr std::size_t kMostBlocks = 1024;
  while (!freed_.empty() && (freed_bytes_ > most || freed_.size() > kMostBlocks)) {
    freed_bytes_ -= freed_.front().second.bytes;
    std::free(const_cast<char*>(freed_.front().first));
    freed_.pop_front();
  }
}

std::string Blocks::at(const void* pointer) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const char* p = static_cast<const char*>(pointer);
  const auto behind = blocks_.upper_bound(p);
  if (behind != blocks_.begin() && holds(std::prev(behind)->first, std::prev(behind)->second, p)) {
    return std::prev(behind)->second.name;
  }
  for (const auto& [begin, block] : freed_) {
    if (holds(begin, block, p)) return block.name + ", which was freed";
  }
  return "";
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

void Blocks::overwritten(const void* pointer, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto block = blocks_.find(static_cast<const char*>(pointer));
  if (block != blocks_.end() && bytes >= block->second.bytes) block->second.fresh = false;
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
                    mluops::emu::Access::kReadWrite, block.fresh});
  }
  return list;
}

}  // namespace neuware
