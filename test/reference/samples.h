// The samples of a RoI's bin along one axis. A RoI of any size costs what the map has room for: samples off the map are
// counted, not made.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace mluops::reference {

/// `count` counts all samples. `at` has, in order, the first one, those within a range and the one behind those.
struct Samples {
  std::int64_t count = 0;
  std::vector<double> at;
};

/// How many samples a bin has along one axis: `ratio`, or where that is 0 one for each started pixel, at most as many
/// as an int32 counts.
inline std::int64_t sample_count(double bin_size, int ratio) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  if (ratio > 0) return ratio;
  if (!(bin_size > 0) || !std::isfinite(bin_size)) return 0;
  return static_cast<std::int64_t>(std::min(std::ceil(bin_size), kMost));
}

/// The first of 0 to count - 1 for which `test`, false and then true, is true; count where there is none.
template <class Test>
std::int64_t first_where(std::int64_t count, Test test) {
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (test(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Of the samples at(0) to at(count - 1), which never turn back, those from `low` to `high`, and two beside them: a
/// sample off the map has the value 0, which the maximum of a bin sees once. None where the range is not finite.
template <class At>
Samples samples_between(std::int64_t count, double low, double high, At at) {
  Samples samples = {count, {}};
  if (count <= 0 || !std::isfinite(low) || !std::isfinite(high)) return samples;
  const bool up = at(count - 1) >= at(0);
  const std::int64_t first = first_where(count, [&](std::int64_t i) { return up ? at(i) >= low : at(i) <= high; });
  const std::int64_t end = first_where(count, [&](std::int64_t i) { return up ? at(i) > high : at(i) < low; });
  if (first > 0) samples.at.push_back(at(0));
  for (std::int64_t i = first; i < std::min(end + 1, count); ++i) samples.at.push_back(at(i));
  return samples;
}

}  // namespace mluops::reference
