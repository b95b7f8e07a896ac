// ThreeInterpolate forward: every output point is a weighted sum of three feature points, the same three for all
// channels. features [b,c,m], indices and weights [b,n,3], output [b,c,n].
//
// A task owns a run of points of some channels of one image and writes them. Five flops per value: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/three_interpolate/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/three_interpolate/avx512/tables-inl.h"
#include "backends/cpu/kernels/three_interpolate/rows-inl.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

/// One point: its three neighbours, weighted. block is channel c of row 0.
template <class D, class A>
HWY_INLINE hn::Vec<D> interpolate_point(D d, const A* HWY_RESTRICT block, const std::uint32_t* HWY_RESTRICT rows,
                                        const A* HWY_RESTRICT weights) {
  const auto near = [&](int j) HWY_ATTR { return hn::Load(d, block + rows[j]); };
  const auto first = hn::Mul(hn::Set(d, weights[0]), near(0));
  const auto second = hn::MulAdd(hn::Set(d, weights[1]), near(1), first);
  return hn::MulAdd(hn::Set(d, weights[2]), near(2), second);
}

/// Channels worked on at once, in one block or two. Two, for half, share the loads of rows and weights: results are
/// narrow before they are transposed, so that a tile of both stays in registers.
template <class T>
constexpr std::int64_t kChannelsAtOnce = (HWY_TARGET <= HWY_AVX3) && std::is_same_v<T, Half> ? 2 * kBlock<Acc<T>>
                                                                                             : kBlock<Acc<T>>;

#if HWY_TARGET <= HWY_AVX3
/// Points k and k + 8 of two blocks of channels: z[0] of the one, z[8] of the other.
HWY_INLINE void interpolate_two_points(const float* HWY_RESTRICT block, std::int64_t block_size,
                                       const std::uint32_t* HWY_RESTRICT rows, const float* HWY_RESTRICT weights,
                                       hn::Vec<Tag16>* z) {
  const FullTag<Half> d;
  hn::Vec<FullTag<Half>> v[2][2];
  HWY_UNROLL(2)
  for (int k = 0; k < 2; ++k, rows += 24, weights += 24) {
    HWY_UNROLL(3)
    for (int j = 0; j < 3; ++j) {
      const float* const row = block + rows[j];
      const auto weight = hn::Set(d, weights[j]);
      HWY_UNROLL(2)
      for (int which = 0; which < 2; ++which) {
        const auto near = hn::Load(d, row + which * block_size);
        v[which][k] = j == 0 ? hn::Mul(weight, near) : hn::MulAdd(weight, near, v[which][k]);
      }
    }
  }
  z[0] = demote_two(v[0][0], v[0][1]);
  z[8] = demote_two(v[1][0], v[1][1]);
}

/// Interpolates the first round(points, 16) points of two blocks of 16 channels. Returns how many.
template <class Between>
HWY_INLINE std::int64_t interpolate_two_blocks(const float* HWY_RESTRICT block, std::int64_t block_size,
                                               const std::uint32_t* HWY_RESTRICT rows,
                                               const float* HWY_RESTRICT weights, std::int64_t points,
                                               const Rows<Half>& to, Between&& between) {
  constexpr std::int64_t lanes = kLanes<float>;
  std::int64_t i = 0;
  for (; i + lanes <= points; i += lanes, rows += 3 * lanes, weights += 3 * lanes) {
    hn::Vec<Tag16> z[16];
    HWY_UNROLL(8)
    for (int k = 0; k < 8; ++k) {
      interpolate_two_points(block, block_size, rows + 3 * k, weights + 3 * k, z + k);
      between();
    }
    transpose_points_16bit(z);
    store_transposed_16bit(z, to.first + i, to.pitch);
    transpose_points_16bit(z + 8);
    store_transposed_16bit(z + 8, to.first + i + lanes * to.pitch, to.pitch);
  }
  return i;
}
#endif

