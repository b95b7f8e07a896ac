// CARAFE backward: grad_mask = dot products over channels of input and grad_output; grad_input = grad_output spread
// over the window with the mask. input [n,h,w,c], mask [n,s*h,s*w,group*K*K], grad_output [n,s*h,s*w,c]; in NCHW
// channels come behind n.
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
#include "backends/cpu/kernels/carafe/group_planes-inl.h"
#include "backends/cpu/kernels/carafe/rows-inl.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/carafe.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {
// ---- grad_input ------------------------------------------------------------------------------

template <class T, int S>
struct Source : Taps<Acc<T>, Acc<T>, S> {
  const Acc<T>* gradient[S];  ///< channels of each phase

  using Taps<Acc<T>, Acc<T>, S>::Taps;
};

/// Adds tiles of V vectors of channels of S output pixels, as many as begin in [begin, end), to all pixels of their
/// window. grad_output stays in registers. All tiles in one call: what a call stores on the stack waits behind the
/// sums.
template <int S, int V, class D, class T>
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
      for (int v = 0; v < V; ++v) in[s][v] = hn::LoadU(d, at.gradient[s] + c + v * lanes);
    }
    std::int64_t tap = 0;
    for (Acc<T>* const* row = at.rows; row != at.rows_end; ++row, tap += at.skip) {
      Acc<T>* HWY_RESTRICT pixel = *row + at.offset + c;
      const std::int64_t row_end = tap + at.columns;
      do {
        hn::Vec<D> sum[V];
        MLUOPS_UNROLL
        for (int v = 0; v < V; ++v) sum[v] = hn::LoadU(d, pixel + v * lanes);
        MLUOPS_UNROLL
        for (int s = 0; s < S; ++s) {
          const auto weight = hn::Set(d, mask[s][tap]);
          MLUOPS_UNROLL
          for (int v = 0; v < V; ++v) sum[v] = hn::MulAdd(weight, in[s][v], sum[v]);
        }
        MLUOPS_UNROLL
        for (int v = 0; v < V; ++v) hn::StoreU(sum[v], d, pixel + v * lanes);
        pixel += stride;
      } while (++tap != row_end);
      reload_barrier(at);
    }
  }
}

/// grad_input of the blocks of one thread, summed in a ring of K rows. A row is written when the last source pixel has
/// been added.
template <class T>
class InputGradient {
 public:
  using A = Acc<T>;

  InputGradient(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Allocator& allocator)
      : s_(p.shape),
        map_(input_map(s_, p.layout)),
        grad_input_(static_cast<T*>(p.grad_input)),
        non_temporal_(leaves_caches(s_.n * s_.h * s_.w * s_.c * kSize)),
        ring_row_(block_columns * s_.c),
        ring_(allocator.allocate<A>(s_.kernel, ring_row_)),
        targets_(allocator.allocate<A*>(s_.kernel)) {}

  void begin(const Block& block) {
    for (std::int64_t row = block.rows.begin; row < std::min(block.rows.end, block.rows.begin + s_.kernel); ++row)
      std::fill_n(ring_row(row), block.columns.size() * s_.c, A{0});
  }

