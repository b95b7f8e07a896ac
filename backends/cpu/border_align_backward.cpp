// BorderAlign backward: the gradient of each channel of each border goes to the four pixels of the point argmax names.
//
// A line of pixels of one border has one owner, who sums it in the caches and writes it once: no prior zeroing, no
// atomics, the same bits for every number of threads. A border adds to the two lines it lies between. Both are summed
// in one pass, as pairs: [channel, pixel, this line and the next]. The two pixels of a point are neighbours in there,
// so all that an element of grad_output adds is one run of four sums, each multiplied with its corner's weight. Six
// loads and stores per element: bound by the ports to the first cache. The second half of the pairs is what the next
// line starts with.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/border_align_backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/border_align.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"
#include "backends/cpu/transpose.h"

#ifndef MLUOPS_CPU_BORDER_ALIGN_BACKWARD_ONCE_
#define MLUOPS_CPU_BORDER_ALIGN_BACKWARD_ONCE_
namespace mluops::cpu::border_align {

/// Cost in nanoseconds of one channel of a border, and of writing a sum.
constexpr double kElementNs = 1.0, kWriteNs = 0.1;
/// Borders of a line that are gone through together, one block of channels after the other.
constexpr std::int64_t kGroup = 40;
/// Elements whose places are looked up ahead of the additions. A store of a whole vector is not forwarded to loads of
/// its lanes; some hundred additions later it has reached the cache.
constexpr std::int64_t kAhead = 128;

/// The lines cut into runs for one thread each. A run sums the line before it once more, so there are few: some for
/// each thread, and no more where there are enough images.
class Runs {
 public:
  Runs(const Shape& s, const mluopsCall& call, std::span<const double> prefix_ns)
      : prefix_ns_(prefix_ns), each_(Lines(s).each), planes_(s.n * 4) {
    per_plane_ = std::min(each_, ceil_div(std::int64_t{kPerThread} * call.threads, planes_));
  }
  std::int64_t count() const { return planes_ * per_plane_; }
  /// First line of a run; those of an image's border cost about the same.
  std::int64_t begin(std::int64_t run) const {
    const std::int64_t first = run / per_plane_ * each_, part = run % per_plane_;
    if (part == 0) return first;
    const double* const ns = prefix_ns_.data() + first;
    const double share = ns[0] + (ns[each_] - ns[0]) * static_cast<double>(part) / static_cast<double>(per_plane_);
    return first + (std::lower_bound(ns, ns + each_, share) - ns);
  }

 private:
  static constexpr int kPerThread = 4;

  std::span<const double> prefix_ns_;
  std::int64_t each_, planes_, per_plane_;
};

/// How the sums of a line are cut: `chunk` channels together in the second cache, `block` of them in the first.
template <class A>
struct SumsCut {
  static constexpr std::int64_t kFirstCache = 21 << 10, kSecondCache = 384 << 10, kLine = 32;

  std::int64_t chunk;

  explicit SumsCut(const Shape& s) : chunk(channels(s.c, Lines(s).each, kSecondCache, kLine)) {}
  /// Pairs of a channel. The last ones are no pixels: what a point on the last pixel gives to the one behind it goes to
  /// the first of them, and what belongs to no pixel goes there too.
  static std::int64_t pitch(std::int64_t length) { return round_up(length + 2, 16); }
  std::int64_t block(std::int64_t length) const { return std::min(channels(chunk, length, kFirstCache, 16), kAhead); }
  std::int64_t sums(const Shape& s) const { return std::min(chunk, s.c) * pitch(Lines(s).each) * 2; }

