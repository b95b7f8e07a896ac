// Where the elements of an input come from: each is computed alone from its number, so large tensors are filled in
// parallel, and the same case has the same numbers everywhere.
#pragma once

#include <cstdint>

#include "mlu_op.h"
#include "test/cases/base/element.h"
#include "test/reference/reference.h"

namespace mluops::cases {

/// Element i of an input; none: an output.
using Fill = Elements;

/// In [0, 1), from nothing but the two numbers.
double unit_random(std::uint64_t seed, std::int64_t i);

/// In [low, high).
Fill uniform(double low, double high, std::uint64_t seed);
/// In [low, high].
Fill integers(std::int64_t low, std::int64_t high, std::uint64_t seed);
/// These.
Fill given(reference::Values values);
/// These of count elements, as they stand in memory.
reference::Values values_of(const Fill& fill, std::int64_t count);

/// Writes count elements of dtype, in parallel where there are many.
void write(const Fill& fill, mluOpDataType_t dtype, std::int64_t count, void* to);

}  // namespace mluops::cases
