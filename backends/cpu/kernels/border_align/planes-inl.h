// BorderAlign forward in NCHW: input [n,4*c,h,w], output and argmax [n,c,k,4].
//
// A task owns a block of channels of an image. The planes of these channels are turned into [line, pixel, channel]
// scratch, one map for each of the four borders, so that a point of a border is the same work as in NHWC. Boxes come in
// chunks. In a chunk the borders of one kind are sorted by their line, so that two lines of the map, which are in the
// first cache, serve all borders between them. Results of the chunk wait as [box, border, channel] in the second cache
// until they are turned into runs of the output planes; indices are bytes until then. Where points lie is computed anew
// for each block, a vector of borders at a time: a table of all points would be read from beyond the second cache.
#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/kernels/border_align/index_bytes-inl.h"
#include "backends/cpu/kernels/border_align/points-inl.h"
#include "backends/cpu/kernels/border_align/pool-inl.h"
#include "backends/cpu/layout/gather_channels-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_PLANES_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_PLANES_ONCE_
namespace mluops::cpu::border_align {

/// The boxes of an image, cut into chunks.
struct Chunks {
  /// Chunks begin on a cache line of every output plane whose first is aligned, and of all indices.
  static constexpr std::int64_t kBoxes = 16;

  std::int64_t boxes, each, count;

  /// At least so many, of at most so many boxes each, as far as whole cache lines allow.
  Chunks(const Shape& s, std::int64_t least, std::int64_t most_boxes)
      : boxes(s.k),
        each(round_up(ceil_div(s.k, std::max(least, ceil_div(s.k, std::max(most_boxes, kBoxes)))), kBoxes)),
        count(ceil_div(s.k, each)) {}
  std::int64_t begin(std::int64_t chunk) const { return chunk * each; }
  std::int64_t size(std::int64_t chunk) const { return std::min(each, boxes - begin(chunk)); }
};

/// The borders of all chunks in the order in which they are pooled: chunk by chunk, by kind, by line.
template <class A>
struct SortedBorders {
  static constexpr std::int64_t kBehind = 16;  ///< borders that are read with the last ones and not pooled

  std::int64_t* starts;  ///< [chunks, 4 * lines + 1], of the borders of a line in their chunk
  std::int32_t* rows;    ///< [chunks, borders]: box * 4 + border in the chunk
  A *first, *stride;     ///< [chunks, borders]: where the points of a border lie along its line
  LineBlend<A>* blends;  ///< [chunks, borders]
  std::int64_t lines, borders;

  SortedBorders(Allocator& allocator, const Shape& s, const Chunks& chunks)
      : lines(Lines(s).each), borders(chunks.each * 4) {
    const std::int64_t count = s.n * chunks.count, all = count * borders;
    starts = allocator.allocate<std::int64_t>(count, size_sum(size_product(4, lines), 1));
    rows = allocator.allocate<std::int32_t>(all);
    first = allocator.allocate<A>(all + kBehind);
    stride = allocator.allocate<A>(all + kBehind);
    blends = allocator.allocate<LineBlend<A>>(all);
    if (first == nullptr) return;
    std::fill_n(first + all, kBehind, A{0});
    std::fill_n(stride + all, kBehind, A{0});
  }
  std::int64_t* starts_of(std::int64_t chunk) const { return starts + chunk * (4 * lines + 1); }
};

}  // namespace mluops::cpu::border_align
#endif

#if defined(MLUOPS_CPU_BORDER_ALIGN_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_PLANES_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_PLANES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// What sorting a border and preparing it costs, in units of cost::kFindLine.
constexpr double kSorting = 4;

