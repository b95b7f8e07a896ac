// Doubles into the bytes of a dtype, rounded to nearest even.
#pragma once

#include <cstddef>

#include "mlu_op.h"
#include "test/reference/reference.h"

namespace mluops::test {

std::size_t element_size(mluOpDataType_t dtype);

/// Writes values as dtype to data. DOUBLE, FLOAT, HALF, BFLOAT16 or INT32.
void encode(mluOpDataType_t dtype, const reference::Values& values, void* data);

/// value rounded to dtype.
double rounded(mluOpDataType_t dtype, double value);

/// Distance from |value| to the next number of dtype.
double spacing(mluOpDataType_t dtype, double value);

}  // namespace mluops::test
