// DynamicPointToVoxel, backward: what the features of each point had to do with those of its voxel.
//
// grad_voxel_feats and voxel_feats [M,C], feats and grad_feats [N,C], point2voxel_map [N].
// sum, mean: an item is a point, whose row is its voxel's, or that divided: a gather of rows, bound by memory.
// max: the points are put in the order of their voxels; an item is a voxel and owns the rows of its points, of which
// the first with the maximum gets the gradient. Every element of feats is read once: bound by memory.
#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

namespace mluops::cpu::dynamic_point_to_voxel {
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
  Loop(context, call, s.n, rows_ns(s, 1)).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t v = map[n];
      T* const to = static_cast<T*>(p.grad_feats) + n * s.c;
      if (v < 0) {
        std::fill_n(to, s.c, T{});
        continue;
      }
      const T* const from = static_cast<const T*>(p.grad_voxel_feats) + v * s.c;
      const auto count = static_cast<Acc<T>>(mean ? p.voxel_points_count[v] : 1);
      for (std::int64_t c = 0; c < s.c; ++c) to[c] = mean ? from_acc<T>(to_acc(from[c]) / count) : from[c];
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// The points of each voxel, in their order.
template <class A>
struct BackwardArrays {
  std::int32_t* order;
  std::int32_t* ends;  ///< of each voxel in order
  A* left;             ///< [slots, c]: the gradients of a voxel that have not found their point

  BackwardArrays(Allocator& allocator, const Shape& s, std::int64_t slots)
      : order(allocator.allocate<std::int32_t>(s.n)),
        ends(allocator.allocate<std::int32_t>(s.m + 1)),
        left(allocator.allocate<A>(slots, s.c)) {}

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

/// The rows of the points of one voxel; left [c] is for the time between. A gradient goes to the first point that has
/// the maximum, and 0 to the others.
template <class T>
void give(const BackwardProblem& p, std::int64_t voxel, const std::int32_t* points, const std::int32_t* end,
          Acc<T>* __restrict left) {
  const Shape& s = p.shape;
  const T* const grad = static_cast<const T*>(p.grad_voxel_feats) + voxel * s.c;
  const T* const __restrict greatest = static_cast<const T*>(p.voxel_feats) + voxel * s.c;
  for (std::int64_t c = 0; c < s.c; ++c) left[c] = to_acc(grad[c]);
  for (; points != end; ++points) {
    const T* const __restrict from = static_cast<const T*>(p.feats) + s.c * *points;
    T* const __restrict to = static_cast<T*>(p.grad_feats) + s.c * *points;
    for (std::int64_t c = 0; c < s.c; ++c) {
      const bool found = to_acc(from[c]) == to_acc(greatest[c]);
      const Acc<T> rest = left[c];
      to[c] = from_acc<T>(found ? rest : Acc<T>{0});
      left[c] = found ? Acc<T>{0} : rest;
    }
  }
}

template <class T>
mluOpStatus_t of_maxima(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const Map map(p);
  const double points = static_cast<double>(s.n), voxels = static_cast<double>(std::max<std::int64_t>(map.voxels(), 1));
  const Loop loop(context, call, map.voxels(), rows_ns(s, points / voxels));
  const auto arrays = allocate<BackwardArrays<Acc<T>>>(context.arena, s, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  arrays->sort(map, s.n);
  for (std::int64_t n = 0; n < s.n; ++n) {
    if (map[n] < 0) std::fill_n(static_cast<T*>(p.grad_feats) + n * s.c, s.c, T{});
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t v = begin; v < end; ++v) {
      const std::int32_t first = v == 0 ? 0 : arrays->ends[v - 1];
      give<T>(p, v, arrays->order + first, arrays->order + arrays->ends[v], arrays->left + slot * s.c);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::dynamic_point_to_voxel

namespace mluops::cpu {

mluOpStatus_t operators::dynamic_point_to_voxel_backward(Context& context, const mluopsCall& call,
                                                         const mluopsDynamicPointToVoxelBackwardProblem& problem) {
  return with_element(call, problem.shape.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (problem.shape.reduce == MLUOP_REDUCE_DMAX) {
      return dynamic_point_to_voxel::of_maxima<T>(context, call, problem);
    }
    return dynamic_point_to_voxel::of_sums<T>(context, call, problem);
  });
}

}  // namespace mluops::cpu
