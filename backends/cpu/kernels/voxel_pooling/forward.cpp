// VoxelPooling: the features of points are added to the cells of a map that they lie over.
//
// geom_xyz and pos_memo [B,N,3], input [B,N,C], output [B,Y,X,C].
// Points are sorted by cells; a task owns cells, whose sums stay in registers while their points go by in order: no
// prior zeroing, bitwise equal for every number of threads. One addition for each feature read: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/voxel_pooling/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/voxel_pooling.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::voxel_pooling::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using Problem = mluopsVoxelPoolingForwardProblem;
using Shape = mluopsVoxelPoolingShape;

/// The cell of the map that a point of all images lies over; -1 for none.
HWY_INLINE std::int64_t cell_of(const Problem& p, std::int64_t point) {
  const Shape& s = p.shape;
  const std::int64_t x = p.geom_xyz[3 * point], y = p.geom_xyz[3 * point + 1], z = p.geom_xyz[3 * point + 2];
  if (x < 0 || x >= s.x || y < 0 || y >= s.y || z < 0 || z >= s.z) return -1;
  return (point / s.points * s.y + y) * s.x + x;
}

/// pos_memo: the image, y and x of every point.
void tell_cells(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  Loop(context, call, s.batch * s.points, cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const bool inside = cell_of(p, i) >= 0;
      std::int32_t* const to = p.pos_memo + 3 * i;
      to[0] = inside ? static_cast<std::int32_t>(i / s.points) : -1;
      to[1] = inside ? p.geom_xyz[3 * i + 1] : -1;
      to[2] = inside ? p.geom_xyz[3 * i] : -1;
    }
  });
}

/// The sums of a cell; `later` are the points of this cell and of those behind it.
template <class T>
void add_points(const T* features, std::int64_t channels, std::size_t count, std::span<const std::int64_t> later,
                T* to) {
  constexpr std::size_t kAhead = 8;
  for_wide<Acc<T>, 4>(channels, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int kWide = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> sum[kWide];
    MLUOPS_UNROLL
    for (int v = 0; v < kWide; ++v) sum[v] = hn::Zero(d);
    for (std::size_t i = 0; i < count; ++i) {
      if (c == 0 && i + kAhead < later.size()) {
        prefetch(value_barrier(features + later[i + kAhead] * channels), channels);
      }
      const T* const from = features + later[i] * channels + c;
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) sum[v] = hn::Add(sum[v], load(d, from + v * lanes));
    }
    MLUOPS_UNROLL
    for (int v = 0; v < kWide; ++v) store(sum[v], d, to + c + v * lanes);
  });
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  auto cells = allocate<Buckets>(context.arena, call, s.batch * s.points, s.batch * s.y * s.x);
  if (!cells) return no_memory(call);
  const double point_ns = cost::kMove * static_cast<double>(s.c);
  const auto sort = [&](std::int64_t begin, std::int64_t end, auto&& put) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t cell = cell_of(p, i);
      if (cell >= 0) put(i, cell, point_ns);
    }
  };
  if (!cells->fill(context, call, 2 * cost::kStep, point_ns, sort)) return no_memory(call);
  const std::span<const std::int64_t> all = cells->all();
  Loop(context, call, cells->prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto first = static_cast<std::size_t>(cells->begin(i));
      add_points(static_cast<const T*>(p.input), s.c, (*cells)[i].size(), all.subspan(first),
                 static_cast<T*>(p.output) + i * s.c);
    }
  });
  tell_cells(context, call, p);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::voxel_pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(voxel_pooling_forward, voxel_pooling, forward, mluopsVoxelPoolingForwardProblem, with_element)
