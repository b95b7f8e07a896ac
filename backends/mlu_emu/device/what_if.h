// The schedule of a launch run again with one thing changed, beside the launch itself.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/rates.h"
#include "backends/mlu_emu/device/two_buffers.h"

namespace mluops::emu {

enum class Change { kTwoBuffers, kLargerTiles, kWholeCopies, kHalfTheClusters };
inline constexpr int kChanges = 4;
inline constexpr const char* kChangeNames[kChanges] = {"two_buffers", "larger_tiles", "whole_copies",
                                                       "half_the_clusters"};

/// One core's part.
class WhatIf {
 public:
  WhatIf(const Rates& rates, int active_cores);

  void run(const Event& word, bool async, std::span<const Touched> operands);
  void compute(const ScalarWork& work, double duration);
  void wait(Engine engine);
  void begin_task(double duration);
  /// When the core is done.
  double end(Change change);

  /// The cores meet at a barrier.
  static void meet(std::span<WhatIf* const> cores, double barrier);

 private:
  static constexpr std::array kClocks = {Change::kLargerTiles, Change::kWholeCopies, Change::kHalfTheClusters};
  double duration(Change change, const Event& word) const;

  double faster_bytes_;  // what a byte of GDRAM takes when half of the cores share it, of what it takes now
  TwoBuffers two_buffers_;
  std::array<Clock, kClocks.size()> clocks_;
};

}  // namespace mluops::emu
