// CARAFE forward: output pixel = sum over the taps of mask * input pixel under the tap.
//
// A task owns a block of input pixels and writes their s*s output pixels; nobody else does. Channels of s*s output
// pixels stay in registers while the taps go by, so each input value loaded is used s*s times. 2*K*K flops per output
// value: bound by arithmetic from K = 3 on, or by writing the output.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/carafe_forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/carafe_rows.h"
#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {

using carafe::Block, carafe::Range, carafe::Shape;

/// How the output is written: to the tensor; past the caches out of the registers, where tiles are whole cache lines;
/// or past the caches through a stage.
enum class Writing { kDirect, kStreamed, kStaged };

/// Bytes of an output row that are staged together: where they begin or end inside a cache line, that costs a read.
constexpr std::int64_t kStageBytes = 2048;

/// Input pixels whose outputs are staged together.
template <class T>
std::int64_t stage_columns(const Shape& s, std::int64_t block_columns) {
  return std::min(block_columns, ceil_div(kStageBytes, s.scale * s.c * static_cast<std::int64_t>(sizeof(T))));
}

template <class T>
Writing choose_writing(const mluopsCarafeForwardProblem& p, std::int64_t block_columns) {
  const Shape& s = p.shape;
  constexpr std::int64_t kTile = kTileVectors * kLanes<Acc<T>>, kSize = sizeof(T);
  if (!carafe::past_caches(s.n * s.ho * s.wo * s.c * kSize)) return Writing::kDirect;
  if (whole_lines(p.output, kTile * kSize) && s.c / s.group % kTile == 0) return Writing::kStreamed;
  const bool long_enough = stage_columns<T>(s, block_columns) * s.scale * s.c * kSize >= kStageBytes / 4;
  return long_enough ? Writing::kStaged : Writing::kDirect;
}

template <class T, int S>
struct Window : Taps<const Acc<T>, Acc<T>, S> {
  T* out[S];             ///< channels of each sub
  Widening<T> widening;  ///< channels of the group to be widened meanwhile

  using Taps<const Acc<T>, Acc<T>, S>::Taps;
};

/// Whether a pixel is widened a vector after each row of taps, and not all at once: stores wait less if they come one
/// by one. Emulated conversions need the registers.
template <class T>
constexpr bool kWidensMeanwhile = !kAddsInPlace<T> && HWY_TARGET <= HWY_AVX2;

/// Tiles of V vectors of channels of S output pixels, as many as begin in [begin, end). Per tap V vector and S scalar
/// loads feed S * V multiply-adds. All tiles in one call: what a call stores on the stack waits behind the sums.
template <bool kStream, int S, int V, class D, class T>
HWY_NOINLINE void window_sums(D d, const Window<T, S>& at, std::int64_t begin, std::int64_t end) {
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
        pixel = in_register(pixel + stride);
      } while (++tap != row_end);
      // The column the next window adds; touching memory outside the tensor this way is harmless. In the ring it is not
      // needed, and the hardware, guessing from such steps the next ones, takes lines out of the next slot's ring.
      if constexpr (kAddsInPlace<T>) {
        MLUOPS_UNROLL
        for (int v = 0; v < V; ++v) hwy::Prefetch(pixel + v * lanes);
      }
      reload(at);
      if (kWidensMeanwhile<T> && at.widening.from != nullptr && row - at.rows < V) {
        at.widening(d, c + (row - at.rows) * lanes);
      }
    }
    if (kWidensMeanwhile<T> && at.widening.from != nullptr && at.rows_end - at.rows < V) {
      at.widening.run(c + (at.rows_end - at.rows) * lanes, c + V * lanes);
    }
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) {
      T* const out = at.out[s] + c;
      MLUOPS_UNROLL
      for (int v = 0; v < V; ++v) {
        if constexpr (kStream) {
          stream(sum[s][v], d, out + v * lanes);
        } else {
          store(sum[s][v], d, out + v * lanes);
        }
      }
    }
  }
}

/// Where the channels of output pixels go: to the tensor, or to a stage that is written past the caches.
template <class T>
class Outputs {
 public:
  /// stage_columns 0: no stage.
  Outputs(const Shape& s, T* output, std::int64_t stage_columns, Carver& carver)
      : s_(s),
        output_(output),
        columns_(stage_columns),
        pitch_(columns_ > 0 ? columns_ * s.scale : s.wo),
        offsets_(s, pitch_, 1, carver),
        stage_(columns_ > 0 ? carver.take<T>(s.scale * pitch_ * s.c) : nullptr) {}

  /// Input pixels of a row in order.
  void move_to(std::int64_t n, std::int64_t row, std::int64_t column) {
    T* const target = output_ + carafe::first_sub(s_, n, row, column) * s_.c;
    if (columns_ > 0 && staged_ == 0) staged_target_ = target;
    first_ = columns_ > 0 ? stage_ + staged_++ * s_.scale * s_.c : target;
  }

  /// Channels of a sub.
  T* of(std::int64_t sub) const { return first_ + offsets_[sub] * s_.c; }

  /// After the last sub of an input pixel, which may be the last one of its row.
  void finish(bool last) {
    if (staged_ > 0 && (last || staged_ == columns_)) write_stage();
  }

