// Means of RoIs' bins, in NCHW, a block of channels at a time: what both directions share.
#if defined(MLUOPS_CPU_ROI_MEAN_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_BLOCKS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_BLOCKS_INL_H_
#endif

#include "backends/cpu/layout/channel_block-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/roi_mean/plan.h"
#include "backends/cpu/sampling/roi_mean/taps-inl.h"
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
template <class T, class Tap>
bool fits_blocks(const Shape& s, const void* rois, bool offset) {
  using A = Acc<T>;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / layout::kBlockChannels<A>;
  if (s.c < layout::kBlockChannels<A> || s.h + 64 > kMost / s.w) return false;
  const auto most = static_cast<double>(std::max<std::int64_t>(s.batch * s.h * s.w * s.c, std::int64_t{1} << 20));
  double taps = 0;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const auto roi = Roi<A>::read(static_cast<const T*>(rois) + 5 * r, s, s.aligned);
    taps += static_cast<double>(RoiLists<A, Tap>::places(s, offset, roi));
  }
  return taps * static_cast<double>(sizeof(Tap)) <= most * static_cast<double>(sizeof(A));
}

/// So many units before their turn what they are made of is prefetched.
constexpr std::size_t kUnitsAhead = 8;

/// Before unit i: what a later one is made of.
template <class Tap>
HWY_INLINE void prefetch_unit(std::span<const Unit<Tap>* const> units, std::size_t i) {
  if (units[i]->packed) return prefetch_bytes(reinterpret_cast<const char*>(units[i]) + 4096, 192);
  if (i + 2 * kUnitsAhead < units.size()) prefetch_bytes(units[i + 2 * kUnitsAhead], sizeof(Unit<Tap>));
  if (i + kUnitsAhead >= units.size()) return;
  prefetch(units[i + kUnitsAhead]->rows, 5);
  prefetch(units[i + kUnitsAhead]->columns, 5);
}

/// Prefetches the touched blocks of pixels that tasks [item, end) need, in their order, at the pace they are needed at.
template <class T, class Plan>
class BlocksAhead {
 public:
  using A = Acc<T>;
  static constexpr std::int64_t kChannels = layout::kBlockChannels<A>, kRun = 8, kLeast = 2 * kRun;

  BlocksAhead(const Shape& s, const Plan& plan, const T* input, std::int64_t item, std::int64_t end)
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
  const Plan& plan_;
  const T* input_;
  std::int64_t plane_, item_, end_;
  std::span<const std::int32_t> blocks_;
  const T* planes_ = nullptr;
  std::int64_t next_ = 0, channel_ = 0, most_, lead_ = 0, credit_ = 0, share_ = 0, units_ = 1;
};

/// Finds the taps of all RoIs and sorts their units.
template <class T, class Plan>
void list_and_sort(const Context& context, const mluopsCall& call, const Bins<T>& bins, const layout::RingSize& ring,
                   Plan& plan) {
  const Shape& s = bins.s;
  const double axes = static_cast<double>(bins.aligned() ? s.pooled_h + s.pooled_w : 2 * s.pooled_h * s.pooled_w);
  const double roi_ns = cost::kStep * axes * std::max(s.sampling_ratio, 4);
  Loop(context, call, s.rois, roi_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t roi = begin; roi < end; ++roi) {
      const auto lists = plan.lists(roi);
      find_taps(bins, Wanted<std::remove_const_t<decltype(lists)>>{roi, lists, roi, nullptr});
      plan.add_roi(roi, ring);
    }
  });
  const double units = static_cast<double>(s.rois * plan.bins() / plan.together());
  Loop(context, call, plan.groups(), units * 10 * cost::kStep / static_cast<double>(plan.groups()))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t group = begin; group < end; ++group) plan.sort_units(group);
      });
}

/// Reads a call's RoIs and plans the order in which they are worked on.
template <class T, class Problem, class Plan>
mluOpStatus_t make_plan(Context& context, const mluopsCall& call, const Problem& p, Plan& plan) {
  const Shape& s = p.shape;
  if (!read_rois<T>(s, p.rois, plan.rois())) return too_many_samples(call);
  std::byte* const lists = context.entries.reserve(plan.sort_rois());
  if (lists == nullptr) return no_memory(call);
  plan.put_in(lists);
  list_and_sort(context, call, Bins<T>(s, p.offset, plan.rois()), plan.ring(), plan);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
