// CARAFE backward: grad_mask = dot products over channels of input and grad_output; grad_input = grad_output spread
// over the window with the mask. input [n,h,w,c], mask [n,s*h,s*w,group*K*K], grad_output [n,s*h,s*w,c].
//
// A task owns a block of input pixels: it writes their grad_input and the grad_mask of their s*s output pixels. For
// grad_input it also reads the output pixels whose windows reach into the block, and adds in the order of source rows
// and columns, so the bits do not depend on how the map is cut. With atomic additions a task adds outside its block
// instead. 4*K*K flops per value of grad_output: bound by arithmetic from K = 3 on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/carafe/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/carafe/grad_mask-inl.h"
#include "backends/cpu/kernels/carafe/rows-inl.h"
#include "backends/cpu/layout/nchw.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {
// ---- grad_input ------------------------------------------------------------------------------

template <class T, int S>
struct Source : Taps<Acc<T>, Acc<T>, S> {
  const T* gradient[S];  ///< channels of each phase

  using Taps<Acc<T>, Acc<T>, S>::Taps;
};

template <bool kAtomic, class D, class A>
HWY_INLINE void add_up(D d, hn::Vec<D> sum, A* HWY_RESTRICT to) {
  if constexpr (kAtomic) {
    HWY_ALIGN A values[hn::MaxLanes(D())];
    hn::Store(sum, d, values);
    atomic_add_row(to, values, static_cast<std::int64_t>(hn::Lanes(d)));
  } else {
    hn::StoreU(sum, d, to);
  }
}

/// Adds tiles of V vectors of channels of S output pixels, as many as begin in [begin, end), to all pixels of their
/// window. grad_output stays in registers. All tiles in one call: what
/// a call stores on the stack waits behind the sums.
template <bool kAtomic, int S, int V, class D, class T>
HWY_NOINLINE void scatter_tiles(D d, const Source<T, S>& at, std::int64_t begin, std::int64_t end) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Acc<T>* HWY_RESTRICT mask[S];
  MLUOPS_UNROLL
  for (int s = 0; s < S; ++s) mask[s] = at.mask[s];
  const std::int64_t stride = at.stride;
  for (std::int64_t c = begin; c < end; c += V * lanes) {
    hn::Vec<D> in[S][V];
    MLUOPS_UNROLL
    for (int s = 0; s < S; ++s) {
      MLUOPS_UNROLL
      for (int v = 0; v < V; ++v) in[s][v] = load(d, at.gradient[s] + c + v * lanes);
    }
    std::int64_t tap = 0;
    for (Acc<T>* const* row = at.rows; row != at.rows_end; ++row, tap += at.skip) {
      Acc<T>* HWY_RESTRICT pixel = *row + at.offset + c;
      const std::int64_t row_end = tap + at.columns;
      do {
        hn::Vec<D> sum[V];
        MLUOPS_UNROLL
        for (int v = 0; v < V; ++v) sum[v] = kAtomic ? hn::Zero(d) : hn::LoadU(d, pixel + v * lanes);
        MLUOPS_UNROLL
        for (int s = 0; s < S; ++s) {
          const auto weight = hn::Set(d, mask[s][tap]);
          MLUOPS_UNROLL
          for (int v = 0; v < V; ++v) sum[v] = hn::MulAdd(weight, in[s][v], sum[v]);
        }
        MLUOPS_UNROLL
        for (int v = 0; v < V; ++v) add_up<kAtomic>(d, sum[v], pixel + v * lanes);
        pixel += stride;
      } while (++tap != row_end);
      reload_barrier(at);
    }
  }
}

/// The sums that the windows of a row add to.
template <class T>
struct Targets {
  Acc<T>* const* rows;        ///< under tap row kh: rows[kh]
  std::int64_t first_column;  ///< the column that the rows begin with
};

/// Scatters all output pixels of one window.
template <bool kAtomic, class T>
class WindowScatter {
 public:
  WindowScatter(const mluopsCarafeBackwardProblem& p, Allocator& allocator)
      : s_(p.shape),
        grad_output_(static_cast<const T*>(p.grad_output)),
        offsets_(s_, s_.wo, 1, allocator),
        masks_(s_, static_cast<const T*>(p.mask), allocator) {}

  /// Before the windows of a row, which come one after the other.
  void begin_row(std::int64_t n, std::int64_t row, Range columns) { masks_.begin_row(n, row, columns); }

