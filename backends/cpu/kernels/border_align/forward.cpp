// BorderAlign forward: along each border of each box, the greatest of pool_size + 1 bilinear samples, channel by
// channel. input [n,h,w,4*c], boxes [n,k,4], output and argmax [n,k,4,c]; in NCHW [n,4*c,h,w] and [n,c,k,4].
//
// Borders are sorted by their line; the pixels of a line and of the next lie in consecutive memory, in blocks of some
// vectors of channels, which share a point's weights. In the map a line's pixels are often a multiple of 4 KB apart,
// where they displace each other in either cache. Four loads, four multiply-adds, a comparison and two choices per
// point and vector: bound by arithmetic. Every output is written by one thread.
//
// A thread takes a run of lines and packs each of them when its borders come: in NHWC, and in NCHW for few boxes, out
// of rows that were made of the pixels they touch; very few are gathered out of the planes (points-inl.h). For many a
// task owns a block of channels of an image and transposes its planes into lines. Results of a chunk of boxes wait as
// [box, border, channel] in the second cache until they become runs of the output planes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/border_align/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/border_align/lines-inl.h"
#include "backends/cpu/kernels/border_align/points-inl.h"
#include "backends/cpu/kernels/border_align/pool-inl.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/border_align.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// Where results go: those of row r of [n, k, 4] at (r - first) * pitch.
template <class T>
struct PooledRows {
  T* output;
  std::int32_t* argmax;
  std::int64_t first, pitch;
  bool non_temporal;
};

template <class T>
bool outputs_leave_caches(const Shape& s) {
  return borders_of(s) * s.c * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) >=
         pooled_non_temporal_from();
}

/// Pools kVectors vectors of channels of several borders of one line, whose results begin at channel 0 of `out`.
template <int kVectors, class D, class T, class Source, class A = Acc<T>>
HWY_NOINLINE void pool_borders(D d, std::span<const PlacedBorder<A>> borders, std::int64_t count, LinePoints<A> points,
                               Block<A> block, std::int64_t step, Source& source, PooledRows<T> out) {
  for (const PlacedBorder<A>& border : borders) {
    source.prefetch();
    const std::int64_t at = (border.row - out.first) * out.pitch;
    pool_channels<kVectors>(out.non_temporal, d, points.weights, points.pixels, count, *points.blends++, block, step,
                            out.output + at, out.argmax + at);
    points.weights += count;
    points.pixels += count;
  }
}

/// Pools borders of lines, as many side by side as have room. Source: where the lines are packed.
template <int kWide, class T, class Source>
class BorderPool {
  using A = Acc<T>;

 public:
  BorderPool(const Shape& s, const SortedBorders<A>& sorted, const LinePoints<A>& points, Source& source)
      : s_(s), sorted_(sorted), points_(points), source_(source) {}

  /// Some channels of the borders on lines [begin, end) of one border of an image.
  void run(std::int64_t begin, std::int64_t end, std::int64_t channels, const PooledRows<T>& out) {
    const BorderAxes axes(s_, sorted_.lines().place(begin).border, 1);
    const std::int64_t last = sorted_.begin(end), most = borders_at_once(s_);
    std::int64_t placed = sorted_.begin(begin), placed_end = placed;
    for (std::int64_t line = begin; line < end; ++line) {
      for (std::int64_t i = sorted_.begin(line), stop; i < sorted_.begin(line + 1); i = stop) {
        if (i == placed_end) {
          placed = i;
          placed_end = std::min(i + most, last);
          place_points(sorted_, placed, placed_end, s_.pool_size, axes.length, points_);
        }
        stop = std::min(placed_end, sorted_.begin(line + 1));
        pool(line, i, stop, points_.from(i - placed, s_.pool_size + 1), channels, out);
      }
    }
  }