/// `points` points of one block of channels. between() is called about once per four whole vectors of results.
template <class T, class Between>
HWY_INLINE void interpolate_block(const Acc<T>* HWY_RESTRICT block, const std::uint32_t* HWY_RESTRICT near_rows,
                                  const Acc<T>* HWY_RESTRICT near_weights, std::int64_t points, const Rows<T>& to,
                                  Between&& between) {
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
      for (int k = 0; k < lanes; ++k) {
        v[k] = interpolate_point(d, block + c, rows + 3 * k, weights + 3 * k);
        if (k % 4 == 3 || k == lanes - 1) between();
      }
      store_transposed(v, c, i, to);
    }
  }
  for (std::int64_t c = 0; c < used && i < points; c += lanes) {
    for (int k = 0; k < lanes; ++k) {
      v[k] = k < points - i ? interpolate_point(d, block + c, rows + 3 * k, weights + 3 * k) : hn::Zero(d);
    }
    store_transposed_tail(v, c, i, points - i, to);
  }
}

/// `points` points of up to kChannelsAtOnce channels, in blocks of block_size elements. between() is called about once
/// per four whole vectors of results.
template <class T, class Between>
HWY_INLINE void interpolate_points(const Acc<T>* HWY_RESTRICT block, std::int64_t block_size, Neighbours<Acc<T>> near,
                                   std::int64_t points, const Rows<T>& to, Between&& between) {
  if constexpr (kChannelsAtOnce<T> == kBlock<Acc<T>>) {
    interpolate_block(block, near.rows, near.weights, points, to, between);
  } else {
    if (to.channels <= kBlock<Acc<T>>) return interpolate_block(block, near.rows, near.weights, points, to, between);
    const std::int64_t i = interpolate_two_blocks(block, block_size, near.rows, near.weights, points, to, between);
    for (std::int64_t c = 0; i < points && c < to.channels; c += kBlock<Acc<T>>, block += block_size) {
      interpolate_block(block, near.rows + 3 * i, near.weights + 3 * i, points - i,
                        Rows<T>{to.first + c * to.pitch + i, to.pitch, kBlock<Acc<T>>}, [] {});
    }
  }
}

/// A finished tile on its way out with non-temporal stores, one channel at a time. The write-combining buffers take one
/// line in about the time a vector of results takes, so the two overlap only when the lines come a few at a time.
template <class T>
class WriteCombiningStage {
 public:
  static constexpr std::int64_t kPoints = kTilePoints;

  HWY_INLINE void start(const T* tile, T* out, std::int64_t pitch, std::int64_t channels) {
    tile_ = tile, out_ = out, pitch_ = pitch, left_ = channels;
  }
  HWY_INLINE void one() {
    if (left_ == 0) return;
    copy_lines_non_temporal<kPoints * sizeof(T)>(tile_, out_);
    tile_ += kPoints, out_ += pitch_, --left_;
  }
  HWY_INLINE void all() {
    while (left_ != 0) one();
  }

 private:
  const T* tile_ = nullptr;
  T* out_ = nullptr;
  std::int64_t pitch_ = 0, left_ = 0;
};

/// `points` points of up to kChannelsAtOnce channels, by way of two tiles of whole cache lines: one is filled while the
/// other is copied out with non-temporal stores.
template <class T>
void interpolate_staged(const Acc<T>* HWY_RESTRICT block, std::int64_t block_size, Neighbours<Acc<T>> near,
                        std::int64_t points, const Rows<T>& out, PrefetchStream next) {
  constexpr std::int64_t kPoints = WriteCombiningStage<T>::kPoints, kSize = kChannelsAtOnce<T> * kPoints;
  HWY_ALIGN T tiles[2 * kSize];
  WriteCombiningStage<T> stage;
  T* tile = tiles;
  const auto from = [&](std::int64_t i) { return Neighbours<Acc<T>>{near.rows + 3 * i, near.weights + 3 * i}; };
  std::int64_t i = 0;
  for (; i + kPoints <= points; i += kPoints, tile = tile == tiles ? tiles + kSize : tiles) {
    next.step();
    interpolate_points(block, block_size, from(i), kPoints, Rows<T>{tile, kPoints, out.channels},
                       [&]() HWY_ATTR { stage.one(); });
    stage.all();
    stage.start(tile, out.first + i, out.pitch, out.channels);
  }
  stage.all();
  if (i < points) {
    interpolate_points(block, block_size, from(i), points - i, Rows<T>{out.first + i, out.pitch, out.channels}, [] {});
  }
}

