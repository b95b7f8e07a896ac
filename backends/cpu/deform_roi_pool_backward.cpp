// DeformRoiPool backward: gradients of the mean of bilinear samples in each bin of a RoI, channels innermost.
//
// Bins are sorted by the tiles of the map they lie on. In grad_input each tile has one owner, who sums the tile in the
// order of the bins and writes it once: no prior zeroing, no atomics, the same bits for every number of threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/deform_roi_pool_backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/deform_roi_pool.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_DEFORM_ROI_POOL_BACKWARD_ONCE_
#define MLUOPS_CPU_DEFORM_ROI_POOL_BACKWARD_ONCE_
namespace mluops::cpu::deform_roi_pool {

/// Gradients larger than this leave the caches before anyone reads them: write past them.
constexpr std::int64_t kStreamBytes = std::int64_t{12} << 20;

/// The working block of a call.
template <class A>
struct OwnerArrays {
  Roi<A>* rois;
  Tap<A>* taps;  ///< per thread, rows then columns
  A* sums;       ///< per thread: one tile
  Buckets tiles;

  OwnerArrays(Carver& carver, const mluopsCall& call, const Shape& s, std::int64_t items, const Tiles& t)
      : rois(carver.take<Roi<A>>(s.rois)),
        taps(carver.take<Tap<A>>(call.threads * BinTaps<A>::most(s))),
        sums(carver.take<A>(call.threads * t.h * t.w * s.c)),
        tiles(carver, call, items, t.count(s)) {}
};

template <class A>
struct AtomicArrays {
  Roi<A>* rois;
  Tap<A>* taps;  ///< per thread, rows then columns
  A* sums;       ///< of the whole map, where grad_input itself can't be added to

  AtomicArrays(Carver& carver, const mluopsCall& call, const Shape& s, std::int64_t sum_count)
      : rois(carver.take<Roi<A>>(s.rois)),
        taps(carver.take<Tap<A>>(call.threads * BinTaps<A>::most(s))),
        sums(carver.take<A>(sum_count)) {}
};

}  // namespace mluops::cpu::deform_roi_pool
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using deform_roi_pool::Area;
using deform_roi_pool::Bins;
using deform_roi_pool::BinTaps;
using deform_roi_pool::Shape;
using deform_roi_pool::Tiles;

/// The vectors of channels that are summed side by side.
constexpr int kWide = 8;

// ---- backward: grad_offset -------------------------------------------------------------------

template <class A>
struct OffsetGradient {
  A y, x;
};

/// Sum over pixels and channels of g * pixel * what moving the samples does to the pixel's weight.
template <class T>
OffsetGradient<Acc<T>> offset_gradient(const Shape& s, const BinTaps<Acc<T>>& taps, const T* HWY_RESTRICT image,
                                       const T* HWY_RESTRICT grad_output) {
  using A = Acc<T>;
  OffsetGradient<A> sum{0, 0};
  for_wide<A, kWide>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> g[count];
    HWY_UNROLL(8)
    for (int v = 0; v < count; ++v) g[v] = load(d, grad_output + c + v * lanes);
    auto sum_y = hn::Zero(d), sum_x = hn::Zero(d);
    for (const Tap<A>& y : taps.y) {
      const T* const row = image + y.index * s.w * s.c + c;
      for (const Tap<A>& x : taps.x) {
        const T* const pixel = row + x.index * s.c;
        hn::Vec<decltype(d)> dot[2] = {hn::Mul(g[0], load(d, pixel)), hn::Zero(d)};
        HWY_UNROLL(8)
        for (int v = 1; v < count; ++v) dot[v % 2] = hn::MulAdd(g[v], load(d, pixel + v * lanes), dot[v % 2]);
        const auto both = hn::Add(dot[0], dot[1]);
        sum_y = hn::MulAdd(hn::Set(d, y.sign * x.lever), both, sum_y);
        sum_x = hn::MulAdd(hn::Set(d, y.lever * x.sign), both, sum_x);
      }
    }
    sum.y += hn::GetLane(hn::SumOfLanes(d, sum_y));
    sum.x += hn::GetLane(hn::SumOfLanes(d, sum_x));
  });
  return sum;
}

template <class T>
void put_offset_gradient(const mluopsDeformRoiPoolBackwardProblem& p, const Bins<T>& bins, std::int64_t bin,
                         const BinTaps<Acc<T>>& taps) {
  const Shape& s = p.shape;
  const Roi<Acc<T>>& roi = bins.roi(bin);
  const auto sum = offset_gradient(s, taps, static_cast<const T*>(p.input) + roi.batch * s.h * s.w * s.c,
                                   static_cast<const T*>(p.grad_output) + bin * s.c);
  const std::int64_t plane = s.pooled_h * s.pooled_w;
  T* const out = static_cast<T*>(p.grad_offset) + bin / plane * 2 * plane + bin % plane;
  out[0] = from_acc<T>(sum.x * roi.inverse_count() * bins.reach(roi.x.size));
  out[plane] = from_acc<T>(sum.y * roi.inverse_count() * bins.reach(roi.y.size));
}

