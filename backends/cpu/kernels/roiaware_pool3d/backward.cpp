// RoiAwarePool3d, backward: gradients go to the point that was the greatest, or to all points of the voxel.
//
// grad_out and argmax [N,X,Y,Z,C], pts_idx_of_voxels [N,X,Y,Z,S], grad_in [P,C]. An item is up to 16 channels; it goes
// over all voxels in their order, so sums do not depend on threads, and owns its channels of grad_in. One addition for
// each number read: bound by memory.
#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

namespace mluops::cpu::roiaware_pool3d {
namespace {

using BackwardProblem = mluopsRoiAwarePool3dBackwardProblem;
using Shape = mluopsRoiAwarePool3dShape;

constexpr std::int64_t kChannels = 16;

bool is_point(const Shape& s, std::int64_t index) {
  return index >= 0 && index < s.points;
}

/// Adds one voxel's gradients [count] to sums [points, channels].
template <class T>
void add_greatest(const Shape& s, const std::int32_t* argmax, const T* grad, std::int64_t count, std::int64_t channels,
                  Acc<T>* sums) {
  for (std::int64_t c = 0; c < count; ++c) {
    if (is_point(s, argmax[c])) sums[argmax[c] * channels + c] += to_acc(grad[c]);
  }
}

template <class T>
void add_mean(const Shape& s, const std::int32_t* voxel, const T* grad, std::int64_t count, std::int64_t channels,
              Acc<T>* sums) {
  const std::int64_t points = std::clamp<std::int64_t>(voxel[0], 0, s.most - 1);
  const Acc<T> share = Acc<T>{1} / static_cast<Acc<T>>(std::max<std::int64_t>(points, 1));
  for (std::int64_t i = 1; i <= points; ++i) {
    if (!is_point(s, voxel[i])) continue;
    Acc<T>* const row = sums + voxel[i] * channels;
    for (std::int64_t c = 0; c < count; ++c) row[c] += to_acc(grad[c]) * share;
  }
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t voxels = s.n * s.x * s.y * s.z, groups = ceil_div(s.c, kChannels);
  const std::int64_t channels = std::min(kChannels, s.c), each = s.points * channels;
  const Loop loop(context, call, groups, cost::kScatter * static_cast<double>(voxels * channels));
  auto* const all = context.arena.reserve_array<Acc<T>>(loop.slots(), each);
  if (all == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    Acc<T>* const sums = all + slot * each;
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * kChannels, count = std::min(kChannels, s.c - first);
      std::fill_n(sums, each, Acc<T>{0});
      for (std::int64_t v = 0; v < voxels; ++v) {
        const T* const grad = static_cast<const T*>(p.grad_out) + v * s.c + first;
        if (s.mean != 0) {
          add_mean(s, p.pts_idx_of_voxels + v * s.most, grad, count, channels, sums);
        } else {
          add_greatest(s, p.argmax + v * s.c + first, grad, count, channels, sums);
        }
      }
      for (std::int64_t point = 0; point < s.points; ++point) {
        T* const to = static_cast<T*>(p.grad_in) + point * s.c + first;
        for (std::int64_t c = 0; c < count; ++c) to[c] = from_acc<T>(sums[point * channels + c]);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::roiaware_pool3d

namespace mluops::cpu {

mluOpStatus_t operators::roiaware_pool3d_backward(Context& context, const mluopsCall& call,
                                                  const mluopsRoiAwarePool3dBackwardProblem& problem) {
  return with_element(call, problem.shape.dtype, [&](auto tag) {
    return roiaware_pool3d::backward<typename decltype(tag)::type>(context, call, problem);
  });
}

}  // namespace mluops::cpu