template <class T>
mluOpStatus_t forward_by_blocks(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const WorkPartition<A> partition(s, 4 * call.threads, 8 * call.threads);
  const double points_ns = static_cast<double>(partition.points) * cost::kInterpolate +
                           static_cast<double>(s.m / partition.parts) * cost::kTranspose;
  const Loop loop(context, call, partition.items(s), static_cast<double>(partition.group * kBlock<A>) * points_ns);
  const std::int64_t slots = loop.slots(),
                     blocks_at_once = s.c < kChannelsAtOnce<T> ? 1 : kChannelsAtOnce<T> / kBlock<A>;
  const auto arrays = allocate<Arrays<A>>(context.arena, s, partition.points, slots, slots * blocks_at_once);
  if (!arrays) return no_memory(call);

  const bool non_temporal = may_store_non_temporal<T>(s.b * s.c, s.n, p.output);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const blocks = arrays->block(slot * blocks_at_once);
    NeighboursOfRun<T, kBlock<A>> run(s, p.indices, p.weights, arrays->near(slot));
    std::int64_t transposed = -1;
    for (std::int64_t i = begin; i < end; ++i) {
      const Item item(partition, s, i);
      const Neighbours<A>& near = run.move_to(item.b, item.first, item.last);
      const std::int64_t end_c = std::min(s.c, item.last_block * kBlock<A>);
      std::int64_t channels = 0;
      for (std::int64_t c = item.first_block * kBlock<A>; c < end_c; c += channels) {
        channels = end_c - c >= kChannelsAtOnce<T> ? kChannelsAtOnce<T> : std::min(end_c - c, kBlock<A>);
        const std::int64_t row = item.b * s.c + c;
        const T* const features = static_cast<const T*>(p.features) + row * s.m;
        const T* const next = features + channels * s.m;
        for (std::int64_t k = 0; transposed != row && k < channels; k += kBlock<A>) {
          const Rows<const T> in{features + k * s.m, s.m, std::min(channels, kBlock<A>)};
          A* const block = blocks + k / kBlock<A> * arrays->block_size;
          non_temporal ? transpose_in<false>(in, s.m, block, next) : transpose_in<true>(in, s.m, block, next + k * s.m);
        }
        transposed = row;
        const Rows<T> out{static_cast<T*>(p.output) + row * s.n + item.first, s.n, channels};
        if (non_temporal) {
          const std::int64_t points = item.last - item.first, wanted = partition.parts == 1 ? channels * s.m : 0;
          const PrefetchStream stream(next, wanted, std::max<std::int64_t>(1, points / kTilePoints));
          interpolate_staged(blocks, arrays->block_size, near, points, out, stream);
        } else {
          interpolate_points(blocks, arrays->block_size, near, item.last - item.first, out, [] {});
        }
      }
    }
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

#if HWY_TARGET <= HWY_AVX3
/// For M up to kMostInTables. An item is some channels of one image.
template <class T>
mluOpStatus_t forward_by_tables(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t groups = std::clamp<std::int64_t>(8 * call.threads / s.b, 1, ceil_div(s.c, 16));
  const std::int64_t group = ceil_div(s.c, groups), near_pitch = round_up(s.n, kTilePoints);
  const double item_ns = static_cast<double>(s.n) * (1.0 + static_cast<double>(group) * cost::kLookUp);
  const Loop loop(context, call, s.b * groups, item_ns);
  const std::int64_t slots = loop.slots();
  const auto arrays = allocate<Arrays<float>>(context.arena, s, near_pitch, slots, std::int64_t{0});
  if (!arrays) return no_memory(call);

  const bool non_temporal = may_store_non_temporal<T>(s.b * s.c, s.n, p.output);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const Neighbours<float> near = arrays->near(slot);
    std::int64_t image = -1;
    bool outside = false;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / groups, c = std::min(s.c, item % groups * group);
      const std::int32_t* const indices = p.indices + 3 * b * s.n;
      if (b != image) outside = any_outside(s.m, indices, 3 * s.n);
      const std::int64_t row = b * s.c + c, channels = std::min(s.c, c + group) - c;
      const Rows<const T> in{static_cast<const T*>(p.features) + row * s.m, s.m, channels};
      const Rows<T> out{static_cast<T*>(p.output) + row * s.n, s.n, channels};
      with_table(s.m, outside, [&](auto table) HWY_ATTR {
        using Table = decltype(table);
        if (b != image) {
          const T* const weights = static_cast<const T*>(p.weights) + 3 * b * s.n;
          split_neighbours<Table>(s.m, indices, weights, s.n, near_pitch, near);
        }
        interpolate_channels<Table>(in, s.m, near, near_pitch, s.n, non_temporal, out);
      });
      image = b;
    }
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}
#endif

