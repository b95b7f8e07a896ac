// RoiAwarePool3d, backward: gradients go to the point that was the greatest, or to all points of the voxel.
//
// grad_output and argmax [N,X,Y,Z,C], pts_idx_of_voxels [N,X,Y,Z,S], grad_input [P,C]. An item is 8 to 16 channels; it
// goes over all voxels in their order, so sums do not depend on threads, and owns its channels of grad_input, which it
// keeps in rows of points. One addition for each number read: bound by memory, where most voxels are not empty by the
// second cache that the sums lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roiaware_pool3d/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/roiaware_pool3d.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roiaware_pool3d::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsRoiAwarePool3dBackwardProblem;
using Shape = mluopsRoiAwarePool3dShape;

constexpr std::int64_t kMostChannels = 16;

/// Channels of an item. Each item goes over all voxels again, so fewer than 8, or than the 16 of a cache line where
/// each voxel's are read for many points, cost more threads as much as they gain.
std::int64_t channels_of_item(const Shape& s, const mluopsCall& call) {
  const std::int64_t least = s.mean != 0 && s.c >= 2 * kMostChannels ? kMostChannels : 8;
  const std::int64_t fair = round_up(ceil_div(s.c, std::int64_t{call.threads}), 4);
  return std::min(std::clamp(fair, least, kMostChannels), s.c);
}

bool is_point(const Shape& s, std::int64_t index) {
  return index >= 0 && index < s.points;
}

/// Adds one voxel's gradients [count] to sums [points, channels].
template <class T>
HWY_INLINE void add_greatest(const Shape& s, const std::int32_t* argmax, const T* grad, std::int64_t count,
                             std::int64_t channels, Acc<T>* sums) {
  const bool empty = std::all_of(argmax, argmax + count, [](std::int32_t index) { return index < 0; });
  if (empty) return;
  for (std::int64_t c = 0; c < count; ++c) {
    if (is_point(s, argmax[c])) sums[argmax[c] * channels + c] += to_acc(grad[c]);
  }
}

template <class T>
HWY_INLINE void add_mean(const Shape& s, const std::int32_t* voxel, const T* grad, std::int64_t count,
                         std::int64_t channels, Acc<T>* sums) {
  using A = Acc<T>;
  const std::int64_t points = std::clamp<std::int64_t>(voxel[0], 0, s.most - 1);
  if (points == 0) return;
  HWY_ALIGN A shares[kMostChannels];
  scale(A{1} / static_cast<A>(points), grad, shares, count);
  for (std::int64_t i = 1; i <= points; ++i) {
    if (is_point(s, voxel[i])) axpy(A{1}, shares, sums + voxel[i] * channels, count);
  }
}

template <class T>
void add_voxels(const BackwardProblem& p, std::int64_t first, std::int64_t count, std::int64_t channels, Acc<T>* sums) {
  const Shape& s = p.shape;
  const std::int64_t voxels = s.n * s.x * s.y * s.z;
  for (std::int64_t v = 0; v < voxels; ++v) {
    const T* const grad = static_cast<const T*>(p.grad_output) + v * s.c + first;
    if (s.mean != 0) {
      add_mean(s, p.pts_idx_of_voxels + v * s.most, grad, count, channels, sums);
    } else {
      add_greatest(s, p.argmax + v * s.c + first, grad, count, channels, sums);
    }
  }
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t channels = channels_of_item(s, call);
  const std::int64_t groups = ceil_div(s.c, channels), each = s.points * channels;
  const Loop loop(context, call, groups, cost::kScatter * static_cast<double>(s.n * s.x * s.y * s.z * channels));
  auto* const all = context.arena.reserve_array<Acc<T>>(loop.slots(), each);
  if (all == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Acc<T>* const sums = all + slot * each;
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * channels, count = std::min(channels, s.c - first);
      std::fill_n(sums, each, Acc<T>{0});
      add_voxels<T>(p, first, count, channels, sums);
      for (std::int64_t point = 0; point < s.points; ++point) {
        store_row(sums + point * channels, static_cast<T*>(p.grad_input) + point * s.c + first, count);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::roiaware_pool3d::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roiaware_pool3d_backward, roiaware_pool3d, backward, mluopsRoiAwarePool3dBackwardProblem, with_element)
