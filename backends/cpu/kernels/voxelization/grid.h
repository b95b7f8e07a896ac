// The grid of both voxelizations, and where in it a point is.
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/cpu/runtime/index.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/element.h"
#include "common/round.h"
#include "mluops/problem/voxelization.h"

namespace mluops::cpu::voxelization {

using Shape = mluopsVoxelizationShape;

/// Each operation rounded to A, none fused.
template <class A>
class Grid {
 public:
  template <class T>
  Grid(const T* voxel_size, const T* range) {
    for (int axis = 0; axis < 3; ++axis) {
      size_[axis] = to_acc(voxel_size[axis]);
      low_[axis] = to_acc(range[axis]);
      end_[axis] = round_half_away((to_acc(range[3 + axis]) - low_[axis]) / size_[axis]);
      if (end_[axis] > kMostPlaces) end_[axis] = kMostPlaces;
    }
  }

  /// place [z, y, x]; three times -1 and false for a point outside. The ends of the grid are whole numbers, so a
  /// quotient is inside just where its floor is.
  template <class T>
  bool find(const T* point, std::int32_t* place) const {
    for (int axis = 0; axis < 3; ++axis) {
      const A at = (to_acc(point[axis]) - low_[axis]) / size_[axis];
      if (!(at >= 0 && at < end_[axis])) {
        place[0] = place[1] = place[2] = -1;
        return false;
      }
      place[2 - axis] = static_cast<std::int32_t>(index_of(at, kPlaces));
    }
    return true;
  }

 private:
  static constexpr std::int64_t kPlaces = std::int64_t{1} << 31;  ///< along an axis
  static constexpr A kMostPlaces = static_cast<A>(kPlaces);

  A size_[3], low_[3], end_[3];
};

/// places [n,3] of all points.
template <class T>
void find_places(const Context& context, const mluopsCall& call, const Shape& s, const void* points,
                 const void* voxel_size, const void* range, std::int32_t* places) {
  const Grid<Acc<T>> grid(static_cast<const T*>(voxel_size), static_cast<const T*>(range));
  Loop(context, call, s.n, 4 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t n = begin; n < end; ++n) {
      grid.find(static_cast<const T*>(points) + n * s.features, places + 3 * n);
    }
  });
}

}  // namespace mluops::cpu::voxelization
