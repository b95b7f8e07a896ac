#include "test/reference/ball_query.h"

#include "test/reference/squared_distance.h"

namespace mluops::reference {
namespace {

// All points of the ball, by their index.
Values inside(const mluopsBallQueryShape& s, const double* centre, const double* points) {
  const float low = s.min_radius * s.min_radius, high = s.max_radius * s.max_radius;
  Values found;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const double d = squared_distance(s.dtype, centre, points + 3 * n);
    if (d == 0 || (d >= low && d < high)) found.push_back(static_cast<double>(n));
  }
  return found;
}

}  // namespace

Values ball_query(const mluopsBallQueryProblem& p) {
  const mluopsBallQueryShape& s = p.shape;
  const Values centres = decode(s.dtype, p.new_xyz, s.b * s.m * 3), points = decode(s.dtype, p.xyz, s.b * s.n * 3);
  Values idx;
  for (std::int64_t i = 0; i < s.b * s.m; ++i) {
    Values row = inside(s, &centres[3 * i], &points[i / s.m * s.n * 3]);
    row.resize(static_cast<std::size_t>(s.nsample), row.empty() ? 0 : row[0]);
    idx.insert(idx.end(), row.begin(), row.end());
  }
  return idx;
}

}  // namespace mluops::reference
