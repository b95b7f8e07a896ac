// CARAFE backward: grad_mask = dot products over channels of input and grad_output; grad_input = grad_output spread
// over the window with the mask.
//
// A task owns a block of input pixels: it writes their grad_input and the grad_mask of their s*s output pixels. For
// grad_input it also reads the output pixels whose windows reach into the block, and adds in the order of source rows
// and columns, so the bits do not depend on how the map is cut. With atomic additions a task adds outside its block
// instead. 4*K*K flops per value of grad_output: bound by arithmetic from K = 3 on.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/carafe_backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/carafe_grad_mask.h"
#include "backends/cpu/carafe_rows.h"
#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
// ---- grad_input ------------------------------------------------------------------------------

/// Whether sums begin and end in the registers. Where a tap has fewer multiply-adds, asking costs more than it saves.
template <int V>
constexpr bool kWholeSums = (V == kTileVectors) && (HWY_TARGET <= HWY_AVX3);

template <class T, int S>
struct Source : Taps<Acc<T>, Acc<T>, S> {
  const T* gradient[S];      ///< channels of each sub
  const T* asked = nullptr;  ///< channels to be asked for meanwhile; nullptr: none
  std::int64_t fresh = -1;   ///< tap whose pixel has no sums yet
  T* out = nullptr;          ///< where the sums of the first tap's pixel go, past the caches; nullptr: to the others

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
/// window. grad_output stays in registers. All tiles in one call, as in forward.
template <bool kAtomic, int S, int V, class D, class T>
HWY_NOINLINE void spread(D d, const Source<T, S>& at, std::int64_t begin, std::int64_t end) {
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
        for (int v = 0; v < V; ++v)
          sum[v] = kAtomic || (kWholeSums<V> && tap == at.fresh) ? hn::Zero(d) : hn::LoadU(d, pixel + v * lanes);
        MLUOPS_UNROLL
        for (int s = 0; s < S; ++s) {
          const auto weight = hn::Set(d, mask[s][tap]);
          MLUOPS_UNROLL
          for (int v = 0; v < V; ++v) sum[v] = hn::MulAdd(weight, in[s][v], sum[v]);
        }
        if (kWholeSums<V> && !kAtomic && tap == 0 && at.out != nullptr) {
          T* const out = in_register(at.out + c);
          MLUOPS_UNROLL
          for (int v = 0; v < V; ++v) stream(sum[v], d, out + v * lanes);
        } else {
          MLUOPS_UNROLL
          for (int v = 0; v < V; ++v) add_up<kAtomic>(d, sum[v], pixel + v * lanes);
        }
        pixel += stride;
      } while (++tap != row_end);
      reload(at);
    }
    if (at.asked != nullptr) {
      const T* const asked = in_register(at.asked + c);
      MLUOPS_UNROLL
      for (int v = 0; v < V; ++v) hwy::Prefetch(asked + v * lanes);
    }
  }
}

/// The sums that the windows of a row add to.
template <class T>
struct Targets {
  Acc<T>* const* rows;        ///< under tap row kh: rows[kh]
  std::int64_t first_column;  ///< the column that the rows begin with
  bool fresh = false;         ///< the pixel under the last tap of all, if the window has it, has no sums yet
  T* finished = nullptr;      ///< grad_input of row rows[0], which gets its last additions; nullptr: written elsewhere
};

/// Spreads all output pixels of one window.
template <bool kAtomic, class T>
class Spreader {
 public:
  Spreader(const mluopsCarafeBackwardProblem& p, Carver& carver)
      : s_(p.shape),
        input_(static_cast<const T*>(p.input)),
        grad_output_(static_cast<const T*>(p.grad_output)),
        offsets_(s_, s_.wo, 1, carver),
        masks_(s_, static_cast<const T*>(p.mask), carver) {}

