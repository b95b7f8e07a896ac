#include "test/reference/three_nn.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "test/reference/squared_distance.h"

namespace mluops::reference {
namespace {

constexpr double kStart = 1e40;  // distance of a neighbour nobody has found

using Neighbour = std::pair<double, std::int64_t>;  // in the order of distance, then of index

// The neighbours of one point; fewer than three where no more points are within reach.
std::vector<Neighbour> nearest(const mluopsThreeNNShape& s, const double* from, const double* known) {
  const double limit = s.dtype == MLUOP_DTYPE_DOUBLE ? kStart : std::numeric_limits<double>::infinity();
  std::vector<Neighbour> found;
  for (std::int64_t m = 0; m < s.m; ++m) {
    const Neighbour candidate{squared_distance(s.dtype, from, known + 3 * m), m};
    if (!(candidate.first < limit)) continue;
    found.insert(std::upper_bound(found.begin(), found.end(), candidate), candidate);
    if (found.size() > 3) found.pop_back();
  }
  return found;
}

}  // namespace

ThreeNNResult three_nn_forward(const mluopsThreeNNForwardProblem& p) {
  const mluopsThreeNNShape& s = p.shape;
  const Values unknown = decode(s.dtype, p.unknown, s.b * s.n * 3), known = decode(s.dtype, p.known, s.b * s.m * 3);
  const double missing = s.dtype == MLUOP_DTYPE_DOUBLE ? kStart : std::numeric_limits<double>::infinity();
  ThreeNNResult result{Values(unknown.size(), missing), Values(unknown.size(), 0.0)};
  for (std::int64_t i = 0; i < s.b * s.n; ++i) {
    const std::vector<Neighbour> found = nearest(s, &unknown[3 * i], &known[i / s.n * s.m * 3]);
    for (std::size_t j = 0; j < found.size(); ++j) {
      result.dist2[3 * i + j] = found[j].first;
      result.idx[3 * i + j] = static_cast<double>(found[j].second);
    }
  }
  return result;
}

}  // namespace mluops::reference
