// The working memory of a handle: one block, sized before a loop starts, reused by later calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mluops::cpu {

class Arena {
 public:
  static constexpr std::int64_t kAlignment = 64;

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// At least `bytes` bytes, aligned to a cache line, content arbitrary; nullptr when there is no memory. Ends the life
  /// of what was reserved before.
  std::byte* reserve(std::int64_t bytes);
  std::int64_t bytes() const { return bytes_; }

 private:
  void release();

  std::byte* block_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Cuts a reserved block into typed arrays, each on its own cache lines. First pass with base nullptr: bytes() is the
/// size to reserve. Second pass with the block: the same calls give the arrays.
class Allocator {
 public:
  explicit Allocator(std::byte* base = nullptr) : base_(base) {}

  template <class T>
  T* allocate(std::int64_t count) {
    T* const array = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    const std::int64_t size = count * static_cast<std::int64_t>(sizeof(T));
    used_ += (size + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
    return array;
  }
  std::int64_t bytes() const { return used_; }

 private:
  std::byte* base_;
  std::int64_t used_ = 0;
};

/// A struct of arrays out of one block: Arrays(Allocator&, args...) takes them. nullopt when there is no memory.
template <class Arrays, class... Args>
std::optional<Arrays> allocate(Arena& arena, const Args&... args) {
  Allocator measure;
  static_cast<void>(Arrays(measure, args...));
  std::byte* const block = arena.reserve(measure.bytes());
  if (block == nullptr) return std::nullopt;
  Allocator cut(block);
  return Arrays(cut, args...);
}

}  // namespace mluops::cpu
