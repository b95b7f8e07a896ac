// Where the samples of MsDeformAttn fall, and the pixels they read: found for a vector of samples at a time.
#include <cstdint>
#include <limits>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/context.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/element.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"
#include "common/shape.h"
#include "mluops/problem/ms_deform_attn.h"

#if defined(MLUOPS_CPU_MS_DEFORM_ATTN_SAMPLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_MS_DEFORM_ATTN_SAMPLES_INL_H_
#else
#define MLUOPS_CPU_MS_DEFORM_ATTN_SAMPLES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

using Shape = mluopsMsDeformAttnShape;

/// Lanes of the widest vector: lists of samples are padded to whole vectors.
constexpr std::int64_t kPad = 16;

/// Samples of a head of a query.
inline std::int64_t samples_of(const Shape& s) {
  return s.levels * s.points;
}

/// So many queries before its turn what tells where a head's samples are is prefetched.
constexpr std::int64_t kQueriesAhead = 12;

/// Whether a head's channels are copied side by side first: far from each other they meet in few sets of the caches.
/// Each key is read by several samples then.
inline bool reads_often(const Shape& s) {
  return s.keys > 0 && s.heads > 1 && s.queries * samples_of(s) >= 2 * s.keys;
}
/// Whether each thread has a head of its own.
inline bool enough_heads(const Shape& s, int threads) {
  return s.batch * s.heads >= threads;
}

/// The reason to decline a call, nullptr to accept it.
inline const char* declined(const Shape& s) {
  if (s.keys > std::numeric_limits<std::int32_t>::max()) return "value: wanted less than 2^31 keys";
  return nullptr;
}

/// The map that each sample of a list is on.
template <class A>
struct SampleLevels {
  std::int64_t padded;
  A *h, *w;
  std::int32_t *width, *start;

  SampleLevels(Allocator& allocator, std::int64_t count)
      : padded(round_up(count, kPad)),
        h(allocator.allocate<A>(padded)),
        w(allocator.allocate<A>(padded)),
        width(allocator.allocate<std::int32_t>(padded)),
        start(allocator.allocate<std::int32_t>(padded)) {}

  /// For samples [first, end) of a head, of so many queries one after the other; behind the last one maps without
  /// pixels.
  template <class Problem>
  void fill(const Problem& p, std::int64_t first, std::int64_t end, std::int64_t queries = 1) const {
    const std::int64_t each = end - first;
    for (std::int64_t i = 0; i < padded; ++i) {
      const std::int64_t level = i < queries * each ? (first + i % each) / p.shape.points : -1;
      const std::int32_t rows = level < 0 ? 0 : p.spatial_shapes[2 * level];
      width[i] = level < 0 ? 0 : p.spatial_shapes[2 * level + 1];
      start[i] = level < 0 ? 0 : p.level_start_index[level];
      h[i] = static_cast<A>(width[i] == 0 ? 0 : rows);
      w[i] = static_cast<A>(rows == 0 ? 0 : width[i]);
    }
  }
};

/// A list of samples. Of the four pixels under one, row by row: numbers among the keys, -1 off the map,
/// and bilinear weights. `on_map`: 1 for a sample that is; `up`, `left`: the fractions of the lower row and of the
/// right column.
template <class A>
struct Samples {
  std::int64_t padded;
  A *loc, *attn;
  A *on_map, *up, *left, *weight[4];
  std::int32_t* key[4];

  Samples(Allocator& allocator, std::int64_t count)
      : padded(round_up(count, kPad)),
        loc(allocator.allocate<A>(2, padded)),
        attn(allocator.allocate<A>(padded)),
        on_map(allocator.allocate<A>(padded)),
        up(allocator.allocate<A>(padded)),
        left(allocator.allocate<A>(padded)) {
    for (A*& w : weight) w = allocator.allocate<A>(padded);
    for (std::int32_t*& k : key) k = allocator.allocate<std::int32_t>(padded);
  }
};

/// Numbers below 2^31 as integers.
template <class D, class DI = hn::Rebind<std::int32_t, D>>
HWY_INLINE hn::Vec<DI> whole(D, hn::Vec<D> v) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::ConvertTo(DI(), v);
  } else {
    return hn::DemoteTo(DI(), v);
  }
}