/// Sorts the borders of a chunk of boxes.
template <class T, class A = Acc<T>>
void sort_chunk(const mluopsBorderAlignForwardProblem& p, const Chunks& chunks, std::int64_t index,
                const SortedBorders<A>& sorted) {
  const Shape& s = p.shape;
  const std::int64_t image = index / chunks.count, chunk = index % chunks.count;
  const std::int64_t begin = (image * s.k + chunks.begin(chunk)) * 4, end = begin + chunks.size(chunk) * 4;
  const std::int64_t buckets = 4 * sorted.lines, first_bucket = image * buckets, at = index * sorted.borders;
  std::int64_t* const starts = sorted.starts_of(index);
  const auto each = [&](auto&& put) {
    sort_borders<T>(s, p.boxes, begin, end,
                    [&](std::int64_t row, std::int64_t line, bool) { put(row, line - first_bucket); });
  };
  std::fill_n(starts, buckets + 1, 0);
  each([&](std::int64_t, std::int64_t bucket) { ++starts[bucket + 1]; });
  for (std::int64_t i = 0; i < buckets; ++i) starts[i + 1] += starts[i];
  each([&](std::int64_t row, std::int64_t bucket) {
    const std::int64_t place = at + starts[bucket]++;
    const auto border = read_border<T>(s, p.boxes, row);
    AxisSample<A> line;
    const bool on_map = sample_axis(border.fixed, row % 2 == 0 ? s.h : s.w, line);
    sorted.rows[place] = static_cast<std::int32_t>(row - begin);
    sorted.first[place] = on_map ? border.start : std::numeric_limits<A>::quiet_NaN();
    sorted.stride[place] = border.stride;
    sorted.blends[place] = LineBlend<A>::of(on_map ? &line : nullptr);
  });
  // Each start has moved to the end of its line, where the next one starts.
  std::copy_backward(starts, starts + buckets, starts + buckets + 1);
  starts[0] = 0;
}

/// The points of a vector of borders, [point, border].
template <class A>
struct PointTable {
  static constexpr std::int64_t kBorders = kLanes<A>;

  A *low, *high;
  std::int32_t* pixels;

  PointTable(Allocator& allocator, std::int64_t count)
      : low(allocator.allocate<A>(count)),
        high(allocator.allocate<A>(count)),
        pixels(allocator.allocate<std::int32_t>(count)) {}

  /// Each point is reached from the one before by adding the stride.
  void place(const A* first, const A* stride, std::int64_t count, std::int64_t length) const {
    const hn::ScalableTag<A> d;
    auto at = hn::LoadU(d, first);
    const auto step = hn::LoadU(d, stride), one = hn::Set(d, A{1});
    for (std::int64_t i = 0; i < count; ++i, at = hn::Add(at, step)) {
      const auto found = find_points(d, at, length);
      hn::Store(found.weights, d, high + i * kBorders);
      hn::Store(hn::Sub(one, found.weights), d, low + i * kBorders);
      store_index(false, found.pixels, d, pixels + i * kBorders);
    }
  }
};

/// One border of a table.
template <class A>
struct PointColumn {
  const A* HWY_RESTRICT lows;
  const A* HWY_RESTRICT highs;
  const std::int32_t* HWY_RESTRICT pixels;

  PointColumn(const PointTable<A>& table, std::int64_t border)
      : lows(table.low + border), highs(table.high + border), pixels(table.pixels + border) {}
  HWY_INLINE std::int64_t pixel(std::int64_t i) const { return pixels[i * kLanes<A>]; }
  template <class D>
  HWY_INLINE hn::Vec<D> high(D d, std::int64_t i) const {
    return hn::Set(d, highs[i * kLanes<A>]);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> low(D d, std::int64_t i) const {
    return hn::Set(d, lows[i * kLanes<A>]);
  }
};

/// One thread's room.
template <int kWidth, class T>
struct PlaneRoom {
  using A = Acc<T>;

  std::int64_t map_size;
  A* maps;  ///< [4 or 1, lines, pixels and places, kWidth]
  T* values;
  std::uint8_t* indices;  ///< [boxes of a chunk, 4, kWidth], both
  PointTable<A> points;

