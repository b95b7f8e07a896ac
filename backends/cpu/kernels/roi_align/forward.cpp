// RoiAlign forward: a bin of the output is the mean, or the greatest, of bilinear samples.
//
// Mean, channels last: a task owns rows of bins; a bin is a weighted sum of pixels, all channels in registers.
// Mean, channels first: a task owns some channels of an image and a part of its RoIs; planes-inl.h.
// Greatest: a task owns rows of bins, or channels; samples are compared in the order of rows.
// Every element of the output has one writer. Per element and sample 8 flops on 4 loads from the caches.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align/geometry.h"
#include "backends/cpu/kernels/roi_align/greatest-inl.h"
#include "backends/cpu/kernels/roi_align/planes-inl.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/path.h"

#ifndef MLUOPS_CPU_ROI_ALIGN_FORWARD_ONCE_
#define MLUOPS_CPU_ROI_ALIGN_FORWARD_ONCE_
namespace mluops::cpu::roi_align {

template <class A>
struct ForwardArrays {
  RoiTable<A> rois;
  PlaneRooms<A> rooms;

  ForwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, mluOpTensorLayout_t layout)
      : rois(allocator, s), rooms(allocator, call, s, s.mean != 0 && layout == MLUOP_LAYOUT_NCHW) {}
};

}  // namespace mluops::cpu::roi_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Cost in nanoseconds of one channel of one pixel read.
constexpr double kReadNs = 0.05;

/// out[channel] = inverse_count * sum of weight * pixel; channels are neighbours.
template <class T>
void mean_of_bin(const Shape& s, const T* image, typename RoiTable<Acc<T>>::Taps rows,
                 typename RoiTable<Acc<T>>::Taps columns, Acc<T> inverse_count, T* out) {
  using A = Acc<T>;
  for_wide<A, kManySums>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> sum[count];
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) sum[v] = hn::Zero(d);
    for (const WeightTap<A>& y : rows) {
      const T* const row = image + y.index * s.w * s.c + c;
      for (const WeightTap<A>& x : columns) {
        const auto weight = hn::Set(d, y.weight * x.weight);
        const T* const pixel = row + x.index * s.c;
        MLUOPS_UNROLL
        for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(weight, load(d, pixel + v * lanes), sum[v]);
      }
    }
    MLUOPS_UNROLL
    for (int v = 0; v < count; ++v) store(hn::Mul(sum[v], hn::Set(d, inverse_count)), d, out + c + v * lanes);
  });
}

template <class T>
void mean_channels_last(const Context& context, const mluopsCall& call, const mluopsRoiAlignForwardProblem& p,
                        const RoiTable<Acc<T>>& rois) {
  const Shape& s = p.shape;
  const Steps steps(s, p.layout);
  const double taps = rois.taps_per_bin();
  const double row_ns = static_cast<double>(s.pooled_w * s.c) * (1 + taps * taps / 4) * kReadNs;
  Loop(context, call, s.rois * s.pooled_h, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t roi = item / s.pooled_h, row = item % s.pooled_h;
      const T* const image = static_cast<const T*>(p.input) + rois[roi].batch * steps.image;
      T* out = static_cast<T*>(p.output) + item * s.pooled_w * steps.bin;
      for (std::int64_t col = 0; col < s.pooled_w; ++col, out += steps.bin) {
        mean_of_bin(s, image, rois.rows(roi, row), rois.columns(roi, col), rois[roi].inverse_count, out);
      }
    }
  });
}

/// Channels [channel, channel + kPlanes) of an image, or those there are, and some of its RoIs.
template <class T>
void pool_planes(const mluopsRoiAlignForwardProblem& p, const RoiTable<Acc<T>>& rois, const PlaneRoom<Acc<T>>& room,
                 std::int64_t channel, std::span<const std::int64_t> some) {
  const Shape& s = p.shape;
  const Steps steps(s, p.layout);
  PlanesForward<T, kPlanes> four(s, rois, room);
  PlanesForward<T, 1> one(s, rois, room);
  const std::int64_t end = std::min(s.c, channel + kPlanes);
  for (const std::int64_t roi : some) {
    const T* const image = static_cast<const T*>(p.input) + rois[roi].batch * steps.image;
    T* const out = static_cast<T*>(p.output) + roi * steps.roi;
    if (end - channel == kPlanes) {
      four.run(roi, image + channel * steps.channel, out + channel * steps.bin_channel);
    } else {
      for (std::int64_t c = channel; c < end; ++c) one.run(roi, image + c * steps.channel, out + c * steps.bin_channel);
    }
  }
}