/// Finds a vector of samples, those from i on.
template <class D, class A = hn::TFromD<D>>
HWY_INLINE void find_vector(D d, const SampleLevels<A>& levels, std::int64_t i, const Samples<A>& to) {
  const hn::Rebind<std::int32_t, D> di;
  const auto one = hn::Set(d, A{1}), minus = hn::Set(d, A{-1}), half = hn::Set(d, A{0.5});
  const auto h = hn::LoadU(d, levels.h + i), w = hn::LoadU(d, levels.w + i);
  hn::Vec<D> x, y;
  hn::LoadInterleaved2(d, to.loc + 2 * i, x, y);
  y = hn::Sub(hn::Mul(y, h), half);
  x = hn::Sub(hn::Mul(x, w), half);
  // Written so that NaN is off the map.
  const auto inside = hn::And(hn::And(hn::Gt(y, minus), hn::Gt(x, minus)), hn::And(hn::Lt(y, h), hn::Lt(x, w)));
  const auto on_map = hn::And(inside, hn::Gt(h, hn::Zero(d)));
  y = hn::IfThenElseZero(on_map, y);
  x = hn::IfThenElseZero(on_map, x);
  const auto top = hn::Floor(y), near = hn::Floor(x), up = hn::Sub(y, top), left = hn::Sub(x, near);
  hn::StoreU(hn::IfThenElseZero(on_map, one), d, to.on_map + i);
  hn::StoreU(up, d, to.up + i);
  hn::StoreU(left, d, to.left + i);
  const hn::Mask<D> rows[] = {hn::And(on_map, hn::Ge(top, hn::Zero(d))), hn::And(on_map, hn::Lt(hn::Add(top, one), h))};
  const hn::Mask<D> cols[] = {hn::Ge(near, hn::Zero(d)), hn::Lt(hn::Add(near, one), w)};
  const hn::Vec<D> down[] = {hn::Sub(one, up), up}, across[] = {hn::Sub(one, left), left};
  const auto width = hn::LoadU(di, levels.width + i);
  const auto first = hn::Add(hn::LoadU(di, levels.start + i), hn::Add(hn::Mul(whole(d, top), width), whole(d, near)));
  const hn::Vec<decltype(di)> key[] = {first, hn::Add(first, hn::Set(di, 1)), hn::Add(first, width),
                                       hn::Add(hn::Add(first, width), hn::Set(di, 1))};
  MLUOPS_UNROLL
  for (int k = 0; k < 4; ++k) {
    const auto is_on = whole(d, hn::IfThenElseZero(hn::And(rows[k / 2], cols[k % 2]), one));  // 1 or 0
    const auto number = hn::Sub(hn::Mul(hn::Add(key[k], hn::Set(di, 1)), is_on), hn::Set(di, 1));
    hn::StoreU(number, di, to.key[k] + i);
    hn::StoreU(hn::Mul(down[k / 2], across[k % 2]), d, to.weight[k] + i);
  }
}

/// Finds the samples of one head of a query; `first`: number of the first one among all.
template <class T, class Problem>
HWY_INLINE void find_samples(const Problem& p, const SampleLevels<Acc<T>>& levels, std::int64_t first,
                             const Samples<Acc<T>>& to) {
  const std::int64_t count = samples_of(p.shape);
  load_row(static_cast<const T*>(p.sampling_loc) + 2 * first, to.loc, 2 * count);
  load_row(static_cast<const T*>(p.attn_weight) + first, to.attn, count);
  const FullTag<T> d;
  for (std::int64_t i = 0; i < count; i += kLanes<Acc<T>>) find_vector(d, levels, i, to);
}

/// Prefetches what find_samples will read, from number `first` on.
template <class T, class Problem>
HWY_INLINE void prefetch_samples(const Problem& p, std::int64_t first) {
  const std::int64_t count = samples_of(p.shape);
  prefetch<2>(value_barrier(static_cast<const T*>(p.sampling_loc) + 2 * first), 2 * count);
  prefetch<2>(value_barrier(static_cast<const T*>(p.attn_weight) + first), count);
}

/// panel[key][c] = a head's channels, whose values begin at `head`.
template <class T>
void fill_head(const Shape& s, const T* head, Acc<T>* panel) {
  for (std::int64_t key = 0; key < s.keys; ++key) {
    load_row(head + key * s.heads * s.channels, panel + key * s.channels, s.channels);
  }
}

}  // namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
