// ThreeInterpolate: every output point is a weighted sum of three input points, the same three for all channels.
//
// Gathering along a feature row costs three random reads per element. Turned round, [C, M] to [M, a cache line of
// channels], one point is one line: three reads serve 16 channels, whatever M and N are. The turned block stays in the
// first or second cache; features, output and their gradients each cross the memory bus once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/three_interpolate.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"
#include "backends/cpu/transpose.h"
#include "common/shape.h"

#ifndef MLUOPS_CPU_THREE_INTERPOLATE_ONCE_
#define MLUOPS_CPU_THREE_INTERPOLATE_ONCE_
namespace mluops::cpu::three_interpolate {

using Shape = mluopsThreeInterpolateShape;

/// Output larger than this leaves the caches before anyone reads it: write past them.
constexpr std::int64_t kStreamBytes = std::int64_t{1} << 20;
/// Points that are put together before they are streamed: whole cache lines of every channel.
constexpr std::int64_t kTilePoints = 64;
/// Points whose neighbours the row-wise path widens and checks at once.
constexpr std::int64_t kPointsAtOnce = 256;
/// Cost in nanoseconds of one element of a block: interpolated, turned, and gathered one by one.
constexpr double kBlockNs = 0.15, kTurnNs = 0.15, kGatherNs = 1.5;

/// Channels of a block: one cache line of sums.
template <class A>
constexpr std::int64_t kBlock = 64 / sizeof(A);

/// Turning M points pays when a good part of them is used, by more than a few channels.
template <class A>
bool turn_pays(const Shape& s) {
  const double blocks = static_cast<double>(ceil_div(s.c, kBlock<A>)) * static_cast<double>(kBlock<A>);
  const double turned = blocks * (static_cast<double>(s.m) * kTurnNs + static_cast<double>(s.n) * kBlockNs);
  return turned < static_cast<double>(s.c) * static_cast<double>(s.n) * kGatherNs;
}

/// Neighbours of all points, range-checked and widened: an index outside [0, M-1] becomes M, a row of its own.
template <class A>
struct Neighbours {
  std::uint32_t* rows;  ///< [B, N, 3]
  A* weights;           ///< [B, N, 3]; 0 where the row is M

  Neighbours(Carver& carver, const Shape& s)
      : rows(carver.take<std::uint32_t>(s.b * s.n * 3)), weights(carver.take<A>(s.b * s.n * 3)) {}
};

/// The working block of a call.
template <class A>
struct Arrays {
  Neighbours<A> near;
  A* blocks;  ///< [block_count, M + 1, kBlock]

  Arrays(Carver& carver, const Shape& s, std::int64_t block_count)
      : near(carver, s), blocks(carver.take<A>(block_count * (s.m + 1) * kBlock<A>)) {}
};

/// How the work is cut: one item is a block of channels of one image, or one of `parts` runs of its points.
template <class A>
struct Cut {
  std::int64_t blocks, parts, points;

  Cut(const Shape& s, std::int64_t wanted_items)
      : blocks(ceil_div(s.c, kBlock<A>)),
        parts(std::clamp<std::int64_t>(wanted_items / (s.b * blocks), 1, 1 + s.n / (4 * s.m + 1024))),
        points(round_up(ceil_div(s.n, parts), 64)) {}
  std::int64_t items(const Shape& s) const { return s.b * blocks * parts; }
};

}  // namespace mluops::cpu::three_interpolate
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {
using three_interpolate::Arrays;
using three_interpolate::Cut;
using three_interpolate::kBlock;
using three_interpolate::Neighbours;
using three_interpolate::Shape;

/// Widens `count` weights and checks their indices.
template <class T>
void check_neighbours(std::int64_t m, const std::int32_t* indices, const T* raw, std::int64_t count,
                      std::uint32_t* HWY_RESTRICT rows, Acc<T>* HWY_RESTRICT weights) {
  load_row(raw, weights, count);
  const auto outside = static_cast<std::uint32_t>(m);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint32_t>(indices[i]);
    const bool inside = index < outside;
    rows[i] = inside ? index : outside;
    weights[i] = inside ? weights[i] : 0;
  }
}

