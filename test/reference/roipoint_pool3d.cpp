#include "test/reference/roipoint_pool3d.h"

#include "test/reference/box_frame.h"

namespace mluops::reference {
namespace {

// The points of one cloud in a box, by their index.
std::vector<std::int64_t> inside(const mluopsRoiPointPool3dShape& s, const double* box, const double* points) {
  const BoxFrame frame(s.dtype, box, false);
  std::vector<std::int64_t> found;
  for (std::int64_t n = 0; n < s.n; ++n) {
    if (frame.has(points + 3 * n)) found.push_back(n);
  }
  if (std::ssize(found) > s.samples) found.resize(static_cast<std::size_t>(s.samples));
  return found;
}

}  // namespace

RoiPointPool3dResult roipoint_pool3d(const mluopsRoiPointPool3dProblem& p) {
  const mluopsRoiPointPool3dShape& s = p.shape;
  const Values points = decode(s.dtype, p.points, s.b * s.n * 3);
  const Values features = decode(s.dtype, p.point_features, s.b * s.n * s.c);
  const Values boxes = decode(s.dtype, p.boxes3d, s.b * s.m * 7);
  RoiPointPool3dResult r{Values(static_cast<std::size_t>(s.b * s.m * s.samples * (3 + s.c)), 0.0), {}};
  for (std::int64_t i = 0; i < s.b * s.m; ++i) {
    const std::int64_t cloud = i / s.m;
    const auto found = inside(s, &boxes[i * 7], &points[cloud * s.n * 3]);
    r.empty.push_back(found.empty() ? 1 : 0);
    for (std::int64_t k = 0; k < s.samples && !found.empty(); ++k) {
      const std::int64_t from = cloud * s.n + found[static_cast<std::size_t>(k % std::ssize(found))];
      double* const to = &r.features[(i * s.samples + k) * (3 + s.c)];
      for (std::int64_t j = 0; j < 3; ++j) to[j] = points[from * 3 + j];
      for (std::int64_t j = 0; j < s.c; ++j) to[3 + j] = features[from * s.c + j];
    }
  }
  return r;
}

}  // namespace mluops::reference
