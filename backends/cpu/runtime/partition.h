// Work cut into parts of about the same cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace mluops::cpu {

/// First item of part `part` of `parts`. Items i costs prefix[i + 1] - prefix[i]; prefix has one entry more than there
/// are items.
inline std::int64_t part_begin(std::span<const double> prefix, std::int64_t part, std::int64_t parts) {
  if (part == 0) return 0;
  if (part == parts) return static_cast<std::int64_t>(prefix.size()) - 1;
  const double all = prefix.back() - prefix.front();
  const double share = prefix.front() + all * static_cast<double>(part) / static_cast<double>(parts);
  return std::lower_bound(prefix.begin(), prefix.end() - 1, share) - prefix.begin();
}

}  // namespace mluops::cpu
