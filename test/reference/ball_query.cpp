#include "test/reference/ball_query.h"

#include "test/reference/squared_distance.h"

namespace mluops::reference {
namespace {

// As precise as the points.
double squared(const mluopsBallQueryShape& s, double radius) {
  if (s.dtype == MLUOP_DTYPE_DOUBLE) return radius * radius;
  return static_cast<double>(static_cast<float>(radius) * static_cast<float>(radius));
}

// All points of the ball, by their index.
Values inside(const mluopsBallQueryProblem& p, const double* centre, const double* points) {
  const mluopsBallQueryShape& s = p.shape;
  const double low = squared(s, p.exact_min_radius), high = squared(s, p.exact_max_radius);
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
    Values row = inside(p, &centres[3 * i], &points[i / s.m * s.n * 3]);
    row.resize(static_cast<std::size_t>(s.nsample), row.empty() ? 0 : row[0]);
    idx.insert(idx.end(), row.begin(), row.end());
  }
  return idx;
}

}  // namespace mluops::reference