  PlaneRoom(Allocator& allocator, const Shape& s, const Chunks& chunks)
      : map_size(std::max(s.h * (s.w + kPlaces), s.w * (s.h + kPlaces)) * kWidth),
        maps(allocator.allocate<A>(maps_held(chunks), map_size)),
        values(allocator.allocate<T>(chunks.each, 4, kWidth)),
        indices(allocator.allocate<std::uint8_t>(chunks.each, 4, kWidth)),
        points(allocator, (s.pool_size + 1) * kLanes<A>) {}
  /// Maps are made once for all chunks.
  static std::int64_t maps_held(const Chunks& chunks) { return chunks.count > 1 ? 4 : 1; }
};

/// Blocks of kWidth channels of images.
template <int kWidth, class T>
class PlanePool {
  using A = Acc<T>;
  using D = hn::ScalableTag<A>;
  static constexpr int kVectors = std::min<int>(kWidth / kLanes<A>, kLanes<A> * sizeof(A) >= 64 ? 4 : 2);

 public:
  PlanePool(const mluopsBorderAlignForwardProblem& p, const Chunks& chunks, const SortedBorders<A>& sorted,
            const PlaneRoom<kWidth, T>& room, bool non_temporal)
      : p_(p), s_(p.shape), chunks_(chunks), sorted_(sorted), room_(room), non_temporal_(non_temporal) {}

  const T* planes_of(std::int64_t image, std::int64_t first, int border) const {
    return static_cast<const T*>(p_.input) + ((image * 4 + border) * s_.c + first) * s_.h * s_.w;
  }

  /// kWidth channels of an image from `first` on, chunks [begin, end). `next`: the planes that are taken after these,
  /// or these again.
  void run(std::int64_t image, std::int64_t first, std::int64_t begin, std::int64_t end, const T* next) {
    image_ = image;
    first_ = first;
    channels_ = std::min<std::int64_t>(kWidth, s_.c - first);
    const bool all = room_.maps_held(chunks_) > 1;
    for (int border = 0; border < 4 && all; ++border) load_map(border, room_.maps + border * room_.map_size);
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      for (int border = 0; border < 4; ++border) {
        A* const map = room_.maps + (all ? border * room_.map_size : 0);
        if (!all) load_map(border, map);
        // Planes come from memory while others are worked on.
        const T* const planes = all ? nullptr : border < 3 ? planes_of(image, first, border + 1) : next;
        PrefetchStream memory(planes, all ? 0 : channels_ * s_.h * s_.w, chunks_.size(chunk));
        pool_chunk(image * chunks_.count + chunk, border, map, memory);
      }
      write_chunk(chunk);
    }
  }

 private:
  void load_map(int border, A* map) {
    const bool horizontal = border % 2 == 0;
    const BorderAxes axes(s_, horizontal);
    const std::int64_t line = axes.length + kPlaces, pixels = s_.h * s_.w;
    const layout::PixelPlaces places = {s_.w, horizontal ? 1 : line, horizontal ? line : 1};
    layout::HWY_NAMESPACE::gather_channels<kWidth>(planes_of(image_, first_, border), pixels, pixels, channels_,
                                                   kPackedScale<A>, places, map + kPlacesBefore * kWidth);
    for (std::int64_t i = 0; i < axes.lines; ++i) {
      A* const start = map + i * line * kWidth;
      A* const end = start + (kPlacesBefore + axes.length) * kWidth;
      std::fill_n(start, kPlacesBefore * kWidth, A{0});
      std::copy_n(end - kWidth, kWidth, end);
    }
  }