  /// Before the windows of a row, which come one after the other.
  void begin_row(std::int64_t n, std::int64_t row, Range columns) {
    masks_.begin_row(n, row, columns);
    const std::int64_t next = row + carafe::radius(s_) + 1;
    next_row_ = next < s_.h ? input_ + (n * s_.h + next) * s_.w * s_.c : nullptr;
  }

  void window(std::int64_t n, std::int64_t row, std::int64_t column, Range kh, Range kw, const Targets<T>& to) {
    masks_.step();
    const T* const gradient = grad_output_ + carafe::first_sub(s_, n, row, column) * s_.c;
    const std::int64_t first = column - carafe::radius(s_), offset = (first - to.first_column) * s_.c;
    const std::int64_t first_tap = kh.begin * s_.kernel + kw.begin;
    for_subs(carafe::subs(s_), [&](std::int64_t sub, auto count) HWY_ATTR {
      constexpr int S = decltype(count)::value;
      Source<T, S> at(s_, kh, kw, to.rows, offset);
      for (int i = 0; i < S; ++i) {
        at.mask[i] = masks_.of(sub + i) + first_tap;
        at.gradient[i] = gradient + offsets_[sub + i] * s_.c;
      }
      if (sub == 0 && next_row_ != nullptr) at.asked = next_row_ + column * s_.c;
      if (sub == 0 && to.fresh && kh.end == s_.kernel && kw.end == s_.kernel)
        at.fresh = carafe::taps(s_) - 1 - first_tap;
      if (sub + S == carafe::subs(s_) && to.finished != nullptr && kw.begin == 0) at.out = to.finished + first * s_.c;
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
      if (tiled > 0) spread<kAtomic, S, kTileVectors>(FullTag<T>(), at, 0, tiled);
      for_lanes<Acc<T>>(per_group - tiled, [&](auto d, std::int64_t c)
                                               HWY_ATTR { spread<kAtomic, S, 1>(d, at, tiled + c, tiled + c + 1); });
      at.offset += per_group;
      for (int i = 0; i < S; ++i) at.mask[i] += carafe::taps(s_), at.gradient[i] += per_group;
      if (at.asked != nullptr) at.asked += per_group;
      if (at.out != nullptr) at.out += per_group;
    }
  }

  const Shape& s_;
  const T* input_;
  const T* grad_output_;
  const T* next_row_ = nullptr;  // of the input, the one that the windows of the next row add; nullptr: none
  carafe::SubOffsets offsets_;
  WindowMasks<T> masks_;
};

/// grad_input of the blocks of one slot, summed in a ring of K rows. A pixel is written when the last source pixel has
/// been added: by whoever adds it, or with its row.
template <class T>
class OwnedInputGradient {
 public:
  using A = Acc<T>;

  OwnedInputGradient(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Carver& carver)
      : s_(p.shape),
        grad_input_(static_cast<T*>(p.grad_input)),
        streams_(carafe::past_caches(s_.n * s_.h * s_.w * s_.c * kSize)),
        pixel_by_pixel_(streams_ && whole_lines(grad_input_, s_.c * kSize)),
        whole_sums_(kWholeSums<kTileVectors> && s_.c / s_.group % (kTileVectors * kLanes<A>) == 0),
        direct_(whole_sums_ && pixel_by_pixel_),
        spreader_(p, carver),
        ring_row_(block_columns * s_.c),
        ring_(carver.take<A>(s_.kernel * ring_row_)),
        targets_(carver.take<A*>(s_.kernel)) {}

  /// Clears the rows, or with whole sums those whose first source row is none of the map's.
  void begin(const Block& block) {
    const std::int64_t end = whole_sums_ ? carafe::radius(s_) : block.rows.begin + s_.kernel;
    for (std::int64_t row = block.rows.begin; row < end && row < block.rows.begin + s_.kernel; ++row)
      clear(block, row, block.columns.end);
  }