  void window(std::int64_t n, std::int64_t row, std::int64_t column, Range kh, Range kw, const Targets<T>& to) {
    masks_.step();
    const T* const gradient = grad_output_ + first_phase(s_, n, row, column) * s_.c;
    const std::int64_t first = column - radius(s_), offset = (first - to.first_column) * s_.c;
    const std::int64_t first_tap = kh.begin * s_.kernel + kw.begin;
    for_phases(phases(s_), [&](std::int64_t phase, auto count) HWY_ATTR {
      constexpr int S = decltype(count)::value;
      Source<T, S> at(s_, kh, kw, to.rows, offset);
      for (int i = 0; i < S; ++i) {
        at.mask[i] = masks_.of(phase + i) + first_tap;
        at.gradient[i] = gradient + offsets_[phase + i] * s_.c;
      }
      groups(at);
    });
  }

 private:
  /// Group after group, starting at the first.
  template <int S>
  void groups(Source<T, S>& at) const {
    const std::int64_t per_group = s_.c / s_.group;
    for (std::int64_t g = 0; g < s_.group; ++g) {
      constexpr std::int64_t kTile = kTileVectors * kLanes<Acc<T>>;
      const std::int64_t tiled = per_group / kTile * kTile;
      if (tiled > 0) scatter_tiles<kAtomic, S, kTileVectors>(FullTag<T>(), at, 0, tiled);
      for_lanes<Acc<T>>(per_group - tiled, [&](auto d, std::int64_t c) HWY_ATTR {
        scatter_tiles<kAtomic, S, 1>(d, at, tiled + c, tiled + c + 1);
      });
      at.offset += per_group;
      for (int i = 0; i < S; ++i) at.mask[i] += taps(s_), at.gradient[i] += per_group;
    }
  }

  const Shape& s_;
  const T* grad_output_;
  PhaseOffsets offsets_;
  WindowMasks<T> masks_;
};

/// grad_input of the blocks of one slot, summed in a ring of K rows. A row is written when the last source pixel has
/// been added.
template <class T>
class OwnedInputGradient {
 public:
  using A = Acc<T>;

  OwnedInputGradient(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Allocator& allocator)
      : s_(p.shape),
        grad_input_(static_cast<T*>(p.grad_input)),
        non_temporal_(leaves_caches(s_.n * s_.h * s_.w * s_.c * kSize)),
        scatter_(p, allocator),
        ring_row_(block_columns * s_.c),
        ring_(allocator.allocate<A>(s_.kernel, ring_row_)),
        targets_(allocator.allocate<A*>(s_.kernel)) {}

  void begin(const Block& block) {
    for (std::int64_t row = block.rows.begin; row < std::min(block.rows.end, block.rows.begin + s_.kernel); ++row)
      std::fill_n(ring_row(row), block.columns.size() * s_.c, A{0});
  }

  /// Source rows whose windows reach into the block.
  Range source_rows(const Block& block) const {
    const std::int64_t r = radius(s_);
    return {std::max<std::int64_t>(0, block.rows.begin - r), std::min(s_.h, block.rows.end + r)};
  }

  void run_row(const Block& block, std::int64_t row) {
    const std::int64_t r = radius(s_);
    const Range kh = taps_into(s_, row, block.rows);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) targets_[k] = ring_row(row + k - r);
    const Range sources{std::max<std::int64_t>(0, block.columns.begin - r), std::min(s_.w, block.columns.end + r)};
    scatter_.begin_row(block.n, row, sources);
    for (std::int64_t column = sources.begin; column < sources.end; ++column) {
      const Range kw = taps_into(s_, column, block.columns);
      scatter_.window(block.n, row, column, kh, kw, {targets_, block.columns.begin});
    }
    if (kh.begin == 0) finish(block, row - r);
  }

  /// Rows still in the ring after the last source row.
  void end(const Block& block) {
    const std::int64_t written = source_rows(block).end - radius(s_);
    for (std::int64_t row = std::max(block.rows.begin, written); row < block.rows.end; ++row) finish(block, row);
  }

 private:
  static constexpr std::int64_t kSize = sizeof(T);

  A* ring_row(std::int64_t row) const { return ring_ + row % s_.kernel * ring_row_; }

  /// Writes the sums of a row, and clears them for the row that takes the place.
  void finish(const Block& block, std::int64_t row) {
    A* const sums = ring_row(row);
    const std::int64_t column = block.columns.begin, count = block.columns.size() * s_.c;
    store_row(non_temporal_, sums, grad_input_ + ((block.n * s_.h + row) * s_.w + column) * s_.c, count);
    std::fill_n(sums, count, A{0});
  }

  const Shape& s_;
  T* grad_input_;
  bool non_temporal_;  // grad_input is
  WindowScatter<false, T> scatter_;
  std::int64_t ring_row_;
  A* ring_;
  A** targets_;
};

template <class T>
struct OwnerTask {
  MaskGradient<T> mask;
  OwnedInputGradient<T> input;

  OwnerTask(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Allocator& allocator)
      : mask(p, block_columns, allocator), input(p, block_columns, allocator) {}