 private:
  /// Multiples of `unit`, and about the same for all.
  static std::int64_t channels(std::int64_t all, std::int64_t length, std::int64_t bytes, std::int64_t unit) {
    const std::int64_t fitting = bytes / (pitch(length) * 2 * static_cast<std::int64_t>(sizeof(A)));
    const std::int64_t most = std::max(fitting / unit, std::int64_t{1}) * unit, cuts = ceil_div(all, most);
    return round_up(ceil_div(all, cuts), unit);
  }
};

/// What the points of a group's borders give to whom: an entry for each point and one for none.
template <class A>
struct CornerTable {
  A* weights;             ///< [borders, entries, 4]: of a pixel on this line, on the next, then of the pixel behind
  std::uint32_t* places;  ///< [borders, row]: where in the sums of a channel

  static std::int64_t entries(const Shape& s) { return s.pool_size + 2; }
  /// Whole vectors, for look-ups.
  static std::int64_t row(const Shape& s) { return round_up(entries(s), 16); }

  CornerTable of(const Shape& s, std::int64_t border) const {
    return {weights + border * entries(s) * 4, places + border * row(s)};
  }
};

/// Elements of grad_output with the sums they go to.
template <class A>
struct Additions {
  A* gradient;
  std::uint32_t *weights, *sums;

  Additions from(std::int64_t i) const { return {gradient + i, weights + i, sums + i}; }
};

/// Per thread, except lines.
template <class A>
struct BackwardArrays {
  A* sums;
  CornerTable<A> corners;
  Additions<A> additions;
  std::uint32_t* channels;  ///< of a block: where their sums begin
  Buckets lines;

  BackwardArrays(Carver& carver, const mluopsCall& call, const Shape& s)
      : sums(carver.take<A>(call.threads * SumsCut<A>(s).sums(s))),
        corners{carver.take<A>(call.threads * kGroup * CornerTable<A>::entries(s) * 4),
                carver.take<std::uint32_t>(call.threads * kGroup * CornerTable<A>::row(s))},
        additions{carver.take<A>(call.threads * kAhead), carver.take<std::uint32_t>(call.threads * kAhead),
                  carver.take<std::uint32_t>(call.threads * kAhead)},
        channels(carver.take<std::uint32_t>(call.threads * kAhead)),
        lines(carver, call, s.n * s.k * 4, Lines(s).count(s)) {}
};

}  // namespace mluops::cpu::border_align
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using border_align::Additions;
using border_align::BackwardArrays;
using border_align::CornerTable;
using border_align::Lines;
using border_align::Place;
using border_align::read_border;
using border_align::Shape;
using border_align::SumsCut;

/// Fills in the table of one border. Points lie at start + stride * i, as the device has it in the backward pass.
template <class A>
void place_corners(const Border<A>& border, const BorderAxes& axes, const Shape& s, const CornerTable<A>& table) {
  AxisSample<A> line, along;
  const bool line_inside = sample_axis(border.fixed, axes.lines, line);
  for (std::int64_t i = 0; i <= s.pool_size + 1; ++i) {
    const bool inside = line_inside && i <= s.pool_size &&
                        sample_axis(border.start + border.stride * static_cast<A>(i), axes.length, along);
    A* const w = table.weights + 4 * i;
    w[0] = inside ? line.low_weight * along.low_weight : 0;
    w[1] = inside ? line.high_weight * along.low_weight : 0;
    w[2] = inside ? line.low_weight * along.high_weight : 0;
    w[3] = inside ? line.high_weight * along.high_weight : 0;
    table.places[i] = static_cast<std::uint32_t>(2 * (inside ? along.low : axes.length));
  }
}

/// For each lane the entry of its index.
template <class DU32>
HWY_INLINE hn::Vec<DU32> look_up(DU32 d, const std::uint32_t* table, hn::Vec<DU32> index, std::int64_t entries) {
  const hn::RebindToSigned<DU32> di;
#if HWY_TARGET != HWY_SCALAR
  constexpr std::int64_t lanes = hn::MaxLanes(DU32());
  if constexpr (lanes >= 8) {
    if (entries <= lanes) return hn::TableLookupLanes(hn::LoadU(d, table), hn::IndicesFromVec(d, index));
  }
#endif
  (void)entries;
  return hn::GatherIndex(d, table, hn::BitCast(di, index));
}

