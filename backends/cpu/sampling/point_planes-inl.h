// What the bins of RoIs make of the pixels under their samples, out of the planes of an NCHW map where they lie: for
// RoIs that have few samples beside the map. Include after foreach_target.h, like simd-inl.h; point_samples-inl.h says
// what a `Roi` is.
//
// What all planes have in common is found once: the pixels and numbers of the samples in each bin, and the cache lines
// that these pixels lie on. Then the bins of a RoI are vectors, gathered out of some planes at a time, while the lines
// of the next planes are prefetched.
//
// `Pooling` says what a bin makes of its samples: Sum or Greatest.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/gathers.h"
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

/// The planes of a call's images.
struct Planes {
  std::int64_t images, channels, pixels;

  template <class Shape>
  static Planes of(const Shape& s) {
    return {s.batch, s.c, s.h * s.w};
  }
  /// Whether the caches hold them, about: their lines need no prefetch.
  template <class T>
  bool near() const {
    return images * channels * pixels * static_cast<std::int64_t>(sizeof(T)) <= 8 * second_cache_bytes();
  }
};

/// The sum of pixels, each by its weight.
struct Sum {
  static constexpr int kPixels = 1, kNumbers = 1;
  static constexpr double kNone = 0;  ///< numbers of a sample that a bin does not have

  template <class D>
  struct Of {
    hn::Vec<D> value;

    HWY_INLINE void begin(D d) { value = hn::Zero(d); }
    HWY_INLINE void take(D, std::int64_t, const hn::Vec<D>* number, const hn::Vec<D>* pixel) {
      value = hn::MulAdd(number[0], pixel[0], value);
    }
  };
};

/// The greatest sample and which it is, the first of equal ones; -1 and the lowest float where none is greater than
/// that, or with kFromFirst the first. Sample::value(d, number, pixel) is what one is worth.
template <class Sample, bool kFromFirst = false>
struct Greatest {
  static constexpr int kPixels = Sample::kPixels, kNumbers = Sample::kNumbers;
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // not greater than anything

  template <class D>
  struct Of {
    using DI = hn::RebindToSigned<D>;
    hn::Vec<D> value;
    hn::Vec<DI> sample;

    HWY_INLINE void begin(D d) {
      value = hn::Set(d, static_cast<hn::TFromD<D>>(std::numeric_limits<float>::lowest()));
      sample = hn::Set(DI(), -1);
    }
    HWY_INLINE void take(D d, std::int64_t i, const hn::Vec<D>* number, const hn::Vec<D>* pixel) {
      const auto found = Sample::value(d, number, pixel);
      if (kFromFirst && i == 0) {
        value = found;
        sample = hn::Zero(DI());
        return;
      }
      const auto greater = hn::Gt(found, value);
      value = hn::IfThenElse(greater, found, value);
      sample = hn::IfThenElse(hn::RebindMask(DI(), greater), hn::Set(DI(), static_cast<hn::TFromD<DI>>(i)), sample);
    }
    /// visit(lane, sample)
    template <class Visit>
    HWY_INLINE void each(Visit&& visit) const {
      HWY_ALIGN hn::TFromD<DI> found[hn::MaxLanes(DI())];
      hn::Store(sample, DI(), found);
      for (std::size_t i = 0; i < hn::MaxLanes(DI()); ++i) visit(i, static_cast<std::int64_t>(found[i]));
    }
  };
};

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

/// The samples of a part's bins: pixels [samples,kPixels,bins] and numbers [samples,kNumbers,bins], with as many
/// samples as the bin with the most has.
template <class A, class Pooling>
struct BinSamples {
  using Index = hn::TFromD<hn::RebindToSigned<hn::ScalableTag<A>>>;

  std::int64_t image, bins, samples, lines;
  Index* pixel;  ///< -1: none, which counts 0
  A* number;
  Index* line;  ///< one pixel of each cache line; some lines come twice

  static std::int64_t numbers(std::int64_t pixels) { return pixels / Pooling::kPixels * Pooling::kNumbers; }
  const Index* pixels(std::int64_t sample) const { return pixel + sample * Pooling::kPixels * bins; }
  const A* numbers_of(std::int64_t sample) const { return number + sample * Pooling::kNumbers * bins; }

