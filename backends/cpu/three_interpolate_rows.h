// Blocks of channels turned round: [channels, points] rows of T <-> [points, kBlock] sums. Include after
// foreach_target.h, like simd.h.
#include "backends/cpu/prefetch.h"
#include "backends/cpu/simd.h"
#include "backends/cpu/three_interpolate.h"
#include "backends/cpu/transpose.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_ROWS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_ROWS_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_ROWS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

using three_interpolate::kBlock;
using three_interpolate::Neighbours;
using three_interpolate::Shape;

/// Widens `count` weights and checks their indices; a row is kSize elements.
template <std::int64_t kSize, class T>
void check_neighbours(std::int64_t m, const std::int32_t* indices, const T* raw, std::int64_t count,
                      std::uint32_t* HWY_RESTRICT rows, Acc<T>* HWY_RESTRICT weights) {
  load_row(raw, weights, count);
  const auto outside = static_cast<std::uint32_t>(m);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint32_t>(indices[i]);
    const bool inside = index < outside;
    rows[i] = (inside ? index : outside) * static_cast<std::uint32_t>(kSize);
    weights[i] = inside ? weights[i] : 0;
  }
}

/// Memory that will be read after the points at hand: asked for piece by piece meanwhile.
struct Ahead {
  const void* from;
  std::int64_t bytes;

  /// Piece `i` of `pieces`.
  HWY_INLINE void ask(std::int64_t i, std::int64_t pieces) const {
    const std::int64_t share = round_up(ceil_div(bytes, pieces), 64), begin = std::min(bytes, i * share);
    prefetch_bytes<2>(static_cast<const char*>(from) + begin, std::min(share, bytes - begin));
  }
};

/// `count` elements from `from` on, asked for in `steps` equal steps: the core drops requests when many are under way.
class Requests {
 public:
  template <class T>
  Requests(const T* from, std::int64_t count, std::int64_t steps)
      : next_(reinterpret_cast<const char*>(from)),
        end_(next_ + count * static_cast<std::int64_t>(sizeof(T))),
        share_(round_up(ceil_div(end_ - next_, steps), 64)) {}

  HWY_INLINE void step() {
    const std::int64_t bytes = std::min(end_ - next_, share_);
    prefetch_bytes<2>(next_, bytes);
    next_ += bytes;
  }

 private:
  const char *next_, *end_;
  std::int64_t share_;
};

/// Asks for piece `i` of `pieces` of the neighbours of `count` points from `point` on.
template <class T>
HWY_INLINE void ask_for_neighbours(const std::int32_t* indices, const T* weights, std::int64_t point,
                                   std::int64_t count, std::int64_t i, std::int64_t pieces) {
  Ahead{indices + 3 * point, 3 * count * static_cast<std::int64_t>(sizeof(std::int32_t))}.ask(i, pieces);
  Ahead{weights + 3 * point, 3 * count * static_cast<std::int64_t>(sizeof(T))}.ask(i, pieces);
}

/// The neighbours of the run of points a task works on, checked when it comes to another run.
template <class T, std::int64_t kSize>
class NeighboursOfRun {
 public:
  NeighboursOfRun(const Shape& s, const std::int32_t* indices, const void* weights, const Neighbours<Acc<T>>& to)
      : s_(s), indices_(indices), raw_(static_cast<const T*>(weights)), to_(to) {}

  const Neighbours<Acc<T>>& move_to(std::int64_t b, std::int64_t first, std::int64_t last) {
    const std::int64_t point = b * s_.n + first;
    if (point != point_)
      check_neighbours<kSize>(s_.m, indices_ + 3 * point, raw_ + 3 * point, 3 * (last - first), to_.rows, to_.weights);
    point_ = point;
    count_ = last - first;
    return to_;
  }

  /// Asks for piece `i` of `pieces` of what the next run has.
  HWY_INLINE void ask_for_next(std::int64_t i, std::int64_t pieces) const {
    ask_for_neighbours(indices_, raw_, point_ + count_, count_, i, pieces);
  }

 private:
  const Shape& s_;
  const std::int32_t* indices_;
  const T* raw_;
  Neighbours<Acc<T>> to_;
  std::int64_t point_ = -1, count_ = 0;
};

/// The rows of one block of channels: `channels` of them, `pitch` elements apart.
template <class T>
struct Rows {
  T* first;
  std::int64_t pitch, channels;
};

/// x, of which the compiler knows nothing: in a loop, addresses of rows are then computed from it and not kept, 16 of
/// them, in registers that vectors need.
HWY_INLINE std::int64_t hidden(std::int64_t x) {
  asm("" : "+r"(x));
  return x;
}

