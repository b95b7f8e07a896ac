// Means of RoIs' bins, forward in NCHW, a block of channels at a time.
#if defined(MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_
#endif

#include "backends/cpu/layout/channel_block-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/roi_mean/plan.h"
#include "backends/cpu/sampling/roi_mean/taps-inl.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
using namespace layout::HWY_NAMESPACE;

/// A task: a group, and channels from `channel` on, of which those before `own` are another task's.
struct BlockTask {
  std::int64_t group, channel, own;

  template <class A>
  static BlockTask of(const Shape& s, std::int64_t item) {
    constexpr std::int64_t kChannels = layout::kBlockChannels<A>;
    const std::int64_t blocks = ceil_div(s.c, kChannels), own = item % blocks * kChannels;
    return {item / blocks, std::min(own, s.c - kChannels), own};
  }
  template <class A>
  static std::int64_t count(const Shape& s, std::int64_t groups) {
    return groups * ceil_div(s.c, layout::kBlockChannels<A>);
  }
};

/// Whether a pixel has a block of channels, and all taps take no more memory than the map.
template <class T>
bool fits_blocks(const Shape& s, const void* rois, bool offset) {
  using A = Acc<T>;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / layout::kBlockChannels<A>;
  if (s.c < layout::kBlockChannels<A> || s.h + 64 > kMost / s.w) return false;
  const auto most = static_cast<double>(std::max<std::int64_t>(s.batch * s.h * s.w * s.c, std::int64_t{1} << 20));
  double taps = 0;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const auto roi = Roi<A>::read(static_cast<const T*>(rois) + 5 * r, s, s.aligned);
    taps += static_cast<double>(RoiLists<A>::places(s, offset, roi));
  }
  return taps * static_cast<double>(sizeof(WeightTap<A>)) <= most * static_cast<double>(sizeof(A));
}

/// So many units before their turn what they are made of is prefetched.
constexpr std::size_t kUnitsAhead = 8;

/// Before unit i: what a later one is made of.
template <class A>
HWY_INLINE void prefetch_unit(std::span<const Unit<A>* const> units, std::size_t i) {
  if (i + 2 * kUnitsAhead < units.size()) prefetch_bytes(units[i + 2 * kUnitsAhead], sizeof(Unit<A>));
  if (i + kUnitsAhead >= units.size()) return;
  prefetch(units[i + kUnitsAhead]->rows, 5);
  prefetch(units[i + kUnitsAhead]->columns, 5);
}

/// Prefetches the touched blocks of pixels that tasks [item, end) need, in their order, at the pace they are needed at.
template <class T>
class BlocksAhead {
 public:
  using A = Acc<T>;
  static constexpr std::int64_t kChannels = layout::kBlockChannels<A>, kRun = 8, kLeast = 2 * kRun;

  BlocksAhead(const Shape& s, const Plan<A>& plan, const T* input, std::int64_t item, std::int64_t end)
      : s_(s), plan_(plan), input_(input), plane_(s.h * s.w), item_(item), end_(end) {
    most_ = std::clamp<std::int64_t>(2 * ceil_div(s.w, layout::kBlockPixels) + 8, 24, 96) * kChannels;
    enter();
  }

  /// The tasks have come to one of this group.
  void begin(std::int64_t group) {
    credit_ = 0;
    units_ = std::max<std::int64_t>(1, std::ssize(plan_.units(plan_[group])));
    share_ = ceil_div(std::ssize(plan_.touched(group)) * kChannels, kRun);
  }
  /// A block was taken: at least the next ones are on their way.
  HWY_INLINE void taken() {
    lead_ -= kChannels;
    while (lead_ < kLeast * kChannels && item_ < end_) prefetch_run();
  }
  /// A unit was worked on.
  HWY_INLINE void step() {
    for (credit_ += share_; credit_ >= units_; credit_ -= units_) {
      if (lead_ < most_ && item_ < end_) prefetch_run();
    }
  }

 private:
  void enter() {
    for (next_ = 0; item_ < end_; ++item_) {
      const BlockTask task = BlockTask::of<A>(s_, item_);
      blocks_ = plan_.touched(task.group);
      planes_ = input_ + (plan_[task.group].image * s_.c + task.channel) * plane_;
      if (!blocks_.empty()) break;
    }
  }
  /// Some blocks of a plane.
  HWY_INLINE void prefetch_run() {
    const std::int64_t end = std::min(next_ + kRun, std::ssize(blocks_));
    const T* const plane = planes_ + channel_ * plane_;
    for (std::int64_t i = next_; i < end; ++i) {
      __builtin_prefetch(plane + blocks_[static_cast<std::size_t>(i)] * layout::kBlockPixels, 0, 2);
    }
    lead_ += end - next_;
    if (++channel_ < kChannels) return;
    channel_ = 0;
    next_ = end;
    if (end < std::ssize(blocks_)) return;
    ++item_;
    enter();
  }