  /// Source rows whose windows reach into the block.
  Range source_rows(const Block& block) const {
    const std::int64_t r = carafe::radius(s_);
    return {std::max<std::int64_t>(0, block.rows.begin - r), std::min(s_.h, block.rows.end + r)};
  }

  void run_row(const Block& block, std::int64_t row) {
    const std::int64_t r = carafe::radius(s_);
    const Range kh = carafe::taps_into(s_, row, block.rows);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) targets_[k] = ring_row(row + k - r);
    const Range sources{std::max<std::int64_t>(0, block.columns.begin - r), std::min(s_.w, block.columns.end + r)};
    spreader_.begin_row(block.n, row, sources);
    if (whole_sums_ && kh.end == s_.kernel) clear(block, row + r, std::min(block.columns.end, r));
    const bool finishes = kh.begin == 0;
    const Targets<T> targets{targets_, block.columns.begin, whole_sums_,
                             finishes && direct_ ? grad_input_ + (block.n * s_.h + row - r) * s_.w * s_.c : nullptr};
    for (std::int64_t column = sources.begin; column < sources.end; ++column) {
      const Range kw = carafe::taps_into(s_, column, block.columns);
      spreader_.window(block.n, row, column, kh, kw, targets);
      if (finishes && pixel_by_pixel_ && !direct_ && kw.begin == 0) {
        finish(block, row - r, {column - r, column - r + 1});
      }
    }
    const std::int64_t written = pixel_by_pixel_ ? std::max(block.columns.begin, sources.end - r) : block.columns.begin;
    if (finishes) finish(block, row - r, {written, block.columns.end});
  }

  /// Rows still in the ring after the last source row.
  void end(const Block& block) {
    const std::int64_t written = source_rows(block).end - carafe::radius(s_);
    for (std::int64_t row = std::max(block.rows.begin, written); row < block.rows.end; ++row)
      finish(block, row, block.columns);
  }

 private:
  static constexpr std::int64_t kSize = sizeof(T);

  A* ring_row(std::int64_t row) const { return ring_ + row % s_.kernel * ring_row_; }

  /// The sums of a row up to a column.
  void clear(const Block& block, std::int64_t row, std::int64_t end) {
    const std::int64_t count = std::max<std::int64_t>(0, end - block.columns.begin) * s_.c;
    std::memset(ring_row(row), 0, static_cast<std::size_t>(count) * sizeof(A));
  }

  /// Writes the sums of these columns of a row. Unless windows begin them, they are cleared for the row that takes the
  /// place.
  void finish(const Block& block, std::int64_t row, Range columns) {
    A* const sums = ring_row(row) + (columns.begin - block.columns.begin) * s_.c;
    T* const target = grad_input_ + ((block.n * s_.h + row) * s_.w + columns.begin) * s_.c;
    const std::int64_t count = columns.size() * s_.c;
    if (streams_) {
      stream_row(sums, target, count);
    } else {
      store_row(sums, target, count);
    }
    if (!whole_sums_) std::memset(sums, 0, static_cast<std::size_t>(count) * sizeof(A));
  }

  const Shape& s_;
  T* grad_input_;
  bool streams_;         // past the caches
  bool pixel_by_pixel_;  // while still in the first cache; else with the row
  bool whole_sums_;      // windows begin sums
  bool direct_;          // and write them
  Spreader<false, T> spreader_;
  std::int64_t ring_row_;
  A* ring_;
  A** targets_;
};

template <class T>
struct OwnerTask {
  MaskGradient<T> mask;
  OwnedInputGradient<T> input;

  OwnerTask(const mluopsCarafeBackwardProblem& p, std::int64_t block_columns, Carver& carver)
      : mask(p, block_columns, carver), input(p, block_columns, carver) {}

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
  Spreader<true, T> spreader;
  Acc<T>** targets;

  AtomicTask(const mluopsCarafeBackwardProblem& p, Acc<T>* shared, std::int64_t block_columns, Carver& carver)
      : s(p.shape),
        gradient(shared),
        mask(p, block_columns, carver),
        spreader(p, carver),
        targets(carver.take<Acc<T>*>(s.kernel)) {}

