// How far a backend may be from the reference, in one place.
#pragma once

#include <string>

#include "mlu_op.h"
#include "test/reference/reference.h"

namespace mluops::test {

struct Tolerance {
  double diff;   ///< limit of diff1 and diff2
  double units;  ///< element-wise: so many spacings of dtype at the expected value ...
  double share;  ///< ... plus this share of the largest expected value; units < 0: no element-wise check
  double small;  ///< diff3 is absolute below it
  reference::Coordinates coordinates;  ///< precision in which the backend places its samples
};

/// float 1e-5, half 3e-3 (the accuracy standard of MLU-OPS), double 1e-12, bfloat16 8e-3 (half's limit scaled by the
/// ratio of the spacings would be 24e-3; results are rounded once, which a third of that covers).
/// Backends that sum in a wider type than they store (all but mlu_emu) are also held to it element by element, because
/// a large error in one element hides in the sums of diff1 and diff2.
Tolerance tolerance_of(const std::string& backend, mluOpDataType_t dtype);

}  // namespace mluops::test
