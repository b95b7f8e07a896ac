// One core's NRAM: real memory between two guard zones, and what is known of each byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "backends/mlu_emu/device/bitmap.h"

namespace mluops::emu {

/// One byte for each lane of an operand. Empty when every lane is defined.
using LaneFlags = std::vector<std::uint8_t>;
inline constexpr std::uint8_t kDefinedLane = 0;
inline constexpr std::uint8_t kUndefinedLane = 1;
inline constexpr std::uint8_t kInfiniteLane = 2;  // +infinity or NaN, undefined which

inline constexpr std::uint32_t kPoison = 0x7ff17ff1u, kInfinitePoison = 0x7ff27ff2u;

/// Poison is a quiet NaN as float and as half. A byte counts as written when a copy or vector builtin wrote it, or when
/// its aligned 4-byte word no longer holds the poison: scalar code stores without being seen.
class Nram {
 public:
  /// Bytes before and behind the memory that are nobody's; it begins at a multiple of them.
  static constexpr std::int64_t kGuard = 4096;

  /// May grow to `most` bytes.
  explicit Nram(std::int64_t bytes, std::int64_t most = 0);

  char* base() const { return base_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t offset(const void* address) const { return static_cast<const char*>(address) - base_; }
  /// True also for addresses a little outside, in the guard zones: they are meant as NRAM.
  bool near(const void* address) const;
  bool inside(std::int64_t offset, std::int64_t bytes) const {
    return offset >= 0 && bytes >= 0 && offset <= bytes_ - bytes;
  }

  /// At least so many bytes from now on; addresses stay.
  void grow(std::int64_t bytes);
  /// Something was stored in the range.
  bool used(std::int64_t offset, std::int64_t bytes) const;

  /// A new task: nothing is written, everything is NaN.
  void poison();
  /// poison() of the part where the tasks since the last time stored by words, and by scalar code to the bytes it could
  /// reach.
  void poison_again();
  /// Scalar code could store to the first `bytes`; what it stores further on, poison_again() may leave.
  void reach(std::int64_t bytes) { reach_ = std::max(reach_, bytes); }
  /// NaN again, and not written, for a range.
  void poison(std::int64_t offset, std::int64_t bytes, std::uint32_t pattern = kPoison);
  void mark_written(std::int64_t offset, std::int64_t bytes) {
    mark_used(offset + bytes);
    written_.set(offset, offset + bytes);
  }
  /// Something before `end` was stored: all that poisoning again needs to know.
  void mark_used(std::int64_t end) { used_end_ = std::max(used_end_, end); }
  /// Scalar code may store to it from now on.
  void expose() { exposed_ = true; }
  /// Poisons only what was used since the last time: most kernels leave WRAM and SRAM alone.
  void poison_if_used() {
    if (used_end_ > 0 || exposed_) poison();
  }
  /// Offset of the first byte in the range that nobody wrote; -1 when there is none.
  std::int64_t first_unwritten(std::int64_t offset, std::int64_t bytes);
  /// A flag for each of `n` lanes of `lane` bytes: 1 where a byte is missing. Empty when none is.
  LaneFlags unwritten_lanes(std::int64_t offset, std::int64_t lane, std::int64_t n);
  /// Offset (negative, or from bytes() on) of a guard byte that scalar code overwrote; 0 when none was.
  std::int64_t damaged_guard() const;

 private:
  struct Free {
    void operator()(char* p) const { ::operator delete (p, std::align_val_t{kGuard}); }
  };
  bool scalar_store_seen(std::int64_t word) const;

  std::int64_t bytes_;
  std::unique_ptr<char, Free> memory_;
  char* base_;
  Bitmap written_;
  std::int64_t used_end_ = 0, reach_ = 0;  // ends of what was stored since it was poisoned
  bool exposed_ = false;
};

}  // namespace mluops::emu
