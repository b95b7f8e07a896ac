// DeformRoiPool: the mean of bilinear samples in each bin of a RoI, channels innermost.
//
// Bins are sorted by the tile of the map they lie on, so that the pixels of a tile are fetched once into the second
// cache and read there by all bins. In grad_input each tile has one owner, who sums the tile in the order of the bins
// and writes it once: no prior zeroing, no atomics, the same bits for every number of threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/deform_roi_pool.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/roi_sampling.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"

#ifndef MLUOPS_CPU_DEFORM_ROI_POOL_ONCE_
#define MLUOPS_CPU_DEFORM_ROI_POOL_ONCE_
namespace mluops::cpu::deform_roi_pool {

using Shape = mluopsDeformRoiPoolShape;

/// A tile of sums and the pixels under it share the second cache.
constexpr std::int64_t kTileBytes = std::int64_t{256} << 10;
/// Gradients larger than this leave the caches before anyone reads them: write past them.
constexpr std::int64_t kStreamBytes = std::int64_t{12} << 20;
/// Input that stays in the second cache anyway needs no order of bins.
constexpr std::int64_t kSmallInputBytes = std::int64_t{1} << 20;
/// Cost in nanoseconds: of finding the samples of a bin, of one channel of one pixel read, and added to.
constexpr double kBinNs = 60, kReadNs = 0.03, kAddNs = 0.06;

/// The map cut into tiles: images, then rows of tiles, then columns.
struct Tiles {
  std::int64_t h, w;        ///< pixels of a tile
  std::int64_t rows, cols;  ///< tiles of an image

  Tiles(const Shape& s, std::int64_t sum_bytes) {
    const std::int64_t wanted = std::min(kTileBytes / (s.c * sum_bytes), s.batch * s.h * s.w / 64);
    std::int64_t side = 4;
    while (side < 64 && side * side * 4 <= wanted) side *= 2;
    h = side;
    w = side * side * 2 <= wanted ? 2 * side : side;
    rows = ceil_div(s.h, h);
    cols = ceil_div(s.w, w);
  }
  std::int64_t count(const Shape& s) const { return s.batch * rows * cols; }
  std::int64_t index(std::int64_t batch, std::int64_t row, std::int64_t col) const {
    return (batch * rows + row) * cols + col;
  }
};

/// Pixels [y0, y1) x [x0, x1) of an image.
struct Area {
  std::int64_t batch, y0, y1, x0, x1;

  Area(const Tiles& t, const Shape& s, std::int64_t tile)
      : batch(tile / (t.rows * t.cols)),
        y0(tile / t.cols % t.rows * t.h),
        y1(std::min(s.h, y0 + t.h)),
        x0(tile % t.cols * t.w),
        x1(std::min(s.w, x0 + t.w)) {}
  std::int64_t pixels() const { return (y1 - y0) * (x1 - x0); }
};

/// The RoIs of a call and where its bins lie.
template <class T>
struct Bins {
  using A = Acc<T>;
  const Shape& s;
  const T* offset;
  const Roi<A>* rois;

  std::int64_t count() const { return s.rois * s.pooled_h * s.pooled_w; }
  const Roi<A>& roi(std::int64_t bin) const { return rois[bin / (s.pooled_h * s.pooled_w)]; }
  /// Size of the RoI that an offset of 1 stands for.
  A reach(A roi_size) const { return static_cast<A>(s.gamma) * roi_size; }

  BinAxis<A> y(std::int64_t bin) const {
    const RoiAxis<A>& axis = roi(bin).y;
    return {axis, shift(bin, 1, axis.size), bin / s.pooled_w % s.pooled_h};
  }
  BinAxis<A> x(std::int64_t bin) const {
    const RoiAxis<A>& axis = roi(bin).x;
    return {axis, shift(bin, 0, axis.size), bin % s.pooled_w};
  }
  /// Pixels a bin reads, about.
  double pixels_read(std::int64_t bin) const {
    const Roi<A>& r = roi(bin);
    return per_axis(r.y, s.h) * per_axis(r.x, s.w);
  }

 private:
  A shift(std::int64_t bin, std::int64_t plane, A size) const {
    if (offset == nullptr) return 0;
    const std::int64_t plane_size = s.pooled_h * s.pooled_w;
    const std::int64_t at = (2 * (bin / plane_size) + plane) * plane_size + bin % plane_size;
    return reach(size) * to_acc(offset[at]);
  }
  static double per_axis(const RoiAxis<A>& axis, std::int64_t size) {
    const double spread = std::min(std::abs(static_cast<double>(axis.bin)), static_cast<double>(size)) + 2;
    return std::min(2.0 * static_cast<double>(axis.grid), spread);
  }
};

/// The working block of a call. Buckets and sums are there if the way chosen needs them.
template <class A>
struct Arrays {
  Roi<A>* rois;
  Tap<A>* taps;       ///< per thread, rows then columns
  A* sums;            ///< per thread: one tile
  double* prefix_ns;  ///< of bins in their order, where they differ
  Buckets tiles;