template <class T>
void check_all_neighbours(const Context& context, const mluopsCall& call, const Shape& s, const std::int32_t* indices,
                          const T* raw, const Neighbours<Acc<T>>& to) {
  const Loop loop(context, call, s.b * s.n, 2.0);
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    check_neighbours(s.m, indices + 3 * begin, raw + 3 * begin, 3 * (end - begin), to.rows + 3 * begin,
                     to.weights + 3 * begin);
  });
}

// ---- blocks: [channels, points] rows of T <-> [points, kBlock] sums ----------------------------

/// The rows of one block of channels: `channels` of them, `pitch` elements apart.
template <class T>
struct Rows {
  T* first;
  std::int64_t pitch, channels;
};

/// Loads points [i, i + lanes) of channels [c, c + lanes), zero beyond the block, and turns them: v[k] is point i + k.
template <class T>
HWY_INLINE void load_turned(const Rows<const T>& rows, std::int64_t c, std::int64_t i, hn::Vec<FullTag<T>>* v) {
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

/// block[point, kBlock] from rows; row M, for neighbours out of range, is zero.
template <class T>
void turn_in(const Rows<const T>& from, std::int64_t m, Acc<T>* HWY_RESTRICT block) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const Rows<const T> rows = from;
  for (std::int64_t c = 0; c < kBlock<A>; c += lanes) {
    A* to = block + c;
    hn::Vec<FullTag<T>> v[lanes];
    std::int64_t i = 0;
    for (; i + lanes <= m; i += lanes) {
      load_turned(rows, c, i, v);
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k, to += kBlock<A>) hn::Store(v[k], d, to);
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

// ---- forward ---------------------------------------------------------------------------------

/// One point: its three neighbours, weighted. block is channel c of row 0.
template <class D, class A>
HWY_INLINE hn::Vec<D> interpolate_point(D d, const A* HWY_RESTRICT block, const std::uint32_t* HWY_RESTRICT rows,
                                        const A* HWY_RESTRICT weights) {
  const auto near = [&](int j) HWY_ATTR { return hn::Load(d, block + std::int64_t{rows[j]} * kBlock<A>); };
  const auto first = hn::Mul(hn::Set(d, weights[0]), near(0));
  const auto second = hn::MulAdd(hn::Set(d, weights[1]), near(1), first);
  return hn::MulAdd(hn::Set(d, weights[2]), near(2), second);
}

/// Points [begin, begin + points) of one block of channels. near_rows and near_weights are those of point `begin`.
template <class T>
HWY_INLINE void interpolate_points(const Acc<T>* HWY_RESTRICT block, const std::uint32_t* HWY_RESTRICT near_rows,
                                   const Acc<T>* HWY_RESTRICT near_weights, std::int64_t points, const Rows<T>& to) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const std::int64_t used = std::min(to.channels, kBlock<A>);
  const std::uint32_t* rows = near_rows;
  const A* weights = near_weights;
  hn::Vec<FullTag<T>> v[lanes];
  std::int64_t i = 0;
  for (; i + lanes <= points; i += lanes, rows += 3 * lanes, weights += 3 * lanes) {
    for (std::int64_t c = 0; c < used; c += lanes) {
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k) v[k] = interpolate_point(d, block + c, rows + 3 * k, weights + 3 * k);
      store_turned(v, c, i, to);
    }
  }
  for (std::int64_t c = 0; c < used && i < points; c += lanes) {
    for (int k = 0; k < lanes; ++k) {
      v[k] = k < points - i ? interpolate_point(d, block + c, rows + 3 * k, weights + 3 * k) : hn::Zero(d);
    }
    store_turned_tail(v, c, i, points - i, to);
  }
}

