// PsRoiPool forward: means of the pixels of bins, every bin from channels of its own.
//
// input [B,H,W,D*PH*PW], rois [R,5], output and mapping_channel [R,PH,PW,D], NHWC or NCHW. A task is a bin of all RoIs
// of an image, for a block of its D elements: it makes a panel of their channels, pixels x a cache line, of the rows
// that RoIs look at, and owns the elements it takes from there. An addition for each pixel of a bin: bound by the
// second cache, and where RoIs are few by the memory the input comes from. NHWC input is transposed first. RoIs that
// have fewer pixels than the map read them where they are.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/ps_roi_pool/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/ps_roi_pool/geometry.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/layout/relayout.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/ps_roi_pool.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ps_roi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
using namespace layout::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsPsRoiPoolForwardProblem;

/// panel[pixel][i] = channel i of a task, for pixels [begin, end). `from` is its first channel of pixel 0.
template <class T, class A = Acc<T>>
void fill(const BinTask& task, std::int64_t channel_step, const T* from, std::int64_t begin, std::int64_t end,
          A* HWY_RESTRICT panel) {
  constexpr std::int64_t kPixels = layout::kBlockPixels;
  for (std::int64_t i = begin; i < end; i += kPixels) {
    take_pixels(from + i, channel_step, std::min(kPixels, end - i), panel + i * layout::kBlockChannels<A>, task.count);
  }
}

/// Means of the pixels of a bin, kBlockChannels of them; 0 where it has none.
template <class A>
HWY_INLINE void take_means(const Bin& bin, std::int64_t w, const A* HWY_RESTRICT panel, A* HWY_RESTRICT means) {
  constexpr std::int64_t kChannels = layout::kBlockChannels<A>;
  const hn::ScalableTag<A> d;
  hn::Vec<decltype(d)> sum[kBlockVectors<A>];
  MLUOPS_UNROLL
  for (int v = 0; v < kBlockVectors<A>; ++v) sum[v] = hn::Zero(d);
  for (std::int64_t y = bin.rows.first; y < bin.rows.end; ++y) {
    for (std::int64_t x = bin.cols.first; x < bin.cols.end; ++x) {
      const A* const pixel = panel + (y * w + x) * kChannels;
      MLUOPS_UNROLL
      for (int v = 0; v < kBlockVectors<A>; ++v) sum[v] = hn::Add(sum[v], hn::LoadU(d, pixel + v * kLanes<A>));
    }
  }
  const auto count = hn::Set(d, static_cast<A>(std::max<std::int64_t>(bin.count(), 1)));
  MLUOPS_UNROLL
  for (int v = 0; v < kBlockVectors<A>; ++v) hn::StoreU(hn::Div(sum[v], count), d, means + v * kLanes<A>);
}

/// The rows of the map that some RoI of the image has in this bin.
Pixels rows_of(const Bins& bins, std::span<const PlacedRoi> rois, const BinTask& task) {
  Pixels all = {0, 0};
  for (const PlacedRoi& placed : rois) {
    const Bin one = bins(placed.roi, task.row, task.col);
    if (one.count() == 0) continue;
    all = all.count() == 0 ? one.rows : Pixels{std::min(all.first, one.rows.first), std::max(all.end, one.rows.end)};
  }
  return all;
}

/// A task. `input` is NCHW.
template <class T>
void pool(const ForwardProblem& p, const T* input, const BinTask& task, const Bins& bins, Acc<T>* panel) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t count = s.pooled_h * s.pooled_w;
  const layout::Elements map{s.h * s.w, count * s.output_dim, true};
  const layout::Elements out{count, s.output_dim, p.layout == MLUOP_LAYOUT_NCHW};
  const std::span<const PlacedRoi> rois = bins.of_image(task.image);
  const Pixels rows = rows_of(bins, rois, task);
  const T* const from = input + map.at(task.image, task.first * count + task.bin);
  fill(task, count * map.channel(), from, rows.first * s.w, rows.end * s.w, panel);
  for (const PlacedRoi& placed : rois) {
    HWY_ALIGN A means[layout::kBlockChannels<A>];
    take_means(bins(placed.roi, task.row, task.col), s.w, panel, means);
    T* const to = static_cast<T*>(p.output) + out.at(placed.roi, task.first) + task.bin * out.pixel();
    for (std::int64_t c = 0; c < task.count; ++c) to[c * out.channel()] = from_acc<T>(means[c]);
  }
}

