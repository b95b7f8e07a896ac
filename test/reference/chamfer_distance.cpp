#include "test/reference/chamfer_distance.h"

#include "test/reference/squared_distance.h"

namespace mluops::reference {
namespace {

double distance(mluOpDataType_t dtype, const double* a, const double* b) {
  const double first[] = {a[0], a[1], 0}, second[] = {b[0], b[1], 0};
  return squared_distance(dtype, first, second);
}

// The nearest of `count` points, appended.
void find_nearest(mluOpDataType_t dtype, const double* from, const double* points, std::int64_t count, Values& dist,
                  Values& idx) {
  double least = 1e10, which = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double d = distance(dtype, from, points + 2 * i);
    if (d < least) least = d, which = static_cast<double>(i);
  }
  dist.push_back(least);
  idx.push_back(which);
}

}  // namespace

ChamferDistanceResult chamfer_distance_forward(const mluopsChamferDistanceForwardProblem& p) {
  const mluopsChamferDistanceShape& s = p.shape;
  const Values one = decode(s.dtype, p.xyz1, s.b * s.n * 2), two = decode(s.dtype, p.xyz2, s.b * s.m * 2);
  ChamferDistanceResult r;
  for (std::int64_t i = 0; i < s.b * s.n; ++i) {
    find_nearest(s.dtype, &one[2 * i], &two[2 * (i / s.n * s.m)], s.m, r.dist1, r.idx1);
  }
  for (std::int64_t i = 0; i < s.b * s.m; ++i) {
    find_nearest(s.dtype, &two[2 * i], &one[2 * (i / s.m * s.n)], s.n, r.dist2, r.idx2);
  }
  return r;
}

ChamferDistanceGradients chamfer_distance_backward(const mluopsChamferDistanceBackwardProblem& p) {
  const mluopsChamferDistanceShape& s = p.shape;
  const Values one = decode(s.dtype, p.xyz1, s.b * s.n * 2), two = decode(s.dtype, p.xyz2, s.b * s.m * 2);
  const Values grad1 = decode(s.dtype, p.grad_dist1, s.b * s.n), grad2 = decode(s.dtype, p.grad_dist2, s.b * s.m);
  ChamferDistanceGradients r{Values(one.size(), 0.0), Values(two.size(), 0.0)};
  // Pulls point i of set 1 and point j of set 2 apart.
  const auto pull = [&](std::int64_t i, std::int64_t j, double grad) {
    for (int axis = 0; axis < 2; ++axis) {
      const double step = 2 * grad * (one[2 * i + axis] - two[2 * j + axis]);
      r.xyz1[2 * i + axis] += step;
      r.xyz2[2 * j + axis] -= step;
    }
  };
  for (std::int64_t b = 0; b < s.b; ++b) {
    for (std::int64_t n = 0; n < s.n; ++n) {
      const std::int64_t i = b * s.n + n, m = p.idx1[i];
      if (m >= 0 && m < s.m) pull(i, b * s.m + m, grad1[i]);
    }
    for (std::int64_t m = 0; m < s.m; ++m) {
      const std::int64_t j = b * s.m + m, n = p.idx2[j];
      if (n >= 0 && n < s.n) pull(b * s.n + n, j, grad2[j]);
    }
  }
  return r;
}

}  // namespace mluops::reference