 private:
  /// Borders [begin, end), all on one line.
  void pool(std::int64_t line, std::int64_t begin, std::int64_t end, const LinePoints<A>& points, std::int64_t channels,
            const PooledRows<T>& out) {
    PixelRange touched = points.touched[0];
    for (std::int64_t i = 1; i < end - begin; ++i) touched = touched.joined(points.touched[i]);
    const Block<A> lines = source_.hold(line, touched, end - begin);
    const std::span<const PlacedBorder<A>> borders(&sorted_[begin], &sorted_[end]);
    for_packed<A, kWide>(channels, [&](auto d, auto vectors, PackedPart part) HWY_ATTR {
      constexpr int count = decltype(vectors)::value;
      const std::int64_t at =
          part.before * source_.places() + kPlacesBefore * count * static_cast<std::int64_t>(hn::Lanes(d));
      const PooledRows<T> to = {out.output + part.first, out.argmax + part.first, out.first, out.pitch,
                                out.non_temporal};
      pool_borders<count>(d, borders, s_.pool_size + 1, points, Block<A>{lines.line + at, lines.next}, part.step,
                          source_, to);
    });
  }

  const Shape& s_;
  const SortedBorders<A>& sorted_;
  const LinePoints<A>& points_;
  Source& source_;
};

// ---- lines -----------------------------------------------------------------------------------

/// All borders on lines [begin, end), to rows of the channels of `maps`.
template <int kWide, class T>
void pool_lines(const ForwardProblem& p, const BorderMaps<T>& maps, const SortedBorders<Acc<T>>& sorted,
                const LineScratch<Acc<T>>& scratch, const PooledRows<T>& rows, std::int64_t begin, std::int64_t end) {
  PackedLines<kWide, T> source(p, maps, sorted.lines(), scratch);
  BorderPool<kWide, T, PackedLines<kWide, T>> pool(p.shape, sorted, scratch.points, source);
  const std::int64_t chunk = channels_at_once<Acc<T>>(p.shape, rows.pitch);
  for (std::int64_t first = 0; first < rows.pitch; first += chunk) {
    const std::int64_t channels = std::min(chunk, rows.pitch - first);
    source.begin(first, channels);
    const PooledRows<T> out = {rows.output + first, rows.argmax + first, 0, rows.pitch, rows.non_temporal};
    for (std::int64_t line = begin, stop; line < end; line = stop) {
      stop = std::min(end, round_up(line + 1, sorted.lines().each()));
      pool.run(line, stop, channels, out);
    }
  }
}

template <class T>
bool sort(Context& context, const mluopsCall& call, const ForwardProblem& p, SortedBorders<Acc<T>>& sorted) {
  const Shape& s = p.shape;
  const double points = static_cast<double>(s.pool_size + 1);
  return sorted.fill(context, call, s, static_cast<const T*>(p.boxes), true,
                     points * (2 * cost::kStep + cost::kElement * static_cast<double>(s.c)), 0);
}

/// What all threads read, and the scratch of each.
template <class A, class Scratch>
struct ForwardArrays {
  SortedBorders<A> sorted;
  SlotScratch<Scratch> rooms;

  template <class... Args>
  ForwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, const Lines& lines, const Args&... args)
      : sorted(allocator, call, s, lines), rooms(allocator, call.threads, s, args...) {}
};

/// The same for lines, and in NCHW rows of the results.
template <class T>
struct LineArrays {
  BorderMaps<T> maps;
  ForwardArrays<Acc<T>, LineScratch<Acc<T>>> lines;
  PooledRows<T> rows;

  LineArrays(Allocator& allocator, const mluopsCall& call, const ForwardProblem& p)
      : maps(allocator, p), lines(allocator, call, p.shape, Lines(p.shape, p.shape.k), maps.width()) {
    const Shape& s = p.shape;
    const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
    const bool non_temporal = sizeof(T) <= 4 && outputs_leave_caches<T>(s) && whole_lines(p.output, row_bytes) &&
                              whole_lines(p.argmax, 4 * s.c);
    rows = {static_cast<T*>(p.output), p.argmax, 0, s.c, non_temporal};
    if (!maps.planes()) return;
    rows = {allocator.allocate<T>(borders_of(s), maps.width()),
            allocator.allocate<std::int32_t>(borders_of(s), maps.width()), 0, maps.width(), false};
  }
};