  /// The bins of a RoI from row `first` on, `columns` in a row. There is room for `room` pixels.
  /// A cache line has 2^line_log pixels.
  template <class Roi>
  void fill(const Roi& roi, std::int64_t first, std::int64_t columns, std::int64_t room, int line_log) {
    std::fill_n(pixel, room, Index{-1});
    std::fill_n(number, numbers(room), static_cast<A>(Pooling::kNone));
    std::uint32_t lately[kLately];
    std::fill_n(lately, kLately, ~std::uint32_t{0});
    image = roi.image;
    lines = samples = 0;
    std::uint32_t last = ~std::uint32_t{0};
    for (std::int64_t bin = 0, column = 0; bin < bins; ++bin, ++column) {
      if (column == columns) column = 0, ++first;
      Index* to = pixel + bin;
      A* number_to = number + bin;
      roi.for_each_sample(first, column, [&](const auto& sample) {
        for (const double weight : sample.weight) {
          *number_to = static_cast<A>(weight * roi.inverse_count);
          number_to += bins;
        }
        for (const std::int64_t at : sample.pixel) {
          *to = static_cast<Index>(at);
          to += bins;
          const auto found = static_cast<std::uint32_t>(at >> line_log);
          if (found == last || at < 0) continue;
          last = found;
          if (std::exchange(lately[(found + found / kLately) % kLately], found) != found)
            line[lines++] = static_cast<Index>(at);
        }
      });
      samples = std::max(samples, (to - pixel) / (bins * Pooling::kPixels));
    }
  }

 private:
  static constexpr std::uint32_t kLately = 64;  ///< lines that are not listed again
};

/// The tables of the parts that are worked on together.
template <class A, class Pooling>
struct PointTables {
  using Part = BinSamples<A, Pooling>;
  using Index = typename Part::Index;

  std::int64_t room;
  Part* parts;
  Index *pixel, *line;
  A* number;

  PointTables(Allocator& allocator, const PointParts& of)
      : room(static_cast<std::int64_t>(of.room)),
        parts(allocator.allocate<Part>(of.together)),
        pixel(allocator.allocate<Index>(of.together, room)),
        line(allocator.allocate<Index>(of.together, room)),
        number(allocator.allocate<A>(of.together, Part::numbers(room))) {}

  /// The i-th of them: part `part` of all.
  template <class T, class Roi, class Problem>
  void fill(const Problem& p, const PointParts& of, std::int64_t part, std::int64_t i) const {
    const RoiBins bins = Roi::bins(p.shape);
    const std::int64_t first = part % of.of_roi * of.rows, count = std::min(of.rows, bins.rows - first);
    parts[i] = {0, count * bins.columns, 0, 0, pixel + i * room, number + i * Part::numbers(room), line + i * room};
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

/// The bins of a part in kPlanes planes, `plane` elements apart, to element `at` of `out`, where planes are `pitch`
/// apart. `next`: planes whose lines are prefetched, nullptr for none.
template <int kPlanes, class Pooling, class T, class Out>
HWY_INLINE void pool_bins(const BinSamples<Acc<T>, Pooling>& of, const T* planes, std::int64_t plane, const T* next,
                          const Out& out, std::int64_t at, std::int64_t pitch) {
  using A = Acc<T>;
  const std::int64_t steps = of.samples * std::max<std::int64_t>(1, of.bins / kLanes<A>);
  const std::int64_t share = of.samples == 0 || next == nullptr ? 0 : ceil_div(of.lines, steps);
  std::int64_t line = 0;
  for_lanes<A>(of.bins, [&](auto d, std::int64_t bin) HWY_ATTR {
    typename Pooling::template Of<decltype(d)> pooled[kPlanes];
    MLUOPS_UNROLL
    for (int v = 0; v < kPlanes; ++v) pooled[v].begin(d);
    for (std::int64_t sample = 0; sample < of.samples; ++sample) {
      for (const std::int64_t end = std::min(of.lines, line + share); line < end; ++line) {
        for (int v = 0; v < kPlanes; ++v) prefetch<2>(next + v * plane + of.line[line], 1);
      }
      const auto* const pixel_at = of.pixels(sample) + bin;
      const A* const number_at = of.numbers_of(sample) + bin;
      hn::Vec<decltype(d)> number[Pooling::kNumbers], pixel[Pooling::kPixels];
      MLUOPS_UNROLL
      for (int k = 0; k < Pooling::kNumbers; ++k) number[k] = hn::LoadU(d, number_at + k * of.bins);
      MLUOPS_UNROLL
      for (int v = 0; v < kPlanes; ++v) {
        MLUOPS_UNROLL
        for (int k = 0; k < Pooling::kPixels; ++k)
          pixel[k] = gather_pixels(d, planes + v * plane, pixel_at + k * of.bins);
        pooled[v].take(d, sample, number, pixel);
      }
    }
    MLUOPS_UNROLL
    for (int v = 0; v < kPlanes; ++v) out.put(d, pooled[v], of, bin, at + v * pitch + bin);
  });
}

/// All channels of the parts whose tables are filled; `first` is the first of them.
template <class T, class Roi, class Pooling, class Problem, class Out>
void pool_parts(const Context& context, const mluopsCall& call, const Problem& p, const Planes& map,
                const PointParts& parts, std::int64_t first, std::int64_t count,
                const PointTables<Acc<T>, Pooling>& tables, const Out& out) {
  constexpr std::int64_t kPlanes = 4;
  const RoiBins bins = Roi::bins(p.shape);
  const std::int64_t plane = map.pixels, of_roi = bins.rows * bins.columns;
  const bool far = !map.near<T>();
  Loop(context, call, ceil_div(map.channels, kPlanes) * count, kPlanes * cost::kGather * parts.room)
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t item = begin; item < end; ++item) {
          const auto& of = tables.parts[item % count];
          const std::int64_t part = first + item % count, c = item / count * kPlanes, left = map.channels - c;
          const T* const from = static_cast<const T*>(p.input) + (of.image * map.channels + c) * plane;
          const std::int64_t to =
              (part / parts.of_roi * map.channels + c) * of_roi + part % parts.of_roi * parts.rows * bins.columns;
          if (left >= kPlanes) {
            pool_bins<kPlanes>(of, from, plane, far && left > kPlanes ? from + kPlanes * plane : nullptr, out, to,
                               of_roi);
          } else {
            for (std::int64_t i = 0; i < left; ++i) {
              pool_bins<1, Pooling, T>(of, from + i * plane, plane, nullptr, out, to + i * of_roi, of_roi);
            }
          }
        }
      });
}

