// Means of RoIs' bins, forward in NCHW, a block of channels at a time.
#if defined(MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_
#endif

#include "backends/cpu/sampling/roi_mean/blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
using namespace layout::HWY_NAMESPACE;

/// What a thread has.
template <class A>
struct PoolScratch {
  A *pixels, *stage, *turned;

  PoolScratch(Allocator& allocator, const layout::RingSize& ring, std::int64_t slots, std::int64_t bins)
      : pixels(allocator.allocate<A>(ring.room(), layout::kBlockChannels<A>)),
        stage(allocator.allocate<A>(slots, bins, layout::kBlockChannels<A>)),
        turned(allocator.allocate<A>(bins, layout::kBlockChannels<A>)) {}
};

template <class T>
class BlockPool {
 public:
  using A = Acc<T>;
  using D = hn::ScalableTag<A>;
  using Tap = WeightTap<A>;
  using P = Plan<A, Tap>;
  static constexpr std::int64_t kChannels = layout::kBlockChannels<A>;
  static constexpr int kVectors = kBlockVectors<A>;

  BlockPool(const ForwardProblem& p, const P& plan, const layout::RingSize& size, const PoolScratch<A>& scratch,
            bool non_temporal)
      : p_(p), s_(p.shape), plan_(plan), ring_(size, scratch.pixels), room_(scratch), non_temporal_(non_temporal) {}

  void run(std::int64_t begin, std::int64_t end) {
    BlocksAhead<T, P> ahead(s_, plan_, static_cast<const T*>(p_.input), begin, end);
    for (std::int64_t item = begin; item < end; ++item) run_task(BlockTask::of<A>(s_, item), ahead);
  }

 private:
  void run_task(const BlockTask& task, BlocksAhead<T, P>& ahead) {
    const Group& group = plan_[task.group];
    const T* const planes = static_cast<const T*>(p_.input) + (group.image * s_.c + task.channel) * s_.h * s_.w;
    const auto blocks = plan_.touched(task.group);
    const auto units = plan_.units(group);
    std::int64_t taken = 0;
    ahead.begin(task.group);
    for (std::size_t i = 0; i < units.size(); ++i) {
      prefetch_unit<Tap>(units, i);
      if (i + kUnitsAhead < units.size()) {
        const Unit<Tap>& next = *units[i + kUnitsAhead];
        prefetch(room_.stage + (next.slot * plan_.bins() + next.first_bin) * kChannels, plan_.together() * kChannels);
      }
      const Unit<Tap>& unit = *units[i];
      for (; taken < unit.blocks; ++taken) {
        ring_.take(planes, s_.h * s_.w, blocks[static_cast<std::size_t>(taken)]);
        ahead.taken();
      }
      pool(unit);
      ahead.step();
      if (unit.last) put_out(task, unit);
    }
  }

  HWY_INLINE void pool(const Unit<Tap>& unit) const {
    const auto rows = listed(unit.rows);
    const Tap* columns = unit.columns;
    const A inverse_count = plan_.rois()[unit.roi].inverse_count;
    A* out = room_.stage + (unit.slot * plan_.bins() + unit.first_bin) * kChannels;
    for (std::int64_t bin = 0; bin < plan_.together(); ++bin, columns += unit.columns_apart, out += kChannels) {
      pool_bin(rows, listed(columns), inverse_count, out);
    }
  }

