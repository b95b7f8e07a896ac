// DynamicPointToVoxel, backward: what the features of each point had to do with those of its voxel.
//
// grad_voxel_feats and voxel_feats [M,C], feats and grad_feats [N,C], point2voxel_map [N].
// sum, mean: an item is a point, whose row is its voxel's, or that divided: a gather of rows, bound by memory.
// max: the points are put in the order of their voxels; an item is a voxel and owns the rows of its points, of which
// the first with the maximum gets the gradient. Every element of feats is read once: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/dynamic_point_to_voxel/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/dynamic_point_to_voxel.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dynamic_point_to_voxel::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsDynamicPointToVoxelBackwardProblem;
using Shape = mluopsDynamicPointToVoxelShape;

double rows_ns(const Shape& s, double rows) {
  return rows * (8 * cost::kStep + cost::kMove * static_cast<double>(s.c));
}

/// Which voxel the map gives a point; -1 for none.
class Map {
 public:
  explicit Map(const BackwardProblem& p)
      : map_(p.point2voxel_map), voxels_(std::clamp<std::int64_t>(*p.voxel_num, 0, p.shape.m)) {}

  std::int64_t voxels() const { return voxels_; }
  std::int64_t operator[](std::int64_t point) const {
    const std::int64_t v = map_[point];
    return v >= 0 && v < voxels_ ? v : -1;
  }

 private:
  const std::int32_t* map_;
  std::int64_t voxels_;
};

template <class T>
mluOpStatus_t of_sums(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const Map map(p);
  const bool mean = s.reduce == MLUOP_REDUCE_DMEAN;
  Loop(context, call, s.n, rows_ns(s, 1)).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t v = map[n];
      T* const to = static_cast<T*>(p.grad_feats) + n * s.c;
      if (v < 0) {
        std::fill_n(to, s.c, T{});
        continue;
      }
      const T* const from = static_cast<const T*>(p.grad_voxel_feats) + v * s.c;
      if (!mean) {
        std::copy_n(from, s.c, to);
        continue;
      }
      const auto count = static_cast<Acc<T>>(p.voxel_points_count[v]);
      for_lanes<Acc<T>>(s.c, [&](auto d, std::int64_t c)
                                 HWY_ATTR { store(hn::Div(load(d, from + c), hn::Set(d, count)), d, to + c); });
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// The points of each voxel, in their order.
struct BackwardArrays {
  std::int32_t* order;
  std::int32_t* ends;  ///< of each voxel in order

  BackwardArrays(Allocator& allocator, const Shape& s)
      : order(allocator.allocate<std::int32_t>(s.n)), ends(allocator.allocate<std::int32_t>(s.m + 1)) {}

  void sort(const Map& map, std::int64_t points) const {
    std::fill_n(ends, map.voxels() + 1, 0);
    for (std::int64_t n = 0; n < points; ++n) {
      if (map[n] >= 0) ++ends[map[n] + 1];
    }
    for (std::int64_t v = 0; v < map.voxels(); ++v) ends[v + 1] += ends[v];
    for (std::int64_t n = 0; n < points; ++n) {
      if (map[n] >= 0) order[ends[map[n]]++] = static_cast<std::int32_t>(n);
    }
  }
};

/// The rows of the points of one voxel. A gradient goes to the first point that has the maximum, and 0 to the others.
template <class T>
HWY_INLINE void give(const BackwardProblem& p, std::int64_t voxel, const std::int32_t* points,
                     const std::int32_t* end) {
  const Shape& s = p.shape;
  const T* const grad = static_cast<const T*>(p.grad_voxel_feats) + voxel * s.c;
  const T* const greatest = static_cast<const T*>(p.voxel_feats) + voxel * s.c;
  for_each_overlapping<Acc<T>>(s.c, [&](auto d, std::int64_t c) HWY_ATTR {
    auto left = load(d, grad + c);
    const auto most = load(d, greatest + c);
    for (const std::int32_t* point = points; point != end; ++point) {
      const std::int64_t at = s.c * *point + c;
      const auto found = hn::Eq(load(d, static_cast<const T*>(p.feats) + at), most);
      store(hn::IfThenElseZero(found, left), d, static_cast<T*>(p.grad_feats) + at);
      left = hn::IfThenZeroElse(found, left);
    }
  });
}

template <class T>
mluOpStatus_t of_maxima(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const Map map(p);
  const double points = static_cast<double>(s.n), voxels = static_cast<double>(std::max<std::int64_t>(map.voxels(), 1));
  const Loop loop(context, call, map.voxels(), rows_ns(s, points / voxels));
  const auto arrays = allocate<BackwardArrays>(context.arena, s);
  if (!arrays) return no_memory(call);
  arrays->sort(map, s.n);
  for (std::int64_t n = 0; n < s.n; ++n) {
    if (map[n] < 0) std::fill_n(static_cast<T*>(p.grad_feats) + n * s.c, s.c, T{});
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t v = begin; v < end; ++v) {
      const std::int32_t first = v == 0 ? 0 : arrays->ends[v - 1];
      give<T>(p, v, arrays->order + first, arrays->order + arrays->ends[v]);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  return p.shape.reduce == MLUOP_REDUCE_DMAX ? of_maxima<T>(context, call, p) : of_sums<T>(context, call, p);
}

}  // namespace
}  // namespace mluops::cpu::dynamic_point_to_voxel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(dynamic_point_to_voxel_backward, dynamic_point_to_voxel, backward,
                 mluopsDynamicPointToVoxelBackwardProblem, with_element)
