// MsDeformAttn forward: each head of each query sums the channels of four pixels for each of its samples.
//
// value [B,S,M,D], output [B,Q,M,D]. An item is a query with all its heads and owns its row of the output. The pixels
// and weights of a head's samples are listed once; then its channels are summed over the list in registers. Two flops
// for each channel read: bound by the caches the maps lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ms_deform_attn/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/ms_deform_attn/samples-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"
#include "common/shape.h"

#ifndef MLUOPS_CPU_MS_DEFORM_ATTN_FORWARD_ONCE_
#define MLUOPS_CPU_MS_DEFORM_ATTN_FORWARD_ONCE_
namespace mluops::cpu::ms_deform_attn {

/// A pixel of a head, by its distance from the image's first, and its weight in the sum.
template <class A>
struct Tap {
  std::int64_t offset;
  A weight;
};

}  // namespace mluops::cpu::ms_deform_attn
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsMsDeformAttnForwardProblem;

/// The taps of one head of one query; returns their number.
template <class T>
std::int64_t list_taps(const ForwardProblem& p, std::int64_t row, std::int64_t head, Tap<Acc<T>>* taps) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const auto* const weights = static_cast<const T*>(p.attn_weight);
  std::int64_t count = 0;
  for_samples<T>(
      p, (row * s.heads + head) * s.levels * s.points,
      [&](const Level&, const Sample<A>& sample, std::int64_t i) HWY_ATTR {
        const A weight = to_acc(weights[i]);
        for (std::size_t k = 0; k < 4; ++k) {
          taps[count] = {(sample.pixel[k] * s.heads + head) * s.channels, sample.weight[k] * weight};
          count += sample.on_map[k] ? 1 : 0;
        }
      },
      [](std::int64_t) {});
  return count;
}

/// output[0, channels) = the weighted sum of the taps' channels.
template <class T>
HWY_INLINE void sum_taps(const T* image, const Tap<Acc<T>>* taps, std::int64_t count, std::int64_t channels,
                         T* output) {
  for_wide<Acc<T>, 4>(channels, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int kWide = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> sum[kWide];
    MLUOPS_UNROLL
    for (int v = 0; v < kWide; ++v) sum[v] = hn::Zero(d);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto weight = hn::Set(d, taps[i].weight);
      const T* const from = image + taps[i].offset + c;
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) sum[v] = hn::MulAdd(weight, load(d, from + v * lanes), sum[v]);
    }
    MLUOPS_UNROLL
    for (int v = 0; v < kWide; ++v) store(sum[v], d, output + c + v * lanes);
  });
}

template <class T>
mluOpStatus_t by_queries(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t samples = s.levels * s.points, most = std::max<std::int64_t>(4 * samples, 1);
  const double head_ns =
      static_cast<double>(samples) * (kSampleNs + 4 * kChannelNs * static_cast<double>(s.channels)) + 5;
  const Loop loop(context, call, s.batch * s.queries, head_ns * static_cast<double>(s.heads));
  const std::int64_t bytes = round_up(most * static_cast<std::int64_t>(sizeof(Tap<A>)), Arena::kAlignment);
  std::byte* const room = context.arena.reserve_array<std::byte>(loop.slots(), bytes);
  if (room == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    auto* const taps = reinterpret_cast<Tap<A>*>(room + slot * bytes);
    for (std::int64_t row = begin; row < end; ++row) {
      const T* const image = static_cast<const T*>(p.value) + row / s.queries * s.keys * s.heads * s.channels;
      T* const output = static_cast<T*>(p.output) + row * s.heads * s.channels;
      for (std::int64_t head = 0; head < s.heads; ++head) {
        const std::int64_t count = list_taps<T>(p, row, head, taps);
        sum_taps(image, taps, count, s.channels, output + head * s.channels);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"queries", always<ForwardProblem>, by_queries<T>}};
  return run_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(forward, mluopsMsDeformAttnForwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(ms_deform_attn_forward, ms_deform_attn, forward, mluopsMsDeformAttnForwardProblem)

}  // namespace mluops::cpu
#endif
