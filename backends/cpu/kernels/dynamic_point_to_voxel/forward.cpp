// DynamicPointToVoxel, forward: the sum, mean or maximum of the features of the points of each voxel.
//
// feats [N,C], coors [N,3], voxel_feats [M,C]. The points are sorted by their voxel, on one thread: by one number that
// holds all three coordinates where that fits, as it does for the grid of any sweep. Points of a voxel keep their
// order, so sums do not depend on threads. An item is a voxel: it owns its rows and the map of its points. Every
// element of feats is read once, in rows: bound by memory from C = 16 or so, by the sort below.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/dynamic_point_to_voxel/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/spatial/radix_sort.h"
#include "mluops/problem/dynamic_point_to_voxel.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dynamic_point_to_voxel::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsDynamicPointToVoxelForwardProblem;
using Shape = mluopsDynamicPointToVoxelShape;

bool has_voxel(const std::int32_t* place) {
  return (place[0] | place[1] | place[2]) >= 0;
}

struct Item {
  std::int64_t key;  ///< equal where the voxel is, in the order of voxels
  std::int32_t point;
};

struct ForwardArrays {
  Item *items, *spare;
  std::int32_t* begins;  ///< where each voxel's items begin, and the end

  ForwardArrays(Allocator& allocator, const Shape& s)
      : items(allocator.allocate<Item>(s.n)),
        spare(allocator.allocate<Item>(s.n)),
        begins(allocator.allocate<std::int32_t>(s.n + 1)) {}
};

/// Sorts by the coordinates one after the other, whatever they are, and numbers the voxels.
Item* sort_by_axis(const std::int32_t* coors, Item* items, Item* spare, std::int64_t count) {
  const auto place = [&](const Item& item) { return coors + 3 * std::int64_t{item.point}; };
  for (int axis = 2; axis >= 0; --axis) {
    Item* const sorted = spatial::radix_sort(items, spare, count, [&](const Item& i) { return place(i)[axis]; });
    spare = sorted == items ? spare : items;
    items = sorted;
  }
  for (std::int64_t i = 1; i < count; ++i) {
    items[i].key = items[i - 1].key + (std::equal(place(items[i]), place(items[i]) + 3, place(items[i - 1])) ? 0 : 1);
  }
  return items;
}

/// The points that have a voxel, in the order of voxels, then of points; count: how many there are.
const Item* sort_points(const ForwardProblem& p, const ForwardArrays& arrays, std::int64_t& count) {
  std::uint32_t bits[3] = {};
  count = 0;
  for (std::int64_t n = 0; n < p.shape.n; ++n) {
    const std::int32_t* const place = p.coors + 3 * n;
    if (!has_voxel(place)) continue;
    arrays.items[count++] = {0, static_cast<std::int32_t>(n)};
    for (int axis = 0; axis < 3; ++axis) bits[axis] |= static_cast<std::uint32_t>(place[axis]);
  }
  const int y_bits = std::bit_width(bits[1]), z_bits = std::bit_width(bits[2]);
  if (std::bit_width(bits[0]) + y_bits + z_bits > 63) {
    return sort_by_axis(p.coors, arrays.items, arrays.spare, count);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t* const place = p.coors + 3 * std::int64_t{arrays.items[i].point};
    arrays.items[i].key = ((std::int64_t{place[0]} << y_bits | place[1]) << z_bits) | place[2];
  }
  return spatial::radix_sort(arrays.items, arrays.spare, count, [](const Item& item) { return item.key; });
}

/// Where runs of points of one voxel begin; returns how many there are.
std::int64_t find_voxels(const Item* items, std::int64_t count, std::int32_t* begins) {
  std::int64_t voxels = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i == 0 || items[i].key != items[i - 1].key) begins[voxels++] = static_cast<std::int32_t>(i);
  }
  begins[voxels] = static_cast<std::int32_t>(count);
  return voxels;
}

/// One row of voxel_feats from those of its points.
template <class T>
HWY_INLINE void reduce(const Shape& s, const T* feats, const Item* items, std::int64_t count, T* to) {
  using A = Acc<T>;
  const bool greatest = s.reduce == MLUOP_REDUCE_DMAX;
  const A divisor = s.reduce == MLUOP_REDUCE_DMEAN ? static_cast<A>(count) : A{1};
  for_overlapping<A, 4>(s.c, [&](auto d, auto vectors, std::int64_t c, std::int64_t step) HWY_ATTR {
    constexpr int kVectors = decltype(vectors)::value;
    const auto first = hn::Set(d, greatest ? -std::numeric_limits<A>::infinity() : A{0});
    hn::Vec<decltype(d)> sum[kVectors];
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = first;
    for (std::int64_t i = 0; i < count; ++i) {
      const T* const row = feats + s.c * items[i].point + c;
      MLUOPS_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const auto value = load(d, row + v * step);
        sum[v] = greatest ? hn::IfThenElse(hn::Gt(value, sum[v]), value, sum[v]) : hn::Add(sum[v], value);
      }
    }
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) store(hn::Div(sum[v], hn::Set(d, divisor)), d, to + c + v * step);
  });
}

template <class T>
HWY_INLINE void write_voxel(const ForwardProblem& p, std::int64_t voxel, const Item* items, std::int64_t count) {
  std::copy_n(p.coors + 3 * std::int64_t{items[0].point}, 3, p.voxel_coors + 3 * voxel);
  p.voxel_points_count[voxel] = static_cast<std::int32_t>(count);
  for (std::int64_t i = 0; i < count; ++i) p.point2voxel_map[items[i].point] = static_cast<std::int32_t>(voxel);
  reduce(p.shape, static_cast<const T*>(p.feats), items, count, static_cast<T*>(p.voxel_feats) + voxel * p.shape.c);
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
  const auto arrays = allocate<ForwardArrays>(context.arena, s);
  if (!arrays) return no_memory(call);
  std::int64_t count = 0;
  const Item* const items = sort_points(p, *arrays, count);
  const std::int64_t voxels = find_voxels(items, count, arrays->begins);
  if (voxels > s.m) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "voxel_feats: has fewer rows than there are voxels");
  write_rest<T>(p, voxels);
  *p.voxel_num = static_cast<std::int32_t>(voxels);
  if (voxels == 0) return MLUOP_STATUS_SUCCESS;
  const double voxel_ns = row_ns * static_cast<double>(count) / static_cast<double>(voxels);
  Loop(context, call, voxels, voxel_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t v = begin; v < end; ++v) {
      const std::int32_t first = arrays->begins[v];
      write_voxel<T>(p, v, items + first, arrays->begins[v + 1] - first);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::dynamic_point_to_voxel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(dynamic_point_to_voxel_forward, dynamic_point_to_voxel, forward,
                 mluopsDynamicPointToVoxelForwardProblem, with_element)
