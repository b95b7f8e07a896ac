// Software pipelines of device code: copies of one item are queued while another one is computed with.
#pragma once

#include <cstdint>

#include "backends/mlu_emu/bang/bang.h"

namespace mluops::emu {

/// Three stages in turns of two buffers: while item i is computed with, i + 1 is loaded and i - 1 stored, a barrier
/// behind each step. load(i, buffer) and store(i, buffer) queue copies; compute(i, buffer) reads what was loaded.
template <class Load, class Compute, class Store>
void run_stages(std::int64_t items, const Load& load, const Compute& compute, const Store& store) {
  for (std::int64_t step = 0; step < items + 2; ++step) {
    if (step >= 2) store(step - 2, step % 2);
    if (step < items) load(step, step % 2);
    if (step >= 1 && step <= items) compute(step - 1, (step - 1) % 2);
    __sync();
  }
}

/// Two stages over items that are found one by one: next(item) is false behind the last one. While an item is computed
/// with, the next one is loaded into the other buffer.
template <class Item, class Next, class Load, class Compute>
void run_ahead(Next next, const Load& load, const Compute& compute) {
  Item items[2];
  int buffer = 0;
  bool found = next(items[buffer]);
  if (found) load(items[buffer], buffer);
  while (found) {
    __sync();
    const int other = 1 - buffer;
    found = next(items[other]);
    if (found) load(items[other], other);
    compute(items[buffer], buffer);
    buffer = other;
  }
}

}  // namespace mluops::emu
