// Blocks of channels transposed: [channels, points] rows of T <-> [points, kBlock] sums. Include after
// foreach_target.h, like simd-inl.h.
#include "backends/cpu/kernels/three_interpolate/avx512/half_tiles-inl.h"
#include "backends/cpu/kernels/three_interpolate/geometry.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_ROWS_INL_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_ROWS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Promotes `count` weights and checks their indices; a row is kSize elements.
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

/// Prefetches piece `i` of `pieces` of the neighbours of `count` points from `point` on.
template <class T>
HWY_INLINE void prefetch_neighbours(const std::int32_t* indices, const T* weights, std::int64_t point,
                                    std::int64_t count, std::int64_t i, std::int64_t pieces) {
  PrefetchStream(indices + 3 * point, 3 * count, pieces).step(i);
  PrefetchStream(weights + 3 * point, 3 * count, pieces).step(i);
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

  /// Prefetches piece `i` of `pieces` of what the next run has.
  HWY_INLINE void prefetch_next(std::int64_t i, std::int64_t pieces) const {
    prefetch_neighbours(indices_, raw_, point_ + count_, count_, i, pieces);
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

/// Loads points [i, i + lanes) of channels [c, c + lanes), zero beyond the block, and transposes them: v[k] is point i
/// + k.
template <class T>
HWY_INLINE void load_transposed(const Rows<const T>& rows, std::int64_t c, std::int64_t i, hn::Vec<FullTag<T>>* v) {
  const FullTag<T> d;
  constexpr int lanes = kLanes<Acc<T>>;
  const std::int64_t pitch = rows.pitch, channels = rows.channels - c;
  const T* row = rows.first + c * pitch + i;
  if (channels >= lanes) {
    HWY_UNROLL(16)
    for (int k = 0; k < lanes; ++k, row += pitch) v[k] = load(d, row);
  } else {
    for (int k = 0; k < lanes; ++k, row += pitch) v[k] = k < channels ? load(d, row) : hn::Zero(d);
  }
  transpose_square<Acc<T>>(v);
}

/// Loads the last points of a block, fewer than lanes, transposed.
template <class T>
void load_transposed_tail(const Rows<const T>& rows, std::int64_t c, std::int64_t i, std::int64_t points,
                          hn::Vec<FullTag<T>>* v) {
  constexpr std::int64_t lanes = kLanes<Acc<T>>;
  HWY_ALIGN Acc<T> tile[lanes * lanes] = {};
  for (std::int64_t k = 0; k < std::min(lanes, rows.channels - c); ++k) {
    for (std::int64_t j = 0; j < points; ++j) tile[k * lanes + j] = to_acc(rows.first[(c + k) * rows.pitch + i + j]);
  }
  for (std::int64_t k = 0; k < lanes; ++k) v[k] = hn::Load(FullTag<T>(), tile + k * lanes);
  transpose_square<Acc<T>>(v);
}

/// Transposes v (a vector per point) and stores it as points [i, i + lanes) of channels [c, c + lanes) of the block.
template <class T>
HWY_INLINE void store_transposed(hn::Vec<FullTag<T>>* v, std::int64_t c, std::int64_t i, const Rows<T>& rows) {
  const FullTag<T> d;
  constexpr int lanes = kLanes<Acc<T>>;
  const std::int64_t pitch = rows.pitch, channels = rows.channels - c;
  T* row = rows.first + c * pitch + i;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<T, Half>) {
    if (channels >= lanes) {
      hn::Vec<Tag16> z[8];
      demote_tile(v, z);
      return store_transposed_16bit(z, row, pitch);
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
void store_transposed_tail(hn::Vec<FullTag<T>>* v, std::int64_t c, std::int64_t i, std::int64_t points,
                           const Rows<T>& rows) {
  constexpr std::int64_t lanes = kLanes<Acc<T>>;
  HWY_ALIGN Acc<T> tile[lanes * lanes];
  transpose_square<Acc<T>>(v);
  for (std::int64_t k = 0; k < lanes; ++k) hn::Store(v[k], FullTag<T>(), tile + k * lanes);
  for (std::int64_t k = 0; k < std::min(lanes, rows.channels - c); ++k) {
    for (std::int64_t j = 0; j < points; ++j) {
      rows.first[(c + k) * rows.pitch + i + j] = from_acc<T>(tile[k * lanes + j]);
    }
  }
}

/// block[point, kBlock] from rows; row M, for neighbours out of range, is zero. kPrefetches: meanwhile prefetches as
/// much memory as it reads, from `ahead` on; once more eight KB later, since the core drops requests while many are
/// under way.
template <bool kPrefetches, class T>
HWY_NOINLINE void transpose_in(const Rows<const T>& from, std::int64_t m, Acc<T>* HWY_RESTRICT block, const T* ahead) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const Rows<const T> rows = from;
  const auto prefetch_next = [&]() HWY_ATTR {
    if constexpr (kPrefetches) {
      order_barrier(ahead);
      __builtin_prefetch(ahead, 0, 2);
      __builtin_prefetch(reinterpret_cast<const char*>(ahead) - 8192, 0, 2);
      ahead += lanes;
    }
  };
  for (std::int64_t c = 0; c < kBlock<A>; c += lanes) {
    A* to = block + c;
    hn::Vec<FullTag<T>> v[lanes];
    std::int64_t i = 0;
    for (; i + lanes <= m; i += lanes) {
      load_transposed(rows, c, i, v);
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k, to += kBlock<A>) {
        hn::Store(v[k], d, to);
        prefetch_next();
      }
    }
    if (i == m) continue;
    load_transposed_tail(rows, c, i, m - i, v);
    for (int k = 0; k < m - i; ++k, to += kBlock<A>) hn::Store(v[k], d, to);
  }
  std::fill_n(block + m * kBlock<A>, kBlock<A>, A{0});
}

/// rows from block[point, kBlock].
template <class T>
void transpose_out(const Acc<T>* HWY_RESTRICT block, std::int64_t m, const Rows<T>& to) {
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
      store_transposed(v, c, i, rows);
    }
    if (i == m) continue;
    for (int k = 0; k < lanes; ++k) v[k] = k < m - i ? hn::Load(d, from + k * kBlock<A>) : hn::Zero(d);
    store_transposed_tail(v, c, i, m - i, rows);
  }
}

