#include "backends/mlu_emu/neuware/runtime/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "backends/mlu_emu/device/nram.h"
#include "common/trust.h"

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

int cards() {
  static const int count = [] {
    constexpr int kMost = 64;
    const char* text = mluops::secure_variable("MLUOP_EMU_CARDS");
    return text == nullptr ? 1 : std::clamp(std::atoi(text), 1, kMost);
  }();
  return count;
}

int& current_card() {
  thread_local int card = 0;
  return card;
}

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
  blocks_[static_cast<const char*>(memory)] = {bytes, "block " + std::to_string(++count_), fresh, current_card()};
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

std::string Blocks::never_written(const void* pointer, std::size_t bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const char* p = static_cast<const char*>(pointer);
  auto block = blocks_.upper_bound(p);
  if (block == blocks_.begin() || !(--block)->second.fresh) return "";
  constexpr std::size_t kWord = sizeof(mluops::emu::kPoison);
  const auto offset = static_cast<std::size_t>(p - block->first);
  const std::size_t end = std::min(offset + bytes, block->second.bytes) / kWord * kWord;
  for (std::size_t at = (offset + kWord - 1) / kWord * kWord; at < end; at += kWord) {
    if (std::memcmp(block->first + at, &mluops::emu::kPoison, kWord) != 0) continue;
    return block->second.name + "+" + std::to_string(at);
  }
  return "";
}

std::string Blocks::near(const void* pointer) const {
  constexpr std::uintptr_t kFar = std::uintptr_t{1} << 34;  // an index that overflowed 32 bits leads no further
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  std::string nearest;
  std::uintptr_t least = kFar;
  for (const auto& [begin, block] : blocks_) {
    const auto first = reinterpret_cast<std::uintptr_t>(begin), end = first + block.bytes;
    const std::uintptr_t distance = at < first ? first - at : at >= end ? at - end : 0;
    if (distance >= least) continue;
    least = distance;
    nearest = std::to_string(distance) + " bytes " + (at < first ? "before " : "behind the end of ") + block.name +
              ", which has " + std::to_string(block.bytes) + " bytes";
  }
  return nearest;
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
    if (block.bytes == 0 || block.card != current_card()) continue;
    list.push_back({block.name.c_str(), const_cast<char*>(begin), static_cast<std::int64_t>(block.bytes),
                    mluops::emu::Access::kReadWrite, block.fresh});
  }
  return list;
}

}  // namespace neuware