/// A vector of sums, and leaves zeros in their place.
template <class D>
HWY_INLINE hn::Vec<D> take(D d, hn::TFromD<D>* sums) {
  const auto v = hn::Load(d, sums);
  hn::Store(hn::Zero(d), d, sums);
  return v;
}

#if HWY_TARGET <= HWY_AVX3
/// A square of 16x16 half turned as such, before or after it is float: half the shuffles.
using NarrowTag = hn::ScalableTag<std::uint16_t>;
using NarrowHalf = hn::Half<NarrowTag>;

/// v[k] = point k of 16 channels, from z[c] = 16 points of channel c, and behind them those of channel c + 8.
HWY_INLINE void widen_square(hn::Vec<NarrowTag>* z, hn::Vec<FullTag<Half>>* v) {
  const NarrowTag d;
  const NarrowHalf dh;
  const hn::Rebind<hwy::float16_t, FullTag<Half>> df16;
  transpose_narrow(d, z);
  HWY_UNROLL(8)
  for (int k = 0; k < 8; ++k) {
    z[k] = pick_blocks<0, 2, 1, 3>(d, z[k], z[k]);
    v[k] = hn::PromoteTo(FullTag<Half>(), hn::BitCast(df16, hn::LowerHalf(dh, z[k])));
    v[k + 8] = hn::PromoteTo(FullTag<Half>(), hn::BitCast(df16, hn::UpperHalf(dh, z[k])));
  }
}

/// As load_turned, all 16 channels there.
HWY_INLINE void load_turned_narrow(const Half* row, std::int64_t pitch, hn::Vec<FullTag<Half>>* v) {
  const NarrowTag d;
  const NarrowHalf dh;
  hn::Vec<NarrowTag> z[8];
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c) {
    const Half* const lower = row + c * pitch;
    z[c] = hn::Combine(d, hn::LoadU(dh, &lower[8 * pitch].bits), hn::LoadU(dh, &lower->bits));
  }
  widen_square(z, v);
}

/// Turns 32 points of 16 channels, whole cache lines of them, with a call of ask() for each: rows a multiple of 4 KB
/// apart would displace each other before the second half of a line is read.
template <class Ask>
HWY_INLINE void turn_lines_narrow(const Half* row, std::int64_t pitch, float* HWY_RESTRICT to, Ask&& ask) {
  const NarrowTag d;
  hn::Vec<NarrowTag> lower[8], upper[8];
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c) {
    const auto first = hn::LoadU(d, &row[c * pitch].bits), second = hn::LoadU(d, &row[(c + 8) * pitch].bits);
    lower[c] = hn::ConcatLowerLower(d, second, first);
    upper[c] = hn::ConcatUpperUpper(d, second, first);
  }
  hn::Vec<FullTag<Half>> v[16];
  widen_square(lower, v);
  HWY_UNROLL(16)
  for (int k = 0; k < 16; ++k) {
    hn::Store(v[k], FullTag<Half>(), to + k * kBlock<float>);
    ask();
  }
  widen_square(upper, v);
  HWY_UNROLL(16)
  for (int k = 0; k < 16; ++k) {
    hn::Store(v[k], FullTag<Half>(), to + (k + 16) * kBlock<float>);
    ask();
  }
}

/// Two points of 16 channels as one vector of half.
HWY_INLINE hn::Vec<NarrowTag> narrow_two(hn::Vec<FullTag<Half>> first, hn::Vec<FullTag<Half>> second) {
  const NarrowTag d;
  const NarrowHalf dh;
  const hn::Rebind<hwy::float16_t, FullTag<Half>> df16;
  return hn::Combine(d, hn::BitCast(dh, hn::DemoteTo(df16, second)), hn::BitCast(dh, hn::DemoteTo(df16, first)));
}

/// z[c] = 16 points of channel c, and behind them those of channel c + 8, from z[k] = points k and k + 8.
HWY_INLINE void turn_narrow(hn::Vec<NarrowTag>* z) {
  const NarrowTag d;
  transpose_narrow(d, z);
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c) z[c] = pick_blocks<0, 2, 1, 3>(d, z[c], z[c]);
}

/// The same from v[k] = point k of 16 channels.
HWY_INLINE void narrow_square(const hn::Vec<FullTag<Half>>* v, hn::Vec<NarrowTag>* z) {
  HWY_UNROLL(8)
  for (int k = 0; k < 8; ++k) z[k] = narrow_two(v[k], v[k + 8]);
  turn_narrow(z);
}

/// Stores what turn_narrow made as rows of points.
HWY_INLINE void store_turned_narrow(const hn::Vec<NarrowTag>* z, Half* row, std::int64_t pitch) {
  const NarrowHalf dh;
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c, row += pitch) {
    hn::StoreU(hn::LowerHalf(dh, z[c]), dh, &row->bits);
    hn::StoreU(hn::UpperHalf(dh, z[c]), dh, &row[8 * pitch].bits);
  }
}

