// Sums of bilinear samples at points that RoIs choose, out of the planes of an NCHW map where they lie: for RoIs that
// have few samples beside the map. Include after foreach_target.h, like simd-inl.h; point_samples-inl.h says what a
// `Roi` is.
//
// What all planes have in common is found once: the pixels and weights of the samples in each bin, and the cache lines
// that these pixels lie on. Then the bins of a RoI are vectors, gathered out of some planes at a time, while the lines
// of the next planes are prefetched.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/sampling/point_samples.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_SAMPLING_POINT_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SAMPLING_POINT_PLANES_INL_H_
#else
#define MLUOPS_CPU_SAMPLING_POINT_PLANES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Maps that the caches hold, about: their lines need no prefetch.
template <class T, class Shape>
bool is_near(const Shape& s) {
  return s.batch * s.c * s.h * s.w * static_cast<std::int64_t>(sizeof(T)) <= 8 * second_cache_bytes();
}

/// How RoIs are shared out: some rows of a RoI's bins are a part, and some parts are worked on together.
struct PointParts {
  std::int64_t rows, of_roi, together;
  double room;  ///< pixels that a part's samples have at most

  /// `bin_pixels`: of the bin with the most.
  PointParts(const RoiBins& bins, double bin_pixels)
      : rows(std::clamp<std::int64_t>(kBins / bins.columns, 1, bins.rows)),
        of_roi(ceil_div(bins.rows, rows)),
        room(bin_pixels * static_cast<double>(rows * bins.columns)) {
    const double beside = std::clamp(kPixels / std::max(room, 1.0), 1.0, kPixels);
    together = std::max<std::int64_t>(1, std::min(static_cast<std::int64_t>(beside), bins.rois * of_roi));
  }
  bool has_room() const { return room <= kMostPixels; }

 private:
  static constexpr std::int64_t kBins = 1024;
  static constexpr double kPixels = 1 << 17, kMostPixels = 1 << 24;  ///< tables: 1.5 MB, and a bound for any call
};

/// What the bins of a part are sums of: pixel and weight [rows,bins], with as many rows as the bin with the most pixels
/// has.
template <class A>
struct BinPixels {
  using Index = hn::TFromD<hn::RebindToSigned<hn::ScalableTag<A>>>;

  std::int64_t image, bins, rows, lines;
  Index* pixel;  ///< -1: none
  A* weight;
  Index* line;  ///< one pixel of each cache line; some lines come twice

  /// The bins of a RoI from row `first` on, `columns` in a row. There is room for `room` pixels.
  /// A cache line has 2^line_log pixels.
  template <class Roi>
  void fill(const Roi& roi, std::int64_t first, std::int64_t columns, std::int64_t room, int line_log) {
    std::fill_n(pixel, room, Index{-1});
    std::fill_n(weight, room, A{0});
    std::uint32_t lately[kLately];
    std::fill_n(lately, kLately, ~std::uint32_t{0});
    image = roi.image;
    lines = 0;
    std::int64_t most = 0;
    std::uint32_t last = ~std::uint32_t{0};
    for (std::int64_t bin = 0, column = 0; bin < bins; ++bin, ++column) {
      if (column == columns) column = 0, ++first;
      std::int64_t at = bin;
      roi.for_each_sample(first, column, [&](const auto& sample) {
        for (std::size_t k = 0; k < sample.pixel.size(); ++k, at += bins) {
          pixel[at] = static_cast<Index>(sample.pixel[k]);
          weight[at] = static_cast<A>(sample.weight[k] * roi.inverse_count);
          const auto found = static_cast<std::uint32_t>(sample.pixel[k] >> line_log);
          if (found == last) continue;
          last = found;
          if (std::exchange(lately[(found + found / kLately) % kLately], found) != found) line[lines++] = pixel[at];
        }
      });
      most = std::max(most, at - bin);
    }
    rows = most / bins;
  }

 private:
  static constexpr std::uint32_t kLately = 64;  ///< lines that are not listed again
};

