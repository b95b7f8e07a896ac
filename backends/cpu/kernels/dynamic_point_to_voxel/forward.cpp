// DynamicPointToVoxel, forward: the sum, mean or maximum of the features of the points of each voxel.
//
// feats [N,C], coors [N,3], voxel_feats [M,C]. The points are sorted by their voxel, byte by byte of the three
// coordinates from the last to the first, on one thread: as many passes as the largest coordinates have bytes, five for
// a LiDAR sweep. Points of a voxel keep their order, so sums do not depend on threads. An item is a voxel: it owns its
// rows and the map of its points. Every element of feats is read once, in rows: bound by memory from C = 16 or so, by
// the sort below.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

namespace mluops::cpu::dynamic_point_to_voxel {
namespace {

using ForwardProblem = mluopsDynamicPointToVoxelForwardProblem;
using Shape = mluopsDynamicPointToVoxelShape;

bool has_voxel(const std::int32_t* place) {
  return (place[0] | place[1] | place[2]) >= 0;
}

template <class A>
struct ForwardArrays {
  std::int32_t *order, *other;  ///< points by voxel, and as before the last pass
  std::int32_t* begins;         ///< where in order each voxel begins, and the end
  A* sums;                      ///< [slots, c]

  ForwardArrays(Allocator& allocator, const Shape& s, std::int64_t slots)
      : order(allocator.allocate<std::int32_t>(s.n)),
        other(allocator.allocate<std::int32_t>(s.n)),
        begins(allocator.allocate<std::int32_t>(s.n + 1)),
        sums(allocator.allocate<A>(slots, s.c)) {}
};

/// Sorts `count` points of `from` into `to` by one byte of one coordinate; equal ones stay in order.
void sort_by_byte(const std::int32_t* coordinates, int shift, const std::int32_t* from, std::int64_t count,
                  std::int32_t* to) {
  std::array<std::int32_t, 256> next = {};
  const auto byte_of = [&](std::int32_t point) {
    return static_cast<std::uint32_t>(coordinates[3 * std::int64_t{point}]) >> shift & 0xff;
  };
  for (std::int64_t i = 0; i < count; ++i) ++next[byte_of(from[i])];
  std::int32_t before = 0;
  for (std::int32_t& n : next) before += std::exchange(n, before);
  for (std::int64_t i = 0; i < count; ++i) to[next[byte_of(from[i])]++] = from[i];
}

/// Puts the points that have a voxel in the order of voxels, then of points; order and other may change places. Returns
/// how many there are.
std::int64_t sort_points(const ForwardProblem& p, std::int32_t*& order, std::int32_t*& other) {
  std::int64_t count = 0;
  std::uint32_t bits[3] = {};
  for (std::int64_t n = 0; n < p.shape.n; ++n) {
    const std::int32_t* const place = p.coors + 3 * n;
    if (!has_voxel(place)) continue;
    order[count++] = static_cast<std::int32_t>(n);
    for (int axis = 0; axis < 3; ++axis) bits[axis] |= static_cast<std::uint32_t>(place[axis]);
  }
  for (int axis = 2; axis >= 0; --axis) {
    for (int shift = 0; shift < static_cast<int>(std::bit_width(bits[axis])); shift += 8) {
      sort_by_byte(p.coors + axis, shift, order, count, other);
      std::swap(order, other);
    }
  }
  return count;
}

/// Where runs of points of one voxel begin; returns how many there are.
std::int64_t find_voxels(const ForwardProblem& p, const std::int32_t* order, std::int64_t count, std::int32_t* begins) {
  std::int64_t voxels = 0;
  const std::int32_t* last = nullptr;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t* const place = p.coors + 3 * std::int64_t{order[i]};
    if (last != nullptr && std::equal(place, place + 3, last)) continue;
    begins[voxels++] = static_cast<std::int32_t>(i);
    last = place;
  }
  begins[voxels] = static_cast<std::int32_t>(count);
  return voxels;
}

/// One row of voxel_feats from those of its points; sums [c] is for the time between.
template <class T>
void reduce(const Shape& s, const T* feats, const std::int32_t* points, std::int64_t count, Acc<T>* __restrict sums,
            T* to) {
  const bool greatest = s.reduce == MLUOP_REDUCE_DMAX;
  std::fill_n(sums, s.c, greatest ? -std::numeric_limits<Acc<T>>::infinity() : Acc<T>{0});
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const row = feats + s.c * points[i];
    if (greatest) {
      for (std::int64_t c = 0; c < s.c; ++c) sums[c] = to_acc(row[c]) > sums[c] ? to_acc(row[c]) : sums[c];
    } else {
      for (std::int64_t c = 0; c < s.c; ++c) sums[c] += to_acc(row[c]);
    }
  }
  const Acc<T> divisor = s.reduce == MLUOP_REDUCE_DMEAN ? static_cast<Acc<T>>(count) : Acc<T>{1};
  for (std::int64_t c = 0; c < s.c; ++c) to[c] = from_acc<T>(sums[c] / divisor);
}

