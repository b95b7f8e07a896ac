// Means of RoIs' bins, backward in NCHW, a block of channels at a time.
#if defined(MLUOPS_CPU_ROI_MEAN_SUM_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_SUM_BLOCKS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_SUM_BLOCKS_INL_H_
#endif

#include "backends/cpu/sampling/roi_mean/blocks-inl.h"
#include "backends/cpu/sampling/roi_mean/offset-inl.h"
#include "backends/cpu/scatter/scatter.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
using namespace layout::HWY_NAMESPACE;

/// What a thread has.
template <class A>
struct SumScratch {
  A *sums, *pixels, *stage, *turned;

  SumScratch(Allocator& allocator, const layout::RingSize& ring, std::int64_t slots, std::int64_t bins, bool offset)
      : sums(allocator.allocate<A>(ring.room(), layout::kBlockChannels<A>)),
        pixels(allocator.allocate<A>(offset ? ring.room() : 0, layout::kBlockChannels<A>)),
        stage(allocator.allocate<A>(slots, bins, layout::kBlockChannels<A>)),
        turned(allocator.allocate<A>(bins, layout::kBlockChannels<A>)) {}
};

/// Sums of the gradients of a block of channels: rows of pixels are zeroed when the first bin comes to them and written
/// when the last one has left them.
template <class T, bool kOffset>
class BlockSums {
 public:
  using A = Acc<T>;
  using D = hn::ScalableTag<A>;
  using Tap = std::conditional_t<kOffset, cpu::Tap<A>, WeightTap<A>>;
  using P = Plan<A, Tap>;
  static constexpr std::int64_t kChannels = layout::kBlockChannels<A>;
  static constexpr int kVectors = kBlockVectors<A>;

  /// `moves`: what grad_offset needs of a bin, per block of channels.
  BlockSums(const BackwardProblem& p, const P& plan, const layout::RingSize& size, const SumScratch<A>& scratch,
            Move<A>* moves)
      : p_(p),
        s_(p.shape),
        plan_(plan),
        sums_(size, scratch.sums),
        pixels_(size, scratch.pixels),
        room_(scratch),
        moves_(moves),
        plane_(s_.h * s_.w),
        non_temporal_(s_.batch * s_.c * plane_ * static_cast<std::int64_t>(sizeof(T)) > summed_non_temporal_from()) {}

  void run(std::int64_t begin, std::int64_t end) {
    BlocksAhead<T, P> ahead(s_, plan_, static_cast<const T*>(p_.input), begin, kOffset ? end : begin);
    for (std::int64_t item = begin; item < end; ++item) run_task(BlockTask::of<A>(s_, item), ahead);
  }

 private:
  void run_task(const BlockTask& task, BlocksAhead<T, P>& ahead) {
    const Group& group = plan_[task.group];
    const std::int64_t first = (group.image * s_.c + task.channel) * plane_;
    const T* const input = kOffset ? static_cast<const T*>(p_.input) + first : nullptr;
    task_ = task;
    planes_ = static_cast<T*>(p_.grad_input) + first;
    blocks_ = plan_.touched(task.group);
    written_ = end_ = 0;
    std::int64_t taken = 0;
    const auto units = plan_.units(group);
    ahead.begin(task.group);
    for (std::size_t i = 0; i < units.size(); ++i) {
      const Unit<Tap>& unit = *units[i];
      prefetch_units(units, i);
      if (taken < unit.blocks) write(unit.done_blocks);
      for (; taken < unit.blocks; ++taken) {
        const std::int64_t block = blocks_[static_cast<std::size_t>(taken)];
        sums_.zero(plane_, block);
        if constexpr (kOffset) {
          pixels_.take(input, plane_, block);
          ahead.taken();
        }
      }
      if (unit.first) take_gradients(unit);
      add(unit);
      if constexpr (kOffset) ahead.step();
    }
    write(taken);
    write_zeros(plane_);
  }

  HWY_INLINE void prefetch_units(std::span<const Unit<Tap>* const> units, std::size_t i) const {
    prefetch_unit<Tap>(units, i);
    if (i + kUnitsAhead >= units.size()) return;
    const Unit<Tap>& next = *units[i + kUnitsAhead];
    prefetch(room_.stage + (next.slot * plan_.bins() + next.first_bin) * kChannels, plan_.together() * kChannels);
    if (next.first) prefetch<2>(gradients_of(next), kChannels * plan_.bins());
  }

  const T* gradients_of(const Unit<Tap>& unit) const {
    return static_cast<const T*>(p_.grad_output) + (unit.roi * s_.c + task_.channel) * plan_.bins();
  }
  /// Gradients of a RoI into its slot of the stage, bin by bin; zeros for channels of another task.
  void take_gradients(const Unit<Tap>& unit) const {
    const std::int64_t bins = plan_.bins(), others = task_.own - task_.channel;
    std::fill_n(room_.turned, others * bins, A{0});
    load_row(gradients_of(unit) + others * bins, room_.turned + others * bins, (kChannels - others) * bins);
    transpose_panel(room_.turned, bins, kChannels, bins, room_.stage + unit.slot * bins * kChannels, kChannels);
  }