 private:
  void write_stage() {
    const std::int64_t bytes = staged_ * s_.scale * s_.c * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t r = 0; r < s_.scale; ++r) {
      stream_copy(stage_ + r * pitch_ * s_.c, staged_target_ + r * s_.wo * s_.c, bytes);
    }
    staged_ = 0;
  }

  const Shape& s_;
  T* output_;
  std::int64_t columns_, pitch_;
  carafe::SubOffsets offsets_;
  T* stage_;
  std::int64_t staged_ = 0;     // input pixels in the stage
  T* staged_target_ = nullptr;  // where they belong
  T* first_ = nullptr;          // of sub 0
};

/// One call, with the scratch of one slot.
template <class T>
class Forward {
 public:
  Forward(const mluopsCarafeForwardProblem& p, std::int64_t block_columns, Writing writing, Carver carver)
      : s_(p.shape),
        writing_(writing),
        rows_(s_, static_cast<const T*>(p.input), block_columns, carver),
        masks_(s_, static_cast<const T*>(p.mask), carver),
        outputs_(s_, static_cast<T*>(p.output), writing == Writing::kStaged ? stage_columns<T>(s_, block_columns) : 0,
                 carver),
        scratch_bytes_(carver.bytes()) {}

  std::int64_t scratch_bytes() const { return scratch_bytes_; }

  void run(const Block& block) {
    rows_.begin(block);
    for (std::int64_t row = block.rows.begin; row < block.rows.end; ++row) {
      rows_.advance(row);
      masks_.begin_row(block.n, row, block.columns);
      for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) {
        rows_.reach(column);
        masks_.step();
        outputs_.move_to(block.n, row, column);
        for_subs(carafe::subs(s_),
                 [&](std::int64_t sub, auto count) HWY_ATTR { window<decltype(count)::value>(row, column, sub); });
        outputs_.finish(column + 1 == block.columns.end);
      }
    }
  }

 private:
  /// S output pixels from `sub` on.
  template <int S>
  void window(std::int64_t row, std::int64_t column, std::int64_t sub) {
    const std::int64_t per_group = s_.c / s_.group;
    const Range kh = carafe::taps_into(s_, row, {0, s_.h}), kw = carafe::taps_into(s_, column, {0, s_.w});
    const std::int64_t first_tap = kh.begin * s_.kernel + kw.begin;
    Window<T, S> at(s_, kh, kw, rows_.rows(), rows_.offset(column));
    if (kWidensMeanwhile<T> && sub == 0) at.widening = rows_.next();
    for (std::int64_t g = 0; g < s_.group; ++g, at.offset += per_group) {
      for (int i = 0; i < S; ++i) {
        at.mask[i] = masks_.of(sub + i) + g * carafe::taps(s_) + first_tap;
        at.out[i] = outputs_.of(sub + i) + g * per_group;
      }
      constexpr std::int64_t kTile = kTileVectors * kLanes<Acc<T>>;
      const std::int64_t tiled = per_group / kTile * kTile;
      if (tiled > 0) tiles(at, tiled);
      for_lanes<Acc<T>>(per_group - tiled, [&](auto d, std::int64_t c)
                                               HWY_ATTR { window_sums<false, S, 1>(d, at, tiled + c, tiled + c + 1); });
      if (at.widening.from != nullptr) at.widening.from += per_group, at.widening.to += per_group;
    }
  }

  /// The first channels of the group, in whole tiles.
  template <int S>
  void tiles(const Window<T, S>& at, std::int64_t channels) const {
    const FullTag<T> d;
    if (writing_ == Writing::kStreamed) {
      window_sums<true, S, kTileVectors>(d, at, 0, channels);
    } else {
      window_sums<false, S, kTileVectors>(d, at, 0, channels);
    }
  }

  const Shape& s_;
  Writing writing_;
  WindowRows<T> rows_;
  WindowMasks<T> masks_;
  Outputs<T> outputs_;
  std::int64_t scratch_bytes_;
};

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  const Shape& s = p.shape;
  const carafe::Blocks blocks(s, 2 * s.c * static_cast<std::int64_t>(sizeof(Acc<T>)), call.threads, 4, 32);
  const Writing writing = choose_writing<T>(p, blocks.columns());
  const std::int64_t slot_bytes = Forward<T>(p, blocks.columns(), writing, Carver()).scratch_bytes();
  const double work = static_cast<double>(blocks.pixels() * carafe::subs(s) * carafe::taps(s) * s.c);
  const Loop loop(context, call, blocks.count(), carafe::multiply_add_ns(work));
  std::byte* const scratch = context.scratch.reserve(slot_bytes * loop.slots());
  if (scratch == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Forward<T> task(p, blocks.columns(), writing, Carver(scratch + slot * slot_bytes));
    for (std::int64_t item = begin; item < end; ++item) task.run(blocks.at(item));
    if (writing != Writing::kDirect) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

MLUOPS_CPU_KERNEL(carafe_forward, mluopsCarafeForwardProblem, forward, with_element)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(carafe_forward, mluopsCarafeForwardProblem)

}  // namespace mluops::cpu
#endif