  Arrays(Carver& carver, const mluopsCall& call, const Shape& s, std::int64_t items, const Tiles* t, bool backward)
      : rois(carver.take<Roi<A>>(s.rois)),
        taps(carver.take<Tap<A>>(call.threads * taps_per_thread(s))),
        sums(carver.take<A>(backward && t != nullptr ? call.threads * t->h * t->w * s.c : 0)),
        prefix_ns(carver.take<double>(backward || s.sampling_ratio > 0 ? 0 : items + 1)),
        tiles(carver, call, t == nullptr ? 0 : items, t == nullptr ? 0 : t->count(s)) {}

  static std::int64_t row_taps(const Shape& s) { return most_taps(s.h, s.sampling_ratio); }
  static std::int64_t taps_per_thread(const Shape& s) { return row_taps(s) + most_taps(s.w, s.sampling_ratio); }
};

template <class A>
struct AtomicArrays {
  Roi<A>* rois;
  Tap<A>* taps;  ///< per thread, rows then columns
  A* sums;       ///< of the whole map, where grad_input itself can't be added to

  AtomicArrays(Carver& carver, const mluopsCall& call, const Shape& s, std::int64_t sum_count)
      : rois(carver.take<Roi<A>>(s.rois)),
        taps(carver.take<Tap<A>>(call.threads * Arrays<A>::taps_per_thread(s))),
        sums(carver.take<A>(sum_count)) {}
};

}  // namespace mluops::cpu::deform_roi_pool
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using deform_roi_pool::Area;
using deform_roi_pool::Arrays;
using deform_roi_pool::Bins;
using deform_roi_pool::Shape;
using deform_roi_pool::Tiles;

/// Rows and columns of pixels one bin reads.
template <class A>
struct BinTaps {
  TapList<A> y, x;

  template <class T>
  BinTaps(const Bins<T>& bins, std::int64_t bin, Tap<A>* room)
      : y(room, bins.y(bin), bins.s.h), x(room + Arrays<A>::row_taps(bins.s), bins.x(bin), bins.s.w) {}
};

/// The vectors of channels that are summed side by side.
constexpr int kWide = 8;

// ---- forward ---------------------------------------------------------------------------------

/// out[channel] = inverse_count * sum of weight * pixel; image is the first pixel of the RoI's.
template <bool kStream, class T>
void pool_bin(const Shape& s, const BinTaps<Acc<T>>& taps, Acc<T> inverse_count, const T* HWY_RESTRICT image,
              T* HWY_RESTRICT out) {
  using A = Acc<T>;
  for_wide<A, kWide>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
    constexpr int count = decltype(vectors)::value;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<decltype(d)> sum[count];
    for (int v = 0; v < count; ++v) sum[v] = hn::Zero(d);
    for (const Tap<A>& y : taps.y) {
      const T* const row = image + y.index * s.w * s.c + c;
      for (const Tap<A>& x : taps.x) {
        const auto weight = hn::Set(d, y.weight * x.weight);
        const T* const pixel = row + x.index * s.c;
        HWY_UNROLL(8)
        for (int v = 0; v < count; ++v) sum[v] = hn::MulAdd(weight, load(d, pixel + v * lanes), sum[v]);
      }
    }
    HWY_UNROLL(8)
    for (int v = 0; v < count; ++v) {
      const auto mean = hn::Mul(sum[v], hn::Set(d, inverse_count));
      if constexpr (kStream && std::is_same_v<decltype(d), hn::ScalableTag<A>>) {
        stream(mean, d, out + c + v * lanes);
      } else {
        store(mean, d, out + c + v * lanes);
      }
    }
  });
}

/// The RoIs of the tensor, read once.
template <class T>
void read_rois(const Shape& s, const void* rois, Roi<Acc<T>>* to) {
  const auto* const raw = static_cast<const T*>(rois);
  for (std::int64_t r = 0; r < s.rois; ++r) to[r] = Roi<Acc<T>>::read(raw + 5 * r, s);
}

/// Puts each bin into the tile it begins on.
template <class T>
bool sort_by_home(Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& t, Buckets& tiles) {
  const Shape& s = bins.s;
  return tiles.fill(context, call, 40, 0, [&](std::int64_t bin, auto&& put) {
    const auto y = bins.y(bin).pixels(s.h), x = bins.x(bin).pixels(s.w);
    put(t.index(bins.roi(bin).batch, y.first / t.h, x.first / t.w), 0.0);
  });
}