/// For few channels, or few points among many: element by element, indices and weights read once for all channels.
/// Prefetched while a row is worked on: where most lines of a row are used, the row `kRowsAhead` further on; and what
/// the next run of points has. A few lines at a time, since the core drops requests when many are under way.
template <class T>
mluOpStatus_t forward_by_rows(Context& context, const mluopsCall& call, const mluopsThreeInterpolateForwardProblem& p) {
  using A = Acc<T>;
  constexpr std::int64_t at_once = kPointsAtOnce, kRowsAhead = 4, kStep = 16;
  const Shape& s = p.shape;
  const T* const weights_in = static_cast<const T*>(p.weights);
  const std::int64_t runs = ceil_div(s.n, at_once), row_bytes = s.m * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t row_ahead = row_bytes <= 128 * 3 * std::min(s.n, at_once) ? s.m : 0;
  const double run_ns = static_cast<double>(std::min(s.n, at_once)) * (2.0 + cost::kGather * static_cast<double>(s.c));
  const Loop loop(context, call, s.b * runs, run_ns);
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    std::uint32_t rows[3 * at_once];
    A weights[3 * at_once];
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, n = item % runs * at_once, points = std::min(at_once, s.n - n);
      const std::int64_t point = b * s.n + n;
      const T* features = static_cast<const T*>(p.features) + b * s.c * s.m;
      if (item == begin || runs > 1) prefetch<2>(features, kRowsAhead * row_ahead);
      check_neighbours<1>(s.m, p.indices + 3 * point, weights_in + 3 * point, 3 * points, rows, weights);
      for (std::int64_t c = 0; c < s.c; ++c, features += s.m) {
        T* const out = static_cast<T*>(p.output) + (b * s.c + c) * s.n + n;
        const std::int64_t steps = ceil_div(points, kStep), share = ceil_div(3 * points, s.c);
        const std::int64_t next = 3 * (point + points) + c * share;
        PrefetchStream streams[] = {{features + kRowsAhead * s.m, row_ahead, steps},
                                    {p.indices + next, share, steps},
                                    {weights_in + next, share, steps}};
        const auto term = [&](std::int64_t i)
                              HWY_ATTR { return rows[i] < s.m ? weights[i] * promote(features + rows[i]) : A{0}; };
        for (std::int64_t first = 0; first < points; first += kStep) {
          for (PrefetchStream& stream : streams) stream.step();
          for (std::int64_t i = first; i < std::min(points, first + kStep); ++i) {
            out[i] = from_acc<T>(term(3 * i) + term(3 * i + 1) + term(3 * i + 2));
          }
        }
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

#if HWY_TARGET <= HWY_AVX3
/// A table has floats; tables_apply leaves double to the other paths.
template <>
mluOpStatus_t forward_by_tables<double>(Context&, const mluopsCall&, const mluopsThreeInterpolateForwardProblem&) {
  return MLUOP_STATUS_NOT_SUPPORTED;
}

template <class T>
Fit tables_apply(const Context&, const mluopsCall&, const mluopsThreeInterpolateForwardProblem& p) {
  return fit(std::is_same_v<Acc<T>, float> && p.shape.m <= kMostInTables);
}
#endif

template <class T>
Fit blocks_apply(const Context&, const mluopsCall&, const mluopsThreeInterpolateForwardProblem& p) {
  return fit(can_transpose<Acc<T>>(p.shape), transpose_pays<Acc<T>>(p.shape));
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsThreeInterpolateForwardProblem& p) {
  using Problem = mluopsThreeInterpolateForwardProblem;
  static constexpr Path<Problem> kPaths[] = {
#if HWY_TARGET <= HWY_AVX3
    {"tables", tables_apply<T>, forward_by_tables<T>},
#endif
    {"blocks", blocks_apply<T>, forward_by_blocks<T>},
    {"rows", always<Problem>, forward_by_rows<T>},
  };
  return run_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(forward, mluopsThreeInterpolateForwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(three_interpolate_forward, three_interpolate, forward, mluopsThreeInterpolateForwardProblem)

}  // namespace mluops::cpu
#endif
