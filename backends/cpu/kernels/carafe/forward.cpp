// CARAFE forward: output pixel = sum over the taps of mask * input pixel under the tap.
// input [n,h,w,c], mask [n,s*h,s*w,group*K*K], output [n,s*h,s*w,c]; in NCHW channels come behind n.
// A task owns a block of input pixels and writes their s*s output pixels; nobody else does. Channels of s*s output
// pixels stay in registers while the taps go by, so each input value loaded is used s*s times. 2*K*K flops per output
// value: bound by arithmetic from K = 3 on, or by writing the output.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/carafe/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/carafe/group_planes-inl.h"
#include "backends/cpu/kernels/carafe/rows-inl.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/carafe.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class T, int S>
struct Window : Taps<const Acc<T>, Acc<T>, S> {
  T* out[S];  ///< channels of each phase

  using Taps<const Acc<T>, Acc<T>, S>::Taps;
};

/// Tiles of V vectors of channels of S output pixels, as many as begin in [begin, end). Per tap V vector and S scalar
/// loads feed S * V multiply-adds. All tiles in one call: what a call stores on the stack waits behind the sums.
template <int S, int V, class D, class T>
HWY_NOINLINE void window_sums(D d, const Window<T, S>& at, std::int64_t begin, std::int64_t end, bool non_temporal) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Acc<T>* HWY_RESTRICT mask[S];
  MLUOPS_UNROLL
  for (int s = 0; s < S; ++s) mask[s] = at.mask[s];
  const std::int64_t stride = at.stride;
  for (std::int64_t c = begin; c < end; c += V * lanes) {
    hn::Vec<D> sum[S][V];
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) {
      MLUOPS_UNROLL
      for (int v = 0; v < V; ++v) sum[s][v] = hn::Zero(d);
    }
    std::int64_t tap = 0;
    for (const Acc<T>* const* row = at.rows; row != at.rows_end; ++row, tap += at.skip) {
      const Acc<T>* HWY_RESTRICT pixel = *row + at.offset + c;
      const std::int64_t row_end = tap + at.columns;
      do {
        hn::Vec<D> in[V];
        MLUOPS_UNROLL
        for (int v = 0; v < V; ++v) in[v] = hn::LoadU(d, pixel + v * lanes);
        MLUOPS_UNROLL
        for (int s = 0; s < S; ++s) {
          const auto weight = hn::Set(d, mask[s][tap]);
          MLUOPS_UNROLL
          for (int v = 0; v < V; ++v) sum[s][v] = hn::MulAdd(weight, in[v], sum[s][v]);
        }
        pixel = value_barrier(pixel + stride);
      } while (++tap != row_end);
      // The column the next window adds; touching memory outside the tensor this way is harmless. In the ring it is not
      // needed, and the hardware, guessing from such steps the next ones, takes lines out of the next slot's ring.
      if constexpr (kAddsInPlace<T>) {
        MLUOPS_UNROLL
        for (int v = 0; v < V; ++v) hwy::Prefetch(pixel + v * lanes);
      }
      reload_barrier(at);
    }
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) {
      T* const out = at.out[s] + c;
      MLUOPS_UNROLL
      for (int v = 0; v < V; ++v) store(non_temporal, sum[s][v], d, out + v * lanes);
    }
  }
}

/// One thread's blocks. In NCHW a block's row of results waits in scratch to be transposed.
template <class T>
class Forward {
 public:
  using Problem = mluopsCarafeForwardProblem;

  Forward(Allocator& allocator, const Problem& p, const Blocks& blocks)
      : s_(p.shape),
        map_(output_map(s_, s_.c, p.layout)),
        output_(static_cast<T*>(p.output)),
        non_temporal_(leaves_caches(s_.n * s_.ho * s_.wo * s_.c * kSize)),
        rows_(s_, p.layout, static_cast<const T*>(p.input), blocks.columns(), allocator),
        masks_(s_, output_map(s_, mask_row(s_), p.layout), static_cast<const T*>(p.mask), blocks.columns(), allocator),
        pitch_((map_.planes ? blocks.columns() * s_.scale : s_.wo) * s_.c),
        offsets_(s_, pitch_, s_.c, allocator),
        stage_(map_.planes ? allocator.allocate<T>(s_.scale, pitch_) : nullptr) {}