/// What n channels of a border add. Their sums begin at `channels`, the border's weights at first_weight.
template <class T>
HWY_INLINE void prepare(const CornerTable<Acc<T>>& table, std::int64_t entries, const T* HWY_RESTRICT grad_output,
                        const std::int32_t* HWY_RESTRICT argmax, std::int64_t n,
                        const std::uint32_t* HWY_RESTRICT channels, std::uint32_t first_weight,
                        const Additions<Acc<T>>& to) {
  for_lanes<std::uint32_t>(n, [&](auto d, std::int64_t c) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const auto given = hn::BitCast(d, hn::LoadU(di, argmax + c));
    const auto index = hn::Min(given, hn::Set(d, static_cast<std::uint32_t>(entries - 1)));
    hn::StoreU(hn::Add(look_up(d, table.places, index, entries), hn::LoadU(d, channels + c)), d, to.sums + c);
    hn::StoreU(hn::Add(hn::ShiftLeft<2>(index), hn::Set(d, first_weight)), d, to.weights + c);
  });
  load_row(grad_output, to.gradient, n);
}

/// Not inline: with few values to keep in registers, six loads and stores and a multiply-add are all that is left.
template <class A>
HWY_NOINLINE void add(const A* HWY_RESTRICT gradient, const std::uint32_t* HWY_RESTRICT weight_at,
                      const std::uint32_t* HWY_RESTRICT sum_at, std::int64_t n, const A* HWY_RESTRICT weights,
                      A* HWY_RESTRICT sums) {
  const hn::CappedTag<A, 4> d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  HWY_UNROLL(8)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto g = hn::Set(d, gradient[i]);
    const A* const weight = weights + weight_at[i];
    A* const sum = sums + sum_at[i];
    for (int j = 0; j < 4; j += lanes) {
      hn::StoreU(hn::MulAdd(hn::LoadU(d, weight + j), g, hn::LoadU(d, sum + j)), d, sum + j);
    }
  }
}

/// The first of each pair for kLanes pixels, which the second one replaces.
template <class A>
HWY_INLINE hn::Vec<hn::ScalableTag<A>> take_first(A* pairs) {
  const hn::ScalableTag<A> d;
#if HWY_TARGET == HWY_SCALAR
  const auto first = hn::Load(d, pairs);
  pairs[0] = std::exchange(pairs[1], A{0});
  return first;
#else
  const auto lower = hn::LoadU(d, pairs), upper = hn::LoadU(d, pairs + kLanes<A>);
  const auto second = [&](hn::Vec<hn::ScalableTag<A>> v) HWY_ATTR {
    if constexpr (sizeof(A) == 8) {
      return hn::InterleaveUpper(d, v, hn::Zero(d));
    } else {
      const hn::RepartitionToWide<hn::RebindToUnsigned<decltype(d)>> pair;
      return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(pair, v)));
    }
  };
  hn::StoreU(second(lower), d, pairs);
  hn::StoreU(second(upper), d, pairs + kLanes<A>);
  return hn::ConcatEven(d, upper, lower);
#endif
}

/// Some lines of the borders of all images, and all that is added to them.
template <class T>
class LineOwner {
  using A = Acc<T>;
  static constexpr std::int64_t kCacheLine = 64 / sizeof(T);

 public:
  LineOwner(const mluopsBorderAlignBackwardProblem& p, const BackwardArrays<A>& arrays, int slot, bool past_caches)
      : p_(p),
        s_(p.shape),
        sorted_(arrays.lines),
        cut_(p.shape),
        sums_(arrays.sums + slot * cut_.sums(s_)),
        corners_(arrays.corners.of(s_, slot * border_align::kGroup)),
        additions_(arrays.additions.from(slot * border_align::kAhead)),
        block_channels_(arrays.channels + slot * border_align::kAhead),
        past_caches_(past_caches) {}

