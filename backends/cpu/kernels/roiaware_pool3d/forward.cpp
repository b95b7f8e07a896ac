// RoiAwarePool3d, forward: the features of the points in each upright box, pooled voxel by voxel of the box.
//
// rois [N,7], pts [P,3], pts_feature [P,C], pts_idx_of_voxels [N,X,Y,Z,S], argmax and pooled_features [N,X,Y,Z,C]. The
// points are brought into rows of x, y and z once. An item is a box and owns its part of the outputs: 32 points at once
// are compared with it, in their order, and those inside noted in their voxels; then each voxel pools its points. Most
// of the work is writing zeros, S + 2 C numbers a voxel: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roiaware_pool3d/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/spatial/upright_box-inl.h"
#include "mluops/problem/roiaware_pool3d.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roiaware_pool3d::HWY_NAMESPACE {
using namespace spatial;
using namespace spatial::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsRoiAwarePool3dForwardProblem;
using Shape = mluopsRoiAwarePool3dShape;

/// The voxels of one box.
template <class A>
class VoxelGrid {
 public:
  template <class T>
  VoxelGrid(const Shape& s, const T* roi)
      : box(UprightBox<A>::standing_on(roi)),
        bottom_(to_acc(roi[2])),
        step_{to_acc(roi[3]) / static_cast<A>(s.x), to_acc(roi[4]) / static_cast<A>(s.y),
              to_acc(roi[5]) / static_cast<A>(s.z)},
        size_{s.x, s.y, s.z} {}

  /// Number of the voxel of a point inside.
  std::int64_t voxel_of(A x, A y, A z) const {
    const A from_x = x - box.x, from_y = y - box.y;
    const A along_x = from_x * box.cosine - from_y * box.sine, along_y = from_x * box.sine + from_y * box.cosine;
    const std::int64_t vx = index_of((along_x + box.half_x) / step_[0], size_[0]);
    const std::int64_t vy = index_of((along_y + box.half_y) / step_[1], size_[1]);
    return (vx * size_[1] + vy) * size_[2] + index_of((z - bottom_) / step_[2], size_[2]);
  }

  const UprightBox<A> box;

 private:
  A bottom_, step_[3];
  std::int64_t size_[3];
};

/// Notes the points of the leaves in their voxels [voxels, most]: a count, then indices.
template <class A>
void note_points(const VoxelGrid<A>& grid, std::span<const Leaf<A>> leaves, std::int64_t most, std::int32_t* voxels) {
  for (const Leaf<A>& leaf : leaves) {
    for (std::uint32_t bits = points_inside(grid.box, leaf); bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      std::int32_t* const voxel = voxels + most * grid.voxel_of(leaf.x[lane], leaf.y[lane], leaf.z[lane]);
      if (voxel[0] + 1 < most) voxel[++voxel[0]] = leaf.index[lane];
    }
  }
}

/// The first greatest of the points' features that is greater than -Inf.
template <class T>
void pool_greatest(const Shape& s, const T* features, const std::int32_t* voxel, Acc<T>* best, T* pooled,
                   std::int32_t* argmax) {
  std::fill_n(best, s.c, -std::numeric_limits<Acc<T>>::infinity());
  std::fill_n(argmax, s.c, -1);
  for (std::int32_t i = 1; i <= voxel[0]; ++i) {
    const T* const row = features + s.c * voxel[i];
    for (std::int64_t c = 0; c < s.c; ++c) {
      const Acc<T> value = to_acc(row[c]);
      argmax[c] = value > best[c] ? voxel[i] : argmax[c];
      best[c] = value > best[c] ? value : best[c];
    }
  }
  for (std::int64_t c = 0; c < s.c; ++c) pooled[c] = argmax[c] < 0 ? T{} : from_acc<T>(best[c]);
}

template <class T>
void pool_mean(const Shape& s, const T* features, const std::int32_t* voxel, Acc<T>* sums, T* pooled,
               std::int32_t* argmax) {
  std::fill_n(sums, s.c, Acc<T>{0});
  std::fill_n(argmax, s.c, 0);
  for (std::int32_t i = 1; i <= voxel[0]; ++i) {
    const T* const row = features + s.c * voxel[i];
    for (std::int64_t c = 0; c < s.c; ++c) sums[c] += to_acc(row[c]);
  }
  const auto count = static_cast<Acc<T>>(std::max(voxel[0], 1));
  for (std::int64_t c = 0; c < s.c; ++c) pooled[c] = from_acc<T>(sums[c] / count);
}

template <class A>
struct Arrays {
  PointSets<A> points;
  A* rows;  ///< [slots, c]

  Arrays(Allocator& allocator, const Shape& s, std::int64_t slots)
      : points(allocator, s.points, 1, false, 0), rows(allocator.allocate<A>(slots, s.c)) {}
};

template <class T>
void pool_box(const ForwardProblem& p, std::int64_t n, const Arrays<Acc<T>>& arrays, Acc<T>* row) {
  const Shape& s = p.shape;
  const std::int64_t voxels = s.x * s.y * s.z;
  std::int32_t* const noted = p.pts_idx_of_voxels + n * voxels * s.most;
  std::fill_n(noted, voxels * s.most, 0);
  const VoxelGrid<Acc<T>> grid(s, static_cast<const T*>(p.rois) + 7 * n);
  note_points(grid, arrays.points.list(0), s.most, noted);
  const auto pool = s.mean != 0 ? pool_mean<T> : pool_greatest<T>;
  for (std::int64_t v = 0; v < voxels; ++v) {
    const std::int64_t at = (n * voxels + v) * s.c;
    pool(s, static_cast<const T*>(p.pts_feature), noted + v * s.most, row, static_cast<T*>(p.pooled_features) + at,
         p.argmax + at);
  }
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const double numbers = static_cast<double>(s.x * s.y * s.z * (s.most + 2 * s.c));
  const Loop loop(context, call, s.n, 2 * cost::kElement * static_cast<double>(s.points) + cost::kMove * numbers);
  const auto arrays = allocate<Arrays<Acc<T>>>(context.arena, s, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  arrays->points.fill(0, static_cast<const T*>(p.pts), 0);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t n = begin; n < end; ++n) pool_box<T>(p, n, *arrays, arrays->rows + slot * s.c);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::roiaware_pool3d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roiaware_pool3d_forward, roiaware_pool3d, forward, mluopsRoiAwarePool3dForwardProblem, with_element)