  void run(const Block& block) {
    mask.begin(block);
    for (std::int64_t row = block.rows.begin; row < block.rows.end; ++row) {
      mask.run_row(block, row);
      const Range kh = carafe::taps_into(s, row, {0, s.h});
      for (std::int64_t k = kh.begin; k < kh.end; ++k) {
        targets[k] = gradient + (block.n * s.h + row + k - carafe::radius(s)) * s.w * s.c;
      }
      spreader.begin_row(block.n, row, block.columns);
      for (std::int64_t column = block.columns.begin; column < block.columns.end; ++column) {
        spreader.window(block.n, row, column, kh, carafe::taps_into(s, column, {0, s.w}), {targets, 0});
      }
    }
  }
};

// ---- calls -----------------------------------------------------------------------------------

/// Runs make_task(carver) on all blocks. `shared` bytes stand before the slots' parts of the scratch block;
/// prepare(block start) runs before the loop.
template <class MakeTask, class Prepare>
mluOpStatus_t run_blocks(Context& context, const mluopsCall& call, const Shape& s, const carafe::Blocks& blocks,
                         std::int64_t shared, MakeTask make_task, Prepare prepare) {
  Carver measure;
  make_task(measure);
  const std::int64_t slot_bytes = measure.bytes();
  const double work = 2.0 * static_cast<double>(blocks.pixels() * carafe::subs(s) * carafe::taps(s) * s.c);
  const Loop loop(context, call, blocks.count(), carafe::multiply_add_ns(work));
  std::byte* const scratch = context.scratch.reserve(shared + slot_bytes * loop.slots());
  if (scratch == nullptr) return no_memory(call);
  prepare(scratch);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Carver carver(scratch + shared + slot * slot_bytes);
    auto task = make_task(carver);
    for (std::int64_t item = begin; item < end; ++item) task.run(blocks.at(item));
    stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_owned(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p,
                             const carafe::Blocks& blocks) {
  return run_blocks(
      context, call, p.shape, blocks, 0,
      [&](Carver& carver) HWY_ATTR { return OwnerTask<T>(p, blocks.columns(), carver); }, [](std::byte*) {});
}

template <class T>
mluOpStatus_t backward_atomic(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p,
                              const carafe::Blocks& blocks) {
  using A = Acc<T>;
  const std::int64_t count = p.shape.n * p.shape.h * p.shape.w * p.shape.c;
  const std::int64_t shared = kAddsInPlace<T> ? 0 : round_up(count * static_cast<std::int64_t>(sizeof(A)), 64);
  A* gradient = static_cast<A*>(p.grad_input);
  const mluOpStatus_t status = run_blocks(
      context, call, p.shape, blocks, shared,
      [&](Carver& carver) HWY_ATTR { return AtomicTask<T>(p, gradient, blocks.columns(), carver); },
      [&](std::byte* scratch) {
        if (!kAddsInPlace<T>) gradient = reinterpret_cast<A*>(scratch);
        clear_sums(context, call, gradient, count);
      });
  if (status == MLUOP_STATUS_SUCCESS) store_sums(context, call, gradient, static_cast<T*>(p.grad_input), count);
  return status;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t least_rows = 8, most_rows = std::max(s.h, least_rows);
  const carafe::Blocks blocks(s, 2 * s.c * static_cast<std::int64_t>(sizeof(Acc<T>)), call.threads, least_rows,
                              most_rows);
  if (choose_scatter(context, call) == Scatter::kAtomic) return backward_atomic<T>(context, call, p, blocks);
  return backward_owned<T>(context, call, p, blocks);
}

MLUOPS_CPU_KERNEL(carafe_backward, mluopsCarafeBackwardProblem, backward, with_element)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(carafe_backward, mluopsCarafeBackwardProblem)

}  // namespace mluops::cpu
#endif