  /// Lines [begin, end). The line before is summed again, for what it gives to the first one.
  void run(std::int64_t begin, std::int64_t end) {
    for (first_ = 0; first_ < s_.c; first_ += cut_.chunk) {
      channels_ = std::min(cut_.chunk, s_.c - first_);
      carried_ = false;
      if (begin % Lines(s_).each != 0 && !sorted_[begin - 1].empty()) own(begin - 1, false);
      for (std::int64_t line = begin; line < end; ++line) own(line, true);
    }
  }

 private:
  void own(std::int64_t index, bool write) {
    const std::int64_t each = Lines(s_).each, line = index % each, which = index / each;
    const BorderAxes axes(s_, which % 2 == 0);
    if (line >= axes.lines) return;
    T* const image = static_cast<T*>(p_.grad_input) + which / 4 * s_.h * s_.w * 4 * s_.c;
    T* const out = write ? image + which % 4 * s_.c + first_ + line * axes.line_pitch : nullptr;
    const auto rows = sorted_[index];
    if (rows.empty() && !carried_) {
      if (write) write_zeros(axes, out);
      return;
    }
    if (!carried_) std::fill_n(sums_, channels_ * SumsCut<A>::pitch(axes.length) * 2, A{0});
    if (!rows.empty()) add_rows(rows, axes);
    take_line(axes, out);
    carried_ = !rows.empty() && line + 1 < axes.lines;
  }

