// The accuracy metrics of MLU-OPS, on an evaluated array e and a baseline b.
#pragma once

#include <cstdint>

#include "test/reference/reference.h"

namespace mluops::test {

struct Metrics {
  double diff1 = 0;                  ///< sum |e-b| / sum |b|
  double diff2 = 0;                  ///< sqrt(sum (e-b)^2 / sum b^2)
  double diff3 = 0;                  ///< max of |e-b|/|b|, or of |e-b| where |b| is small
  double diff3_2 = 0;                ///< max |e-b|
  double diff4 = -1;                 ///< share with e < b among the distinct unequal pairs; -1 for fewer than 100
  std::int64_t wrong_nonfinite = 0;  ///< points where one is NaN or Inf and the other is not the same
  double largest = 0;                ///< max |b|
};

/// Points where e and b are both NaN, or the same Inf, count as equal. Below `small`, diff3 is absolute. `rounding` is
/// what no output of its type can be nearer to a baseline near zero: half a step of its subnormal numbers; an error as
/// small as that counts as none in diff1 and diff2.
Metrics measure(const reference::Values& e, const reference::Values& b, double small, double rounding = 0);

}  // namespace mluops::test