template <class T>
void write_voxel(const ForwardProblem& p, std::int64_t voxel, const std::int32_t* points, std::int64_t count,
                 Acc<T>* sums) {
  const Shape& s = p.shape;
  std::copy_n(p.coors + 3 * std::int64_t{points[0]}, 3, p.voxel_coors + 3 * voxel);
  p.voxel_points_count[voxel] = static_cast<std::int32_t>(count);
  for (std::int64_t i = 0; i < count; ++i) p.point2voxel_map[points[i]] = static_cast<std::int32_t>(voxel);
  reduce(s, static_cast<const T*>(p.feats), points, count, sums, static_cast<T*>(p.voxel_feats) + voxel * s.c);
}

/// Rows without a voxel, and points without one.
template <class T>
void write_rest(const ForwardProblem& p, std::int64_t voxels) {
  const Shape& s = p.shape;
  std::fill(static_cast<T*>(p.voxel_feats) + voxels * s.c, static_cast<T*>(p.voxel_feats) + s.m * s.c, T{});
  std::fill(p.voxel_coors + 3 * voxels, p.voxel_coors + 3 * s.m, 0);
  std::fill(p.voxel_points_count + voxels, p.voxel_points_count + s.m, 0);
  for (std::int64_t n = 0; n < s.n; ++n) {
    if (!has_voxel(p.coors + 3 * n)) p.point2voxel_map[n] = -1;
  }
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const double row_ns = 10 * cost::kStep + cost::kMove * static_cast<double>(s.c);
  const auto arrays = allocate<ForwardArrays<Acc<T>>>(context.arena, s, std::min<std::int64_t>(call.threads, s.n));
  if (!arrays) return no_memory(call);
  std::int32_t *order = arrays->order, *other = arrays->other;
  const std::int64_t count = sort_points(p, order, other);
  const std::int64_t voxels = find_voxels(p, order, count, arrays->begins);
  if (voxels > s.m) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "voxel_feats: has fewer rows than there are voxels");
  write_rest<T>(p, voxels);
  *p.voxel_num = static_cast<std::int32_t>(voxels);
  if (voxels == 0) return MLUOP_STATUS_SUCCESS;
  const double voxel_ns = row_ns * static_cast<double>(count) / static_cast<double>(voxels);
  Loop(context, call, voxels, voxel_ns).run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t v = begin; v < end; ++v) {
      const std::int32_t first = arrays->begins[v];
      write_voxel<T>(p, v, order + first, arrays->begins[v + 1] - first, arrays->sums + slot * s.c);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::dynamic_point_to_voxel

namespace mluops::cpu {

mluOpStatus_t operators::dynamic_point_to_voxel_forward(Context& context, const mluopsCall& call,
                                                        const mluopsDynamicPointToVoxelForwardProblem& problem) {
  return with_element(call, problem.shape.dtype, [&](auto tag) {
    return dynamic_point_to_voxel::forward<typename decltype(tag)::type>(context, call, problem);
  });
}

}  // namespace mluops::cpu