/// Points [begin, end) of one block of channels, by way of a tile of whole cache lines that go past the caches.
template <class T>
void interpolate_streaming(const Acc<T>* HWY_RESTRICT block, const std::uint32_t* HWY_RESTRICT rows,
                           const Acc<T>* HWY_RESTRICT weights, std::int64_t begin, std::int64_t end,
                           const Rows<T>& out) {
  constexpr std::int64_t kPoints = three_interpolate::kTilePoints;
  HWY_ALIGN T tile[kBlock<Acc<T>> * kPoints];
  const Rows<T> rows_of_tile{tile, kPoints, out.channels};
  std::int64_t i = begin;
  for (; i + kPoints <= end; i += kPoints) {
    interpolate_points(block, rows + 3 * i, weights + 3 * i, kPoints, rows_of_tile);
    for (std::int64_t c = 0; c < out.channels; ++c) {
      stream_lines<kPoints * sizeof(T)>(tile + c * kPoints, out.first + c * out.pitch + i);
    }
  }
  if (i < end) {
    interpolate_points(block, rows + 3 * i, weights + 3 * i, end - i, Rows<T>{out.first + i, out.pitch, out.channels});
  }
}

/// Whether whole cache lines of every output row may be streamed.
template <class T>
bool may_stream(const Shape& s, const void* out) {
  const auto row = s.n * static_cast<std::int64_t>(sizeof(T));
  return reinterpret_cast<std::uintptr_t>(out) % 64 == 0 && row % 64 == 0 &&
         s.b * s.c * row >= three_interpolate::kStreamBytes;
}

template <class T>
mluOpStatus_t forward_by_blocks(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Cut<A> cut(s, 4 * call.threads);
  const double points_ns = static_cast<double>(cut.points) * three_interpolate::kBlockNs +
                           static_cast<double>(s.m / cut.parts) * three_interpolate::kTurnNs;
  const Loop loop(context, call, cut.items(s), static_cast<double>(kBlock<A>) * points_ns);
  const auto arrays = carve<Arrays<A>>(context.scratch, s, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  const Neighbours<A>& near = arrays->near;
  check_all_neighbours(context, call, s, p.indices, static_cast<const T*>(p.weights), near);

  const bool streams = may_stream<T>(s, p.output);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const block = arrays->blocks + slot * (s.m + 1) * kBlock<A>;
    std::int64_t turned = -1;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t which = item / cut.parts, b = which / cut.blocks, c = which % cut.blocks * kBlock<A>;
      const std::int64_t channels = std::min(s.c - c, kBlock<A>), row = b * s.c + c;
      if (turned != which) {
        turn_in(Rows<const T>{static_cast<const T*>(p.features) + row * s.m, s.m, channels}, s.m, block);
      }
      turned = which;
      const std::int64_t first = std::min(s.n, item % cut.parts * cut.points);
      const std::int64_t last = std::min(s.n, first + cut.points);
      const Rows<T> out{static_cast<T*>(p.output) + row * s.n, s.n, channels};
      const std::uint32_t* const rows = near.rows + 3 * b * s.n;
      const A* const weights = near.weights + 3 * b * s.n;
      if (streams) {
        interpolate_streaming(block, rows, weights, first, last, out);
      } else {
        interpolate_points(block, rows + 3 * first, weights + 3 * first, last - first,
                           Rows<T>{out.first + first, s.n, channels});
      }
    }
    if (streams) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
HWY_INLINE Acc<T> widen(const T* p) {
  const hn::CappedTag<Acc<T>, 1> d1;
  return hn::GetLane(load(d1, p));
}

/// For few channels, or few points among many: element by element, indices and weights read once for all channels.
template <class T>
mluOpStatus_t forward_by_rows(Context& context, const mluopsCall& call, const mluopsThreeInterpolateForwardProblem& p) {
  using A = Acc<T>;
  constexpr std::int64_t at_once = three_interpolate::kPointsAtOnce;
  const Shape& s = p.shape;
  const std::int64_t runs = ceil_div(s.n, at_once);
  const double run_ns =
      static_cast<double>(std::min(s.n, at_once)) * (2.0 + three_interpolate::kGatherNs * static_cast<double>(s.c));
  const Loop loop(context, call, s.b * runs, run_ns);
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    std::uint32_t rows[3 * at_once];
    A weights[3 * at_once];
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, n = item % runs * at_once, points = std::min(at_once, s.n - n);
      const std::int64_t near = 3 * (b * s.n + n);
      check_neighbours(s.m, p.indices + near, static_cast<const T*>(p.weights) + near, 3 * points, rows, weights);
      for (std::int64_t c = 0; c < s.c; ++c) {
        const T* const features = static_cast<const T*>(p.features) + (b * s.c + c) * s.m;
        T* const out = static_cast<T*>(p.output) + (b * s.c + c) * s.n + n;
        const auto term = [&](std::int64_t i)
                              HWY_ATTR { return rows[i] < s.m ? weights[i] * widen(features + rows[i]) : A{0}; };
        for (std::int64_t i = 0; i < points; ++i) {
          out[i] = from_acc<T>(term(3 * i) + term(3 * i + 1) + term(3 * i + 2));
        }
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsThreeInterpolateForwardProblem& p) {
  return three_interpolate::turn_pays<Acc<T>>(p.shape) ? forward_by_blocks<T>(context, call, p)
                                                       : forward_by_rows<T>(context, call, p);
}

// ---- backward --------------------------------------------------------------------------------

/// One point's three additions. sums is channel c of row 0.
template <class D, class A>
HWY_INLINE void scatter_point(D d, hn::Vec<D> grad, const std::uint32_t* HWY_RESTRICT rows,
                              const A* HWY_RESTRICT weights, A* HWY_RESTRICT sums) {
  HWY_UNROLL(3)
  for (int j = 0; j < 3; ++j) {
    A* const sum = sums + std::int64_t{rows[j]} * kBlock<A>;
    hn::Store(hn::MulAdd(hn::Set(d, weights[j]), grad, hn::Load(d, sum)), d, sum);
  }
}

/// Adds points [begin, end) of one block of channels into sums[point, kBlock], in order of the points.
template <class T>
void scatter_block(const Rows<const T>& from, const std::uint32_t* HWY_RESTRICT near_rows,
                   const Acc<T>* HWY_RESTRICT near_weights, std::int64_t begin, std::int64_t end,
                   Acc<T>* HWY_RESTRICT sums) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const Rows<const T> grad_output = from;
  const std::int64_t used = std::min(grad_output.channels, kBlock<A>);
  const std::uint32_t* rows = near_rows + 3 * begin;
  const A* weights = near_weights + 3 * begin;
  hn::Vec<FullTag<T>> v[lanes];
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes, rows += 3 * lanes, weights += 3 * lanes) {
    for (std::int64_t c = 0; c < used; c += lanes) {
      load_turned(grad_output, c, i, v);
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k) scatter_point(d, v[k], rows + 3 * k, weights + 3 * k, sums + c);
    }
  }
  for (std::int64_t c = 0; c < used && i < end; c += lanes) {
    load_turned_tail(grad_output, c, i, end - i, v);
    for (int k = 0; k < end - i; ++k) scatter_point(d, v[k], rows + 3 * k, weights + 3 * k, sums + c);
  }
}