  HWY_INLINE void pool_bin(std::span<const Tap> rows, std::span<const Tap> columns, A inverse_count, A* out) const {
    const D d;
    hn::Vec<D> sum[kVectors];
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
    const Tap* x = columns.data();
    std::size_t left = columns.size();
    for (; left > 4; left -= 4, x += 4) add_columns<4>(rows, x, sum);
    if (left == 4) add_columns<4>(rows, x, sum);
    if (left == 3) add_columns<3>(rows, x, sum);
    if (left == 2) add_columns<2>(rows, x, sum);
    if (left == 1) add_columns<1>(rows, x, sum);
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(hn::Mul(sum[v], hn::Set(d, inverse_count)), d, out + v * kLanes<A>);
    }
  }

  template <int kColumns>
  HWY_INLINE void add_columns(std::span<const Tap> rows, const Tap* HWY_RESTRICT x,
                              hn::Vec<D>* HWY_RESTRICT sum) const {
    const D d;
    hn::Vec<D> weight[kColumns];
    const A* column[kColumns];
    MLUOPS_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      weight[i] = hn::Set(d, x[i].weight);
      column[i] = room_.pixels + x[i].index;
    }
    for (const Tap& y : rows) add_row<kColumns>(y, column, weight, sum);
  }

  template <int kColumns>
  HWY_INLINE void add_row(const Tap& y, const A* const* HWY_RESTRICT column, const hn::Vec<D>* HWY_RESTRICT weight,
                          hn::Vec<D>* HWY_RESTRICT sum) const {
    const D d;
    const std::int64_t row = y.index;
    const auto row_weight = hn::Set(d, y.weight);
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      auto row_sum = hn::Mul(weight[0], hn::Load(d, column[0] + row + v * kLanes<A>));
      MLUOPS_UNROLL
      for (int i = 1; i < kColumns; ++i) {
        row_sum = hn::MulAdd(weight[i], hn::Load(d, column[i] + row + v * kLanes<A>), row_sum);
      }
      sum[v] = hn::MulAdd(row_weight, row_sum, sum[v]);
    }
  }

  /// What its RoI's bins are, channel by channel.
  void put_out(const BlockTask& task, const Unit<Tap>& unit) const {
    const std::int64_t bins = plan_.bins(), others = task.own - task.channel;
    transpose_panel(room_.stage + unit.slot * bins * kChannels, kChannels, bins, kChannels, room_.turned, bins);
    store_row(non_temporal_, room_.turned + others * bins,
              static_cast<T*>(p_.output) + (unit.roi * s_.c + task.own) * bins, (kChannels - others) * bins);
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const P& plan_;
  const PixelRing<A> ring_;
  const PoolScratch<A>& room_;
  bool non_temporal_;
};

/// Time of a block of channels of a group.
template <class A>
double pool_ns(const Shape& s, std::int64_t groups) {
  const double channels = static_cast<double>(layout::kBlockChannels<A>);
  const double bins = static_cast<double>(s.rois * s.pooled_h * s.pooled_w) / static_cast<double>(groups);
  return bins * channels * 5 * cost::kElement;
}

template <class T>
mluOpStatus_t forward_by_blocks(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  using P = Plan<A, WeightTap<A>>;
  const Shape& s = p.shape;
  const std::int64_t parts = std::clamp<std::int64_t>(ceil_div(2 * call.threads, BlockTask::count<A>(s, s.batch)), 1,
                                                      ceil_div(s.rois, 16 * s.batch));
  auto plan = allocate<P>(context.arena, s, p.offset != nullptr, parts);
  if (!plan) return no_memory(call);
  if (const mluOpStatus_t status = make_plan<T>(context, call, p, *plan); status != MLUOP_STATUS_SUCCESS) return status;
  const layout::RingSize ring = plan->ring();

  Allocator measure;
  static_cast<void>(PoolScratch<A>(measure, ring, plan->most_slots(), plan->bins()));
  std::byte* const rooms = context.images.reserve_array<std::byte>(call.threads, measure.bytes());
  if (rooms == nullptr) return no_memory(call);
  const std::int64_t bytes = s.rois * plan->bins() * s.c * static_cast<std::int64_t>(sizeof(T));
  const bool non_temporal = bytes >= pooled_non_temporal_from();
  const std::int64_t items = BlockTask::count<A>(s, plan->groups());
  const double item_ns = pool_ns<A>(s, plan->groups());
  Loop(context, call, items, item_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Allocator cut(rooms + slot * measure.bytes());
    const PoolScratch<A> scratch(cut, ring, plan->most_slots(), plan->bins());
    BlockPool<T>(p, *plan, ring, scratch, non_temporal).run(begin, end);
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
Fit blocks_apply(const Context&, const mluopsCall&, const ForwardProblem& p) {
  return fit(fits_blocks<T, WeightTap<Acc<T>>>(p.shape, p.rois, p.offset != nullptr));
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