  void add_rows(std::span<const std::int64_t> rows, const BorderAxes& axes) {
    const auto all = static_cast<std::int64_t>(rows.size());
    const std::int64_t groups = ceil_div(all, border_align::kGroup);
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t begin = all * i / groups, end = all * (i + 1) / groups;
      add_group(rows.data() + begin, end - begin, axes);
    }
  }

  /// While a group is summed, the rows of the next one come into the second cache.
  void add_group(const std::int64_t* rows, std::int64_t count, const BorderAxes& axes) {
    const std::int64_t left = sorted_.all().data() + sorted_.all().size() - (rows + count);
    for (std::int64_t i = 0; i < count; ++i) {
      place_corners(read_border<T>(s_, p_.boxes, rows[i]), axes, s_, corners_.of(s_, i));
    }
    const std::int64_t block = cut_.block(axes.length), pitch = SumsCut<A>::pitch(axes.length) * 2;
    for (std::int64_t c = 0; c < block; ++c) block_channels_[c] = static_cast<std::uint32_t>(c * pitch);
    for (std::int64_t c = 0; c < channels_; c += block) {
      add_block(rows, count, std::min(left, count), c, std::min(block, channels_ - c), pitch);
    }
  }

  /// Inline: a compiler drops calls of functions that do nothing but this.
  template <int kLocality>
  HWY_INLINE void fetch(std::int64_t at, std::int64_t n) const {
    const char* const grad_output = reinterpret_cast<const char*>(static_cast<const T*>(p_.grad_output) + at);
    const char* const argmax = reinterpret_cast<const char*>(p_.argmax + at);
    const auto bytes = n * static_cast<std::int64_t>(sizeof(T)), index_bytes = n * 4;
    for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(grad_output + i, 0, kLocality);
    for (std::int64_t i = 0; i < index_bytes; i += 64) __builtin_prefetch(argmax + i, 0, kLocality);
  }

  /// Channels [c, c + n) of the chunk, of some borders of one line.
  void add_block(const std::int64_t* rows, std::int64_t count, std::int64_t next, std::int64_t c, std::int64_t n,
                 std::int64_t pitch) {
    const std::int64_t ahead = border_align::kAhead / n, entries = CornerTable<A>::entries(s_);
    for (std::int64_t begin = 0; begin < count; begin += ahead) {
      const std::int64_t end = std::min(count, begin + ahead);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t at = rows[i] * s_.c + first_ + c;
        if (i < next) fetch<2>(rows[count + i] * s_.c + first_ + c, n);
        if (i + ahead < count) fetch<3>(at + (rows[i + ahead] - rows[i]) * s_.c, n);
        prepare(corners_.of(s_, i), entries, static_cast<const T*>(p_.grad_output) + at, p_.argmax + at, n,
                block_channels_, static_cast<std::uint32_t>(i * entries * 4), additions_.from((i - begin) * n));
      }
      add(additions_.gradient, additions_.weights, additions_.sums, (end - begin) * n, corners_.weights,
          sums_ + c * pitch);
    }
  }

  /// Writes a line that is complete, unless out is nullptr, and goes on to the next one.
  void take_line(const BorderAxes& axes, T* out) {
    constexpr std::int64_t lanes = kLanes<A>;
    const std::int64_t tiled = channels_ / lanes * lanes, pitch = SumsCut<A>::pitch(axes.length) * 2;
    for (std::int64_t i = 0; i < axes.length; i += lanes) {
      const std::int64_t pixels = std::min(lanes, axes.length - i);
      T* const to = out == nullptr ? nullptr : out + i * axes.pixel_pitch;
      A* const pairs = sums_ + i * 2;
      std::int64_t c = 0;
      if (out != nullptr && past_caches_) {
        for (; c < tiled; c += kCacheLine) take_cache_lines(pairs + c * pitch, pitch, pixels, axes.pixel_pitch, to + c);
      }
      for (; c < tiled; c += lanes) {
        take_tile(pairs + c * pitch, pitch, pixels, axes.pixel_pitch, to == nullptr ? nullptr : to + c);
      }
    }
    for (std::int64_t c = tiled; c < channels_; ++c) {
      for (std::int64_t i = 0; i < axes.length; ++i) {
        A* const pair = sums_ + c * pitch + i * 2;
        if (out != nullptr) out[i * axes.pixel_pitch + c] = from_acc<T>(pair[0]);
        pair[0] = std::exchange(pair[1], A{0});
      }
    }
  }

  /// kLanes channels of as many pixels, or fewer that are written.
  HWY_INLINE void take_tile(A* pairs, std::int64_t pitch, std::int64_t pixels, std::int64_t pixel_pitch, T* out) {
    const hn::ScalableTag<A> d;
    hn::Vec<decltype(d)> v[kLanes<A>];
    MLUOPS_UNROLL
    for (int c = 0; c < kLanes<A>; ++c) v[c] = take_first(pairs + c * pitch);
    if (out == nullptr) return;
    transpose_square<A>(v);
    MLUOPS_UNROLL
    for (int i = 0; i < kLanes<A>; ++i) {
      if (i >= pixels) break;
      store(v[i], d, out + i * pixel_pitch);
    }
  }

  /// As take_tile, but as many channels as fill a cache line, which is written past the caches.
  void take_cache_lines(A* pairs, std::int64_t pitch, std::int64_t pixels, std::int64_t pixel_pitch, T* out) {
    alignas(64) T lines[kLanes<A> * kCacheLine];
    for (std::int64_t c = 0; c < kCacheLine; c += kLanes<A>) {
      take_tile(pairs + c * pitch, pitch, kLanes<A>, kCacheLine, lines + c);
    }
    for (std::int64_t i = 0; i < pixels; ++i) stream_lines<64>(lines + i * kCacheLine, out + i * pixel_pitch);
  }

  void write_zeros(const BorderAxes& axes, T* out) const {
    const std::int64_t bytes = channels_ * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < axes.length; ++i, out += axes.pixel_pitch) {
      if (past_caches_) {
        stream_zero(out, bytes);
      } else {
        std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(bytes));
      }
    }
  }

  const mluopsBorderAlignBackwardProblem& p_;
  const Shape& s_;
  const Buckets& sorted_;
  const SumsCut<A> cut_;
  A* const sums_;
  const CornerTable<A> corners_;
  const Additions<A> additions_;
  std::uint32_t* const block_channels_;
  const bool past_caches_;

  std::int64_t first_ = 0, channels_ = 0;  // of the chunk
  bool carried_ = false;                   // whether the sums hold something for the line that comes
};

