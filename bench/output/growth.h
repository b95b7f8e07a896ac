// What the time does while one parameter of an operator doubles.
#pragma once

#include <string>
#include <vector>

#include "bench/output/grid.h"

namespace bench {

struct GrowthRow {
  std::string op, parameter;
  std::vector<double> seconds;  ///< of 1, 2, 4 .. times the parameter
  double exponent = 0;          ///< slope of log time over log size
  double of_work = 0;           ///< the same of the bytes or flops, whichever grow faster

  /// Time grows no faster than the work.
  bool linear() const { return exponent <= of_work + 0.15; }
};

Grid growth_grid(const std::vector<GrowthRow>& rows, int threads);

}  // namespace bench