  HWY_INLINE void add(const Unit<Tap>& unit) const {
    const auto rows = listed(unit.rows);
    const Tap* columns = unit.columns;
    const A inverse_count = plan_.rois()[unit.roi].inverse_count;
    const A* gradients = room_.stage + (unit.slot * plan_.bins() + unit.first_bin) * kChannels;
    for (std::int64_t bin = 0; bin < plan_.together(); ++bin, columns += unit.columns_apart, gradients += kChannels) {
      add_bin(unit, rows, listed(columns), inverse_count, gradients);
    }
  }

  HWY_INLINE void add_bin(const Unit<Tap>& unit, std::span<const Tap> rows, std::span<const Tap> columns,
                          A inverse_count, const A* gradients) const {
    const D d;
    hn::Vec<D> scaled[kVectors], move_y[kVectors], move_x[kVectors];
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      scaled[v] = hn::Mul(hn::Set(d, inverse_count), hn::Load(d, gradients + v * kLanes<A>));
      move_y[v] = move_x[v] = hn::Zero(d);
    }
    const Tap* x = columns.data();
    std::size_t left = columns.size();
    for (; left >= 4; left -= 4, x += 4) add_columns<4>(rows, x, scaled, move_y, move_x);
    if (left == 3) add_columns<3>(rows, x, scaled, move_y, move_x);
    if (left == 2) add_columns<2>(rows, x, scaled, move_y, move_x);
    if (left == 1) add_columns<1>(rows, x, scaled, move_y, move_x);
    if constexpr (kOffset) {
      drop_others(move_y, move_x);
      auto sum_y = hn::Zero(d), sum_x = hn::Zero(d);
      MLUOPS_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const auto g = hn::Load(d, gradients + v * kLanes<A>);
        sum_y = hn::MulAdd(g, move_y[v], sum_y);
        sum_x = hn::MulAdd(g, move_x[v], sum_x);
      }
      const std::int64_t bin = unit.roi * plan_.bins() + unit.first_bin;
      put_dots(d, sum_y, sum_x, true, &moves_[task_.own / kChannels * s_.rois * plan_.bins() + bin].y);
    }
  }

  /// Channels of another task count there: a pixel that is not finite would count here, too, as its product with zero.
  HWY_INLINE void drop_others(hn::Vec<D>* HWY_RESTRICT move_y, hn::Vec<D>* HWY_RESTRICT move_x) const {
    const D d;
    const std::int64_t others = task_.own - task_.channel;
    if (others == 0) return;
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const auto count = std::clamp<std::int64_t>(others - v * kLanes<A>, 0, kLanes<A>);
      const auto dropped = hn::FirstN(d, static_cast<std::size_t>(count));
      move_y[v] = hn::IfThenZeroElse(dropped, move_y[v]);
      move_x[v] = hn::IfThenZeroElse(dropped, move_x[v]);
    }
  }

  template <int kColumns>
  HWY_INLINE void add_columns(std::span<const Tap> rows, const Tap* HWY_RESTRICT x,
                              const hn::Vec<D>* HWY_RESTRICT scaled, hn::Vec<D>* HWY_RESTRICT move_y,
                              hn::Vec<D>* HWY_RESTRICT move_x) const {
    const D d;
    hn::Vec<D> weight[kColumns];
    MLUOPS_UNROLL
    for (int i = 0; i < kColumns; ++i) weight[i] = hn::Set(d, x[i].weight);
    for (const Tap& y : rows) {
      const auto row_weight = hn::Set(d, y.weight);
      MLUOPS_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const std::int64_t row = y.index + v * kLanes<A>;
        const auto g = hn::Mul(row_weight, scaled[v]);
        MLUOPS_UNROLL
        for (int i = 0; i < kColumns; ++i) {
          A* const sum = room_.sums + row + x[i].index;
          hn::Store(hn::MulAdd(weight[i], g, hn::Load(d, sum)), d, sum);
        }
        if constexpr (kOffset) add_moves<kColumns>(y, x, row, move_y[v], move_x[v]);
      }
    }
  }

  /// What moving the samples does to the pixels of a row.
  template <int kColumns>
  HWY_INLINE void add_moves(const Tap& y, const Tap* HWY_RESTRICT x, std::int64_t row, hn::Vec<D>& move_y,
                            hn::Vec<D>& move_x) const {
    const D d;
    auto levers = hn::Zero(d), signs = hn::Zero(d);
    MLUOPS_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      const auto pixel = hn::Load(d, room_.pixels + row + x[i].index);
      levers = hn::MulAdd(hn::Set(d, x[i].lever), pixel, levers);
      signs = hn::MulAdd(hn::Set(d, x[i].sign), pixel, signs);
    }
    move_y = hn::MulAdd(hn::Set(d, y.sign), levers, move_y);
    move_x = hn::MulAdd(hn::Set(d, y.lever), signs, move_x);
  }

  // ---- grad_input ----

  /// Touched blocks below `end`, which are complete, and the zeros between them.
  void write(std::int64_t end) {
    for (; written_ < end; ++written_) {
      const std::int64_t block = blocks_[static_cast<std::size_t>(written_)];
      write_zeros(block * layout::kBlockPixels);
      sums_.put(planes_, plane_, block, task_.own - task_.channel, non_temporal_);
      end_ = std::min(plane_, (block + 1) * layout::kBlockPixels);
    }
  }
  /// Zeros up to a pixel.
  void write_zeros(std::int64_t pixel) {
    if (end_ < pixel) {
      const std::int64_t bytes = (pixel - end_) * static_cast<std::int64_t>(sizeof(T));
      for (std::int64_t c = task_.own - task_.channel; c < kChannels; ++c) {
        zero_bytes(non_temporal_, planes_ + c * plane_ + end_, bytes);
      }
    }
    end_ = pixel;
  }

  const BackwardProblem& p_;
  const Shape& s_;
  const P& plan_;
  const PixelRing<A> sums_, pixels_;
  const SumScratch<A>& room_;
  Move<A>* moves_;
  std::int64_t plane_;
  bool non_temporal_;
  BlockTask task_{};
  T* planes_ = nullptr;  ///< of grad_input
  std::span<const std::int32_t> blocks_;
  std::int64_t written_ = 0;  ///< touched blocks
  std::int64_t end_ = 0;      ///< pixels that are written
};

