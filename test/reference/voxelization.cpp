#include "test/reference/voxelization.h"

#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace mluops::reference {
namespace {

using Place = std::array<double, 3>;  // z, y, x

class Grid {
 public:
  Grid(mluOpDataType_t dtype, const void* voxel_size, const void* coors_range)
      : wide_(dtype == MLUOP_DTYPE_DOUBLE), size_(decode(dtype, voxel_size, 3)), range_(decode(dtype, coors_range, 6)) {
    for (std::size_t a = 0; a < 3; ++a) count_[a] = std::round(divide(range_[3 + a] - range_[a], size_[a]));
  }

  std::optional<Place> place_of(const double* point) const {
    Place place;
    for (std::size_t a = 0; a < 3; ++a) {
      const double at = std::floor(divide(point[a] - range_[a], size_[a]));
      if (!(at >= 0 && at < count_[a] && at < 2147483648.0)) return std::nullopt;
      place[2 - a] = at;
    }
    return place;
  }

 private:
  double round(double x) const { return wide_ ? x : static_cast<double>(static_cast<float>(x)); }
  double divide(double x, double y) const { return round(round(x) / y); }

  bool wide_;
  Values size_, range_;
  std::array<double, 3> count_;
};

}  // namespace

Values dynamic_voxelize(const mluopsDynamicVoxelizeProblem& p) {
  const mluopsVoxelizationShape& s = p.shape;
  const Values points = decode(s.dtype, p.points, s.n * s.features);
  const Grid grid(s.dtype, p.voxel_size, p.coors_range);
  Values coors;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const Place place = grid.place_of(&points[n * s.features]).value_or(Place{-1, -1, -1});
    coors.insert(coors.end(), place.begin(), place.end());
  }
  return coors;
}

VoxelizationResult voxelization(const mluopsVoxelizationProblem& p) {
  const mluopsVoxelizationShape& s = p.shape;
  const Values points = decode(s.dtype, p.points, s.n * s.features);
  const Grid grid(s.dtype, p.voxel_size, p.coors_range);
  const auto voxels = static_cast<std::size_t>(s.max_voxels);
  const auto room = voxels * static_cast<std::size_t>(s.max_points * s.features);
  VoxelizationResult r{Values(room, 0.0), Values(3 * voxels, 0.0), Values(voxels, 0.0), Values(1, 0.0)};
  std::map<Place, std::int64_t> known;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const auto place = grid.place_of(&points[n * s.features]);
    if (!place) continue;
    auto found = known.find(*place);
    if (found == known.end()) {
      if (std::ssize(known) == s.max_voxels) continue;
      found = known.emplace(*place, std::ssize(known)).first;
      for (std::size_t a = 0; a < 3; ++a) r.coors[found->second * 3 + a] = (*place)[a];
    }
    const std::int64_t v = found->second, i = static_cast<std::int64_t>(r.counts[v]);
    if (i == s.max_points) continue;
    for (std::int64_t f = 0; f < s.features; ++f) {
      r.voxels[(v * s.max_points + i) * s.features + f] = points[n * s.features + f];
    }
    ++r.counts[v];
  }
  r.num[0] = static_cast<double>(known.size());
  return r;
}

}  // namespace mluops::reference