/// The tables of the parts that are worked on together.
template <class A>
struct PointTables {
  using Index = typename BinPixels<A>::Index;

  std::int64_t room;
  BinPixels<A>* parts;
  Index *pixel, *line;
  A* weight;

  PointTables(Allocator& allocator, const PointParts& of)
      : room(static_cast<std::int64_t>(of.room)),
        parts(allocator.allocate<BinPixels<A>>(of.together)),
        pixel(allocator.allocate<Index>(of.together, room)),
        line(allocator.allocate<Index>(of.together, room)),
        weight(allocator.allocate<A>(of.together, room)) {}

  /// The i-th of them: part `part` of all.
  template <class T, class Roi, class Problem>
  void fill(const Problem& p, const PointParts& of, std::int64_t part, std::int64_t i) const {
    const RoiBins bins = Roi::bins(p.shape);
    const std::int64_t first = part % of.of_roi * of.rows, count = std::min(of.rows, bins.rows - first);
    parts[i] = {0, count * bins.columns, 0, 0, pixel + i * room, weight + i * room, line + i * room};
    parts[i].fill(Roi::template read<T>(p, part / of.of_roi), first, bins.columns, room,
                  std::countr_zero(kCacheLineBytes / sizeof(T)));
  }
};

/// Pixels of a plane; 0 where there is none.
template <class D, class T, class Index>
HWY_INLINE hn::Vec<D> gather_pixels(D d, const T* plane, const Index* pixel) {
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::Set(d, *pixel < 0 ? hn::TFromD<D>{0} : to_acc(plane[*pixel]));
  } else if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    const hn::RebindToSigned<D> di;
    const auto at = hn::LoadU(di, pixel);
    const auto on_map = hn::RebindMask(d, hn::Gt(at, hn::Set(di, -1)));
    return hn::IfThenElseZero(on_map, hn::GatherIndex(d, plane, hn::Max(at, hn::Zero(di))));
  } else {
    HWY_ALIGN T pixels[hn::MaxLanes(d)];
    for (std::size_t i = 0; i < hn::MaxLanes(d); ++i) pixels[i] = pixel[i] < 0 ? T{} : plane[pixel[i]];
    return load(d, pixels);
  }
}

/// The bins of a part in kPlanes planes, `plane` elements apart, to `out`, where they are `pitch` apart. `next`: planes
/// whose lines are prefetched, nullptr for none.
template <int kPlanes, class T>
HWY_INLINE void sum_bins(const BinPixels<Acc<T>>& of, const T* planes, std::int64_t plane, const T* next, T* out,
                         std::int64_t pitch) {
  using A = Acc<T>;
  const std::int64_t steps = of.rows * std::max<std::int64_t>(1, of.bins / kLanes<A>);
  const std::int64_t share = of.rows == 0 || next == nullptr ? 0 : ceil_div(of.lines, steps);
  std::int64_t line = 0;
  for_lanes<A>(of.bins, [&](auto d, std::int64_t bin) HWY_ATTR {
    hn::Vec<decltype(d)> sum[kPlanes];
    MLUOPS_UNROLL
    for (int v = 0; v < kPlanes; ++v) sum[v] = hn::Zero(d);
    for (std::int64_t row = 0; row < of.rows; ++row) {
      for (const std::int64_t end = std::min(of.lines, line + share); line < end; ++line) {
        for (int v = 0; v < kPlanes; ++v) prefetch<2>(next + v * plane + of.line[line], 1);
      }
      const std::int64_t at = row * of.bins + bin;
      const auto weight = hn::LoadU(d, of.weight + at);
      MLUOPS_UNROLL
      for (int v = 0; v < kPlanes; ++v) {
        sum[v] = hn::MulAdd(weight, gather_pixels(d, planes + v * plane, of.pixel + at), sum[v]);
      }
    }
    MLUOPS_UNROLL
    for (int v = 0; v < kPlanes; ++v) store(sum[v], d, out + v * pitch + bin);
  });
}