  /// Scatters the output pixels over columns `sources` of row `row`.
  void run_row(const Block& block, std::int64_t row, Range sources, PhaseRows<T>& masks, PhaseRows<T>& gradients) {
    const Range kh = taps_into(s_, row, block.rows);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) targets_[k] = ring_row(row + k - radius(s_));
    for (std::int64_t column = sources.begin; column < sources.end; ++column) {
      masks.step();
      gradients.step();
      const Range kw = taps_into(s_, column, block.columns);
      const std::int64_t offset = (column - radius(s_) - block.columns.begin) * s_.c;
      for_phases(phases(s_), [&](std::int64_t phase, auto count) HWY_ATTR {
        constexpr int S = decltype(count)::value;
        Source<T, S> at(s_, kh, kw, targets_, offset);
        for (int i = 0; i < S; ++i) {
          at.mask[i] = masks.of(column, phase + i) + kh.begin * s_.kernel + kw.begin;
          at.gradient[i] = gradients.of(column, phase + i);
        }
        scatter_groups(at);
      });
    }
    if (kh.begin == 0) finish(block, row - radius(s_));
  }

  /// Rows still in the ring after the last source row, which `end` comes behind.
  void end(const Block& block, std::int64_t end) {
    for (std::int64_t row = std::max(block.rows.begin, end - radius(s_)); row < block.rows.end; ++row)
      finish(block, row);
  }

 private:
  static constexpr std::int64_t kSize = sizeof(T), kTile = kTileVectors * kLanes<A>;

  A* ring_row(std::int64_t row) const { return ring_ + row % s_.kernel * ring_row_; }

  /// Group after group, starting at the first.
  template <int S>
  void scatter_groups(Source<T, S>& at) const {
    const std::int64_t per_group = s_.c / s_.group, tiled = round_down(per_group, kTile);
    for (std::int64_t g = 0; g < s_.group; ++g) {
      if (tiled > 0) scatter_tiles<S, kTileVectors>(FullTag<T>(), at, 0, tiled);
      for_lanes<A>(per_group - tiled,
                   [&](auto d, std::int64_t c) HWY_ATTR { scatter_tiles<S, 1>(d, at, tiled + c, tiled + c + 1); });
      at.offset += per_group;
      for (int i = 0; i < S; ++i) at.mask[i] += taps(s_), at.gradient[i] += per_group;
    }
  }

  /// Writes the sums of a row, and clears them for the row that takes the place.
  void finish(const Block& block, std::int64_t row) {
    A* const sums = ring_row(row);
    const std::int64_t count = block.columns.size();
    write_pixels(non_temporal_, sums, count, map_, grad_input_ + map_.at(block.n, row, block.columns.begin));
    std::fill_n(sums, count * s_.c, A{0});
  }

  const Shape& s_;
  Map map_;
  T* grad_input_;
  bool non_temporal_;  // grad_input is
  std::int64_t ring_row_;
  A* ring_;
  A** targets_;
};

/// What tasks of both kinds read, and the gradient that both make in the same way.
template <class T>
struct BackwardTask {
  const Shape& shape;
  PhaseRows<T> masks, gradients;
  MaskGradient<T> mask;

  BackwardTask(Allocator& allocator, const mluopsCarafeBackwardProblem& p, const Blocks& blocks)
      : shape(p.shape),
        masks(shape, output_map(shape, mask_row(shape), p.layout), static_cast<const T*>(p.mask),
              source_columns(shape, blocks), allocator),
        gradients(shape, output_map(shape, shape.c, p.layout), static_cast<const T*>(p.grad_output),
                  source_columns(shape, blocks), allocator),
        mask(p, blocks.columns(), allocator) {}

  void begin_row(const Block& block, std::int64_t row, Range columns) {
    masks.begin_row(block.n, row, columns);
    gradients.begin_row(block.n, row, columns);
    if (row >= block.rows.begin && row < block.rows.end) mask.run_row(block, row, gradients);
  }

 private:
  static std::int64_t source_columns(const Shape& s, const Blocks& blocks) { return blocks.columns() + 2 * radius(s); }
};

template <class T>
struct OwnerTask : BackwardTask<T> {
  InputGradient<T> input;

  OwnerTask(Allocator& allocator, const mluopsCarafeBackwardProblem& p, const Blocks& blocks)
      : BackwardTask<T>(allocator, p, blocks), input(p, blocks.columns(), allocator) {}

  void run(const Block& block) {
    const Shape& s = this->shape;
    const Range rows = block.rows.widened(radius(s), s.h), columns = block.columns.widened(radius(s), s.w);
    this->mask.begin(block);
    input.begin(block);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      this->begin_row(block, row, columns);
      input.run_row(block, row, columns, this->masks, this->gradients);
    }
    input.end(block, rows.end);
  }
};

template <class T>
struct AtomicTask : BackwardTask<T> {
  Map map;
  Acc<T>* sums;  ///< of the whole tensor

  AtomicTask(Allocator& allocator, const mluopsCarafeBackwardProblem& p, const Blocks& blocks, Acc<T>* shared)
      : BackwardTask<T>(allocator, p, blocks), map(input_map(p.shape, p.layout)), sums(shared) {}