  void run(const Block& block) {
    rows_.begin(block);
    for (std::int64_t row = block.rows.begin; row < block.rows.end; ++row) {
      rows_.advance(row);
      masks_.begin_row(block.n, row, block.columns);
      run_row(block, row, map_.planes ? stage_ : output_ + first(block, row));
      if (map_.planes) write_planes(block, row);
    }
  }

 private:
  static constexpr std::int64_t kSize = sizeof(T), kTile = kTileVectors * kLanes<Acc<T>>;

  /// The first output pixel over the block's part of a row.
  std::int64_t first(const Block& block, std::int64_t row) const {
    return map_.at(block.n, row * s_.scale, block.columns.begin * s_.scale);
  }

  void run_row(const Block& block, std::int64_t row, T* out) {
    for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column, out += s_.scale * s_.c) {
      rows_.step();
      masks_.step();
      for_phases(phases(s_), [&](std::int64_t phase, auto count)
                                 HWY_ATTR { window<decltype(count)::value>(row, column, phase, out); });
    }
  }

  /// S output pixels from `phase` on; phase 0 goes to `out`.
  template <int S>
  void window(std::int64_t row, std::int64_t column, std::int64_t phase, T* out) {
    const std::int64_t per_group = s_.c / s_.group, tiled = round_down(per_group, kTile);
    const Range kh = taps_into(s_, row, {0, s_.h}), kw = taps_into(s_, column, {0, s_.w});
    const std::int64_t first_tap = kh.begin * s_.kernel + kw.begin;
    const bool past_caches = non_temporal_ && per_group == tiled && whole_lines(output_, kTile * kSize);
    Window<T, S> at(s_, kh, kw, rows_.rows(), rows_.offset(column));
    for (std::int64_t g = 0; g < s_.group; ++g, at.offset += per_group) {
      for (int i = 0; i < S; ++i) {
        at.mask[i] = masks_.of(column, phase + i) + g * taps(s_) + first_tap;
        at.out[i] = out + offsets_[phase + i] + g * per_group;
      }
      if (tiled > 0) window_sums<S, kTileVectors>(FullTag<T>(), at, 0, tiled, past_caches && !map_.planes);
      for_each_overlapping<Acc<T>>(per_group - tiled, [&](auto d, std::int64_t c) HWY_ATTR {
        window_sums<S, 1>(d, at, tiled + c, tiled + c + 1, false);
      });
    }
  }

  void write_planes(const Block& block, std::int64_t row) const {
    const bool whole = block.columns.size() == s_.w;
    const std::int64_t count = block.columns.size() * s_.scale, run = whole ? s_.scale * count : count;
    for (std::int64_t r = 0; r < (whole ? 1 : s_.scale); ++r) {
      transpose_panel(non_temporal_ && long_run<T>(run), moved<const T>(stage_ + r * pitch_), s_.c, run, s_.c,
                      moved(output_ + first(block, row) + r * s_.wo), map_.pixels);
    }
  }

  const Shape& s_;
  Map map_;
  T* output_;
  bool non_temporal_;
  WindowRows<T> rows_;
  PhaseRows<T> masks_;
  std::int64_t pitch_;  // from one row of output pixels to the next
  PhaseOffsets offsets_;
  T* stage_;
};

template <class T>
mluOpStatus_t by_blocks(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  const Shape& s = p.shape;
  const Blocks blocks(s, 2 * s.c * static_cast<std::int64_t>(sizeof(Acc<T>)), call.threads, 4, 32,
                      p.layout == MLUOP_LAYOUT_NCHW ? kPlanesCacheParts : kCacheParts);
  const auto tasks = allocate<SlotScratch<Forward<T>>>(context.arena, call.threads, p, blocks);
  if (!tasks) return no_memory(call);
  run_blocks(context, call, blocks, static_cast<double>(blocks.pixels() * phases(s) * taps(s) * s.c), *tasks, p,
             blocks);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  using Problem = mluopsCarafeForwardProblem;
  static constexpr Path<Problem> kPaths[] = {
      {"nchw_groups", few_group_channels<T, 4, Problem>, by_group_planes<GroupForward<T>, Problem>},
      {"blocks", always<Problem>, by_blocks<T>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(carafe_forward, carafe, forward, mluopsCarafeForwardProblem, with_element)
