// Boxes and scores of the nms operators: parameters "boxes" and "scores" of a case.
#pragma once

#include <cstdint>
#include <vector>

#include "test/cases/base/fill.h"
#include "test/cases/base/random.h"
#include "test/cases/operator.h"

namespace mluops::cases {

/// [n, 4]: x1, y1, x2, y2.
Values make_boxes(const Case& t, std::int64_t n);
/// [n]
Fill make_scores(const Case& t);

template <class T>
const T& pick(const std::vector<T>& choices, Random& random) {
  return choices[static_cast<std::size_t>(random.integer(0, std::ssize(choices) - 1))];
}

}  // namespace mluops::cases
