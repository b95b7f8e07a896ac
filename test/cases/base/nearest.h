// Suggestions for a mistyped name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace mluops::cases {

/// Letters put in, taken out, changed, or two neighbours swapped, to make one of the other (optimal string alignment).
inline std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// "; did you mean roi_align_forward?", the name in `known` that is nearest, or begins so; "" where none is near.
inline std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::string begin = candidate.substr(0, name.size());
    const std::size_t distance = std::min(edit_distance(name, candidate), edit_distance(name, begin));
    if (distance >= least) continue;
    least = distance;
    best = &candidate;
  }
  return best == nullptr ? "" : "; did you mean " + *best + "?";
}

/// Throws std::invalid_argument for a part that is in none of the names: it selects nothing, whatever was meant.
inline void demand_parts(const std::string& option, const std::vector<std::string>& parts,
                         const std::vector<std::string>& known) {
  for (const std::string& part : parts) {
    const auto has = [&](const std::string& name) { return name.find(part) != std::string::npos; };
    if (std::any_of(known.begin(), known.end(), has)) continue;
    throw std::invalid_argument(option + " " + part + ": no operator's name contains it" + suggestion(part, known));
  }
}

}  // namespace mluops::cases