/// [image, row, width] becomes [image, channel, row].
template <class E>
void put_planes(const Context& context, const mluopsCall& call, const Shape& s, const E* rows, std::int64_t width,
                E* to) {
  constexpr std::int64_t kRows = 64;
  const std::int64_t count = 4 * s.k, parts = ceil_div(count, kRows);
  Loop(context, call, s.n * parts, cost::kMove * static_cast<double>(kRows * width))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        using M = Moved<E>;
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t image = i / parts, first = i % parts * kRows;
          transpose_panel(reinterpret_cast<const M*>(rows + (image * count + first) * width), width,
                          std::min(kRows, count - first), s.c, reinterpret_cast<M*>(to + image * s.c * count + first),
                          count);
        }
      });
}

template <class T>
mluOpStatus_t by_lines(Context& context, const mluopsCall& given, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const mluopsCall call = with_threads(given, borders_of(s));
  auto arrays = allocate<LineArrays<T>>(context.arena, call, p);
  if (!arrays || !sort<T>(context, call, p, arrays->lines.sorted)) return no_memory(call);
  const SortedBorders<Acc<T>>& sorted = arrays->lines.sorted;
  if (!arrays->maps.read(context, call, sorted)) return no_memory(call);
  constexpr int wide = kLanes<Acc<T>> * sizeof(Acc<T>) >= 64 ? 4 : 2;  // 32 registers, or 16
  const LineRuns runs(sorted.prefix_ns(), call.threads);
  Loop(context, call, runs.count(), runs.each_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    pool_lines<wide, T>(p, arrays->maps, sorted, arrays->lines.rooms.of(slot, s, arrays->maps.width()), arrays->rows,
                        runs.first_line(begin), runs.first_line(end));
    non_temporal_fence();
  });
  if (arrays->maps.planes()) {
    put_planes(context, call, s, arrays->rows.output, arrays->rows.pitch, static_cast<T*>(p.output));
    put_planes(context, call, s, arrays->rows.argmax, arrays->rows.pitch, p.argmax);
  }
  return MLUOP_STATUS_SUCCESS;
}

/// Whether the borders of all boxes touch, about, no more than half the pixels of their maps: along a row blocks of
/// them, along a column blocks of which they need one or two pixels.
template <class T>
Fit few_lines(const Context&, const mluopsCall&, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const auto most = static_cast<double>(2 * s.n * s.h * s.w);
  double pixels = 0;
  for (std::int64_t i = 0; i < s.n * s.k && pixels <= most; ++i) {
    const T* const box = static_cast<const T*>(p.boxes) + 4 * i;
    const auto length = [&](int axis, std::int64_t size) {
      const double apart = std::abs(static_cast<double>(to_acc(box[axis + 2]) - to_acc(box[axis])));
      return std::min(apart, static_cast<double>(size)) + 2;
    };
    pixels += 4 * length(0, s.w) + 10 * length(1, s.h);
  }
  return fit(true, pixels <= most);
}

// ---- panels: NCHW ----------------------------------------------------------------------------

/// How a call is cut: tasks are blocks of channels of images, or parts of the boxes where there are few blocks.
struct PanelTasks {
  /// Chunks begin on a cache line of every output plane whose first is aligned.
  static constexpr std::int64_t kBoxes = 16;
  static constexpr std::int64_t kLeastBoxes = 64;

  std::int64_t width, blocks, parts;
  Lines lines;

  /// Blocks of `channels`, of which a value and its index take so many bytes. A chunk's results leave the second cache,
  /// for each chunk reads the maps again.
  PanelTasks(const Shape& s, int threads, std::int64_t channels, std::int64_t bytes)
      : width(channels),
        blocks(ceil_div(s.c, width)),
        parts(std::clamp<std::int64_t>(threads / (s.n * blocks), 1, ceil_div(s.k, kLeastBoxes))),
        lines(s, chunk_boxes(s, parts, second_cache(80) / (4 * width * bytes))) {
    parts = std::min(parts, lines.chunks());
  }
  std::int64_t count(const Shape& s) const { return s.n * blocks * parts; }

 private:
  /// No fewer than a fourth of a line's pixels: there is memory for all lines of each chunk.
  static std::int64_t chunk_boxes(const Shape& s, std::int64_t parts, std::int64_t most) {
    const std::int64_t least = std::max(kBoxes, std::max(s.h, s.w) / 4);
    return round_up(std::min(ceil_div(s.k, parts), std::max(most, least)), kBoxes);
  }
};

