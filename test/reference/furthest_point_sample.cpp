#include "test/reference/furthest_point_sample.h"

#include <cmath>
#include <functional>

#include "test/reference/squared_distance.h"

namespace mluops::reference {
namespace {

struct Best {
  double distance = -1;
  std::int64_t point = 0;
};

// The reduction on mmcv's device, as it goes: thread t of T looks at points t, t + T, ..., then the lower half of the
// threads takes over from the upper half what is greater there, and so on. T: the greatest power of 2 up to 1024 and n.
std::int64_t furthest(const Values& nearest) {
  std::size_t threads = 1;
  while (threads < 1024 && 2 * threads <= nearest.size()) threads *= 2;
  std::vector<Best> best(threads);
  for (std::size_t n = 0; n < nearest.size(); ++n) {
    Best& mine = best[n % threads];
    if (nearest[n] > mine.distance) mine = {nearest[n], static_cast<std::int64_t>(n)};
  }
  for (std::size_t half = threads / 2; half >= 1; half /= 2) {
    for (std::size_t t = 0; t < half; ++t) {
      if (best[t + half].distance > best[t].distance) best[t] = best[t + half];
    }
  }
  return best[0].point;
}

using Distance = std::function<double(std::int64_t n, std::int64_t picked)>;

void sample(const mluopsFurthestPointSampleShape& s, const Distance& distance, Values& idx) {
  Values nearest(static_cast<std::size_t>(s.n), 1e10);
  std::int64_t picked = 0;
  for (std::int64_t m = 0; m < s.m; ++m) {
    if (m > 0) picked = furthest(nearest);
    idx.push_back(static_cast<double>(picked));
    for (std::int64_t n = 0; n < s.n; ++n) nearest[n] = std::fmin(nearest[n], distance(n, picked));
  }
}

}  // namespace

Values furthest_point_sample(const mluopsFurthestPointSampleProblem& p) {
  const mluopsFurthestPointSampleShape& s = p.shape;
  const Values points = decode(s.dtype, p.points, s.b * s.n * 3);
  Values idx;
  for (std::int64_t b = 0; b < s.b; ++b) {
    const double* const cloud = &points[b * s.n * 3];
    const auto distance = [&](std::int64_t n, std::int64_t picked) {
      return squared_distance(s.dtype, cloud + 3 * n, cloud + 3 * picked);
    };
    sample(s, distance, idx);
  }
  return idx;
}

Values furthest_point_sample_with_dist(const mluopsFurthestPointSampleWithDistProblem& p) {
  const mluopsFurthestPointSampleShape& s = p.shape;
  const Values distances = decode(s.dtype, p.distances, s.b * s.n * s.n);
  Values idx;
  for (std::int64_t b = 0; b < s.b; ++b) {
    const auto distance = [&](std::int64_t n, std::int64_t picked) { return distances[(b * s.n + picked) * s.n + n]; };
    sample(s, distance, idx);
  }
  return idx;
}

}  // namespace mluops::reference