/// Turns 32 points of 16 channels and streams them, a line per channel.
HWY_INLINE void stream_turned_narrow(float* HWY_RESTRICT block, Half* row, std::int64_t pitch) {
  const NarrowTag d;
  const FullTag<Half> df;
  constexpr int lanes = kLanes<float>;
  hn::Vec<FullTag<Half>> v[lanes];
  hn::Vec<NarrowTag> first[8], second[8];
  HWY_UNROLL(16)
  for (int k = 0; k < lanes; ++k) v[k] = take(df, block + k * lanes);
  narrow_square(v, first);
  HWY_UNROLL(16)
  for (int k = 0; k < lanes; ++k) v[k] = take(df, block + (k + lanes) * lanes);
  narrow_square(v, second);
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c, row += pitch) {
    hn::Stream(hn::ConcatLowerLower(d, second[c], first[c]), d, &row->bits);
    hn::Stream(hn::ConcatUpperUpper(d, second[c], first[c]), d, &row[8 * pitch].bits);
  }
}
#endif

/// Loads points [i, i + lanes) of channels [c, c + lanes), zero beyond the block, and turns them: v[k] is point i + k.
template <class T>
HWY_INLINE void load_turned(const Rows<const T>& rows, std::int64_t c, std::int64_t i, hn::Vec<FullTag<T>>* v) {
  const FullTag<T> d;
  constexpr int lanes = kLanes<Acc<T>>;
  const std::int64_t pitch = rows.pitch, channels = rows.channels - c;
  const T* row = rows.first + c * pitch + i;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<T, Half>) {
    if (channels >= lanes) return load_turned_narrow(row, pitch, v);
  }
#endif
  if (channels >= lanes) {
    HWY_UNROLL(16)
    for (int k = 0; k < lanes; ++k, row += pitch) v[k] = load(d, row);
  } else {
    for (int k = 0; k < lanes; ++k, row += pitch) v[k] = k < channels ? load(d, row) : hn::Zero(d);
  }
  transpose_square<Acc<T>>(v);
}

/// As load_turned for the last, fewer than lanes, points.
template <class T>
void load_turned_tail(const Rows<const T>& rows, std::int64_t c, std::int64_t i, std::int64_t points,
                      hn::Vec<FullTag<T>>* v) {
  constexpr std::int64_t lanes = kLanes<Acc<T>>;
  HWY_ALIGN Acc<T> square[lanes * lanes] = {};
  for (std::int64_t k = 0; k < std::min(lanes, rows.channels - c); ++k) {
    for (std::int64_t j = 0; j < points; ++j) square[k * lanes + j] = to_acc(rows.first[(c + k) * rows.pitch + i + j]);
  }
  for (std::int64_t k = 0; k < lanes; ++k) v[k] = hn::Load(FullTag<T>(), square + k * lanes);
  transpose_square<Acc<T>>(v);
}

/// Turns v (a vector per point) and stores it as points [i, i + lanes) of channels [c, c + lanes) of the block.
template <class T>
HWY_INLINE void store_turned(hn::Vec<FullTag<T>>* v, std::int64_t c, std::int64_t i, const Rows<T>& rows) {
  const FullTag<T> d;
  constexpr int lanes = kLanes<Acc<T>>;
  const std::int64_t pitch = rows.pitch, channels = rows.channels - c;
  T* row = rows.first + c * pitch + i;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<T, Half>) {
    if (channels >= lanes) {
      hn::Vec<NarrowTag> z[8];
      narrow_square(v, z);
      return store_turned_narrow(z, row, pitch);
    }
  }
#endif
  transpose_square<Acc<T>>(v);
  if (channels >= lanes) {
    HWY_UNROLL(16)
    for (int k = 0; k < lanes; ++k, row += pitch) store(v[k], d, row);
  } else {
    for (int k = 0; k < channels; ++k, row += pitch) store(v[k], d, row);
  }
}

template <class T>
void store_turned_tail(hn::Vec<FullTag<T>>* v, std::int64_t c, std::int64_t i, std::int64_t points,
                       const Rows<T>& rows) {
  constexpr std::int64_t lanes = kLanes<Acc<T>>;
  HWY_ALIGN Acc<T> square[lanes * lanes];
  transpose_square<Acc<T>>(v);
  for (std::int64_t k = 0; k < lanes; ++k) hn::Store(v[k], FullTag<T>(), square + k * lanes);
  for (std::int64_t k = 0; k < std::min(lanes, rows.channels - c); ++k) {
    for (std::int64_t j = 0; j < points; ++j) {
      rows.first[(c + k) * rows.pitch + i + j] = from_acc<T>(square[k * lanes + j]);
    }
  }
}