/// A thread's scratch in NCHW.
template <class T>
struct PanelScratch {
  using A = Acc<T>;

  LinePoints<A> points;
  std::int64_t map_size;
  A* panel;  ///< of a border
  A* maps;   ///< [border, line, place, width]
  T* values;
  std::int32_t* indices;  ///< [box of a chunk, border, width], both

  PanelScratch(Allocator& allocator, const Shape& s, const PanelTasks& tasks)
      : points(allocate_points<A>(allocator, s)),
        map_size(std::max(s.h * (s.w + kPlaces), s.w * (s.h + kPlaces)) * tasks.width),
        panel(allocator.allocate<A>(s.h, s.w, layout::kBlockChannels<A>)),
        maps(allocator.allocate<A>(4, map_size)),
        values(allocator.allocate<T>(tasks.lines.boxes(0), 4, tasks.width)),
        indices(allocator.allocate<std::int32_t>(tasks.lines.boxes(0), 4, tasks.width)) {}
};

/// Blocks of kWide vectors of channels of images.
template <int kWide, class T>
class PanelPool {
  using A = Acc<T>;
  static constexpr std::int64_t kWidth = kWide * kLanes<A>, kChannels = layout::kBlockChannels<A>;

 public:
  PanelPool(const ForwardProblem& p, const PanelTasks& tasks, const SortedBorders<A>& sorted,
            const PanelScratch<T>& scratch)
      : p_(p),
        s_(p.shape),
        tasks_(tasks),
        sorted_(sorted),
        room_(scratch),
        non_temporal_(outputs_leave_caches<T>(s_)) {}

  void run(std::int64_t task) {
    const std::int64_t block = task / tasks_.parts, part = task % tasks_.parts, chunks = tasks_.lines.chunks();
    image_ = block / tasks_.blocks;
    first_ = block % tasks_.blocks * kWidth;
    channels_ = std::min(kWidth, s_.c - first_);
    for (int border = 0; border < 4; ++border) load_map(border);
    for (std::int64_t i = chunks * part / tasks_.parts; i < chunks * (part + 1) / tasks_.parts; ++i) {
      pool_chunk(i);
      write_chunk(i);
    }
  }

  std::int64_t places() const { return 0; }
  Block<A> hold(std::int64_t index, PixelRange, std::int64_t borders) {
    const Lines::Place place = tasks_.lines.place(index);
    const BorderAxes axes(s_, place.border, 1);
    const std::int64_t pitch = (axes.length + kPlaces) * kWidth;
    const A* const map = room_.maps + place.border * room_.map_size;
    ahead_ = PrefetchStream(map + std::min(place.line + 2, axes.lines - 1) * pitch, pitch, borders);
    return {map + place.line * pitch, place.line + 1 < axes.lines ? pitch : 0};
  }
  HWY_INLINE void prefetch() { ahead_.step(); }

 private:
  void load_map(int border) {
    const BorderAxes axes(s_, border, 1);
    const std::int64_t line = (axes.length + kPlaces) * kWidth, pixels = s_.h * s_.w;
    const T* const planes = static_cast<const T*>(p_.input) + ((image_ * 4 + border) * s_.c + first_) * pixels;
    A* const map = room_.maps + border * room_.map_size;
    for (std::int64_t c = 0; c < kWidth; c += kChannels) {
      layout::HWY_NAMESPACE::fill_panel(pixels, planes + c * pixels, pixels, std::min(channels_ - c, kChannels),
                                        room_.panel);
      for (std::int64_t i = 0; i < axes.lines; ++i) load_line(axes, i, map + i * line + c);
    }
  }

  /// A line of the panel.
  void load_line(const BorderAxes& axes, std::int64_t line, A* to) {
    const hn::ScalableTag<A> d;
    const auto scale = hn::Set(d, kPackedScale<A>);
    for (std::int64_t i = -kPlacesBefore; i <= axes.length; ++i, to += kWidth) {
      const std::int64_t pixel = line * axes.line_pitch + std::min(i, axes.length - 1) * axes.pixel_pitch;
      for (std::int64_t c = 0; c < kChannels; c += kLanes<A>) {
        hn::Store(i < 0 ? hn::Zero(d) : hn::Mul(scale, hn::Load(d, room_.panel + pixel * kChannels + c)), d, to + c);
      }
    }
  }