/// Bins of a given sampling_ratio cost about the same; others are weighed one by one.
template <class Cost>
Loop loop_over(const Context& context, const mluopsCall& call, const Shape& s, std::int64_t items, double* prefix_ns,
               const Cost& cost) {
  if (s.sampling_ratio > 0) return Loop(context, call, items, cost(0));
  prefix_ns[0] = 0;
  for (std::int64_t i = 0; i < items; ++i) prefix_ns[i + 1] = prefix_ns[i] + cost(i);
  return Loop(context, call, {prefix_ns, static_cast<std::size_t>(items + 1)});
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t image = s.h * s.w * s.c, items = s.rois * s.pooled_h * s.pooled_w;
  const bool sorted = s.batch * image * static_cast<std::int64_t>(sizeof(T)) > deform_roi_pool::kSmallInputBytes;
  const Tiles t(s, sizeof(A));
  auto arrays = carve<Arrays<A>>(context.scratch, call, s, items, sorted ? &t : nullptr, false);
  if (!arrays) return no_memory(call);
  read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins{s, static_cast<const T*>(p.offset), arrays->rois};
  const double pixel_ns = deform_roi_pool::kReadNs * static_cast<double>(s.c);

  const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  const auto put = streams(p.output, items * row_bytes, row_bytes) ? pool_bin<true, T> : pool_bin<false, T>;
  const auto pool = [&](std::int64_t bin, int slot) HWY_ATTR {
    const Roi<A>& roi = bins.roi(bin);
    const BinTaps<A> taps(bins, bin, arrays->taps + slot * Arrays<A>::taps_per_thread(s));
    put(s, taps, roi.inverse_count(), static_cast<const T*>(p.input) + roi.batch * image,
        static_cast<T*>(p.output) + bin * s.c);
  };
  std::span<const std::int64_t> order;
  if (sorted) {
    if (!sort_by_home(context, call, bins, t, arrays->tiles)) return no_memory(call);
    order = arrays->tiles.all();
  }
  const auto nth = [&](std::int64_t i) { return sorted ? order[static_cast<std::size_t>(i)] : i; };
  const auto cost = [&](std::int64_t i) { return deform_roi_pool::kBinNs + pixel_ns * bins.pixels_read(nth(i)); };
  loop_over(context, call, s, items, arrays->prefix_ns, cost)
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        for (std::int64_t i = begin; i < end; ++i) pool(nth(i), slot);
        stream_fence();
      });
  return MLUOP_STATUS_SUCCESS;
}

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
  auto arrays = carve<Arrays<A>>(context.scratch, call, s, s.rois * plane, &t, true);
  if (!arrays) return no_memory(call);
  read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins{s, static_cast<const T*>(p.offset), arrays->rois};
  if (!sort_by_tiles(context, call, bins, t, arrays->tiles)) return no_memory(call);

  // Bins that touch no tile have no gradient.
  if (p.offset != nullptr) std::memset(p.grad_offset, 0, static_cast<std::size_t>(s.rois * 2 * plane) * sizeof(T));
  const bool large = s.batch * s.h * s.w * s.c * static_cast<std::int64_t>(sizeof(T)) > deform_roi_pool::kStreamBytes;
  const Buckets& tiles = arrays->tiles;
  Loop(context, call, tiles.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      backward_tile(p, bins, Area(t, s, tile), tiles[tile], large, arrays->taps + slot * Arrays<A>::taps_per_thread(s),
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
  read_rois<T>(s, p.rois, arrays->rois);
  const Bins<T> bins{s, static_cast<const T*>(p.offset), arrays->rois};
  clear_sums(context, call, sums, total);
  Loop(context, call, bins.count(), 100.0 * static_cast<double>(s.c))
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        for (std::int64_t bin = begin; bin < end; ++bin) {
          const BinTaps<A> taps(bins, bin, arrays->taps + slot * Arrays<A>::taps_per_thread(s));
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

mluOpStatus_t run_deform_roi_pool_forward(Context& context, const mluopsCall& call,
                                          const mluopsDeformRoiPoolForwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return forward<typename decltype(tag)::type>(context, call, p); });
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

HWY_EXPORT(run_deform_roi_pool_forward);
HWY_EXPORT(run_deform_roi_pool_backward);

namespace {

/// The number of samples of a bin is an int32, as on the device.
bool too_many_samples(const mluopsDeformRoiPoolShape& s) {
  return s.sampling_ratio > 46340;
}

mluOpStatus_t decline_samples(const mluopsCall& call) {
  return fail(call, MLUOP_STATUS_NOT_SUPPORTED, "sampling_ratio: its square must be below 2^31");
}

}  // namespace

mluOpStatus_t deform_roi_pool_forward(Context& context, const mluopsCall& call,
                                      const mluopsDeformRoiPoolForwardProblem& p) {
  if (too_many_samples(p.shape)) return decline_samples(call);
  return MLUOPS_CPU_DISPATCH(context, run_deform_roi_pool_forward)(context, call, p);
}

mluOpStatus_t deform_roi_pool_backward(Context& context, const mluopsCall& call,
                                       const mluopsDeformRoiPoolBackwardProblem& p) {
  if (too_many_samples(p.shape)) return decline_samples(call);
  return MLUOPS_CPU_DISPATCH(context, run_deform_roi_pool_backward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
