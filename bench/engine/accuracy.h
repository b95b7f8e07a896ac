// Compares outputs with the double-precision reference, in the measures of the accuracy standard.
#pragma once

#include "bench/engine/workload.h"

namespace bench {

/// Largest value over the floating-point outputs of a call.
struct Accuracy {
  double diff1 = 0;                ///< sum|e-b| / sum|b|
  double diff2 = 0;                ///< sqrt(sum (e-b)^2 / sum b^2)
  double diff3 = 0;                ///< max |e-b|/|b|, or |e-b| where b is tiny
  std::int64_t checked = 0;        ///< elements compared: all of them
  std::int64_t different = 0;      ///< of outputs compared by bits: unequal elements
  std::int64_t wrong_choices = 0;  ///< of outputs that are choices: those whose sample is not as large as the maximum
  bool finite = true;              ///< where the reference is
  bool within = true;              ///< diff1 and diff2 of each output below its limit
};

/// Judges the outputs of set 0 against `reference` (Description::reference with the same coordinates).
Accuracy judge(const Workload& workload, const std::vector<Values>& reference, Coordinates coordinates);

/// Limit for diff1 and diff2; that of an output in a narrower type is its own.
double threshold(const Description& spec);

/// Whether it passes, and if not, why.
bool passes(const Accuracy& accuracy, std::string& why);

}  // namespace bench