/// The most pixels that samples can have: in one bin, as many as in any other of its RoI, and in all bins together.
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

/// `out` [RoIs,C,rows,columns] of problem.input in NCHW. An item is some planes of a part and owns its bins there; all
/// parts in the same planes follow each other, so that the pages of a plane are looked up once. A flop or two a load:
/// bound by reading the cache lines under the samples.
template <class T, class Roi, class Pooling, class Problem, class Out>
mluOpStatus_t pool_planes(Context& context, const mluopsCall& call, const Problem& p, const Planes& map,
                          const Out& out) {
  const RoiBins bins = Roi::bins(p.shape);
  const PointParts parts(bins, most_pixels<T, Roi>(p).bin);
  const auto tables = allocate<PointTables<Acc<T>, Pooling>>(context.arena, parts);
  if (!tables) return no_memory(call);
  for (std::int64_t first = 0, all = bins.rois * parts.of_roi; first < all; first += parts.together) {
    const std::int64_t count = std::min(parts.together, all - first);
    Loop(context, call, count, 4 * cost::kStep * parts.room).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) tables->template fill<T, Roi>(p, parts, first + i, i);
    });
    pool_parts<T, Roi>(context, call, p, map, parts, first, count, *tables, out);
  }
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
struct Sums {
  T* output;

  template <class D, class Samples>
  HWY_INLINE void put(D d, const Sum::Of<D>& sum, const Samples&, std::int64_t, std::int64_t at) const {
    store(sum.value, d, output + at);
  }
};

template <class T, class Roi, class Problem>
mluOpStatus_t sum_planes(Context& context, const mluopsCall& call, const Problem& p) {
  return pool_planes<T, Roi, Sum>(context, call, p, Planes::of(p.shape), Sums<T>{static_cast<T*>(p.output)});
}

/// Preferred where samples have at most few_percent pixels for 100 of the maps. Vectors of 16-bit elements cannot be
/// gathered.
template <class T, class Roi, class Problem>
Fit few_pixels_of(const Problem& p, const Planes& map, int few_percent) {
  const MostPixels most = most_pixels<T, Roi>(p);
  const bool few = most.all <= 0.01 * few_percent * static_cast<double>(map.images * map.pixels);
  return fit(map.pixels <= INT32_MAX && PointParts(Roi::bins(p.shape), most.bin).has_room(),
             few && std::is_same_v<T, Acc<T>>);
}

/// With more than kFewPercent, or where gathers are slow, rows of pixels that are made first repay it.
template <class T, class Roi, int kFewPercent, class Problem>
Fit few_points(const Context&, const mluopsCall&, const Problem& p) {
  const Fit few = few_pixels_of<T, Roi>(p, Planes::of(p.shape), kFewPercent);
  return few == Fit::kPrefer && gathers_are_slow() ? Fit::kCan : few;
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