// ---- backward: grad_input --------------------------------------------------------------------

/// sums[pixel of the area, channel] += g * weight, for the pixels of one bin that lie in the area.
template <class T>
void add_bin(const Shape& s, const BinTaps<Acc<T>>& taps, Acc<T> inverse_count, const Area& area,
             const T* HWY_RESTRICT grad_output, Acc<T>* HWY_RESTRICT sums) {
  using A = Acc<T>;
  const std::int64_t row_size = (area.x1 - area.x0) * s.c;
  for_wide<A, kWide>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> g[count];
    HWY_UNROLL(8)
    for (int v = 0; v < count; ++v) g[v] = load(d, grad_output + c + v * lanes);
    for (const Tap<A>& y : taps.y) {
      if (y.index < area.y0 || y.index >= area.y1) continue;
      A* const row = sums + (y.index - area.y0) * row_size + c;
      const A y_weight = y.weight * inverse_count;
      for (const Tap<A>& x : taps.x) {
        if (x.index < area.x0 || x.index >= area.x1) continue;
        A* const sum = row + (x.index - area.x0) * s.c;
        const auto weight = hn::Set(d, y_weight * x.weight);
        HWY_UNROLL(8)
        for (int v = 0; v < count; ++v) {
          hn::StoreU(hn::MulAdd(weight, g[v], hn::LoadU(d, sum + v * lanes)), d, sum + v * lanes);
        }
      }
    }
  });
}

/// Rows of an area into grad_input; nothing but zeros where there are no sums.
template <class T>
void write_area(const Shape& s, const Area& area, const Acc<T>* sums, bool streams, T* grad_input) {
  const std::int64_t row_size = (area.x1 - area.x0) * s.c;
  for (std::int64_t y = area.y0; y < area.y1; ++y) {
    T* const out = grad_input + ((area.batch * s.h + y) * s.w + area.x0) * s.c;
    const std::int64_t bytes = row_size * static_cast<std::int64_t>(sizeof(T));
    if (sums == nullptr && streams) {
      stream_zero(out, bytes);
    } else if (sums == nullptr) {
      std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(bytes));
    } else if (streams) {
      stream_row(sums + (y - area.y0) * row_size, out, row_size);
    } else {
      store_row(sums + (y - area.y0) * row_size, out, row_size);
    }
  }
}

/// Puts each bin into all tiles it may add to.
template <class T>
bool sort_by_tiles(Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& t, Buckets& tiles) {
  const Shape& s = bins.s;
  const double channels = static_cast<double>(s.c);
  const double read_ns = bins.offset == nullptr ? 0 : channels * deform_roi_pool::kReadNs;
  const double base_ns = 0.1 * static_cast<double>(t.h * t.w) * channels;
  return tiles.fill(context, call, 60, base_ns, [&](std::int64_t bin, auto&& put) {
    const auto y = bins.y(bin).pixels(s.h), x = bins.x(bin).pixels(s.w);
    const std::int64_t row_end = ceil_div(y.last, t.h), col_end = ceil_div(x.last, t.w);
    const double touched =
        std::max<double>(1, static_cast<double>((row_end - y.first / t.h) * (col_end - x.first / t.w)));
    const double cost =
        deform_roi_pool::kBinNs + bins.pixels_read(bin) * (channels * deform_roi_pool::kAddNs + read_ns) / touched;
    for (std::int64_t row = y.first / t.h; row < row_end; ++row) {
      for (std::int64_t col = x.first / t.w; col < col_end; ++col) put(t.index(bins.roi(bin).batch, row, col), cost);
    }
  });
}

/// Whether this tile is the one, out of those a bin belongs to, where its grad_offset is computed.
template <class T>
bool is_home(const Bins<T>& bins, std::int64_t bin, const Area& area) {
  const std::int64_t y = bins.y(bin).pixels(bins.s.h).first, x = bins.x(bin).pixels(bins.s.w).first;
  return y >= area.y0 && y < area.y1 && x >= area.x0 && x < area.x1;
}

