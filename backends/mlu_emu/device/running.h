// Operands of vector builtins that no barrier has completed yet: the vector unit works beside the engines of copies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/mlu_emu/device/source.h"

namespace mluops::emu {

class Running {
 public:
  struct Operand {
    const char* begin = nullptr;
    std::int64_t bytes = 0;
    bool written = false;
    const char* word = nullptr;
    CallSite site = {};
    std::uint64_t round = 0;
  };

  /// The latest of each place is kept, and more of them than kernels have buffers.
  void note(const Operand& operand) {
    Operand& slot = slots_[slot_of(operand.begin)];
    const bool stronger = slot.round == round_ && slot.begin == operand.begin && slot.written && !operand.written;
    if (stronger && slot.bytes >= operand.bytes) return;
    slot = operand;
    slot.round = round_;
    any_ = true;
  }
  /// A barrier: all of them are done.
  void done() {
    ++round_;
    any_ = false;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (!any_) return;
    for (const Operand& o : slots_) {
      if (o.round == round_) visit(o);
    }
  }

 private:
  static constexpr std::size_t kSlots = 64;
  static std::size_t slot_of(const char* address) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
    constexpr int kTopBits = 64 - 6;
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(address) * kGolden) >> kTopBits);
  }
  std::array<Operand, kSlots> slots_;
  std::uint64_t round_ = 1;
  bool any_ = false;
};

}  // namespace mluops::emu
