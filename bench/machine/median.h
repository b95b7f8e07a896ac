// The middle of some measured times.
#pragma once

#include <algorithm>
#include <vector>

namespace bench {

/// `values`: at least one. The mean of the middle two where they are even in number.
inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace bench