/// grad_features of every block of channels has one owner. Where there are fewer blocks than threads could use, the
/// points are cut into parts, as many as the shape says, whose sums are added in order afterwards.
template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Cut<A> cut(s, 32);
  const std::int64_t size = (s.m + 1) * kBlock<A>;
  const double item_ns = static_cast<double>(kBlock<A>) *
                         (static_cast<double>(cut.points) * 2 + static_cast<double>(s.m)) * three_interpolate::kBlockNs;
  const Loop loop(context, call, cut.items(s), item_ns);
  const auto arrays = carve<Arrays<A>>(context.scratch, s, cut.parts == 1 ? loop.slots() : cut.items(s));
  if (!arrays) return no_memory(call);
  const Neighbours<A>& near = arrays->near;
  check_all_neighbours(context, call, s, p.indices, static_cast<const T*>(p.weights), near);

  const auto gradient = [&](std::int64_t which) {
    const std::int64_t c = which % cut.blocks * kBlock<A>, row = which / cut.blocks * s.c + c;
    return Rows<T>{static_cast<T*>(p.grad_features) + row * s.m, s.m, std::min(s.c - c, kBlock<A>)};
  };
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t which = item / cut.parts, b = which / cut.blocks, c = which % cut.blocks * kBlock<A>;
      A* const sums = arrays->blocks + size * (cut.parts == 1 ? slot : item);
      std::fill_n(sums, size, A{0});
      const Rows<const T> in{static_cast<const T*>(p.grad_output) + (b * s.c + c) * s.n, s.n,
                             std::min(s.c - c, kBlock<A>)};
      const std::int64_t first = std::min(s.n, item % cut.parts * cut.points);
      scatter_block(in, near.rows + 3 * b * s.n, near.weights + 3 * b * s.n, first, std::min(s.n, first + cut.points),
                    sums);
      if (cut.parts == 1) turn_out(sums, s.m, gradient(which));
    }
  });
  if (cut.parts == 1) return MLUOP_STATUS_SUCCESS;
  const Loop merge(context, call, s.b * cut.blocks, static_cast<double>(size * cut.parts) * 0.1);
  merge.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t which = begin; which < end; ++which) {
      A* const sums = arrays->blocks + which * cut.parts * size;
      for (std::int64_t part = 1; part < cut.parts; ++part) axpy<A>(1, sums + part * size, sums, size);
      turn_out(sums, s.m, gradient(which));
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Tasks over runs of points of one row; every task adds into the whole row of M sums.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call,
                                  const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  constexpr std::int64_t at_once = three_interpolate::kPointsAtOnce;
  const Shape& s = p.shape;
  const std::int64_t total = s.b * s.c * s.m, runs = ceil_div(s.n, at_once);
  A* sums = nullptr;
  if constexpr (kAddsInPlace<T>) {
    sums = static_cast<A*>(p.grad_features);
  } else {
    sums = reinterpret_cast<A*>(context.scratch.reserve(total * static_cast<std::int64_t>(sizeof(A))));
  }
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, total);
  const Loop loop(context, call, s.b * runs, static_cast<double>(std::min(s.n, at_once) * s.c) * 20.0);
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    std::uint32_t rows[3 * at_once];
    A weights[3 * at_once];
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, n = item % runs * at_once, points = std::min(at_once, s.n - n);
      const std::int64_t near = 3 * (b * s.n + n);
      check_neighbours(s.m, p.indices + near, static_cast<const T*>(p.weights) + near, 3 * points, rows, weights);
      for (std::int64_t c = b * s.c; c < (b + 1) * s.c; ++c) {
        const T* const grad = static_cast<const T*>(p.grad_output) + c * s.n + n;
        for (std::int64_t i = 0; i < 3 * points; ++i) {
          if (rows[i] < s.m) atomic_add(sums + c * s.m + rows[i], weights[i] * widen(grad + i / 3));
        }
      }
    }
  });
  store_sums(context, call, sums, static_cast<T*>(p.grad_features), total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsThreeInterpolateBackwardProblem& p) {
  // A compare-and-swap per element never beats a plain addition to a row somebody owns.
  return choose_scatter(context, call, false) == Scatter::kAtomic ? backward_by_atomics<T>(context, call, p)
                                                                  : backward_by_owner<T>(context, call, p);
}

mluOpStatus_t run_three_interpolate_forward(Context& context, const mluopsCall& call,
                                            const mluopsThreeInterpolateForwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return forward<typename decltype(tag)::type>(context, call, p); });
}

mluOpStatus_t run_three_interpolate_backward(Context& context, const mluopsCall& call,
                                             const mluopsThreeInterpolateBackwardProblem& p) {
  return with_element(call, p.shape.dtype,
                      [&](auto tag) HWY_ATTR { return backward<typename decltype(tag)::type>(context, call, p); });
}

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

HWY_EXPORT(run_three_interpolate_forward);
HWY_EXPORT(run_three_interpolate_backward);

mluOpStatus_t three_interpolate_forward(Context& context, const mluopsCall& call,
                                        const mluopsThreeInterpolateForwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_three_interpolate_forward)(context, call, p);
}

mluOpStatus_t three_interpolate_backward(Context& context, const mluopsCall& call,
                                         const mluopsThreeInterpolateBackwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_three_interpolate_backward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
