#include "test/support/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace mluops::test {
namespace {

constexpr double kTiny = 1e-9;                                 // keeps the denominators from being zero
constexpr std::size_t kFewestPairs = 100, kMostPairs = 20000;  // pairs diff4 looks at

struct Sums {
  double absolute = 0, baseline = 0, square = 0, baseline_square = 0;
  std::vector<std::pair<double, double>> unequal;
};

void take_point(double e, double b, double small, double rounding, Sums& sums, Metrics& m) {
  const double error = std::fabs(e - b), size = std::fabs(b);
  if (error > rounding) {
    sums.absolute += error;
    sums.square += error * error;
  }
  sums.baseline += size;
  sums.baseline_square += b * b;
  if (e != b && sums.unequal.size() < kMostPairs) sums.unequal.emplace_back(e, b);
  m.diff3 = std::max(m.diff3, size < small ? error : error / (size + kTiny));
  m.diff3_2 = std::max(m.diff3_2, error);
  m.largest = std::max(m.largest, size);
}

double share_below(std::vector<std::pair<double, double>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  if (pairs.size() < kFewestPairs) return -1;
  const auto below = std::count_if(pairs.begin(), pairs.end(), [](const auto& p) { return p.first < p.second; });
  return static_cast<double>(below) / static_cast<double>(pairs.size());
}

}  // namespace

Metrics measure(const reference::Values& e, const reference::Values& b, double small, double rounding) {
  Metrics m;
  Sums sums;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (std::isfinite(e[i]) && std::isfinite(b[i])) {
      take_point(e[i], b[i], small, rounding, sums, m);
    } else if (!(std::isnan(e[i]) && std::isnan(b[i])) && e[i] != b[i]) {
      ++m.wrong_nonfinite;
    }
  }
  m.diff1 = sums.absolute / (sums.baseline + kTiny);
  m.diff2 = std::sqrt(sums.square / (sums.baseline_square + kTiny));
  m.diff4 = share_below(std::move(sums.unequal));
  return m;
}

}  // namespace mluops::test
