// RoiPooling forward: the greatest pixel of each bin, and which it is.
//
// input [B,H,W,C], output and argmax [R,PH,PW,C]. An item is a row of bins of a RoI and owns it; RoIs come in an order
// in which neighbours share pixels. The channels of a pixel are vectors; the greatest values so far and their pixels
// stay in registers while the pixels of a bin go by. A comparison and two choices for each vector of a pixel: bound by
// those, and by output and argmax, which leave with non-temporal stores where they are large. In NCHW an item is up to
// four blocks of channels of an image, whose panels, of the pixels that RoIs lie on, it makes once and pools all RoIs
// from. Where planes are few, their pixels are vectors: the greatest of each column in a row of bins, then of each bin.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_pool/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_pool/geometry.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/sampling/roi_order.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/roi_pool.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
using namespace layout::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsRoiPoolForwardProblem;

/// Tag of pixel numbers, as wide as the sums: beside float int32, beside double a double, which holds them exactly.
template <class D>
using NumberTag = std::conditional_t<sizeof(hn::TFromD<D>) == 4, hn::RebindToSigned<D>, D>;

template <class D>
HWY_INLINE void store_numbers(bool non_temporal, hn::Vec<NumberTag<D>> v, D, std::int32_t* to) {
  const hn::Rebind<std::int32_t, D> d32;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    non_temporal ? hn::Stream(v, d32, to) : hn::StoreU(v, d32, to);
  } else {
    hn::StoreU(hn::DemoteTo(d32, v), d32, to);
  }
}

/// Where the bins of a row come from and go to. Elements from a pixel to the next, from a block of kBlockChannels to
/// the next, and from a bin, whose channels lie side by side, to the next.
template <bool kPanels, class E, class O>
struct Row {
  const E* image;
  layout::RowPlaces places;
  O* output;
  std::int32_t* argmax;  ///< may be nullptr
  std::int64_t pixel, block, bin, channels;
  bool non_temporal;  ///< stores of whole vectors

  /// Channel c of the first pixel.
  const E* at(std::int64_t c) const {
    constexpr std::int64_t kChannels = layout::kBlockChannels<Acc<E>>;
    return kPanels ? image + c / kChannels * block + c % kChannels : image + c;
  }
};

/// One bin that has pixels: kWide vectors of channels from c on, `apart` elements from one to the next.
template <int kWide, bool kPanels, class E, class O, class D>
HWY_INLINE void pool(D d, std::int64_t w, const Pixels& rows, const Pixels& cols, const Row<kPanels, E, O>& to,
                     std::int64_t c, std::int64_t apart) {
  const NumberTag<D> dn;
  const E* image[kWide];
  const std::int64_t step = to.pixel;
  hn::Vec<D> best[kWide];
  hn::Vec<NumberTag<D>> pixel[kWide];
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) {
    image[v] = to.at(c + v * apart);
    best[v] = hn::Set(d, static_cast<hn::TFromD<D>>(std::numeric_limits<float>::lowest()));
    pixel[v] = hn::Set(dn, -1);
  }
  for (std::int64_t y = rows.first; y < rows.end; ++y) {
    for (std::int64_t at = y * w + cols.first, end = y * w + cols.end, stop; at < end; at = stop) {
      stop = std::min(end, at + to.places.run(at));
      for (std::int64_t place = to.places(at); at < stop; ++at, ++place) {
        const auto here = hn::Set(dn, static_cast<hn::TFromD<NumberTag<D>>>(at));
        MLUOPS_UNROLL
        for (int v = 0; v < kWide; ++v) {
          const auto value = load(d, (kPanels ? image[v] : image[0] + v * apart) + place * step);
          const auto greater = hn::Gt(value, best[v]);
          best[v] = hn::IfThenElse(greater, value, best[v]);
          pixel[v] = hn::IfThenElse(hn::RebindMask(dn, greater), here, pixel[v]);
        }
      }
    }
  }
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) {
    const bool non_temporal = to.non_temporal && hn::Lanes(d) == kLanes<hn::TFromD<D>>;
    store(non_temporal, best[v], d, to.output + c + v * apart);
    if (to.argmax != nullptr) store_numbers(non_temporal, pixel[v], d, to.argmax + c + v * apart);
  }
}

