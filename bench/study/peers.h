// Cases as compositions of stock PyTorch, timed by bench/python/peers.py.
#pragma once

#include <memory>

#include "bench/engine/row.h"
#include "bench/study/process.h"

namespace bench {

class Peers {
 public:
  /// Starts the first Python that can import torch, where there is one; so many seconds of calls per case.
  Peers(int threads, double seconds);

  bool there() const { return python_ != nullptr; }
  /// Median seconds of the composition of the row's case; 0 where none is written.
  double seconds(const Row& row);

 private:
  std::unique_ptr<Companion> python_;
};

}  // namespace bench