/// Element d of bin i is a mean of channel d * bins + i.
void name_channels(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t count = s.pooled_h * s.pooled_w;
  const layout::Elements out{count, s.output_dim, p.layout == MLUOP_LAYOUT_NCHW};
  Loop(context, call, s.rois, cost::kMove * static_cast<double>(out.image()))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t r = begin; r < end; ++r) {
          for (std::int64_t d = 0; d < s.output_dim; ++d) {
            std::int32_t* const to = p.mapping_channel + out.at(r, d);
            for (std::int64_t i = 0; i < count; ++i) to[i * out.pixel()] = static_cast<std::int32_t>(d * count + i);
          }
        }
      });
}

template <class T>
mluOpStatus_t by_panels(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  constexpr double kUsualPixels = 16;
  const double rois = static_cast<double>(s.rois) / static_cast<double>(s.batch);
  const double channel_ns = cost::kElement / 2 * kUsualPixels * rois + cost::kElement * static_cast<double>(s.h * s.w);
  const Loop loop(context, call, BinTask::count_of(s, layout::kBlockChannels<A>),
                  static_cast<double>(layout::kBlockChannels<A>) * channel_ns);
  auto bins = allocate<Bins>(context.arena, s);
  const auto scratch = allocate<Scratch<T>>(context.images, loop.slots(), s, p.layout);
  if (!bins || !scratch) return no_memory(call);
  bins->find<T>(context, call, p);
  const T* input = static_cast<const T*>(p.input);
  if (p.layout == MLUOP_LAYOUT_NHWC) {
    const layout::Matrices images{s.batch, s.h * s.w, s.pooled_h * s.pooled_w * s.output_dim, sizeof(T)};
    layout::transpose(context, call, images, input, scratch->planes);
    input = scratch->planes;
  }
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const std::int64_t size = s.h * s.w * layout::kBlockChannels<A>;
    A* const panel = scratch->panels + slot * size;
    std::fill_n(panel, size, A{0});  // tasks of fewer channels leave the others as they are
    for (std::int64_t i = begin; i < end; ++i)
      pool<T>(p, input, BinTask::of(i, s, layout::kBlockChannels<A>), *bins, panel);
  });
  if (p.mapping_channel != nullptr) name_channels(context, call, p);
  return MLUOP_STATUS_SUCCESS;
}

// ---- few pixels ------------------------------------------------------------------------------

/// All means of a RoI, in the order of additions of take_means.
template <class T>
void pool_roi(const ForwardProblem& p, const Bins& bins, const PlacedRoi& roi) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t count = s.pooled_h * s.pooled_w;
  const layout::Elements map{s.h * s.w, count * s.output_dim, p.layout == MLUOP_LAYOUT_NCHW};
  const layout::Elements out{count, s.output_dim, map.planes};
  for (std::int64_t i = 0; i < count; ++i) {
    const Bin bin = bins(roi.roi, i / s.pooled_w, i % s.pooled_w);
    const A pixels = static_cast<A>(std::max<std::int64_t>(bin.count(), 1));
    for (std::int64_t d = 0; d < s.output_dim; ++d) {
      const T* const channel = static_cast<const T*>(p.input) + map.at(roi.image, d * count + i);
      A sum = 0;
      for (std::int64_t y = bin.rows.first; y < bin.rows.end; ++y) {
        const T* pixel = channel + (y * s.w + bin.cols.first) * map.pixel();
        for (std::int64_t x = bin.cols.first; x < bin.cols.end; ++x, pixel += map.pixel()) sum += to_acc(*pixel);
      }
      static_cast<T*>(p.output)[out.at(roi.roi, d) + i * out.pixel()] = from_acc<T>(sum / pixels);
    }
  }
}

/// Items are RoIs, which read what they have from where it is.
template <class T>
mluOpStatus_t by_rois(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  auto bins = allocate<Bins>(context.arena, s);
  if (!bins) return no_memory(call);
  bins->find<T>(context, call, p);
  const double roi_ns = cost::kStep * pixels_of<T>(p, 0) * static_cast<double>(s.output_dim);
  Loop(context, call, s.rois, roi_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (const PlacedRoi& roi :
         bins->all().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)))
      pool_roi<T>(p, *bins, roi);
  });
  if (p.mapping_channel != nullptr) name_channels(context, call, p);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"rois", few_pixels<T, ForwardProblem>, by_rois<T>},
                                                    {"panels", always<ForwardProblem>, by_panels<T>}};
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::ps_roi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(ps_roi_pool_forward, ps_roi_pool, forward, mluopsPsRoiPoolForwardProblem, with_element)