/// A row of a RoI's bins.
template <class A, bool kPanels, class E, class O>
void pool_row(const Shape& s, const Roi<A>& roi, std::int64_t row, Row<kPanels, E, O> to) {
  const Pixels rows = roi.rows(row);
  for (std::int64_t col = 0; col < s.pooled_w; ++col) {
    const Pixels cols = roi.x.of(col);
    if (rows.empty() || cols.empty()) {
      std::fill_n(to.output, to.channels, O{});
      if (to.argmax != nullptr) std::fill_n(to.argmax, to.channels, -1);
    } else {
      for_overlapping<A, 4>(to.channels, [&](auto d, auto vectors, std::int64_t c, std::int64_t apart) HWY_ATTR {
        pool<decltype(vectors)::value>(d, s.w, rows, cols, to, c, apart);
      });
    }
    to.output += to.bin;
    if (to.argmax != nullptr) to.argmax += to.bin;
  }
}

constexpr double kUsualPixels = 16;

template <class T>
void sort_rois(const ForwardProblem& p, RoiOrder& order) {
  order.sort([&](std::int64_t r) {
    const auto roi = Roi<Acc<T>>::template read<T>(p, r);
    return PlacedRoi{roi.image, roi.y.of(0).first, roi.x.of(0).first, r};
  });
}

/// Whether output leaves the second cache before anyone reads it.
template <class T>
bool large(const Shape& s) {
  return s.rois * s.pooled_h * s.pooled_w * s.c * static_cast<std::int64_t>(sizeof(T)) > second_cache(64);
}

