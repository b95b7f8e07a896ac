// Device memory: the blocks cnrtMalloc gave out.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/mlu_emu/device/tensor.h"

namespace neuware {

/// How many emulated cards there are: MLUOP_EMU_CARDS, else one.
int cards();
/// The card of this thread: what it allocates lies there, and its launches see what lies there alone.
int& current_card();

class Blocks {
 public:
  static Blocks& instance();

  /// nullptr when there is no memory.
  void* allocate(std::size_t bytes);
  /// False for what is no block (any more).
  bool release(void* pointer);
  /// True when the bytes lie in one block.
  bool contains(const void* pointer, std::size_t bytes) const;
  /// "block 3", or "block 3, which was freed" for one of the latest of those; "" for what is none.
  std::string at(const void* pointer) const;
  /// The first byte of these that nobody has written since cnrtMalloc, as "block 3+64"; "" for none.
  std::string never_written(const void* pointer, std::size_t bytes) const;
  /// Where an address in no block lies: "96 bytes behind block 3, ..."; "" far from all.
  std::string near(const void* pointer) const;
  /// Bytes of a block get a value from outside of kernels.
  void overwritten(const void* pointer, std::size_t bytes);
  std::size_t allocated() const;
  /// The blocks of this thread's card as tensors of a launch, in the order of their addresses.
  std::vector<mluops::emu::Tensor> windows() const;

 private:
  struct Block {
    std::size_t bytes;
    std::string name;
    bool fresh;
    int card;
  };
  mutable std::mutex mutex_;
  using Placed = std::pair<const char*, Block>;
  void* allocate_again(std::size_t bytes);
  void forget_freed(std::size_t most);
  static bool holds(const char* begin, const Block& block, const char* pointer) {
    return pointer >= begin && pointer < begin + block.bytes;
  }

  std::map<const char*, Block> blocks_;
  std::deque<Placed> freed_;  // their memory is given back later: nothing else comes to lie there
  std::size_t freed_bytes_ = 0;
  std::size_t allocated_ = 0, count_ = 0;
};

}  // namespace neuware
