// The distance that the operators on points compare: part of what they promise, since ties depend on it.
#pragma once

#include <cstdint>

#include "test/reference/reference.h"

namespace mluops::reference {

/// ((ax - bx)^2 + (ay - by)^2) + (az - bz)^2 of points a[3] and b[3], every operation rounded to float; for DOUBLE to
/// double. The double result of an operation on floats, rounded to float, is the float result.
inline double squared_distance(mluOpDataType_t dtype, const double* a, const double* b) {
  const auto round = [dtype](double x) {
    return dtype == MLUOP_DTYPE_DOUBLE ? x : static_cast<double>(static_cast<float>(x));
  };
  double square[3];
  for (int axis = 0; axis < 3; ++axis) {
    const double difference = round(a[axis] - b[axis]);
    square[axis] = round(difference * difference);
  }
  return round(round(square[0] + square[1]) + square[2]);
}

}  // namespace mluops::reference
