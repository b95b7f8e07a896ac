// PsRoiPool backward: the gradient of each mean goes, divided, to the pixels of its bin.
//
// grad_output and mapping_channel [R,PH,PW,D], rois [R,5], grad_input [B,H,W,D*PH*PW], NHWC or NCHW.
// panels: where mapping_channel is what the forward writes, a channel of the map gets additions from one bin alone. A
// task is a bin of all RoIs of an image, for a block of its D elements: it adds them to a panel of sums and writes
// their channels once. An addition for each pixel of a bin: bound by the second cache and by the memory of the map.
// An NHWC gradient is transposed in the end.
// few_pixels: the same, where RoIs have fewer pixels than the map. A task owns a channel of the map, clears it and adds
// to the pixels of its bins: bound by the memory of the map.
// channels: elements are sorted by the channels they name; a task owns a channel of an image.
// All: no atomics, bitwise equal for every number of threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ps_roi_pool/backward.cpp"
#include <hwy/foreach_target.h>

#include <cstring>
#include <type_traits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/ps_roi_pool/geometry.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/layout/relayout.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/ps_roi_pool.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ps_roi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
using namespace layout::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsPsRoiPoolBackwardProblem;

constexpr double kUsualPixels = 16;

/// Channels of a pixel of a panel where there are few elements: so it stays in the first cache.
constexpr std::int64_t kNarrow = 4;

/// Where the elements of both images are.
struct Images {
  std::int64_t bins;
  layout::Elements map, out;

  explicit Images(const BackwardProblem& p)
      : bins(p.shape.pooled_h * p.shape.pooled_w),
        map{p.shape.h * p.shape.w, bins * p.shape.output_dim, p.layout == MLUOP_LAYOUT_NCHW},
        out{bins, p.shape.output_dim, map.planes} {}
  /// The channel that the forward takes an element of the output from.
  std::int64_t channel_of(std::int64_t element) const {
    const std::int64_t i = element % out.image();
    return out.planes ? i : i % out.channels * bins + i / out.channels;
  }
};

/// Adds shares[kPanel] to the pixels of a bin.
template <std::int64_t kPanel, class A>
HWY_INLINE void add_shares(const Bin& bin, std::int64_t w, const A* HWY_RESTRICT shares, A* HWY_RESTRICT panel) {
  const hn::CappedTag<A, static_cast<std::size_t>(kPanel)> d;
  constexpr std::int64_t kWide = hn::MaxLanes(d);
  for (std::int64_t y = bin.rows.first; y < bin.rows.end; ++y) {
    for (std::int64_t x = bin.cols.first; x < bin.cols.end; ++x) {
      A* const pixel = panel + (y * w + x) * kPanel;
      MLUOPS_UNROLL
      for (std::int64_t i = 0; i < kPanel; i += kWide) {
        hn::StoreU(hn::Add(hn::LoadU(d, pixel + i), hn::LoadU(d, shares + i)), d, pixel + i);
      }
    }
  }
}

/// A panel of `count` channels, kNarrow at most, to planes that are `step` apart.
template <class T, class A = Acc<T>>
void empty_narrow(std::int64_t count, std::int64_t pixels, const A* HWY_RESTRICT panel, T* to, std::int64_t step) {
  const hn::ScalableTag<A> d;
  std::int64_t i = 0;
  for (; i + kLanes<A> <= pixels; i += kLanes<A>) {
    hn::Vec<decltype(d)> channels[kNarrow];
    hn::LoadInterleaved4(d, panel + i * kNarrow, channels[0], channels[1], channels[2], channels[3]);
    for (std::int64_t k = 0; k < count; ++k) store(channels[k], d, to + k * step + i);
  }
  for (; i < pixels; ++i) {
    for (std::int64_t k = 0; k < count; ++k) to[k * step + i] = from_acc<T>(panel[i * kNarrow + k]);
  }
}