  void pool_chunk(std::int64_t chunk, int border, const A* map, PrefetchStream& memory) {
    const BorderAxes axes(s_, border % 2 == 0);
    const std::int64_t pitch = (axes.length + kPlaces) * kWidth;
    const std::int64_t* const starts = sorted_.starts_of(chunk) + border * sorted_.lines;
    std::int64_t i = starts[0], table_end = i;
    for (std::int64_t line = 0; line < axes.lines; ++line) {
      const Block<A> block = {map + line * pitch + kPlacesBefore * kWidth, line + 1 < axes.lines ? pitch : 0};
      const std::int64_t end = starts[line + 1];
      PrefetchStream ahead(map + std::min(line + 2, axes.lines - 1) * pitch, pitch, std::max<std::int64_t>(end - i, 1));
      for (; i < end; ++i) {
        ahead.step();
        memory.step();
        const std::int64_t at = chunk * sorted_.borders + i;
        if (i == table_end) {
          room_.points.place(sorted_.first + at, sorted_.stride + at, s_.pool_size + 1, axes.length);
          table_end += PointTable<A>::kBorders;
        }
        pool_border(PointColumn<A>(room_.points, i - (table_end - PointTable<A>::kBorders)), sorted_.blends[at], block,
                    std::int64_t{sorted_.rows[at]} * kWidth);
      }
    }
  }

  HWY_INLINE void pool_border(const PointColumn<A>& points, const LineBlend<A>& blend, const Block<A>& block,
                              std::int64_t at) {
    const D d;
    for (std::int64_t c = 0; c < kWidth; c += kVectors * kLanes<A>) {
      T* HWY_RESTRICT const values = room_.values + at + c;
      std::uint8_t* HWY_RESTRICT const indices = room_.indices + at + c;
      pool_points<kVectors>(d, points, s_.pool_size + 1, blend, Block<A>{block.packed + c, block.next}, kWidth,
                            [&](int v, hn::Vec<D> value, hn::Vec<IndexTag<D>> index) HWY_ATTR {
                              store(value, d, values + v * kLanes<A>);
                              store_bytes(d, index, indices + v * kLanes<A>);
                            });
    }
  }

  void write_chunk(std::int64_t chunk) {
    const std::int64_t rows = chunks_.size(chunk) * 4;
    const std::int64_t at = (image_ * s_.c + first_) * s_.k * 4 + chunks_.begin(chunk) * 4;
    layout::HWY_NAMESPACE::scatter_channels(non_temporal_, reinterpret_cast<const Moved<T>*>(room_.values), kWidth,
                                            rows, channels_, static_cast<Moved<T>*>(p_.output) + at, s_.k * 4);
    write_indices(room_.indices, kWidth, rows, channels_, p_.argmax + at, s_.k * 4, non_temporal_);
  }

  const mluopsBorderAlignForwardProblem& p_;
  const Shape& s_;
  const Chunks& chunks_;
  const SortedBorders<A>& sorted_;
  const PlaneRoom<kWidth, T>& room_;
  const bool non_temporal_;

  std::int64_t image_ = 0, first_ = 0, channels_ = 0;
};

/// How a call is cut: every task makes the maps of its channels.
template <int kWidth, class T>
struct PlaneTasks {
  std::int64_t blocks, parts;  ///< of channels; of an image's chunks, more than one where there are few blocks
  Chunks chunks;

  PlaneTasks(const Shape& s, int threads)
      : blocks(ceil_div(s.c, std::int64_t{kWidth})),
        parts(std::clamp<std::int64_t>(threads / (s.n * blocks), 1, ceil_div(s.k, kLeastBoxes))),
        chunks(s, parts, second_cache(40) / result_bytes()) {
    parts = std::min(parts, chunks.count);
  }
  std::int64_t count(const Shape& s) const { return s.n * blocks * parts; }
  /// Bytes of a box's results: all borders of a block of channels, with their indices.
  static constexpr std::int64_t result_bytes() { return 4 * kWidth * static_cast<std::int64_t>(sizeof(T) + 1); }

 private:
  static constexpr std::int64_t kLeastBoxes = 64;
};

/// All that a call needs.
template <int kWidth, class T>
struct PlaneArrays {
  SortedBorders<Acc<T>> sorted;
  std::int64_t room_bytes;
  std::byte* rooms;

  PlaneArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, const Chunks& chunks)
      : sorted(allocator, s, chunks),
        room_bytes(measured(s, chunks)),
        rooms(allocator.allocate<std::byte>(call.threads, room_bytes)) {}
  PlaneRoom<kWidth, T> room(const Shape& s, const Chunks& chunks, int slot) const {
    Allocator cut(rooms + slot * room_bytes);
    return PlaneRoom<kWidth, T>(cut, s, chunks);
  }

 private:
  static std::int64_t measured(const Shape& s, const Chunks& chunks) {
    Allocator measure;
    static_cast<void>(PlaneRoom<kWidth, T>(measure, s, chunks));
    return measure.bytes();
  }
};

template <int kWidth, class T>
mluOpStatus_t pool_planes(Context& context, const mluopsCall& given, const mluopsBorderAlignForwardProblem& p) {
  const Shape& s = p.shape;
  const PlaneTasks<kWidth, T> tasks(s, given.threads);
  const Chunks& chunks = tasks.chunks;
  mluopsCall call = given;
  call.threads = static_cast<int>(std::min<std::int64_t>(call.threads, tasks.count(s)));
  auto arrays = allocate<PlaneArrays<kWidth, T>>(context.arena, call, s, chunks);
  if (!arrays) return no_memory(call);
  const auto chunk_borders = static_cast<double>(chunks.each * 4);
  Loop(context, call, s.n * chunks.count, chunk_borders * kSorting * cost::kFindLine)
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t i = begin; i < end; ++i) sort_chunk<T>(p, chunks, i, arrays->sorted);
      });
  const bool non_temporal = s.n * s.k * 4 * s.c * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) >=
                            non_temporal_from::border_align_forward();
  const double task_ns = static_cast<double>(s.n * s.k * 4 * s.c) / static_cast<double>(tasks.count(s)) *
                         static_cast<double>(s.pool_size + 1) * cost::kPool;
  Loop(context, call, tasks.count(s), task_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const PlaneRoom<kWidth, T> room = arrays->room(s, chunks, slot);
    PlanePool<kWidth, T> pool(p, chunks, arrays->sorted, room, non_temporal);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t block = i / tasks.parts, part = i % tasks.parts;
      const std::int64_t after = std::min(i + 1, tasks.count(s) - 1) / tasks.parts;
      pool.run(block / tasks.blocks, block % tasks.blocks * kWidth, chunks.count * part / tasks.parts,
               chunks.count * (part + 1) / tasks.parts,
               pool.planes_of(after / tasks.blocks, after % tasks.blocks * kWidth, 0));
    }
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Whether blocks of kWidth channels are whole and enough for all threads.
template <int kWidth>
bool whole_blocks(const Shape& s, int threads) {
  return s.c % kWidth == 0 && s.n * (s.c / kWidth) >= 2 * threads;
}

/// Whether a map and the results of all boxes stay in the second cache.
template <int kWidth, class T>
bool few_boxes(const Shape& s) {
  const std::int64_t map = s.h * s.w * kWidth * static_cast<std::int64_t>(sizeof(Acc<T>));
  return map + s.k * PlaneTasks<kWidth, T>::result_bytes() <= second_cache(48);
}

/// Indices wait as bytes.
template <class Problem>
Fit planes_apply(const Context&, const mluopsCall&, const Problem& p) {
  return fit(p.shape.pool_size <= std::numeric_limits<std::uint8_t>::max());
}

template <class T>
mluOpStatus_t forward_of_planes(Context& context, const mluopsCall& call, const mluopsBorderAlignForwardProblem& p) {
  // The channels of a block share the weights of a point.
  if constexpr (kLanes<Acc<T>> * sizeof(Acc<T>) >= 64) {
    const Shape& s = p.shape;
    if (whole_blocks<64>(s, call.threads) && few_boxes<64, T>(s)) return pool_planes<64, T>(context, call, p);
    if (whole_blocks<32>(s, call.threads)) return pool_planes<32, T>(context, call, p);
  }
  return pool_planes<16, T>(context, call, p);
}

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
