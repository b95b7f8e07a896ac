// The reads of tasks since their last common barrier: a write after another task's read is a race, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/mlu_emu/device/source.h"

namespace mluops::emu {

class Reads {
 public:
  /// Pieces of `bytes`, `stride` apart.
  struct Read {
    std::int64_t offset, bytes, pieces, stride;
    int task;
    const char* word;
    CallSite site;
  };

  /// For a memory of this many bytes.
  explicit Reads(std::int64_t bytes) : bytes_(bytes) {}

  void note(const Read& read);
  /// A read of these bytes by another task; nullptr for none, or for none of those that are remembered.
  const Read* by_other(std::int64_t offset, std::int64_t bytes, int task) const;
  /// These tasks met: what they read is no race any more, not even to others.
  void forget(int first_task, int last_task);
  void forget();

 private:
  static constexpr std::size_t kRemembered = 4096;
  static constexpr int kNobody = -1, kSeveral = -2;

  std::int64_t bytes_;
  std::vector<std::int32_t> reader_;             // by block: who read in it
  std::size_t first_block_ = 0, end_block_ = 0;  // blocks outside: nobody
  std::vector<Read> log_;
  std::size_t oldest_ = 0;
};

}  // namespace mluops::emu
