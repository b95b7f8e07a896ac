#include "backends/mlu_emu/device/what_if.h"

#include <algorithm>

namespace mluops::emu {
namespace {

double ns_byte(const Rates& rates, double cores) {
  return std::max(cores / rates.gdram_gbps, 1 / rates.core_gdram_gbps);
}

}  // namespace

WhatIf::WhatIf(const Rates& rates, int active_cores)
    : faster_bytes_(ns_byte(rates, active_cores / 2.0) / ns_byte(rates, active_cores)) {}

double WhatIf::duration(Change change, const Event& word) const {
  switch (change) {
    case Change::kLargerTiles:  // half as many words, each twice as long
      return word.duration - word.start_cost / 2;
    case Change::kWholeCopies:
      return word.duration - word.pieces_cost;
    case Change::kHalfTheClusters: {
      const double fixed = word.start_cost + word.pieces_cost;
      return word.engine == Engine::kIo ? fixed + (word.duration - fixed) * faster_bytes_ : word.duration;
    }
    case Change::kTwoBuffers:
      break;
  }
  return word.duration;
}

void WhatIf::run(const Event& word, bool async, std::span<const Touched> operands) {
  two_buffers_.run(word, operands);
  for (std::size_t i = 0; i < kClocks.size(); ++i) clocks_[i].run(word.engine, duration(kClocks[i], word), async);
}

void WhatIf::compute(const ScalarWork& work, double duration) {
  two_buffers_.compute(work, duration);
  for (Clock& clock : clocks_) clock.run(Engine::kScalar, duration, false);
}

void WhatIf::wait(Engine engine) {
  for (Clock& clock : clocks_) clock.wait(engine);
}

void WhatIf::begin_task(double duration) {
  two_buffers_.start_at(two_buffers_.end() + duration);
  for (Clock& clock : clocks_) clock.sleep_until(clock.now() + duration);
}

double WhatIf::end(Change change) {
  if (change == Change::kTwoBuffers) return two_buffers_.end();
  return clocks_[static_cast<std::size_t>(std::find(kClocks.begin(), kClocks.end(), change) - kClocks.begin())].now();
}

void WhatIf::meet(std::span<WhatIf* const> cores, double barrier) {
  double last = 0;
  for (WhatIf* core : cores) last = std::max(last, core->two_buffers_.end());
  for (WhatIf* core : cores) core->two_buffers_.start_at(last + barrier);
  for (std::size_t i = 0; i < kClocks.size(); ++i) {
    last = 0;
    for (const WhatIf* core : cores) last = std::max(last, core->clocks_[i].now());
    for (WhatIf* core : cores) core->clocks_[i].sleep_until(last + barrier);
  }
}

}  // namespace mluops::emu
