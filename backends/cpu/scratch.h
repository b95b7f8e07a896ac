// The working memory of a handle: one block, sized before a loop starts, reused by later calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mluops::cpu {

class Scratch {
 public:
  static constexpr std::int64_t kAlignment = 64;

  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

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
class Carver {
 public:
  explicit Carver(std::byte* base = nullptr) : base_(base) {}

  template <class T>
  T* take(std::int64_t count) {
    T* const array = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    const std::int64_t size = count * static_cast<std::int64_t>(sizeof(T));
    used_ += (size + Scratch::kAlignment - 1) / Scratch::kAlignment * Scratch::kAlignment;
    return array;
  }
  std::int64_t bytes() const { return used_; }

 private:
  std::byte* base_;
  std::int64_t used_ = 0;
};

/// A struct of arrays out of one block: Arrays(Carver&, args...) takes them. nullopt when there is no memory.
template <class Arrays, class... Args>
std::optional<Arrays> carve(Scratch& scratch, const Args&... args) {
  Carver measure;
  static_cast<void>(Arrays(measure, args...));
  std::byte* const block = scratch.reserve(measure.bytes());
  if (block == nullptr) return std::nullopt;
  Carver cut(block);
  return Arrays(cut, args...);
}

}  // namespace mluops::cpu
