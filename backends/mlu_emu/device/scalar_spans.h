// Parts of device memory where scalar code may go on without a look at the shadows. Kernels compiled by a toolchain
// read this in line, so it stands alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mluops::emu {

enum class ScalarTouch {
  kLoad,
  kStore,
  kUpdate,  // both, as `+=`
  kPart,    // of an element that is a class or an array: no more than its bounds is looked at
};

/// Belongs to one thread. Each place in the source has one fixed slot.
struct ScalarSpans {
  static constexpr unsigned kSlots = 16;

  /// Loads may begin in these bytes.
  struct Loads {
    const char* begin;
    std::size_t bytes;
  };
  /// These bytes are the task's own, and so is each next one it stores to, up to `room`.
  struct Stores {
    const char* begin;
    std::size_t bytes, room;
  };
  static constexpr std::size_t kListed = 2048;  // bytes for which barriers know at once whether anybody wrote there

  /// A block and the writer of each pair of its bytes, 0 for nobody. What the task has written it may load and store.
  /// What nobody has it may load where all of the block is defined, and the line that is told may store it where
  /// `listed` says that the next barrier looks there.
  struct Written {
    const char* begin;
    std::size_t bytes;
    std::uint16_t* writers;
    const std::uint8_t* listed;  // for each kListed bytes: by whom
    bool defined;
    int line;  // 0: none stores
  };

  /// What a place loaded from NRAM or stored there last, one behind the other, and where that began.
  struct InNram {
    std::size_t begin, end;
    const char* file;
    int line;
  };

  const char* nram;
  std::size_t nram_bytes;
  std::uint16_t task;  // as the writers' numbers have it
  std::uint8_t list;   // as `listed` has it
  Loads loads[kSlots];
  Stores stores[kSlots];
  Written written[kSlots];
  InNram nram_loads[kSlots], nram_stores[kSlots];
};

}  // namespace mluops::emu