/// Whether whole cache lines of every one of `rows` output rows may be stored non-temporally.
template <class T>
bool may_store_non_temporal(std::int64_t rows, std::int64_t length, const void* out) {
  const auto row_bytes = length * static_cast<std::int64_t>(sizeof(T));
  return whole_lines(out, row_bytes) && rows * row_bytes >= non_temporal_from::three_interpolate();
}

/// rows from block[point, kBlock] with non-temporal stores; rows are whole lines. A vector that is not a line goes by
/// way of a tile of one line per channel. Leaves zeros in the block.
template <class T>
void transpose_out_non_temporal(Acc<T>* HWY_RESTRICT block, std::int64_t m, const Rows<T>& to) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  if constexpr (std::is_same_v<T, Acc<T>> && kLine == kLanes<Acc<T>>) {
    const FullTag<T> d;
    hn::Vec<FullTag<T>> v[kLine];
    for (std::int64_t i = 0; i < m; i += kLine) {
      HWY_UNROLL(16)
      for (int k = 0; k < kLine; ++k) v[k] = load_and_clear(d, block + (i + k) * kLine);
      transpose_square<T>(v);
      for (int c = 0; c < to.channels; ++c) hn::Stream(v[c], d, to.first + c * to.pitch + i);
    }
    return;
  }
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<T, Half>) {
    for (std::int64_t i = 0; to.channels == kBlock<float> && i < m; i += kLine) {
      store_transposed_non_temporal(block + i * kBlock<float>, to.first + i, to.pitch);
    }
    if (to.channels == kBlock<float>) return;
  }
#endif
  HWY_ALIGN T tile[kBlock<Acc<T>> * kLine];
  for (std::int64_t i = 0; i < m; i += kLine) {
    transpose_out(block + i * kBlock<Acc<T>>, kLine, Rows<T>{tile, kLine, to.channels});
    for (std::int64_t c = 0; c < to.channels; ++c)
      copy_lines_non_temporal<64>(tile + c * kLine, to.first + c * to.pitch + i);
  }
  std::fill_n(block, m * kBlock<Acc<T>>, Acc<T>{0});
}

template <class T>
HWY_INLINE Acc<T> promote(const T* p) {
  const hn::CappedTag<Acc<T>, 1> d1;
  return hn::GetLane(load(d1, p));
}
}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
