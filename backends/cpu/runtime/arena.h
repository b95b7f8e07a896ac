// The working memory of a handle: one block, sized before a loop starts, reused by later calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "common/shape.h"

namespace mluops::cpu {

/// A size that no memory has: what comes out of products and sums beyond int64, or with a negative factor.
constexpr std::int64_t kNoSize = std::numeric_limits<std::int64_t>::max();

/// The product of sizes, kNoSize for one that cannot be.
template <class... Factors>
std::int64_t size_product(Factors... factors) {
  if ((... || (factors < 0))) return kNoSize;
  return checked_product({static_cast<std::int64_t>(factors)...}).value_or(kNoSize);
}

inline std::int64_t size_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? kNoSize : sum;
}

class Arena {
 public:
  static constexpr std::int64_t kAlignment = 64;
  /// More than any address space has; sizes above are refused unasked.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 48;

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// At least `bytes` bytes, 0 included, aligned to a cache line, content arbitrary; nullptr when there is no memory or
  /// `bytes` is no size. Ends the life of what was reserved before.
  std::byte* reserve(std::int64_t bytes);
  /// An array of the product of the counts, for a call that needs but one.
  template <class T, class... Counts>
  T* reserve_array(Counts... counts) {
    return reinterpret_cast<T*>(reserve(size_product(counts..., static_cast<std::int64_t>(sizeof(T)))));
  }
  std::int64_t bytes() const { return bytes_; }

  /// To be told when a call ends: a block of which the last kCalls calls used less than half is given back.
  void end_call();
  /// Gives the block back.
  void release();

  static constexpr int kCalls = 64;
  static constexpr std::int64_t kAlwaysKept = std::int64_t{1} << 20;

 private:
  std::byte* block_ = nullptr;
  std::int64_t bytes_ = 0, used_ = 0;
  int calls_ = 0;
};

/// Cuts a reserved block into typed arrays, each on its own cache lines. First pass with base nullptr: bytes() is the
/// size to reserve. Second pass with the block: the same calls give the arrays.
class Allocator {
 public:
  explicit Allocator(std::byte* base = nullptr) : base_(base) {}

  /// An array of the product of the counts. Factors are given one by one: a product that leaves int64 is seen here and
  /// nowhere else (cmake/check-sizes.sh).
  template <class T, class... Counts>
  T* allocate(Counts... counts) {
    T* const array = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    const std::int64_t size = size_sum(size_product(counts..., static_cast<std::int64_t>(sizeof(T))), kPadding);
    used_ = size_sum(used_, size == kNoSize ? kNoSize : round_down(size, Arena::kAlignment));
    return array;
  }
  /// kNoSize when one of the arrays has none.
  std::int64_t bytes() const { return used_; }

 private:
  static constexpr std::int64_t kPadding = Arena::kAlignment - 1;

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

/// Scratch of the threads of a loop: each has a struct of arrays Scratch(Allocator&, args...) of its own.
template <class Scratch>
class SlotScratch {
 public:
  template <class... Args>
  SlotScratch(Allocator& allocator, int threads, const Args&... args) {
    Allocator measure;
    static_cast<void>(Scratch(measure, args...));
    bytes_ = measure.bytes();
    rooms_ = allocator.allocate<std::byte>(threads, bytes_);
  }
  template <class... Args>
  Scratch of(int slot, const Args&... args) const {
    Allocator cut(rooms_ + slot * bytes_);
    return Scratch(cut, args...);
  }

 private:
  std::int64_t bytes_;
  std::byte* rooms_;
};

}  // namespace mluops::cpu
