// CARAFE forward: output pixel = sum over the taps of mask * input pixel under the tap.
// input [n,h,w,c], mask [n,s*h,s*w,group*K*K], output [n,s*h,s*w,c].
// A task owns a block of input pixels and writes their s*s output pixels; nobody else does. Channels of s*s output
// pixels stay in registers while the taps go by, so each input value loaded is used s*s times. 2*K*K flops per output
// value: bound by arithmetic from K = 3 on, or by writing the output.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/carafe/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/carafe/planes-inl.h"
#include "backends/cpu/kernels/carafe/rows-inl.h"
#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class T>
Blocks forward_blocks(const mluopsCall& call, const Shape& s, std::int64_t cache_parts) {
  return Blocks(s, 2 * s.c * static_cast<std::int64_t>(sizeof(Acc<T>)), call.threads, 4, 32, cache_parts);
}

template <class T>
bool large_output(const Shape& s) {
  return leaves_caches(s.n * s.ho * s.wo * s.c * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
Fit non_temporal_applies(const Context&, const mluopsCall&, const mluopsCarafeForwardProblem& p) {
  constexpr std::int64_t kTile = kTileVectors * kLanes<Acc<T>>, kSize = sizeof(T);
  const bool whole_tiles = p.shape.c / p.shape.group % kTile == 0;
  return fit(whole_lines(p.output, kTile * kSize) && whole_tiles, large_output<T>(p.shape));
}

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

/// Where the channels of output pixels go.
template <class T>
class Outputs {
 public:
  Outputs(const Shape& s, T* output, Allocator& allocator)
      : s_(s), output_(output), offsets_(s, s.wo * s.c, s.c, allocator) {}

  void look_at(T* output) { output_ = output; }
  void move_to(std::int64_t n, std::int64_t row, std::int64_t column) {
    first_ = output_ + first_phase(s_, n, row, column) * s_.c;
  }
  /// Channels of a phase.
  T* of(std::int64_t phase) const { return first_ + offsets_[phase]; }

 private:
  const Shape& s_;
  T* output_;
  PhaseOffsets offsets_;  // in elements
  T* first_ = nullptr;    // of phase 0
};

/// One call, with one slot's part of the arena. Rows: WindowRows or what stands for it.
template <class T, class Rows = WindowRows<T>>
class Forward {
 public:
  Forward(const mluopsCarafeForwardProblem& p, std::int64_t block_columns, bool non_temporal, Allocator allocator)
      : s_(p.shape),
        non_temporal_(non_temporal),
        rows_(s_, static_cast<const T*>(p.input), block_columns, allocator),
        masks_(s_, static_cast<const T*>(p.mask), allocator),
        outputs_(s_, static_cast<T*>(p.output), allocator),
        arena_bytes_(allocator.bytes()) {}

  std::int64_t arena_bytes() const { return arena_bytes_; }

  void run(const Block& block) {
    begin(block);
    for (std::int64_t row = block.rows.begin; row < block.rows.end; ++row) run_row(block, row);
  }

  void begin(const Block& block) { rows_.begin(block); }
  Rows& rows() { return rows_; }
  /// Other tensors from the next row on.
  void look_at(const T* mask, T* output) {
    masks_.look_at(mask);
    outputs_.look_at(output);
  }

  /// A row of the block, or some of its columns, in order.
  void run_row(const Block& block, std::int64_t row) {
    rows_.advance(row);
    masks_.begin_row(block.n, row, block.columns);
    for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) {
      rows_.reach(column);
      masks_.step();
      outputs_.move_to(block.n, row, column);
      for_phases(phases(s_),
                 [&](std::int64_t phase, auto count) HWY_ATTR { window<decltype(count)::value>(row, column, phase); });
    }
  }

 private:
  /// S output pixels from `phase` on.
  template <int S>
  void window(std::int64_t row, std::int64_t column, std::int64_t phase) {
    const std::int64_t per_group = s_.c / s_.group;
    const Range kh = taps_into(s_, row, {0, s_.h}), kw = taps_into(s_, column, {0, s_.w});
    const std::int64_t first_tap = kh.begin * s_.kernel + kw.begin;
    Window<T, S> at(s_, kh, kw, rows_.rows(), rows_.offset(column));
    for (std::int64_t g = 0; g < s_.group; ++g, at.offset += per_group) {
      for (int i = 0; i < S; ++i) {
        at.mask[i] = masks_.of(phase + i) + g * taps(s_) + first_tap;
        at.out[i] = outputs_.of(phase + i) + g * per_group;
      }
      constexpr std::int64_t kTile = kTileVectors * kLanes<Acc<T>>;
      const std::int64_t tiled = per_group / kTile * kTile;
      if (tiled > 0) window_sums<S, kTileVectors>(FullTag<T>(), at, 0, tiled, non_temporal_);
      for_lanes<Acc<T>>(per_group - tiled, [&](auto d, std::int64_t c)
                                               HWY_ATTR { window_sums<S, 1>(d, at, tiled + c, tiled + c + 1, false); });
    }
  }

  const Shape& s_;
  bool non_temporal_;
  Rows rows_;
  WindowMasks<T> masks_;
  Outputs<T> outputs_;
  std::int64_t arena_bytes_;
};

/// On NCHW tensors. Results are transposed a few rows, or a part of a row, at a time: as many as leave room in the
/// second cache, in runs of planes as long as can be.
template <class T>
class PlanesForward {
 public:
  PlanesForward(const mluopsCarafeForwardProblem& p, std::int64_t block_columns, bool, Allocator allocator)
      : p_(p),
        rows_held_(block_columns < p.shape.w ? 1 : std::max<std::int64_t>(1, fitting_pixels(p.shape) / p.shape.w)),
        columns_held_(even_share(block_columns, fitting_pixels(p.shape))),
        masks_(p.shape, mask_row(p.shape), 1, allocator),
        outputs_(p.shape, p.shape.c, rows_held_, allocator),
        forward_(p, block_columns, false, allocator) {}

  std::int64_t arena_bytes() const { return forward_.arena_bytes(); }

  void run(const Block& block) {
    forward_.begin(block);
    for (std::int64_t row = block.rows.begin; row < block.rows.end; row += rows_held_) {
      const Range rows{row, std::min(block.rows.end, row + rows_held_)};
      for (std::int64_t column = block.columns.begin; column < block.columns.end; column += columns_held_) {
        run_part({block.n, rows, {column, std::min(block.columns.end, column + columns_held_)}});
      }
    }
  }

 private:
  /// Input pixels whose results are held.
  static std::int64_t fitting_pixels(const Shape& s) {
    const std::int64_t bytes = phases(s) * s.c * static_cast<std::int64_t>(sizeof(T));
    return std::max<std::int64_t>(kPanelTile<Moved<T>>, second_cache(20) / bytes);
  }

  void run_part(const Block& part) {
    const T* const masks = static_cast<const T*>(p_.mask);
    for (std::int64_t row = part.rows.begin; row < part.rows.end; ++row) {
      const Block line{part.n, {row, row + 1}, part.columns};
      masks_.read(masks, line);
      forward_.rows().prefetch_too(masks_.ahead(masks, line));
      forward_.look_at(masks_.origin(line), outputs_.origin(part));
      forward_.run_row(line, row);
    }
    outputs_.write(static_cast<T*>(p_.output), part);
  }

  const mluopsCarafeForwardProblem& p_;
  std::int64_t rows_held_, columns_held_;
  OutputRows<T> masks_, outputs_;
  Forward<T, PlaneRows<T>> forward_;
};

template <class T, class Task>
mluOpStatus_t forward_by(bool non_temporal, Context& context, const mluopsCall& call,
                         const mluopsCarafeForwardProblem& p) {
  const Shape& s = p.shape;
  const Blocks blocks = forward_blocks<T>(call, s, p.layout == MLUOP_LAYOUT_NCHW ? kPlanesCacheParts : kCacheParts);
  const std::int64_t slot_bytes = Task(p, blocks.columns(), non_temporal, Allocator()).arena_bytes();
  const double work = static_cast<double>(blocks.pixels() * phases(s) * taps(s) * s.c);
  const Loop loop(context, call, blocks.count(), cost::kMultiplyAdd * work);
  std::byte* const block = context.arena.reserve_array<std::byte>(slot_bytes, loop.slots());
  if (block == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Task task(p, blocks.columns(), non_temporal, Allocator(block + slot * slot_bytes));
    for (std::int64_t item = begin; item < end; ++item) task.run(blocks.at(item));
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T, bool kNonTemporal, class Task = Forward<T>>
mluOpStatus_t forward_writing(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  return forward_by<T, Task>(kNonTemporal, context, call, p);
}

/// Whether a row of the map is long enough to be transposed in registers.
template <class T>
Fit planes_apply(const Context&, const mluopsCall&, const mluopsCarafeForwardProblem& p) {
  return fit(true, p.shape.w >= kPanelTile<Moved<T>>);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  using Problem = mluopsCarafeForwardProblem;
  static constexpr Path<Problem> kPaths[] = {
      {"non_temporal", non_temporal_applies<T>, forward_writing<T, true>},
      {"cached", always<Problem>, forward_writing<T, false>},
  };
  static constexpr Path<Problem> kNchwPaths[] = {
      {"nchw_rows", planes_apply<T>, forward_writing<T, false, PlanesForward<T>>},
      layout::kTransposed<operators::carafe_forward, Problem>,
  };
  return p.layout == MLUOP_LAYOUT_NCHW ? run_path(context, call, p, kNchwPaths) : run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(carafe_forward, carafe, forward, mluopsCarafeForwardProblem, with_element)