  const Shape& s_;
  const Plan<A>& plan_;
  const T* input_;
  std::int64_t plane_, item_, end_;
  std::span<const std::int32_t> blocks_;
  const T* planes_ = nullptr;
  std::int64_t next_ = 0, channel_ = 0, most_, lead_ = 0, credit_ = 0, share_ = 0, units_ = 1;
};

/// Reads a call's RoIs and plans the order in which they are worked on.
template <class T>
mluOpStatus_t make_plan(Context& context, const mluopsCall& call, const ForwardProblem& p, Plan<Acc<T>>& plan) {
  const Shape& s = p.shape;
  if (!read_rois<T>(s, p.rois, plan.rois())) return too_many_samples(call);
  auto* const taps = context.entries.reserve_array<WeightTap<Acc<T>>>(plan.sort_rois());
  if (taps == nullptr) return no_memory(call);
  plan.put_in(taps);
  const Bins<T> bins(s, p.offset, plan.rois());
  const double axes = static_cast<double>(bins.aligned() ? s.pooled_h + s.pooled_w : 2 * s.pooled_h * s.pooled_w);
  Loop(context, call, s.rois, cost::kStep * axes * std::max(s.sampling_ratio, 4))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t roi = begin; roi < end; ++roi) {
          const auto lists = plan.lists(roi);
          find_taps(bins, Wanted<std::remove_const_t<decltype(lists)>>{roi, lists, roi, nullptr});
          plan.add_roi(roi, plan.ring());
        }
      });
  const double units = static_cast<double>(s.rois * plan.bins() / plan.together());
  Loop(context, call, plan.groups(), units * 10 * cost::kStep / static_cast<double>(plan.groups()))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t group = begin; group < end; ++group) plan.sort_units(group);
      });
  return MLUOP_STATUS_SUCCESS;
}

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
  static constexpr std::int64_t kChannels = layout::kBlockChannels<A>;
  static constexpr int kVectors = kBlockVectors<A>;

  BlockPool(const ForwardProblem& p, const Plan<A>& plan, const layout::RingSize& size, const PoolScratch<A>& scratch,
            bool non_temporal)
      : p_(p), s_(p.shape), plan_(plan), ring_(size, scratch.pixels), room_(scratch), non_temporal_(non_temporal) {}

  void run(std::int64_t begin, std::int64_t end) {
    BlocksAhead<T> ahead(s_, plan_, static_cast<const T*>(p_.input), begin, end);
    for (std::int64_t item = begin; item < end; ++item) run_task(BlockTask::of<A>(s_, item), ahead);
  }

 private:
  void run_task(const BlockTask& task, BlocksAhead<T>& ahead) {
    const Group& group = plan_[task.group];
    const T* const planes = static_cast<const T*>(p_.input) + (group.image * s_.c + task.channel) * s_.h * s_.w;
    const auto blocks = plan_.touched(task.group);
    const auto units = plan_.units(group);
    std::int64_t taken = 0;
    ahead.begin(task.group);
    for (std::size_t i = 0; i < units.size(); ++i) {
      prefetch_unit<A>(units, i);
      if (i + kUnitsAhead < units.size()) {
        const Unit<A>& next = *units[i + kUnitsAhead];
        prefetch(room_.stage + (next.slot * plan_.bins() + next.first_bin) * kChannels, plan_.together() * kChannels);
      }
      const Unit<A>& unit = *units[i];
      for (; taken < unit.blocks; ++taken) {
        ring_.take(planes, s_.h * s_.w, blocks[static_cast<std::size_t>(taken)]);
        ahead.taken();
      }
      pool(unit);
      ahead.step();
      if (unit.last) put_out(task, unit);
    }
  }

  HWY_INLINE void pool(const Unit<A>& unit) const {
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
  void put_out(const BlockTask& task, const Unit<A>& unit) const {
    const std::int64_t bins = plan_.bins(), others = task.own - task.channel;
    transpose_panel(room_.stage + unit.slot * bins * kChannels, kChannels, bins, kChannels, room_.turned, bins);
    store_row(non_temporal_, room_.turned + others * bins,
              static_cast<T*>(p_.output) + (unit.roi * s_.c + task.own) * bins, (kChannels - others) * bins);
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const Plan<A>& plan_;
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
  const Shape& s = p.shape;
  const std::int64_t parts = std::clamp<std::int64_t>(ceil_div(2 * call.threads, BlockTask::count<A>(s, s.batch)), 1,
                                                      ceil_div(s.rois, 16 * s.batch));
  auto plan = allocate<Plan<A>>(context.arena, s, p.offset != nullptr, parts);
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

/// Where the map is small beside the output, transposing it costs less than what blocks cost each bin.
template <class T>
Fit blocks_apply(const Context&, const mluopsCall&, const ForwardProblem& p) {
  const bool large = map_of(p.shape).bytes() > pooled_of(p.shape).bytes();
  return fit(fits_blocks<T>(p.shape, p.rois, p.offset != nullptr), large);
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