/// block[point, kBlock] from rows; row M, for neighbours out of range, is zero. kAsks: meanwhile asks for as much
/// memory as it reads, from `ahead` on; once more eight KB later, since the core drops requests while many are under
/// way.
template <bool kAsks, class T>
HWY_NOINLINE void turn_in(const Rows<const T>& from, std::int64_t m, Acc<T>* HWY_RESTRICT block, const T* ahead) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const Rows<const T> rows = from;
  const auto ask = [&]() HWY_ATTR {
    if constexpr (kAsks) {
      asm volatile("" : "+r"(ahead));  // in place, not many at once
      __builtin_prefetch(ahead, 0, 2);
      __builtin_prefetch(reinterpret_cast<const char*>(ahead) - 8192, 0, 2);
      ahead += lanes;
    }
  };
  for (std::int64_t c = 0; c < kBlock<A>; c += lanes) {
    A* to = block + c;
    hn::Vec<FullTag<T>> v[lanes];
    std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
    if constexpr (std::is_same_v<T, Half>) {
      for (; rows.channels >= lanes && i + 2 * lanes <= m; i += 2 * lanes, to += 2 * lanes * kBlock<A>) {
        turn_lines_narrow(rows.first + i, rows.pitch, to, ask);
      }
    }
#endif
    for (; i + lanes <= m; i += lanes) {
      load_turned(rows, c, i, v);
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k, to += kBlock<A>) {
        hn::Store(v[k], d, to);
        ask();
      }
    }
    if (i == m) continue;
    load_turned_tail(rows, c, i, m - i, v);
    for (int k = 0; k < m - i; ++k, to += kBlock<A>) hn::Store(v[k], d, to);
  }
  std::fill_n(block + m * kBlock<A>, kBlock<A>, A{0});
}

/// rows from block[point, kBlock].
template <class T>
void turn_out(const Acc<T>* HWY_RESTRICT block, std::int64_t m, const Rows<T>& to) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const Rows<T> rows = to;
  for (std::int64_t c = 0; c < std::min(rows.channels, kBlock<A>); c += lanes) {
    const A* from = block + c;
    hn::Vec<FullTag<T>> v[lanes];
    std::int64_t i = 0;
    for (; i + lanes <= m; i += lanes) {
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k, from += kBlock<A>) v[k] = hn::Load(d, from);
      store_turned(v, c, i, rows);
    }
    if (i == m) continue;
    for (int k = 0; k < lanes; ++k) v[k] = k < m - i ? hn::Load(d, from + k * kBlock<A>) : hn::Zero(d);
    store_turned_tail(v, c, i, m - i, rows);
  }
}

/// Whether whole cache lines of every one of `rows` output rows may be streamed.
template <class T>
bool may_stream(std::int64_t rows, std::int64_t length, const void* out) {
  const auto row_bytes = length * static_cast<std::int64_t>(sizeof(T));
  return whole_lines(out, row_bytes) && rows * row_bytes >= three_interpolate::kStreamBytes;
}

/// As turn_out, past the caches; rows are whole lines. A vector that is not a line goes by way of a tile of one line
/// per channel. Leaves zeros in the block.
template <class T>
void turn_out_streaming(Acc<T>* HWY_RESTRICT block, std::int64_t m, const Rows<T>& to) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  if constexpr (std::is_same_v<T, Acc<T>> && kLine == kLanes<Acc<T>>) {
    const FullTag<T> d;
    hn::Vec<FullTag<T>> v[kLine];
    for (std::int64_t i = 0; i < m; i += kLine) {
      HWY_UNROLL(16)
      for (int k = 0; k < kLine; ++k) v[k] = take(d, block + (i + k) * kLine);
      transpose_square<T>(v);
      for (int c = 0; c < to.channels; ++c) hn::Stream(v[c], d, to.first + c * to.pitch + i);
    }
    return;
  }
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<T, Half>) {
    for (std::int64_t i = 0; to.channels == kBlock<float> && i < m; i += kLine) {
      stream_turned_narrow(block + i * kBlock<float>, to.first + i, to.pitch);
    }
    if (to.channels == kBlock<float>) return;
  }
#endif
  HWY_ALIGN T tile[kBlock<Acc<T>> * kLine];
  for (std::int64_t i = 0; i < m; i += kLine) {
    turn_out(block + i * kBlock<Acc<T>>, kLine, Rows<T>{tile, kLine, to.channels});
    for (std::int64_t c = 0; c < to.channels; ++c) stream_lines<64>(tile + c * kLine, to.first + c * to.pitch + i);
  }
  std::fill_n(block, m * kBlock<Acc<T>>, Acc<T>{0});
}

template <class T>
HWY_INLINE Acc<T> widen(const T* p) {
  const hn::CappedTag<Acc<T>, 1> d1;
  return hn::GetLane(load(d1, p));
}
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
