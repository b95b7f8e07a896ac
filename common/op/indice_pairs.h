// What the operators over pairs of rows have in common: indice_pairs and how many of each offset count.
#pragma once

#include <cstdint>

#include "common/op/check.h"
#include "mluops/problem/indice_convolution.h"

namespace mluops::op {

/// The shape of indice_pairs, and indice_num, K numbers in the host's memory. The data of pairs is not looked at.
Status check_indice_pairs(const TensorArg& pairs, const std::int64_t* indice_num);
/// The greatest of K numbers, 0 for none.
std::int64_t most_pairs(const TensorArg& pairs, const std::int64_t* indice_num);
mluopsIndicePairs indice_pairs_of(const TensorArg& pairs, const std::int64_t* indice_num);

}  // namespace mluops::op