template <class T>
mluOpStatus_t by_rows(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const double row_ns = kUsualPixels * cost::kElement * static_cast<double>(s.pooled_w * s.c);
  auto order = allocate<RoiOrder>(context.arena, s.rois);
  if (!order) return no_memory(call);
  sort_rois<T>(p, *order);
  const bool non_temporal = large<T>(s) && whole_lines(p.output, s.c * static_cast<std::int64_t>(sizeof(T))) &&
                            whole_lines(p.argmax, s.c * static_cast<std::int64_t>(sizeof(std::int32_t)));
  Loop(context, call, s.rois * s.pooled_h, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t r = order->all()[static_cast<std::size_t>(item / s.pooled_h)].roi, row = item % s.pooled_h;
      const auto roi = Roi<Acc<T>>::template read<T>(p, r);
      const std::int64_t bin = (r * s.pooled_h + row) * s.pooled_w * s.c;
      pool_row<Acc<T>>(
          s, roi, row,
          Row<false, T, T>{static_cast<const T*>(p.input) + roi.image * s.h * s.w * s.c, layout::RowPlaces(),
                           static_cast<T*>(p.output) + bin, p.argmax == nullptr ? nullptr : p.argmax + bin, s.c, 0, s.c,
                           s.c, non_temporal});
    }
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

// ---- few channels ----------------------------------------------------------------------------

/// Scratch of a thread: for each column of a map the greatest pixel in a row of bins, and the columns of bins.
template <class A>
struct ColumnScratch {
  using Number = hn::TFromD<NumberTag<hn::ScalableTag<A>>>;

  A* greatest;
  Number* pixel;  ///< -1: none
  Pixels* bins;

  ColumnScratch(Allocator& allocator, const Shape& s)
      : greatest(allocator.allocate<A>(s.w + kLanes<A>)),
        pixel(allocator.allocate<Number>(s.w + kLanes<A>)),
        bins(allocator.allocate<Pixels>(s.pooled_w)) {}
};

template <class A>
constexpr A kLowest = static_cast<A>(std::numeric_limits<float>::lowest());

/// The greatest pixel in `rows` of each of columns `cols` of a plane, the first of equal ones.
template <class T>
void pool_columns(const T* plane, std::int64_t w, const Pixels& rows, const Pixels& cols,
                  const ColumnScratch<Acc<T>>& to) {
  using A = Acc<T>;
  for_lanes<A>(cols.end - cols.first, [&](auto d, std::int64_t i) HWY_ATTR {
    using Number = typename ColumnScratch<A>::Number;
    const NumberTag<decltype(d)> dn;
    const std::int64_t x = cols.first + i;
    auto best = hn::Set(d, kLowest<A>);
    auto pixel = hn::Set(dn, -1), at = hn::Iota(dn, static_cast<Number>(rows.first * w + x));
    for (std::int64_t y = rows.first; y < rows.end; ++y) {
      const auto value = load(d, plane + y * w + x);
      const auto greater = hn::Gt(value, best);
      best = hn::IfThenElse(greater, value, best);
      pixel = hn::IfThenElse(hn::RebindMask(dn, greater), at, pixel);
      at = hn::Add(at, hn::Set(dn, static_cast<Number>(w)));
    }
    hn::StoreU(best, d, to.greatest + x);
    hn::StoreU(pixel, dn, to.pixel + x);
  });
}

/// The pixel of a bin, out of the columns of its row: of equal ones the first.
template <class D, class A>
HWY_INLINE std::int32_t pool_bin(D d, const ColumnScratch<A>& columns, const Pixels& cols) {
  const NumberTag<D> dn;
  const auto each = [&](auto visit) HWY_ATTR {
    for (std::int64_t x = cols.first; x < cols.end; x += static_cast<std::int64_t>(hn::MaxLanes(d)))
      visit(hn::FirstN(d, static_cast<std::size_t>(cols.end - x)), hn::LoadU(d, columns.greatest + x), x);
  };
  auto best = hn::Set(d, kLowest<A>);
  each([&](auto in, auto value, std::int64_t)
           HWY_ATTR { best = hn::Max(best, hn::IfThenElse(in, value, hn::Set(d, kLowest<A>))); });
  best = hn::MaxOfLanes(d, best);
  auto first = hn::Set(dn, std::numeric_limits<std::int32_t>::max());
  each([&](auto in, auto value, std::int64_t x) HWY_ATTR {
    const auto equal = hn::RebindMask(dn, hn::And(in, hn::Eq(value, best)));
    first = hn::Min(first, hn::IfThenElse(equal, hn::LoadU(dn, columns.pixel + x), first));
  });
  return static_cast<std::int32_t>(hn::GetLane(hn::MinOfLanes(dn, first)));
}

/// A row of a RoI's bins in one plane.
template <class T>
void pool_plane_row(const Shape& s, const Pixels& rows, const T* plane, const ColumnScratch<Acc<T>>& scratch, T* output,
                    std::int32_t* argmax) {
  if (!rows.empty()) {
    pool_columns(plane, s.w, rows, {scratch.bins[0].first, scratch.bins[s.pooled_w - 1].end}, scratch);
  }
  const hn::ScalableTag<Acc<T>> d;
  const hn::CappedTag<Acc<T>, 4> d4;
  for (std::int64_t col = 0; col < s.pooled_w; ++col) {
    const Pixels& cols = scratch.bins[col];
    const bool none = rows.empty() || cols.empty();
    const std::int32_t pixel = none                        ? -1
                               : cols.end - cols.first > 4 ? pool_bin(d, scratch, cols)
                                                           : pool_bin(d4, scratch, cols);
    output[col] = none ? T{} : pixel < 0 ? from_acc<T>(kLowest<Acc<T>>) : plane[pixel];
    if (argmax != nullptr) argmax[col] = pixel;
  }
}

/// Channels from `first` on. Items are rows of bins of a RoI. The pixels of a row are vectors; what its bins share is
/// read once.
template <class T>
mluOpStatus_t pool_few(Context& context, const mluopsCall& call, const ForwardProblem& p, std::int64_t first) {
  const Shape& s = p.shape;
  const std::int64_t bins = s.pooled_h * s.pooled_w, plane = s.h * s.w;
  const double row_ns = 3 * cost::kStep * static_cast<double>((s.c - first) * s.pooled_w);
  const Loop loop(context, call, s.rois * s.pooled_h, row_ns);
  auto scratch = allocate<SlotScratch<ColumnScratch<Acc<T>>>>(context.arena, loop.slots(), s);
  if (!scratch) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const auto own = scratch->of(slot, s);
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t r = item / s.pooled_h, row = item % s.pooled_h;
      const auto roi = Roi<Acc<T>>::template read<T>(p, r);
      if (item == begin || row == 0) {
        for (std::int64_t col = 0; col < s.pooled_w; ++col) own.bins[col] = roi.x.of(col);
      }
      for (std::int64_t c = first; c < s.c; ++c) {
        const std::int64_t to = (r * s.c + c) * bins + row * s.pooled_w;
        pool_plane_row(s, roi.rows(row), static_cast<const T*>(p.input) + (roi.image * s.c + c) * plane, own,
                       static_cast<T*>(p.output) + to, p.argmax == nullptr ? nullptr : p.argmax + to);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t by_columns(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  return pool_few<T>(context, call, p, 0);
}

/// So many planes take about as long as a block of channels.
constexpr std::int64_t kFewChannels = 4;

// ---- NCHW ------------------------------------------------------------------------------------

/// Scratch of a thread: the panels of its channels, block by block, and the bins of a RoI before and after they become
/// planes.
template <class A>
struct PanelScratch {
  std::int64_t channels;
  A *panels, *bins, *planes;
  std::int32_t* argmax;

  PanelScratch(Allocator& allocator, const Shape& s, std::int64_t pixels, std::int64_t width)
      : channels(width),
        panels(allocator.allocate<A>(pixels, width)),
        bins(allocator.allocate<A>(s.pooled_h, s.pooled_w, width)),
        planes(allocator.allocate<A>(s.pooled_h, s.pooled_w, width)),
        argmax(allocator.allocate<std::int32_t>(s.pooled_h, s.pooled_w, width)) {}
};

/// What is found once a call: the order of RoIs, and the pixels that their bins have.
struct PanelPlan {
  RoiOrder order;
  layout::Touched touched;

  PanelPlan(Allocator& allocator, const Shape& s) : order(allocator, s.rois), touched(allocator, s.batch, s.h * s.w) {}

  template <class T>
  void find(const Context& context, const mluopsCall& call, const ForwardProblem& p) {
    const Shape& s = p.shape;
    sort_rois<T>(p, order);
    touched.find(context, call, s.rois, cost::kStep * static_cast<double>(s.h), [&](std::int64_t r, auto touch) {
      const auto roi = Roi<Acc<T>>::template read<T>(p, r);
      for (std::int64_t row = 0; row < s.pooled_h; ++row) {
        const Pixels rows = roi.rows(row);
        for (std::int64_t y = rows.first; y < rows.end; ++y) {
          for (std::int64_t col = 0; col < s.pooled_w; ++col) {
            const Pixels cols = roi.x.of(col);
            if (!cols.empty()) touch(roi.image, y * s.w + cols.first, y * s.w + cols.end);
          }
        }
      }
    });
  }
};

/// Channels of an image, all its RoIs.
template <class T>
void pool_panels(const ForwardProblem& p, const layout::ChannelTask& task, const PanelPlan& plan,
                 const PanelScratch<Acc<T>>& scratch) {
  using A = Acc<T>;
  constexpr std::int64_t kBlock = layout::kBlockChannels<A>;
  const Shape& s = p.shape;
  const layout::Elements map{s.h * s.w, s.c, true}, bins{s.pooled_h * s.pooled_w, s.c, true};
  const std::int64_t panel = plan.touched.rows(task.image);
  for (std::int64_t c = 0; c < task.count(); c += kBlock) {
    const T* const planes = static_cast<const T*>(p.input) + map.at(task.image, task.first + c);
    fill_panel(plan.touched, task.image, planes, std::min(kBlock, task.count() - c), scratch.panels + c * panel);
  }
  for (const PlacedRoi& placed : plan.order.of_image(task.image)) {
    const std::int64_t r = placed.roi;
    const auto roi = Roi<A>::template read<T>(p, r);
    for (std::int64_t row = 0; row < s.pooled_h; ++row) {
      const std::int64_t first = row * s.pooled_w * scratch.channels;
      pool_row(s, roi, row,
               Row<true, A, A>{scratch.panels, plan.touched.places(task.image), scratch.bins + first,
                               p.argmax == nullptr ? nullptr : scratch.argmax + first, kBlock, kBlock * panel,
                               scratch.channels, round_up(task.count(), kBlock), false});
    }
    const std::int64_t at = bins.at(r, task.first);
    transpose_panel(scratch.bins, scratch.channels, bins.pixels, task.count(), scratch.planes, bins.pixels);
    store_row(large<T>(s), scratch.planes, static_cast<T*>(p.output) + at, task.count() * bins.pixels);
    if (p.argmax == nullptr) continue;
    using M = Moved<std::int32_t>;
    rows_to_planes(large<T>(s), reinterpret_cast<const M*>(scratch.argmax), scratch.channels, bins.pixels, task.count(),
                   reinterpret_cast<M*>(p.argmax + at), bins.pixels);
  }
}

/// Items are runs of blocks of channels of images, shorter ones where threads are many. Fewer channels behind the last
/// whole block go by columns.
template <class T>
mluOpStatus_t by_panels(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t behind = s.c % layout::kBlockChannels<A>;
  const std::int64_t channels = s.c > behind && behind < kFewChannels ? s.c - behind : s.c;
  // Four vectors share what is found out about a bin.
  const std::int64_t blocks = ceil_div(channels, layout::kBlockChannels<A>), most = std::min<std::int64_t>(blocks, 4);
  const std::int64_t together = std::clamp<std::int64_t>(s.batch * blocks / (2 * call.threads), 1, most);
  const std::int64_t width = together * layout::kBlockChannels<A>, tasks = ceil_div(channels, width);
  auto plan = allocate<PanelPlan>(context.arena, s);
  if (!plan) return no_memory(call);
  plan->find<T>(context, call, p);
  const double bins = static_cast<double>(s.rois * s.pooled_h * s.pooled_w) / static_cast<double>(s.batch);
  const std::int64_t pixels = plan->touched.most_rows();
  const double channel_ns = cost::kElement * (kUsualPixels * bins + static_cast<double>(pixels));
  const Loop loop(context, call, s.batch * tasks, static_cast<double>(width) * channel_ns);
  Allocator measure;
  static_cast<void>(PanelScratch<A>(measure, s, pixels, width));
  std::byte* const rooms = context.images.reserve_array<std::byte>(loop.slots(), measure.bytes());
  if (rooms == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Allocator cut(rooms + slot * measure.bytes());
    const PanelScratch<A> scratch(cut, s, pixels, width);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % tasks * width;
      pool_panels<T>(p, {i / tasks, first, std::min(channels, first + width)}, *plan, scratch);
    }
    non_temporal_fence();
  });
  return channels < s.c ? pool_few<T>(context, call, p, channels) : MLUOP_STATUS_SUCCESS;
}

template <class T>
Fit few_channels(const Context&, const mluopsCall&, const ForwardProblem& p) {
  return fit(p.shape.c == 1 || p.layout == MLUOP_LAYOUT_NCHW, p.shape.c <= kFewChannels);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"columns", few_channels<T>, by_columns<T>},
                                                    {"rows", always<ForwardProblem>, by_rows<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {{"columns", few_channels<T>, by_columns<T>},
                                                        {"panels", always<ForwardProblem>, by_panels<T>}};
  return run_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

}  // namespace
}  // namespace mluops::cpu::roi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(roi_pool_forward, roi_pool, forward, mluopsRoiPoolForwardProblem, with_element)