/// The channels of a task, from a panel to planes.
template <std::int64_t kPanel, class T, class A = Acc<T>>
void empty(const BinTask& task, const Images& images, const A* HWY_RESTRICT panel, T* to) {
  constexpr std::int64_t kPixels = kPixelsTogether;
  const std::int64_t step = images.bins * images.map.channel(), pixels = images.map.pixels;
  if constexpr (kPanel == kNarrow) return empty_narrow(task.count, pixels, panel, to, step);
  for (std::int64_t i = 0; i < pixels; i += kPixels) {
    put_together(panel + i * layout::kBlockChannels<A>, std::min(kPixels, pixels - i), task.count, to + i, step, false);
  }
}

template <std::int64_t kPanel, class T>
void add_bin(const BackwardProblem& p, const Images& images, const BinTask& task, const Bins& bins, Acc<T>* panel,
             T* planes) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  std::fill_n(panel, images.map.pixels * kPanel, A{0});
  for (const PlacedRoi& placed : bins.of_image(task.image)) {
    const Bin bin = bins(placed.roi, task.row, task.col);
    if (bin.count() == 0) continue;
    HWY_ALIGN A shares[kPanel] = {};
    const T* const grad =
        static_cast<const T*>(p.grad_output) + images.out.at(placed.roi, task.first) + task.bin * images.out.pixel();
    const A pixels = static_cast<A>(bin.count());
    for (std::int64_t c = 0; c < task.count; ++c) shares[c] = to_acc(grad[c * images.out.channel()]) / pixels;
    add_shares<kPanel>(bin, s.w, shares, panel);
  }
  empty<kPanel>(task, images, panel, planes + images.map.at(task.image, task.first * images.bins + task.bin));
}

template <std::int64_t kPanel, class T>
mluOpStatus_t by_panels(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const bool planes = p.layout == MLUOP_LAYOUT_NCHW;
  Images images(p);
  images.map.planes = true;  // also where they are scratch
  const double rois = static_cast<double>(s.rois) / static_cast<double>(s.batch);
  const double channel_ns =
      kUsualPixels * cost::kElement * rois + 2 * cost::kElement * static_cast<double>(images.map.pixels);
  const Loop loop(context, call, BinTask::count_of(s, kPanel), static_cast<double>(kPanel) * channel_ns);
  auto bins = allocate<Bins>(context.arena, s);
  const auto scratch = allocate<Scratch<T>>(context.images, loop.slots(), s, p.layout);
  if (!bins || !scratch) return no_memory(call);
  bins->find<T>(context, call, p);
  T* const gradient = planes ? static_cast<T*>(p.grad_input) : scratch->planes;
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const panel = scratch->panels + slot * images.map.pixels * layout::kBlockChannels<A>;
    for (std::int64_t i = begin; i < end; ++i) {
      add_bin<kPanel>(p, images, BinTask::of(i, s, kPanel), *bins, panel, gradient);
    }
  });
  if (!planes) {
    const layout::Matrices matrices{s.batch, images.map.channels, images.map.pixels, sizeof(T)};
    layout::transpose(context, call, matrices, gradient, p.grad_input);
  }
  return MLUOP_STATUS_SUCCESS;
}

/// mapping_channel is what the forward writes.
Fit is_forwards(const Context&, const mluopsCall&, const BackwardProblem& p) {
  if (p.mapping_channel == nullptr) return Fit::kPrefer;
  const Images images(p);
  for (std::int64_t r = 0; r < p.shape.rois; ++r) {
    for (std::int64_t d = 0; d < p.shape.output_dim; ++d) {
      const std::int32_t* const named = p.mapping_channel + images.out.at(r, d);
      for (std::int64_t i = 0; i < images.bins; ++i) {
        if (named[i * images.out.pixel()] != d * images.bins + i) return Fit::kCannot;
      }
    }
  }
  return Fit::kPrefer;
}

// ---- few pixels ------------------------------------------------------------------------------

