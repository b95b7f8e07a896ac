// CARAFE forward: output pixel = sum over the taps of mask * input pixel under the tap.
//
// A task owns a block of input pixels and writes their s*s output pixels; nobody else does. Channels of s*s output
// pixels stay in registers while the taps go by, so each input value loaded is used s*s times. 2*K*K flops per output
// value: bound by arithmetic from K = 3 on, or by writing the output.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/carafe_forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/carafe_rows.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {

using carafe::Block, carafe::Range, carafe::Shape;

/// One window of one group: where its taps are, where its outputs go.
template <class T, int S>
struct Window {
  Range kh, kw;
  std::int64_t kernel, column_stride;
  const Acc<T>* const* rows;
  std::int64_t offset;    // of tap column 0 in a row, group included
  const Acc<T>* mask[S];  // K*K taps of each sub
  T* out[S];              // channels of each sub
};

/// One tile of channels of S output pixels. Per tap V vector and S scalar loads feed S * V multiply-adds.
template <bool kStream, int S, int V, class D, class T>
HWY_INLINE void window_sum(D d, const Window<T, S>& at, std::int64_t c) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[S][V];
  MLUOPS_UNROLL
  for (int s = 0; s < S; ++s) {
    MLUOPS_UNROLL
    for (int v = 0; v < V; ++v) sum[s][v] = hn::Zero(d);
  }
  const Acc<T>* HWY_RESTRICT mask[S];
  MLUOPS_UNROLL
  for (int s = 0; s < S; ++s) mask[s] = at.mask[s] + at.kh.begin * at.kernel;
  const std::int64_t stride = at.column_stride, first = at.offset + at.kw.begin * stride + c;
  const Range kw = at.kw;
  for (std::int64_t kh = at.kh.begin; kh < at.kh.end; ++kh) {
    const Acc<T>* HWY_RESTRICT pixel = at.rows[kh] + first;
    for (std::int64_t k = kw.begin; k < kw.end; ++k, pixel += stride) {
      hn::Vec<D> in[V];
      MLUOPS_UNROLL
      for (int v = 0; v < V; ++v) in[v] = hn::LoadU(d, pixel + v * lanes);
      MLUOPS_UNROLL
      for (int s = 0; s < S; ++s) {
        const auto weight = hn::Set(d, mask[s][k]);
        MLUOPS_UNROLL
        for (int v = 0; v < V; ++v) sum[s][v] = hn::MulAdd(weight, in[v], sum[s][v]);
      }
    }
    // The column the next window adds; touching memory outside the tensor this way is harmless.
    MLUOPS_UNROLL
    for (int v = 0; v < V; ++v) hwy::Prefetch(pixel + v * lanes);
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) mask[s] += at.kernel;
  }
  MLUOPS_UNROLL
  for (int s = 0; s < S; ++s) {
    MLUOPS_UNROLL
    for (int v = 0; v < V; ++v) {
      if constexpr (kStream) {
        stream(sum[s][v], d, at.out[s] + c + v * lanes);
      } else {
        store(sum[s][v], d, at.out[s] + c + v * lanes);
      }
    }
  }
}

/// All channels of S output pixels of a window.
template <int S, class T>
void window_sums(const Window<T, S>& at, std::int64_t channels, bool past_caches) {
  for_wide<Acc<T>, kTileVectors>(channels, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int V = decltype(vectors)::value;
    if (past_caches && hn::MaxLanes(d) == hn::MaxLanes(FullTag<T>{})) {
      window_sum<true, S, V>(d, at, c);
    } else {
      window_sum<false, S, V>(d, at, c);
    }
  });
}

/// One call, with the scratch of one slot.
template <class T>
class Forward {
 public:
  Forward(const mluopsCarafeForwardProblem& p, std::int64_t block_columns, bool past_caches, Carver carver)
      : s_(p.shape),
        output_(static_cast<T*>(p.output)),
        past_caches_(past_caches),
        rows_(s_, static_cast<const T*>(p.input), block_columns, carver),
        masks_(s_, static_cast<const T*>(p.mask), carver),
        scratch_bytes_(carver.bytes()) {}

  std::int64_t scratch_bytes() const { return scratch_bytes_; }

  void run(const Block& block) {
    rows_.begin(block);
    for (std::int64_t row = block.rows.begin; row < block.rows.end; ++row) {
      rows_.advance(row);
      for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) {
        masks_.move_to(block.n, row, column);
        for_subs(carafe::subs(s_), [&](std::int64_t sub, auto count)
                                       HWY_ATTR { pixel<decltype(count)::value>(block.n, row, column, sub); });
      }
    }
  }

 private:
  template <int S>
  void pixel(std::int64_t n, std::int64_t row, std::int64_t column, std::int64_t sub) const {
    const std::int64_t per_group = s_.c / s_.group;
    Window<T, S> at;
    at.kh = carafe::taps_into(s_, row, {0, s_.h});
    at.kw = carafe::taps_into(s_, column, {0, s_.w});
    at.kernel = s_.kernel;
    at.column_stride = s_.c;
    at.rows = rows_.rows();
    for (std::int64_t g = 0; g < s_.group; ++g) {
      at.offset = rows_.offset(column) + g * per_group;
      for (int i = 0; i < S; ++i) {
        at.mask[i] = masks_.of(sub + i) + g * carafe::taps(s_);
        at.out[i] = output_ + carafe::out_pixel(s_, n, row, column, sub + i) * s_.c + g * per_group;
      }
      window_sums<S>(at, per_group, past_caches_);
    }
  }

  const Shape& s_;
  T* output_;
  bool past_caches_;
  WindowRows<T> rows_;
  WindowMasks<T> masks_;
  std::int64_t scratch_bytes_;
};

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const Shape& s = p.shape;
  const carafe::Blocks blocks(s, 2 * s.c * static_cast<std::int64_t>(sizeof(Acc<T>)), call.threads, 4, 32);
  const bool past_caches = streams(p.output, s.n * s.ho * s.wo * s.c * kSize, s.c / s.group * kSize);
  const std::int64_t slot_bytes = Forward<T>(p, blocks.columns(), past_caches, Carver()).scratch_bytes();
  const double work = static_cast<double>(blocks.pixels() * carafe::subs(s) * carafe::taps(s) * s.c);
  const Loop loop(context, call, blocks.count(), carafe::multiply_add_ns(work));
  std::byte* const scratch = context.scratch.reserve(slot_bytes * loop.slots());
  if (scratch == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Forward<T> task(p, blocks.columns(), past_caches, Carver(scratch + slot * slot_bytes));
    for (std::int64_t item = begin; item < end; ++item) task.run(blocks.at(item));
    if (past_caches) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t run_carafe_forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return forward<typename decltype(tag)::type>(context, call, p); });
}

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

HWY_EXPORT(run_carafe_forward);

mluOpStatus_t carafe_forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_carafe_forward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
