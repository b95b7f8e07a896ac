// Means of RoIs' bins, forward in NCHW, a block of channels at a time.
#if defined(MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_
#else
#define MLUOPS_CPU_ROI_MEAN_POOL_BLOCKS_INL_H_
#endif

#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/roi_mean/plan.h"
#include "backends/cpu/roi_mean/taps-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
using namespace layout::HWY_NAMESPACE;

/// Scratch of a thread.
template <class T, class A = Acc<T>>
struct PoolScratch {
  A* pixels;  ///< of the image, those that were fetched
  T* pooled;  ///< a RoI's bins

  PoolScratch(Allocator& allocator, const Shape& s)
      : pixels(allocator.allocate<A>(s.h, s.w, layout::kBlockChannels<A>)),
        pooled(allocator.allocate<T>(s.pooled_h, s.pooled_w, layout::kBlockChannels<A>)) {}
};

template <class T>
class BlockPool {
 public:
  using A = Acc<T>;
  using D = hn::ScalableTag<A>;
  using Tap = WeightTap<A>;
  static constexpr std::int64_t kChannels = layout::kBlockChannels<A>;
  static constexpr int kVectors = kBlockVectors<A>;

  BlockPool(const ForwardProblem& p, const Plan<A>& plan, const PoolScratch<T>& scratch, bool non_temporal)
      : p_(p), s_(p.shape), plan_(plan), room_(scratch), plane_(s_.h * s_.w), non_temporal_(non_temporal) {}

  /// A block of channels of a group.
  void run(const layout::ChannelTask& task) {
    const std::int64_t group = task.image;
    const T* const planes = static_cast<const T*>(p_.input) + (group / plan_.parts * s_.c + task.first) * plane_;
    const bool* const touched = plan_.touched + group * plan_.blocks;
    std::int64_t block = 0;
    for (const std::int64_t roi : plan_.rois_of(group)) {
      for (; block * layout::kBlockPixels < plan_.rows[roi].last * s_.w; ++block) {
        if (touched[block]) take(planes, block * layout::kBlockPixels, task.count());
      }
      pool(roi);
      put_out(task, roi);
    }
  }

 private:
  /// A block of pixels. Meanwhile the one some rows below is prefetched.
  HWY_INLINE void take(const T* planes, std::int64_t pixel, std::int64_t channels) const {
    constexpr std::int64_t kRowsAhead = 4;
    take_pixels(planes + pixel, plane_, std::min(layout::kBlockPixels, plane_ - pixel),
                room_.pixels + pixel * kChannels, channels);
    const T* ahead = planes + pixel + kRowsAhead * s_.w;
    for (std::int64_t c = 0; c < channels; ++c, ahead += plane_) __builtin_prefetch(ahead, 0, 2);
  }

  HWY_INLINE void pool(std::int64_t roi) const {
    const auto rows = plan_.taps.rows(roi), columns = plan_.taps.columns(roi);
    const A inverse_count = plan_.rois[roi].inverse_count;
    T* out = room_.pooled;
    BinPlace at{0, roi, 0, 0};
    for (at.row = 0; at.row < s_.pooled_h; ++at.row) {
      for (at.col = 0; at.col < s_.pooled_w; ++at.col, out += kChannels) {
        pool_bin(rows.taps(plan_.taps.row_of(at)), columns.taps(plan_.taps.column_of(at)), inverse_count, out);
      }
    }
  }

  HWY_INLINE void pool_bin(std::span<const Tap> rows, std::span<const Tap> columns, A inverse_count, T* out) const {
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
      store(hn::Mul(sum[v], hn::Set(d, inverse_count)), d, out + v * kLanes<A>);
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
      column[i] = room_.pixels + x[i].index * kChannels;
    }
    for (const Tap& y : rows) add_row<kColumns>(y, column, weight, sum);
  }

  template <int kColumns>
  HWY_INLINE void add_row(const Tap& y, const A* const* HWY_RESTRICT column, const hn::Vec<D>* HWY_RESTRICT weight,
                          hn::Vec<D>* HWY_RESTRICT sum) const {
    const D d;
    const std::int64_t row = y.index * s_.w * kChannels;
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

  /// What a RoI's bins are, channel by channel.
  void put_out(const layout::ChannelTask& task, std::int64_t roi) const {
    using M = Moved<T>;
    const std::int64_t bins = s_.pooled_h * s_.pooled_w;
    rows_to_planes(non_temporal_, reinterpret_cast<const M*>(room_.pooled), kChannels, bins, task.count(),
                   reinterpret_cast<M*>(static_cast<T*>(p_.output) + (roi * s_.c + task.first) * bins), bins);
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const Plan<A>& plan_;
  const PoolScratch<T>& room_;
  const std::int64_t plane_;
  const bool non_temporal_;
};

/// Time of a block of channels of a group.
template <class A>
double pool_ns(const Shape& s, std::int64_t groups) {
  const double channels = static_cast<double>(layout::kBlockChannels<A>);
  const double bins = static_cast<double>(s.rois * s.pooled_h * s.pooled_w) / static_cast<double>(groups);
  return bins * channels * 5 * cost::kElement;
}

/// The plan and the scratch of the threads.
template <class T>
struct BlockArrays {
  Plan<Acc<T>> plan;
  SlotScratch<PoolScratch<T>> rooms;

  BlockArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, bool offset, const LargestBin<T>& most,
              std::int64_t parts)
      : plan(allocator, call, s, offset, most, parts), rooms(allocator, call.threads, s) {}
};

template <class T>
mluOpStatus_t forward_by_blocks(Context& context, const mluopsCall& given, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t blocks_of_image = ceil_div(s.c, layout::kBlockChannels<A>), blocks = s.batch * blocks_of_image;
  // The pixels of all threads take no more memory than two maps of sums, or 64 MiB.
  const std::int64_t most = std::max(2 * blocks, (std::int64_t{1} << 20) / (s.h * s.w));
  mluopsCall call = given;
  call.threads = static_cast<int>(std::min<std::int64_t>(given.threads, most));
  const std::int64_t parts =
      std::clamp<std::int64_t>(ceil_div(2 * call.threads, blocks), 1, ceil_div(s.rois, 16 * s.batch));
  auto arrays = allocate<BlockArrays<T>>(context.arena, call, s, p.offset != nullptr, LargestBin<T>(s, p.rois), parts);
  if (!arrays) return no_memory(call);
  Plan<A>& plan = arrays->plan;
  if (!read_rois<T>(s, p.rois, plan.rois)) return too_many_samples(call);
  const Bins<T> bins(s, p.offset, plan.rois);
  find_all_taps(context, call, bins, plan.taps, [&](std::int64_t roi) { plan.add_roi(roi); });
  if (!plan.sort(context, call)) return no_memory(call);

  const bool non_temporal = bins.count() * s.c * static_cast<std::int64_t>(sizeof(T)) >= pooled_non_temporal_from();
  const std::int64_t items = plan.groups() * blocks_of_image;
  const double item_ns = pool_ns<A>(s, plan.groups());
  Loop(context, call, items, item_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const PoolScratch<T> scratch = arrays->rooms.of(slot, s);
    BlockPool<T> pool(p, plan, scratch, non_temporal);
    for (std::int64_t i = begin; i < end; ++i) pool.run(layout::ChannelTask::of<A>(i, s.c));
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
Fit blocks_apply(const Context&, const mluopsCall&, const ForwardProblem& p) {
  return fit(p.shape.h <= std::numeric_limits<std::int32_t>::max() / p.shape.w &&
             taps_fit<T>(p.shape, p.rois, p.offset != nullptr));
}

}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