/// Adds a share to pixels of a row, which are `step` apart.
template <class A>
HWY_INLINE void add_row(A share, std::int64_t pixels, std::int64_t step, A* HWY_RESTRICT to) {
  if (step != 1) {
    for (std::int64_t x = 0; x < pixels; ++x) to[x * step] += share;
    return;
  }
  for_lanes<A>(pixels, [&](auto d, std::int64_t x)
                           HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, to + x), hn::Set(d, share)), d, to + x); });
}

/// Adds what a channel of an image gets, in the order of additions of add_bin. Pixels of `sums` are `step` apart.
template <class T>
void add_to_plane(const BackwardProblem& p, const Images& images, const Bins& bins, std::int64_t image,
                  std::int64_t channel, Acc<T>* sums, std::int64_t step) {
  using A = Acc<T>;
  const std::int64_t i = channel % images.bins, row = i / p.shape.pooled_w, col = i % p.shape.pooled_w;
  for (const PlacedRoi& placed : bins.of_image(image)) {
    const Bin bin = bins(placed.roi, row, col);
    if (bin.count() == 0) continue;
    const T* const grad = static_cast<const T*>(p.grad_output) + images.out.at(placed.roi, channel / images.bins);
    const A share = to_acc(grad[i * images.out.pixel()]) / static_cast<A>(bin.count());
    for (std::int64_t y = bin.rows.first; y < bin.rows.end; ++y)
      add_row(share, bin.cols.count(), step, sums + (y * p.shape.w + bin.cols.first) * step);
  }
}

template <class A>
struct PlaneArrays {
  Bins bins;
  A* sums;  ///< a channel for each thread

  PlaneArrays(Allocator& allocator, const Shape& s, int slots, std::int64_t pixels)
      : bins(allocator, s), sums(allocator.allocate<A>(slots, pixels)) {}
};

/// Whether sums are made where they go; sums of halves are made in scratch.
template <class T>
constexpr bool kInPlace = std::is_same_v<T, Acc<T>>;

/// A channel of an image, cleared already where its pixels are not side by side.
template <class T>
void write_plane(const BackwardProblem& p, const Images& images, const Bins& bins, std::int64_t item, Acc<T>* sums) {
  const std::int64_t image = item / images.map.channels, channel = item % images.map.channels;
  T* const to = static_cast<T*>(p.grad_input) + images.map.at(image, channel);
  if constexpr (kInPlace<T>) {
    if (images.map.pixel() == 1) std::fill_n(to, images.map.pixels, T{0});
    add_to_plane<T>(p, images, bins, image, channel, to, images.map.pixel());
  } else {
    std::fill_n(sums, images.map.pixels, Acc<T>{0});
    add_to_plane<T>(p, images, bins, image, channel, sums, 1);
    for_lanes<Acc<T>>(images.map.pixels,
                      [&](auto d, std::int64_t x) HWY_ATTR { store(hn::LoadU(d, sums + x), d, to + x); });
  }
}

template <class T>
mluOpStatus_t by_planes(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const Images images(p);
  const std::int64_t planes = s.batch * images.map.channels, pixels = images.map.pixels;
  const Loop loop(context, call, planes, 2 * cost::kMove * static_cast<double>(pixels));
  auto arrays = allocate<PlaneArrays<Acc<T>>>(context.arena, s, loop.slots(), kInPlace<T> ? 0 : pixels);
  if (!arrays) return no_memory(call);
  arrays->bins.template find<T>(context, call, p);
  if (images.map.pixel() != 1) {
    T* const all = static_cast<T*>(p.grad_input);
    Loop(context, call, planes * pixels, cost::kMove).run([&](std::int64_t begin, std::int64_t end, int) {
      std::memset(all + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(T));
    });
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t i = begin; i < end; ++i)
      write_plane<T>(p, images, arrays->bins, i, arrays->sums + (kInPlace<T> ? 0 : slot * pixels));
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
Fit has_few_pixels(const Context& context, const mluopsCall& call, const BackwardProblem& p) {
  if (!kInPlace<T> && p.layout != MLUOP_LAYOUT_NCHW) return Fit::kCannot;
  return few_pixels<T>(context, call, p) == Fit::kPrefer ? is_forwards(context, call, p) : Fit::kCannot;
}

Fit is_forwards_and_narrow(const Context& context, const mluopsCall& call, const BackwardProblem& p) {
  return p.shape.output_dim <= 2 * kNarrow ? is_forwards(context, call, p) : Fit::kCannot;
}

Fit names_channels(const Context&, const mluopsCall&, const BackwardProblem& p) {
  return fit(p.mapping_channel != nullptr);
}

template <class A>
struct ChannelArrays {
  Bins bins;
  Buckets elements;  ///< of grad_output, by the channel of the image that they name
  A* sums;           ///< a channel for each thread

  ChannelArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, const Images& images)
      : bins(allocator, s),
        elements(allocator, call, s.rois * images.out.image(), s.batch * images.map.channels),
        sums(allocator.allocate<A>(std::int64_t{call.threads}, images.map.pixels)) {}
};