/// Puts each border on the first of the two lines it lies between.
template <class T>
bool sort_by_lines(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p,
                   Buckets& sorted) {
  const Shape& s = p.shape;
  const Lines lines(s);
  const double channels = static_cast<double>(s.c);
  const double cost =
      static_cast<double>(s.pool_size + 1) * border_align::kPointNs + border_align::kElementNs * channels;
  const double line_cost = border_align::kWriteNs * channels * static_cast<double>(lines.each);
  return sorted.fill(context, call, 15, line_cost, [&](std::int64_t row, auto&& put) {
    const auto border = read_border<T>(s, p.boxes, row);
    AxisSample<Acc<T>> line;
    if (!sample_axis(border.fixed, BorderAxes(s, border.horizontal).lines, line)) return;
    const Place place(s, row);
    put(lines.index(place.image, place.border, line.low), cost);
  });
}

template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  const Shape& s = p.shape;
  auto arrays = carve<BackwardArrays<Acc<T>>>(context.scratch, call, s);
  if (!arrays) return no_memory(call);
  if (!sort_by_lines<T>(context, call, p, arrays->lines)) return no_memory(call);
  const auto row_bytes = s.c * static_cast<std::int64_t>(sizeof(T));
  const bool past_caches = streams(p.grad_input, s.n * s.h * s.w * 4 * row_bytes, row_bytes);
  const border_align::Runs runs(s, call, arrays->lines.prefix_ns());
  const double run_ns = arrays->lines.prefix_ns().back() / static_cast<double>(runs.count());
  Loop(context, call, runs.count(), run_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    LineOwner<T>(p, *arrays, slot, past_caches).run(runs.begin(begin), runs.begin(end));
    stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// grad_input of one border, channel by channel, added atomically to sums of the whole map.
template <class T>
void add_border_atomically(const mluopsBorderAlignBackwardProblem& p, std::int64_t row, Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const auto border = read_border<T>(s, p.boxes, row);
  const BorderAxes axes(s, border.horizontal);
  const Place place(s, row);
  A* const map = sums + place.image * s.h * s.w * 4 * s.c + place.border * s.c;
  AxisSample<A> line, along;
  if (!sample_axis(border.fixed, axes.lines, line)) return;
  for (std::int64_t c = 0; c < s.c; ++c) {
    const std::int32_t point = p.argmax[row * s.c + c];
    if (point < 0 || point > s.pool_size) continue;
    if (!sample_axis(border.start + border.stride * static_cast<A>(point), axes.length, along)) continue;
    const auto corners = BorderPoint<A>::between(border.horizontal, axes.line_pitch, axes.pixel_pitch, line, along);
    const A g = to_acc(static_cast<const T*>(p.grad_output)[row * s.c + c]);
    for (int i = 0; i < 4; ++i) atomic_add(map + corners.pixel[i] + c, corners.weight[i] * g);
  }
}

/// Tasks over borders of boxes.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t total = s.n * s.h * s.w * 4 * s.c;
  T* const gradient = static_cast<T*>(p.grad_input);
  A* const sums = reserve_sums(context, gradient, total);
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, total);
  Loop(context, call, s.n * s.k * 4, 60.0 * static_cast<double>(s.c))
      .run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
        for (std::int64_t row = begin; row < end; ++row) add_border_atomically<T>(p, row, sums);
      });
  store_sums(context, call, sums, gradient, total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p) {
  return choose_scatter(context, call) == Scatter::kAtomic ? backward_by_atomics<T>(context, call, p)
                                                           : backward_by_owner<T>(context, call, p);
}

MLUOPS_CPU_KERNEL(border_align_backward, mluopsBorderAlignBackwardProblem, backward, with_element)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(border_align_backward, mluopsBorderAlignBackwardProblem)

}  // namespace mluops::cpu
#endif