  void run(const Block& block) {
    mask.begin(block);
    input.begin(block);
    const Range rows = input.source_rows(block);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      if (row >= block.rows.begin && row < block.rows.end) mask.run_row(block, row);
      input.run_row(block, row);
    }
    input.end(block);
  }
};

template <class T>
struct AtomicTask {
  const Shape& s;
  Acc<T>* gradient;  // of the whole tensor
  MaskGradient<T> mask;
  WindowScatter<true, T> scatter;
  Acc<T>** targets;

  AtomicTask(const mluopsCarafeBackwardProblem& p, Acc<T>* shared, std::int64_t block_columns, Allocator& allocator)
      : s(p.shape),
        gradient(shared),
        mask(p, block_columns, allocator),
        scatter(p, allocator),
        targets(allocator.allocate<Acc<T>*>(s.kernel)) {}

  void run(const Block& block) {
    mask.begin(block);
    for (std::int64_t row = block.rows.begin; row < block.rows.end; ++row) {
      mask.run_row(block, row);
      const Range kh = taps_into(s, row, {0, s.h});
      for (std::int64_t k = kh.begin; k < kh.end; ++k) {
        targets[k] = gradient + (block.n * s.h + row + k - radius(s)) * s.w * s.c;
      }
      scatter.begin_row(block.n, row, block.columns);
      for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) {
        scatter.window(block.n, row, column, kh, taps_into(s, column, {0, s.w}), {targets, 0});
      }
    }
  }
};

// ---- calls -----------------------------------------------------------------------------------

/// Runs make_task(allocator) on all blocks. `shared` bytes stand before the slots' parts of the arena;
/// prepare(block start) runs before the loop.
template <class MakeTask, class Prepare>
mluOpStatus_t run_blocks(Context& context, const mluopsCall& call, const Shape& s, const Blocks& blocks,
                         std::int64_t shared, MakeTask make_task, Prepare prepare) {
  Allocator measure;
  make_task(measure);
  const std::int64_t slot_bytes = measure.bytes();
  const double work = 2.0 * static_cast<double>(blocks.pixels() * phases(s) * taps(s) * s.c);
  const Loop loop(context, call, blocks.count(), cost::kMultiplyAdd * work);
  std::byte* const block = context.arena.reserve(size_sum(shared, size_product(slot_bytes, loop.slots())));
  if (block == nullptr) return no_memory(call);
  prepare(block);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Allocator allocator(block + shared + slot * slot_bytes);
    auto task = make_task(allocator);
    for (std::int64_t item = begin; item < end; ++item) task.run(blocks.at(item));
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
Blocks backward_blocks(const mluopsCall& call, const Shape& s) {
  constexpr std::int64_t kLeastRows = 8;
  return Blocks(s, 2 * s.c * static_cast<std::int64_t>(sizeof(Acc<T>)), call.threads, kLeastRows,
                std::max(s.h, kLeastRows));
}

template <class T>
mluOpStatus_t backward_owned(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  const Blocks blocks = backward_blocks<T>(call, p.shape);
  return run_blocks(
      context, call, p.shape, blocks, 0,
      [&](Allocator& allocator) HWY_ATTR { return OwnerTask<T>(p, blocks.columns(), allocator); }, [](std::byte*) {});
}

template <class T>
mluOpStatus_t backward_atomic(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  const Blocks blocks = backward_blocks<T>(call, p.shape);
  using A = Acc<T>;
  const std::int64_t count = p.shape.n * p.shape.h * p.shape.w * p.shape.c;
  const std::int64_t shared = kAddsInPlace<T> ? 0 : round_up(count * static_cast<std::int64_t>(sizeof(A)), 64);
  A* gradient = static_cast<A*>(p.grad_input);
  const mluOpStatus_t status = run_blocks(
      context, call, p.shape, blocks, shared,
      [&](Allocator& allocator) HWY_ATTR { return AtomicTask<T>(p, gradient, blocks.columns(), allocator); },
      [&](std::byte* block) {
        if (!kAddsInPlace<T>) gradient = reinterpret_cast<A*>(block);
        clear_sums(context, call, gradient, count);
      });
  if (status == MLUOP_STATUS_SUCCESS) store_sums(context, call, gradient, static_cast<T*>(p.grad_input), count);
  return status;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  using Problem = mluopsCarafeBackwardProblem;
  static constexpr Path<Problem> kPaths[] = {
      {kAtomicPath, atomic_applies<Problem>, backward_atomic<T>},
      {"owner", always<Problem>, backward_owned<T>},
  };
  static constexpr Path<Problem> kNchwPaths[] = {
      layout::kTransposed<operators::carafe_backward, Problem>,
  };
  return p.layout == MLUOP_LAYOUT_NCHW ? run_path(context, call, p, kNchwPaths)
                                       : run_scatter_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(carafe_backward, carafe, backward, mluopsCarafeBackwardProblem, with_element)
