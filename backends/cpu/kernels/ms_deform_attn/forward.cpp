// MsDeformAttn forward: each head of each query sums the channels of four pixels for each of its samples.
//
// value [B,S,M,D], output [B,Q,M,D]. An item is a query with all its heads and owns its row of the output. The pixels
// and weights of a head's samples are listed, a vector of samples at a time, while the head before is summed: they are
// on their way to the first cache by then. Channels are summed over the list in registers, in four chains, so that an
// addition need not wait for the one before. Two flops for each channel read: bound by the caches the maps lie in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ms_deform_attn/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/ms_deform_attn/samples-inl.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/ms_deform_attn.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// The pixels of a head's samples that are on their maps, and their weights in the sum.
template <class A>
struct Taps {
  std::int32_t* key;
  A* weight;
  std::int64_t count = 0;

  Taps(Allocator& allocator, const Shape& s)
      : key(allocator.allocate<std::int32_t>(4, round_up(samples_of(s), kPad) + kPad)),
        weight(allocator.allocate<A>(4, round_up(samples_of(s), kPad) + kPad)) {}
};

/// Scratch of a thread: the head at hand and the next one.
template <class A>
struct HeadScratch {
  Samples<A> samples;
  Taps<A> taps[2];

  HeadScratch(Allocator& allocator, const Shape& s)
      : samples(allocator, samples_of(s)), taps{Taps<A>(allocator, s), Taps<A>(allocator, s)} {}
};

using ForwardProblem = mluopsMsDeformAttnForwardProblem;

/// Lists the pixels that are on their maps.
template <class A>
HWY_INLINE void list_taps(const Samples<A>& samples, std::int64_t count, Taps<A>& taps) {
  taps.count = 0;
  for (int k = 0; k < 4; ++k) {
    if constexpr (HWY_TARGET <= HWY_AVX3 && sizeof(A) == 4) {
      const hn::ScalableTag<A> d;
      const hn::RebindToSigned<decltype(d)> di;
      for (std::int64_t i = 0; i < count; i += kLanes<A>) {
        const auto key = hn::LoadU(di, samples.key[k] + i);
        const auto on_map = hn::And(hn::Gt(key, hn::Set(di, -1)), hn::FirstN(di, static_cast<std::size_t>(count - i)));
        const auto weight = hn::Mul(hn::LoadU(d, samples.weight[k] + i), hn::LoadU(d, samples.attn + i));
        // In registers: some processors take a hundred cycles for a compressing store. Without such an instruction
        // Highway 1.0 takes as long: its table is copied to the stack each time.
        hn::StoreU(hn::Compress(weight, hn::RebindMask(d, on_map)), d, taps.weight + taps.count);
        hn::StoreU(hn::Compress(key, on_map), di, taps.key + taps.count);
        taps.count += static_cast<std::int64_t>(hn::CountTrue(di, on_map));
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        taps.key[taps.count] = samples.key[k][i];
        taps.weight[taps.count] = samples.weight[k][i] * samples.attn[i];
        taps.count += samples.key[k][i] >= 0 ? 1 : 0;
      }
    }
  }
}

/// The weighted sum of the taps' channels, kWide vectors of them.
template <int kWide, class T, class E, class D>
HWY_INLINE void sum_taps(D d, const Taps<Acc<T>>& taps, const E* value, std::int64_t step, T* output) {
  constexpr int kChains = 4;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[kChains][kWide];
  MLUOPS_UNROLL
  for (int i = 0; i < kChains * kWide; ++i) sum[i / kWide][i % kWide] = hn::Zero(d);
  const auto add = [&](std::int64_t tap, hn::Vec<D>* HWY_RESTRICT to) HWY_ATTR {
    const auto weight = hn::Set(d, taps.weight[tap]);
    const E* const from = value + taps.key[tap] * step;
    MLUOPS_UNROLL
    for (int v = 0; v < kWide; ++v) to[v] = hn::MulAdd(weight, load(d, from + v * lanes), to[v]);
  };
  std::int64_t i = 0;
  for (; i + kChains <= taps.count; i += kChains) {
    MLUOPS_UNROLL
    for (int k = 0; k < kChains; ++k) add(i + k, sum[k]);
  }
  for (; i < taps.count; ++i) add(i, sum[0]);
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) {
    store(hn::Add(hn::Add(sum[0][v], sum[1][v]), hn::Add(sum[2][v], sum[3][v])), d, output + v * lanes);
  }
}

/// Queries with all their heads, one after the other.
template <class T>
class QueryRun {
 public:
  using A = Acc<T>;

  QueryRun(const ForwardProblem& p, const SampleLevels<A>& levels, HeadScratch<A>& scratch)
      : p_(p), s_(p.shape), levels_(levels), scratch_(scratch), step_(s_.heads * s_.channels) {}

  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * s_.heads, last = end * s_.heads;
    list(first);
    for (std::int64_t item = first; item < last; ++item) {
      if (item + 1 < last) list(item + 1);
      const T* const value = value_of(item);
      T* const output = static_cast<T*>(p_.output) + item * s_.channels;
      for_wide<A, 2>(s_.channels, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
        sum_taps<decltype(vectors)::value>(d, scratch_.taps[item % 2], value + c, step_, output + c);
      });
    }
  }

 private:
  /// The first key's channels of a head of a query. Without keys there are no taps, and nothing is read.
  const T* value_of(std::int64_t item) const {
    if (s_.keys == 0) return static_cast<const T*>(p_.output);
    return static_cast<const T*>(p_.value) + item / s_.heads / s_.queries * s_.keys * step_ +
           item % s_.heads * s_.channels;
  }
  void list(std::int64_t item) {
    find_samples<T>(p_, levels_, item * samples_of(s_), scratch_.samples);
    Taps<A>& taps = scratch_.taps[item % 2];
    list_taps(scratch_.samples, samples_of(s_), taps);
    const T* const value = value_of(item);
    for (std::int64_t i = 0; i < taps.count; ++i) prefetch(value_barrier(value + taps.key[i] * step_), s_.channels);
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const SampleLevels<A>& levels_;
  HeadScratch<A>& scratch_;
  std::int64_t step_;
};

template <class A>
struct ForwardArrays {
  SampleLevels<A> levels;
  SlotScratch<HeadScratch<A>> scratch;

  ForwardArrays(Allocator& allocator, const Shape& s, int slots)
      : levels(allocator, samples_of(s)), scratch(allocator, slots, s) {}
};

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  const Shape& s = p.shape;
  const double head_ns =
      static_cast<double>(samples_of(s)) * (cost::kStep + 4 * cost::kMultiplyAdd * static_cast<double>(s.channels)) + 5;
  const Loop loop(context, call, s.batch * s.queries, head_ns * static_cast<double>(s.heads));
  const auto arrays = allocate<ForwardArrays<A>>(context.arena, s, loop.slots());
  if (!arrays) return no_memory(call);
  arrays->levels.fill(p, 0, samples_of(s));
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    HeadScratch<A> scratch = arrays->scratch.of(slot, s);
    QueryRun<T>(p, arrays->levels, scratch).run(begin, end);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(ms_deform_attn_forward, ms_deform_attn, forward, mluopsMsDeformAttnForwardProblem, with_element)