  std::int64_t first_row(std::int64_t chunk) const { return 4 * (image_ * s_.k + tasks_.lines.first_box(chunk)); }

  void pool_chunk(std::int64_t chunk) {
    const PooledRows<T> out = {room_.values, room_.indices, first_row(chunk), kWidth, false};
    const std::int64_t first = (image_ * tasks_.lines.chunks() + chunk) * 4, each = tasks_.lines.each();
    BorderPool<kWide, T, PanelPool> pool(s_, sorted_, room_.points, *this);
    for (std::int64_t i = first; i < first + 4; ++i) pool.run(i * each, (i + 1) * each, kWidth, out);
  }

  void write_chunk(std::int64_t chunk) {
    const std::int64_t rows = tasks_.lines.boxes(chunk) * 4, plane = s_.k * 4;
    const std::int64_t at = (image_ * s_.c + first_) * plane + tasks_.lines.first_box(chunk) * 4;
    const auto scatter = [&](auto* from, auto* to) HWY_ATTR {
      using E = Moved<std::remove_reference_t<decltype(*from)>>;
      layout::HWY_NAMESPACE::rows_to_planes(non_temporal_, reinterpret_cast<const E*>(from), kWidth, rows, channels_,
                                            reinterpret_cast<E*>(to + at), plane);
    };
    scatter(room_.values, static_cast<T*>(p_.output));
    scatter(room_.indices, p_.argmax);
  }

  const ForwardProblem& p_;
  const Shape& s_;
  const PanelTasks& tasks_;
  const SortedBorders<A>& sorted_;
  const PanelScratch<T>& room_;
  const bool non_temporal_;

  PrefetchStream ahead_{static_cast<const A*>(nullptr), 0, 1};
  std::int64_t image_ = 0, first_ = 0, channels_ = 0;
};

template <int kWide, class T>
mluOpStatus_t pool_panels(Context& context, const mluopsCall& given, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const PanelTasks tasks(s, given.threads, kWide * kLanes<A>, sizeof(T) + sizeof(std::int32_t));
  const mluopsCall call = with_threads(given, tasks.count(s));
  auto arrays = allocate<ForwardArrays<A, PanelScratch<T>>>(context.arena, call, s, tasks.lines, tasks);
  if (!arrays || !sort<T>(context, call, p, arrays->sorted)) return no_memory(call);
  const double task_ns = arrays->sorted.prefix_ns().back() / static_cast<double>(tasks.count(s));
  Loop(context, call, tasks.count(s), task_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const PanelScratch<T> scratch = arrays->rooms.of(slot, s, tasks);
    PanelPool<kWide, T> pool(p, tasks, arrays->sorted, scratch);
    for (std::int64_t i = begin; i < end; ++i) pool.run(i);
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t by_panels(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  constexpr int vectors = layout::HWY_NAMESPACE::kBlockVectors<Acc<T>>;
  if constexpr (vectors == 1) {
    // The channels of a block share the weights of a point; more of them fit where the map of a border is small.
    const auto fits = [&](std::int64_t lines) {
      const std::int64_t width = lines * layout::kBlockChannels<Acc<T>>;
      return s.c % width == 0 && s.n * (s.c / width) >= 2 * call.threads;
    };
    if (fits(4) && 4 * kCacheLineBytes * s.h * s.w <= second_cache(16)) return pool_panels<4, T>(context, call, p);
    if (fits(2)) return pool_panels<2, T>(context, call, p);
  }
  return pool_panels<vectors, T>(context, call, p);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"lines", always<ForwardProblem>, by_lines<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {{"nchw_points", few_boxes<T>, by_points<T>},
                                                        {"lines", few_lines<T>, by_lines<T>},
                                                        {"panels", always<ForwardProblem>, by_panels<T>}};
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(border_align_forward, border_align, forward, mluopsBorderAlignForwardProblem, with_element)
