// Doubles into the bytes of a dtype, rounded to nearest even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "mlu_op.h"
#include "test/reference/reference.h"

namespace mluops::cases {

std::string dtype_name(mluOpDataType_t dtype);
std::size_t element_size(mluOpDataType_t dtype);
/// HALF, BFLOAT16, FLOAT or DOUBLE.
bool is_float(mluOpDataType_t dtype);

/// Value of element i.
using Elements = std::function<double(std::int64_t i)>;

/// Writes elements [begin, end) of an array that starts at data. DOUBLE, FLOAT, HALF, BFLOAT16, INT32, INT64 or BOOL.
void store(mluOpDataType_t dtype, const Elements& value, std::int64_t begin, std::int64_t end, void* data);
/// store() of all elements.
void encode(mluOpDataType_t dtype, const reference::Values& values, void* data);

/// value rounded to dtype.
double rounded(mluOpDataType_t dtype, double value);

/// Distance from |value| to the next number of dtype.
double spacing(mluOpDataType_t dtype, double value);

}  // namespace mluops::cases
