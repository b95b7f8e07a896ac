#include <algorithm>
#include <limits>

#include "common/op/prior_box.h"
#include "common/shape.h"

namespace mluops::op {

std::int64_t count_priors(std::int64_t sizes, std::int64_t ratios, std::int64_t squares) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  const std::int64_t all = checked_product({sizes, ratios}).value_or(kMost);
  return std::min(all, kMost) + std::min(squares == 0 ? 0 : sizes, kMost);
}

}  // namespace mluops::op
