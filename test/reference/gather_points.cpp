#include "test/reference/gather_points.h"

namespace mluops::reference {
namespace {

// body(position in points, position in output) for every index that leads to a point, point by point.
template <class Body>
void for_each_link(const mluopsGatherPointsShape& s, const std::int32_t* idx, Body body) {
  for (std::int64_t b = 0; b < s.b; ++b) {
    std::vector<std::vector<std::int64_t>> takers(static_cast<std::size_t>(s.n));
    for (std::int64_t m = 0; m < s.m; ++m) {
      const std::int32_t n = idx[b * s.m + m];
      if (n >= 0 && n < s.n) takers[n].push_back(m);
    }
    for (std::int64_t c = 0; c < s.c; ++c) {
      for (std::int64_t n = 0; n < s.n; ++n) {
        for (const std::int64_t m : takers[n]) body((b * s.c + c) * s.n + n, (b * s.c + c) * s.m + m);
      }
    }
  }
}

}  // namespace

Values gather_points_forward(const mluopsGatherPointsForwardProblem& p) {
  const mluopsGatherPointsShape& s = p.shape;
  const Values points = decode(s.dtype, p.points, s.b * s.c * s.n);
  Values output(static_cast<std::size_t>(s.b * s.c * s.m), 0.0);
  for_each_link(s, p.idx, [&](std::int64_t point, std::int64_t out) { output[out] = points[point]; });
  return output;
}

Values gather_points_backward(const mluopsGatherPointsBackwardProblem& p) {
  const mluopsGatherPointsShape& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_output, s.b * s.c * s.m);
  Values grad_points(static_cast<std::size_t>(s.b * s.c * s.n), 0.0);
  for_each_link(s, p.idx, [&](std::int64_t point, std::int64_t out) { grad_points[point] += grad[out]; });
  return grad_points;
}

}  // namespace mluops::reference
