#include "test/reference/knn.h"

#include <algorithm>
#include <utility>

#include "test/reference/squared_distance.h"

namespace mluops::reference {
namespace {

constexpr double kStart = 1e10;  // distance of a neighbour nobody has found

using Neighbour = std::pair<double, std::int64_t>;  // in the order of distance, then of index

// The k points nearest to one centre; fewer where no more are within reach.
std::vector<Neighbour> nearest(const mluopsKnnShape& s, const double* centre, const double* points) {
  std::vector<Neighbour> found;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const Neighbour candidate{squared_distance(s.dtype, centre, points + 3 * n), n};
    if (!(candidate.first < kStart) || (std::ssize(found) == s.k && !(candidate < found.back()))) continue;
    found.insert(std::upper_bound(found.begin(), found.end(), candidate), candidate);
    if (std::ssize(found) > s.k) found.pop_back();
  }
  return found;
}

}  // namespace

KnnResult knn(const mluopsKnnProblem& p) {
  const mluopsKnnShape& s = p.shape;
  const Values points = decode(s.dtype, p.xyz, s.b * s.n * 3), centres = decode(s.dtype, p.new_xyz, s.b * s.m * 3);
  const auto size = static_cast<std::size_t>(s.b * s.m * s.k);
  KnnResult result{Values(size, 0.0), Values(size, kStart)};
  for (std::int64_t i = 0; i < s.b * s.m; ++i) {
    const auto found = nearest(s, &centres[3 * i], &points[i / s.m * s.n * 3]);
    for (std::size_t j = 0; j < found.size(); ++j) {
      result.dist2[i * s.k + j] = found[j].first;
      result.idx[i * s.k + j] = static_cast<double>(found[j].second);
    }
  }
  return result;
}

}  // namespace mluops::reference