  void run(const Block& block) {
    this->mask.begin(block);
    for (std::int64_t row = block.rows.begin; row < block.rows.end; ++row) {
      this->begin_row(block, row, block.columns);
      for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) add(block.n, row, column);
    }
  }

  /// The output pixels of one window.
  void add(std::int64_t n, std::int64_t row, std::int64_t column) const {
    const Shape& s = this->shape;
    const Range kh = taps_into(s, row, {0, s.h}), kw = taps_into(s, column, {0, s.w});
    const std::int64_t channel = map.channel(), per_group = s.c / s.group;
    for (std::int64_t i = kh.begin; i < kh.end; ++i) {
      for (std::int64_t j = kw.begin; j < kw.end; ++j) {
        Acc<T>* const pixel = sums + map.at(n, row + i - radius(s), column + j - radius(s));
        for (std::int64_t c = 0; c < s.c; ++c) {
          const std::int64_t tap = c / per_group * taps(s) + i * s.kernel + j;
          Acc<T> sum = 0;
          for (std::int64_t phase = 0; phase < phases(s); ++phase)
            sum += this->masks.of(column, phase)[tap] * this->gradients.of(column, phase)[c];
          atomic_add(pixel + c * channel, sum);
        }
      }
    }
  }
};

// ---- calls -----------------------------------------------------------------------------------

template <class T>
Blocks backward_blocks(const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  constexpr std::int64_t kLeastRows = 8;
  const Shape& s = p.shape;
  return Blocks(s, 2 * s.c * static_cast<std::int64_t>(sizeof(Acc<T>)), call.threads, kLeastRows,
                std::max(s.h, kLeastRows), p.layout == MLUOP_LAYOUT_NCHW ? kPlanesCacheParts : kCacheParts);
}

double block_work(const Shape& s, const Blocks& blocks) {
  return 2.0 * static_cast<double>(blocks.pixels() * phases(s) * taps(s) * s.c);
}

template <class T>
mluOpStatus_t by_owner(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  const Blocks blocks = backward_blocks<T>(call, p);
  const auto tasks = allocate<SlotScratch<OwnerTask<T>>>(context.arena, call.threads, p, blocks);
  if (!tasks) return no_memory(call);
  run_blocks(context, call, blocks, block_work(p.shape, blocks), *tasks, p, blocks);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
struct AtomicArrays {
  SlotScratch<AtomicTask<T>> tasks;
  Acc<T>* sums;  ///< grad_input itself where it can be

  AtomicArrays(Allocator& allocator, int threads, const mluopsCarafeBackwardProblem& p, const Blocks& blocks,
               std::int64_t count)
      : tasks(allocator, threads, p, blocks, static_cast<Acc<T>*>(nullptr)),
        sums(kAddsInPlace<T> ? static_cast<Acc<T>*>(p.grad_input) : allocator.allocate<Acc<T>>(count)) {}
};

template <class T>
mluOpStatus_t by_atomics(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  const Blocks blocks = backward_blocks<T>(call, p);
  const std::int64_t count = p.shape.n * p.shape.h * p.shape.w * p.shape.c;
  const auto arrays = allocate<AtomicArrays<T>>(context.arena, call.threads, p, blocks, count);
  if (!arrays) return no_memory(call);
  clear_sums(context, call, arrays->sums, count);
  run_blocks(context, call, blocks, block_work(p.shape, blocks), arrays->tasks, p, blocks, arrays->sums);
  store_sums(context, call, arrays->sums, static_cast<T*>(p.grad_input), count);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  using Problem = mluopsCarafeBackwardProblem;
  static constexpr Path<Problem> kPaths[] = {
      {kAtomicPath, atomic_applies<Problem>, by_atomics<T>},
      {"nchw_groups", few_group_channels<T, 2, Problem>, by_group_planes<GroupBackward<T>, Problem>},
      {"owner", always<Problem>, by_owner<T>},
  };
  return run_scatter_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(carafe_backward, carafe, backward, mluopsCarafeBackwardProblem, with_element)