/// All channels of the parts whose tables are filled; `first` is the first of them.
template <class T, class Roi, class Problem>
void sum_parts(const Context& context, const mluopsCall& call, const Problem& p, const PointParts& parts,
               std::int64_t first, std::int64_t count, const PointTables<Acc<T>>& tables) {
  constexpr std::int64_t kPlanes = 4;
  const RoiBins bins = Roi::bins(p.shape);
  const std::int64_t channels = p.shape.c, plane = p.shape.h * p.shape.w, of_roi = bins.rows * bins.columns;
  const bool far = !is_near<T>(p.shape);
  Loop(context, call, ceil_div(channels, kPlanes) * count, kPlanes * cost::kGather * parts.room)
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t item = begin; item < end; ++item) {
          const BinPixels<Acc<T>>& of = tables.parts[item % count];
          const std::int64_t part = first + item % count, c = item / count * kPlanes, left = channels - c;
          const T* const from = static_cast<const T*>(p.input) + (of.image * channels + c) * plane;
          T* const to = static_cast<T*>(p.output) + (part / parts.of_roi * channels + c) * of_roi +
                        part % parts.of_roi * parts.rows * bins.columns;
          if (left >= kPlanes) {
            sum_bins<kPlanes>(of, from, plane, far && left > kPlanes ? from + kPlanes * plane : nullptr, to, of_roi);
          } else {
            for (std::int64_t i = 0; i < left; ++i) {
              sum_bins<1, T>(of, from + i * plane, plane, nullptr, to + i * of_roi, of_roi);
            }
          }
        }
      });
}

/// The most pixels that samples can have: in one bin, and in all bins together.
struct MostPixels {
  double bin = 0, all = 0;
};
template <class T, class Roi, class Problem>
MostPixels most_pixels(const Problem& p) {
  const RoiBins bins = Roi::bins(p.shape);
  MostPixels most;
  for (std::int64_t r = 0; r < bins.rois; ++r) {
    const double pixels = Roi::template read<T>(p, r).most_pixels(bins);
    most = {std::max(most.bin, pixels / static_cast<double>(bins.rows * bins.columns)), most.all + pixels};
  }
  return most;
}

/// output [RoIs,C,rows,columns] of problem.input in NCHW. An item is some planes of a part and owns its bins there; all
/// parts in the same planes follow each other, so that the pages of a plane are looked up once. Two flops a load: bound
/// by reading the cache lines under the samples.
template <class T, class Roi, class Problem>
mluOpStatus_t sum_planes(Context& context, const mluopsCall& call, const Problem& p) {
  const RoiBins bins = Roi::bins(p.shape);
  const PointParts parts(bins, most_pixels<T, Roi>(p).bin);
  const auto tables = allocate<PointTables<Acc<T>>>(context.arena, parts);
  if (!tables) return no_memory(call);
  for (std::int64_t first = 0, all = bins.rois * parts.of_roi; first < all; first += parts.together) {
    const std::int64_t count = std::min(parts.together, all - first);
    Loop(context, call, count, 4 * cost::kStep * parts.room).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) tables->template fill<T, Roi>(p, parts, first + i, i);
    });
    sum_parts<T, Roi>(context, call, p, parts, first, count, *tables);
  }
  return MLUOP_STATUS_SUCCESS;
}

/// Preferred where samples have at most kFewPercent pixels for 100 of the maps: with more, rows of pixels that are made
/// first repay it. Vectors of 16-bit elements cannot be gathered.
template <class T, class Roi, int kFewPercent, class Problem>
Fit few_points(const Context&, const mluopsCall&, const Problem& p) {
  const auto& s = p.shape;
  const MostPixels most = most_pixels<T, Roi>(p);
  const bool few = most.all <= 0.01 * kFewPercent * static_cast<double>(s.batch * s.h * s.w);
  return fit(s.h * s.w <= INT32_MAX && PointParts(Roi::bins(s), most.bin).has_room(), few && std::is_same_v<T, Acc<T>>);
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