/// Sums of a channel of an image.
template <class T>
void add_channel(const BackwardProblem& p, const Images& images, const ChannelArrays<Acc<T>>& arrays,
                 std::int64_t channel, Acc<T>* sums) {
  std::fill_n(sums, images.map.pixels, Acc<T>{0});
  for (const std::int64_t element : arrays.elements[channel]) {
    const std::int64_t i = images.channel_of(element) % images.bins;
    const Bin bin = arrays.bins(element / images.out.image(), i / p.shape.pooled_w, i % p.shape.pooled_w);
    if (bin.count() == 0) continue;
    const auto share = to_acc(static_cast<const T*>(p.grad_output)[element]) / static_cast<Acc<T>>(bin.count());
    for (std::int64_t y = bin.rows.first; y < bin.rows.end; ++y) {
      for (std::int64_t x = bin.cols.first; x < bin.cols.end; ++x) sums[y * p.shape.w + x] += share;
    }
  }
  T* const to =
      static_cast<T*>(p.grad_input) + images.map.at(channel / images.map.channels, channel % images.map.channels);
  for (std::int64_t i = 0; i < images.map.pixels; ++i) to[i * images.map.pixel()] = from_acc<T>(sums[i]);
}

template <class T>
mluOpStatus_t by_channels(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const Images images(p);
  auto arrays = allocate<ChannelArrays<Acc<T>>>(context.arena, call, s, images);
  if (!arrays) return no_memory(call);
  arrays->bins.template find<T>(context, call, p);
  const double element_ns = kUsualPixels * cost::kScatter;
  const double channel_ns = 2 * cost::kMove * static_cast<double>(images.map.pixels);
  const auto sort = [&](std::int64_t begin, std::int64_t end, auto&& put) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t channel = p.mapping_channel[i];
      if (channel < 0 || channel >= images.map.channels) continue;
      const T batch_index = static_cast<const T*>(p.rois)[5 * (i / images.out.image())];
      put(i, index_of(to_acc(batch_index), s.batch) * images.map.channels + channel, element_ns);
    }
  };
  if (!arrays->elements.fill(context, call, cost::kStep, channel_ns, sort)) return no_memory(call);
  Loop(context, call, arrays->elements.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Acc<T>* const sums = arrays->sums + slot * images.map.pixels;
    for (std::int64_t i = begin; i < end; ++i) add_channel<T>(p, images, *arrays, i, sums);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  static constexpr Path<BackwardProblem> kPaths[] = {
      {"few_pixels", has_few_pixels<T>, by_planes<T>},
      {"narrow_panels", is_forwards_and_narrow, by_panels<kNarrow, T>},
      {"panels", is_forwards, by_panels<layout::kBlockChannels<Acc<T>>, T>},
      {"channels", names_channels, by_channels<T>},
  };
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::ps_roi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(ps_roi_pool_backward, ps_roi_pool, backward, mluopsPsRoiPoolBackwardProblem, with_element)