/// grad_offset of all bins from the parts of blocks of channels, in their order.
template <class T>
void add_moves_up(const Context& context, const mluopsCall& call, const BackwardProblem& p, const Bins<T>& bins,
                  const Move<Acc<T>>* moves) {
  using A = Acc<T>;
  const std::int64_t blocks = ceil_div(p.shape.c, layout::kBlockChannels<A>), count = bins.count();
  // A bin that nothing was added to has no gradient, also where its RoI is not finite.
  const auto scaled = [](A sum, A by) { return from_acc<T>(sum == 0 ? A{0} : sum * by); };
  Loop(context, call, count, 5 * cost::kStep + static_cast<double>(blocks))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        bins.for_each(begin, end, [&](const BinPlace& at) {
          Move<A> sum = moves[at.bin];
          for (std::int64_t block = 1; block < blocks; ++block) {
            sum.y += moves[block * count + at.bin].y;
            sum.x += moves[block * count + at.bin].x;
          }
          const Roi<A>& roi = bins.roi(at);
          T* const out = static_cast<T*>(p.grad_offset) + bins.offset_index(at);
          out[0] = scaled(sum.x, roi.inverse_count * bins.reach(roi.x.size));
          out[bins.plane()] = scaled(sum.y, roi.inverse_count * bins.reach(roi.y.size));
        });
      });
}

template <class T, bool kOffset>
mluOpStatus_t sum_blocks(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  using P = typename BlockSums<T, kOffset>::P;
  const Shape& s = p.shape;
  auto plan = allocate<P>(context.arena, s, kOffset, 1);
  if (!plan) return no_memory(call);
  if (const mluOpStatus_t status = make_plan<T>(context, call, p, *plan); status != MLUOP_STATUS_SUCCESS) return status;
  const layout::RingSize ring = plan->ring();
  const Bins<T> bins(s, p.offset, plan->rois());

  const std::int64_t items = BlockTask::count<A>(s, s.batch);
  Allocator measure;
  static_cast<void>(SumScratch<A>(measure, ring, plan->most_slots(), plan->bins(), kOffset));
  const std::int64_t room_bytes = size_product(call.threads, measure.bytes());
  const std::int64_t moves = kOffset ? items / s.batch * bins.count() : 0;
  std::byte* const rooms =
      context.images.reserve(size_sum(room_bytes, size_product(moves, static_cast<std::int64_t>(sizeof(Move<A>)))));
  if (rooms == nullptr) return no_memory(call);
  auto* const parts = reinterpret_cast<Move<A>*>(rooms + room_bytes);
  const double channels = static_cast<double>(layout::kBlockChannels<A>);
  const double item_ns =
      channels * (static_cast<double>(s.h * s.w) * 2 * cost::kElement +
                  static_cast<double>(bins.count()) / static_cast<double>(s.batch) * 9 * cost::kElement);
  Loop(context, call, items, item_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Allocator cut(rooms + slot * measure.bytes());
    const SumScratch<A> scratch(cut, ring, plan->most_slots(), plan->bins(), kOffset);
    BlockSums<T, kOffset>(p, *plan, ring, scratch, parts).run(begin, end);
    non_temporal_fence();
  });
  if constexpr (kOffset) add_moves_up(context, call, p, bins, parts);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward_by_blocks(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  context.last_scatter = "owner";
  return p.offset == nullptr ? sum_blocks<T, false>(context, call, p) : sum_blocks<T, true>(context, call, p);
}

/// Not where atomic additions are asked for, which take the map in NHWC.
template <class T>
Fit sums_apply(const Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const bool fits = p.offset == nullptr ? fits_blocks<T, WeightTap<Acc<T>>>(p.shape, p.rois, false)
                                        : fits_blocks<T, Tap<Acc<T>>>(p.shape, p.rois, true);
  return fit(fits, !wants_atomics(context, call));
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