/// Items are parts of RoIs, innermost, of groups of channels of images.
template <class T>
void mean_channels_first(const Context& context, const mluopsCall& call, const mluopsRoiAlignForwardProblem& p,
                         const ForwardArrays<Acc<T>>& arrays) {
  constexpr std::int64_t kRoisPerPart = 128;
  const Shape& s = p.shape;
  const std::int64_t groups = ceil_div(s.c, kPlanes);
  const std::int64_t parts = ceil_div(s.rois, kRoisPerPart * s.batch);
  const double taps = arrays.rois.taps_per_bin();
  const double item_ns = static_cast<double>(kPlanes * s.rois * s.pooled_h * s.pooled_w) * (2 + taps) * 4 * kReadNs /
                         static_cast<double>(s.batch * parts);
  Loop(context, call, s.batch * groups * parts, item_ns)
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        const PlaneRoom<Acc<T>> room = arrays.rooms[slot];
        for (std::int64_t item = begin; item < end; ++item) {
          const auto all = arrays.rois.of_image(item / parts / groups);
          const std::int64_t count = std::ssize(all), part = item % parts;
          const auto first = static_cast<std::size_t>(part * count / parts);
          const auto last = static_cast<std::size_t>((part + 1) * count / parts);
          pool_planes<T>(p, arrays.rois, room, item / parts % groups * kPlanes, all.subspan(first, last - first));
        }
      });
}

/// How the bins are filled once the RoIs are read.
enum class Way { kGreatest, kChannelsFirst, kChannelsLast };

Way way_of(const mluopsRoiAlignForwardProblem& p) {
  if (p.shape.mean == 0) return Way::kGreatest;
  return p.layout == MLUOP_LAYOUT_NCHW ? Way::kChannelsFirst : Way::kChannelsLast;
}

template <Way kWay>
Fit applies(const Context&, const mluopsCall&, const mluopsRoiAlignForwardProblem& p) {
  return fit(way_of(p) == kWay);
}

template <class T, Way kWay>
mluOpStatus_t fill_bins(Context& context, const mluopsCall& call, const mluopsRoiAlignForwardProblem& p) {
  const Shape& s = p.shape;
  if (const char* const reason = declined(s)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  auto arrays = allocate<ForwardArrays<Acc<T>>>(context.arena, call, s, p.layout);
  if (!arrays) return no_memory(call);
  arrays->rois.template read<T>(p.rois);
  if constexpr (kWay == Way::kGreatest) {
    greatest_of_bins<T>(context, call, p, arrays->rois);
  } else {
    if (!arrays->rois.list_taps(context, call)) return no_memory(call);
    if constexpr (kWay == Way::kChannelsFirst) mean_channels_first<T>(context, call, p, *arrays);
    if constexpr (kWay == Way::kChannelsLast) mean_channels_last<T>(context, call, p, arrays->rois);
  }
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsRoiAlignForwardProblem& p) {
  static constexpr Path<mluopsRoiAlignForwardProblem> kPaths[] = {
      {"greatest", applies<Way::kGreatest>, fill_bins<T, Way::kGreatest>},
      {"channels_first", applies<Way::kChannelsFirst>, fill_bins<T, Way::kChannelsFirst>},
      {"channels_last", applies<Way::kChannelsLast>, fill_bins<T, Way::kChannelsLast>},
  };
  return run_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(forward, mluopsRoiAlignForwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(roi_align_forward, roi_align, forward, mluopsRoiAlignForwardProblem)

}  // namespace mluops::cpu
#endif