template <class T>
void backward_tile(const mluopsDeformRoiPoolBackwardProblem& p, const Bins<T>& bins, const Area& area,
                   std::span<const std::int64_t> entries, bool streams, Tap<Acc<T>>* room, Acc<T>* sums) {
  const Shape& s = p.shape;
  std::fill_n(sums, entries.empty() ? 0 : area.pixels() * s.c, Acc<T>{0});
  for (const std::int64_t bin : entries) {
    const BinTaps<Acc<T>> taps(bins, bin, room);
    if (p.offset != nullptr && is_home(bins, bin, area)) put_offset_gradient(p, bins, bin, taps);
    add_bin(s, taps, bins.roi(bin).inverse_count(), area, static_cast<const T*>(p.grad_output) + bin * s.c, sums);
  }
  write_area(s, area, entries.empty() ? nullptr : sums, streams, static_cast<T*>(p.grad_input));
}

template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Tiles t(s, sizeof(A));
  const std::int64_t plane = s.pooled_h * s.pooled_w;
  auto arrays = carve<deform_roi_pool::OwnerArrays<A>>(context.scratch, call, s, s.rois * plane, t);
  if (!arrays) return no_memory(call);
  deform_roi_pool::read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins{s, static_cast<const T*>(p.offset), arrays->rois};
  if (!sort_by_tiles(context, call, bins, t, arrays->tiles)) return no_memory(call);

  // Bins that touch no tile have no gradient.
  if (p.offset != nullptr) std::memset(p.grad_offset, 0, static_cast<std::size_t>(s.rois * 2 * plane) * sizeof(T));
  const bool large = s.batch * s.h * s.w * s.c * static_cast<std::int64_t>(sizeof(T)) > deform_roi_pool::kStreamBytes;
  const Buckets& tiles = arrays->tiles;
  Loop(context, call, tiles.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      backward_tile(p, bins, Area(t, s, tile), tiles[tile], large, arrays->taps + slot * BinTaps<A>::most(s),
                    arrays->sums + slot * t.h * t.w * s.c);
    }
    stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// grad_input of one bin, added atomically to sums of the whole map.
template <class T>
void add_bin_atomically(const Bins<T>& bins, std::int64_t bin, const BinTaps<Acc<T>>& taps, const T* grad_output,
                        Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = bins.s;
  const Roi<A>& roi = bins.roi(bin);
  for (const Tap<A>& y : taps.y) {
    for (const Tap<A>& x : taps.x) {
      A* const sum = sums + ((roi.batch * s.h + y.index) * s.w + x.index) * s.c;
      const A weight = y.weight * roi.inverse_count() * x.weight;
      for (std::int64_t c = 0; c < s.c; ++c) atomic_add(sum + c, weight * to_acc(grad_output[c]));
    }
  }
}

/// Tasks over bins.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call,
                                  const mluopsDeformRoiPoolBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t total = s.batch * s.h * s.w * s.c;
  const std::int64_t room = kAddsInPlace<T> ? 0 : total;
  auto arrays = carve<deform_roi_pool::AtomicArrays<A>>(context.scratch, call, s, room);
  if (!arrays) return no_memory(call);
  A* sums = arrays->sums;
  if constexpr (kAddsInPlace<T>) sums = static_cast<A*>(p.grad_input);
  deform_roi_pool::read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins{s, static_cast<const T*>(p.offset), arrays->rois};
  clear_sums(context, call, sums, total);
  Loop(context, call, bins.count(), 100.0 * static_cast<double>(s.c))
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        for (std::int64_t bin = begin; bin < end; ++bin) {
          const BinTaps<A> taps(bins, bin, arrays->taps + slot * BinTaps<A>::most(s));
          if (p.offset != nullptr) put_offset_gradient(p, bins, bin, taps);
          add_bin_atomically(bins, bin, taps, static_cast<const T*>(p.grad_output) + bin * s.c, sums);
        }
      });
  store_sums(context, call, sums, static_cast<T*>(p.grad_input), total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolBackwardProblem& p) {
  // A compare-and-swap per channel and pixel never beats plain additions to a tile somebody owns.
  return choose_scatter(context, call, false) == Scatter::kAtomic ? backward_by_atomics<T>(context, call, p)
                                                                  : backward_by_owner<T>(context, call, p);
}

mluOpStatus_t run_deform_roi_pool_backward(Context& context, const mluopsCall& call,
                                           const mluopsDeformRoiPoolBackwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return backward<typename decltype(tag)::type>(context, call, p); });
}

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

HWY_EXPORT(run_deform_roi_pool_backward);

mluOpStatus_t deform_roi_pool_backward(Context& context, const mluopsCall& call,
                                       const mluopsDeformRoiPoolBackwardProblem& p) {
  if (deform_roi_pool::too_many_samples(p.shape)) return deform_roi_pool::decline_samples(call);
  return MLUOPS_CPU_DISPATCH(context, run_deform_roi_pool_backward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
