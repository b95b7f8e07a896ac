#include "test/reference/dynamic_point_to_voxel.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

namespace mluops::reference {
namespace {

using Voxel = std::array<std::int32_t, 3>;

// The points of each voxel, voxels in increasing order.
std::map<Voxel, std::vector<std::int64_t>> points_of_voxels(const std::int32_t* coors, std::int64_t points) {
  std::map<Voxel, std::vector<std::int64_t>> voxels;
  for (std::int64_t n = 0; n < points; ++n) {
    const Voxel v = {coors[3 * n], coors[3 * n + 1], coors[3 * n + 2]};
    if (*std::min_element(v.begin(), v.end()) >= 0) voxels[v].push_back(n);
  }
  return voxels;
}

double reduce(mluOpReduceMode_t mode, const Values& values) {
  if (mode == MLUOP_REDUCE_DMAX) {
    double greatest = -std::numeric_limits<double>::infinity();
    for (const double v : values) greatest = v > greatest ? v : greatest;
    return greatest;
  }
  double sum = 0;
  for (const double v : values) sum += v;
  return mode == MLUOP_REDUCE_DSUM ? sum : sum / static_cast<double>(values.size());
}

}  // namespace

DynamicPointToVoxelResult dynamic_point_to_voxel_forward(const mluopsDynamicPointToVoxelForwardProblem& p) {
  const mluopsDynamicPointToVoxelShape& s = p.shape;
  const Values feats = decode(s.dtype, p.feats, s.n * s.c);
  const auto rows = static_cast<std::size_t>(s.m);
  DynamicPointToVoxelResult r{Values(rows * static_cast<std::size_t>(s.c), 0.0), Values(3 * rows, 0.0),
                              Values(static_cast<std::size_t>(s.n), -1.0), Values(rows, 0.0), Values(1, 0.0)};
  std::int64_t v = 0;
  for (const auto& [voxel, points] : points_of_voxels(p.coors, s.n)) {
    for (std::size_t axis = 0; axis < 3; ++axis) r.coors[v * 3 + axis] = voxel[axis];
    for (const std::int64_t n : points) r.map[n] = static_cast<double>(v);
    r.counts[v] = static_cast<double>(points.size());
    for (std::int64_t c = 0; c < s.c; ++c) {
      Values values;
      for (const std::int64_t n : points) values.push_back(feats[n * s.c + c]);
      r.feats[v * s.c + c] = reduce(s.reduce, values);
    }
    ++v;
  }
  r.num[0] = static_cast<double>(v);
  return r;
}

Values dynamic_point_to_voxel_backward(const mluopsDynamicPointToVoxelBackwardProblem& p) {
  const mluopsDynamicPointToVoxelShape& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_voxel_feats, s.m * s.c), feats = decode(s.dtype, p.feats, s.n * s.c);
  const Values voxel_feats = decode(s.dtype, p.voxel_feats, s.m * s.c);
  const std::int64_t voxels = std::min<std::int64_t>(s.m, p.voxel_num[0]);
  std::vector<std::vector<std::int64_t>> points(static_cast<std::size_t>(std::max<std::int64_t>(voxels, 0)));
  for (std::int64_t n = 0; n < s.n; ++n) {
    const std::int64_t v = p.point2voxel_map[n];
    if (v >= 0 && v < voxels) points[static_cast<std::size_t>(v)].push_back(n);
  }
  Values grad_feats(feats.size(), 0.0);
  for (std::int64_t v = 0; v < voxels; ++v) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      const double g = grad[v * s.c + c];
      for (const std::int64_t n : points[static_cast<std::size_t>(v)]) {
        if (s.reduce != MLUOP_REDUCE_DMAX) {
          grad_feats[n * s.c + c] = s.reduce == MLUOP_REDUCE_DSUM ? g : g / p.voxel_points_count[v];
        } else if (feats[n * s.c + c] == voxel_feats[v * s.c + c]) {
          grad_feats[n * s.c + c] = g;
          break;
        }
      }
    }
  }
  return grad_feats;
}

}  // namespace mluops::reference
