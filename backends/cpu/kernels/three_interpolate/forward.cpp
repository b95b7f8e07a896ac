// ThreeInterpolate forward: every output point is a weighted sum of three feature points, the same three for all
// channels. features [b,c,m], indices and weights [b,n,3], output [b,c,n].
//
// A task owns a run of points of some channels of one image and writes them. Five flops per value: bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/three_interpolate/forward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/three_interpolate/neighbours-inl.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "mluops/problem/three_interpolate.h"

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

#if HWY_TARGET <= HWY_AVX3
/// 16 points (v, a vector each) of 16 channels.
HWY_INLINE void store_demoted(const hn::Vec<FullTag<Half>>* v, Half* row, std::int64_t pitch) {
  const hn::Half<hn::ScalableTag<std::uint16_t>> dh;
  hn::Vec<hn::ScalableTag<std::uint16_t>> z[8];
  layout::HWY_NAMESPACE::transpose_demoted(v, z);
  HWY_UNROLL(8)
  for (int c = 0; c < 8; ++c, row += pitch) {
    hn::StoreU(hn::LowerHalf(dh, z[c]), dh, &row->bits);
    hn::StoreU(hn::UpperHalf(dh, z[c]), dh, &row[8 * pitch].bits);
  }
}
#endif

/// Transposes v (a vector per point) and stores it as points [i, i + lanes) of channels [c, c + lanes) of the block.
template <class T>
HWY_INLINE void store_transposed(hn::Vec<FullTag<T>>* v, std::int64_t c, std::int64_t i, const Rows<T>& to) {
  constexpr int lanes = kLanes<Acc<T>>;
  T* row = to.first + c * to.pitch + i;
  const std::int64_t pitch = to.pitch, channels = to.channels - c;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<T, Half>) {
    if (channels == lanes) return store_demoted(v, row, pitch);
  }
#endif
  transpose_square<Acc<T>>(v);
  if (channels >= lanes) {
    HWY_UNROLL(16)
    for (int k = 0; k < lanes; ++k, row += pitch) store(v[k], FullTag<T>(), row);
  } else {
    for (int k = 0; k < channels; ++k, row += pitch) store(v[k], FullTag<T>(), row);
  }
}

/// Fewer than `lanes` points of one block of channels.
template <class T, class A = Acc<T>>
void interpolate_last(const A* HWY_RESTRICT block, const std::uint32_t* HWY_RESTRICT rows,
                      const A* HWY_RESTRICT weights, std::int64_t points, const Rows<T>& to) {
  HWY_ALIGN A point[kBlock<A>];
  for (std::int64_t i = 0; i < points; ++i, rows += 3, weights += 3) {
    for (std::int64_t c = 0; c < kBlock<A>; c += kLanes<A>) {
      hn::Store(interpolate_point(FullTag<T>(), block + c, rows, weights), FullTag<T>(), point + c);
    }
    for (std::int64_t c = 0; c < to.channels; ++c) to.first[c * to.pitch + i] = from_acc<T>(point[c]);
  }
}

/// `points` points of one block of channels. between() is called about once per four whole vectors of results.
template <class T, class Between>
HWY_INLINE void interpolate_block(const Acc<T>* HWY_RESTRICT block, const Neighbours<Acc<T>>& near, std::int64_t points,
                                  const Rows<T>& to, Between&& between) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const std::uint32_t* HWY_RESTRICT rows = near.rows;
  const A* HWY_RESTRICT weights = near.weights;
  hn::Vec<FullTag<T>> v[lanes];
  std::int64_t i = 0;
  for (; i + lanes <= points; i += lanes, rows += 3 * lanes, weights += 3 * lanes) {
    for (std::int64_t c = 0; c < to.channels; c += lanes) {
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k) {
        v[k] = interpolate_point(d, block + c, rows + 3 * k, weights + 3 * k);
        if (k % 4 == 3 || k == lanes - 1) between();
      }
      store_transposed(v, c, i, to);
    }
  }
  if (i < points) interpolate_last(block, rows, weights, points - i, Rows<T>{to.first + i, to.pitch, to.channels});
}

/// A finished tile on its way out with non-temporal stores, one channel at a time. The write-combining buffers take one
/// line in about the time a vector of results takes, so the two overlap only when the lines come a few at a time.
template <class T>
class WriteCombiningStage {
 public:
  HWY_INLINE void start(const T* tile, const Rows<T>& to) {
    tile_ = tile, out_ = to.first, pitch_ = to.pitch, left_ = to.channels;
  }
  HWY_INLINE void one() {
    if (left_ == 0) return;
    copy_lines_non_temporal<kTilePoints * sizeof(T)>(tile_, out_);
    tile_ += kTilePoints, out_ += pitch_, --left_;
  }
  HWY_INLINE void all() {
    while (left_ != 0) one();
  }

 private:
  const T* tile_ = nullptr;
  T* out_ = nullptr;
  std::int64_t pitch_ = 0, left_ = 0;
};

/// Two tiles of whole cache lines: one is filled while the other, of the block before too, leaves.
template <class T>
struct Tiles {
  static constexpr std::int64_t kSize = kBlock<Acc<T>> * kTilePoints;

  HWY_ALIGN T tiles[2 * kSize];
  T* tile = tiles;
  WriteCombiningStage<T> stage;
};

/// interpolate_block by way of tiles. The last one is still on its way out afterwards.
template <class T>
void interpolate_staged(const Acc<T>* HWY_RESTRICT block, const Neighbours<Acc<T>>& near, std::int64_t points,
                        const Rows<T>& out, PrefetchStream next, Tiles<T>& tiles) {
  const auto from = [&](std::int64_t i) { return Neighbours<Acc<T>>{near.rows + 3 * i, near.weights + 3 * i}; };
  WriteCombiningStage<T> stage = tiles.stage;
  T* tile = tiles.tile;
  std::int64_t i = 0;
  for (; i + kTilePoints <= points;
       i += kTilePoints, tile = tile == tiles.tiles ? tiles.tiles + Tiles<T>::kSize : tiles.tiles) {
    next.step();
    interpolate_block(block, from(i), kTilePoints, Rows<T>{tile, kTilePoints, out.channels},
                      [&]() HWY_ATTR { stage.one(); });
    stage.all();
    stage.start(tile, Rows<T>{out.first + i, out.pitch, out.channels});
  }
  tiles.stage = stage;
  tiles.tile = tile;
  if (i < points) {
    interpolate_block(block, from(i), points - i, Rows<T>{out.first + i, out.pitch, out.channels}, [] {});
  }
}

template <class T>
mluOpStatus_t forward_by_blocks(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const WorkPartition<A> partition(s, 4 * call.threads, 8 * call.threads);
  const double points_ns = static_cast<double>(partition.points + s.m / partition.parts) * cost::kElement;
  const Loop loop(context, call, partition.items(s), static_cast<double>(partition.group * kBlock<A>) * points_ns);
  const std::int64_t slots = loop.slots();
  const auto arrays = allocate<Arrays<A>>(context.arena, s, partition.points, slots, slots);
  if (!arrays) return no_memory(call);

  const bool non_temporal = may_store_non_temporal<T>(s.b * s.c, s.n, p.output);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const block = arrays->block(slot);
    std::fill_n(block + s.m * kBlock<A>, kBlock<A>, A{0});
    NeighboursOfRun<T> run(s, p.indices, p.weights, arrays->near(slot));
    Tiles<T> tiles;
    std::int64_t transposed = -1;
    for (std::int64_t i = begin; i < end; ++i) {
      const Item item(partition, s, i);
      const Neighbours<A>& near = run.move_to(item.b, item.first, item.last);
      const std::int64_t end_c = std::min(s.c, item.last_block * kBlock<A>), points = item.last - item.first;
      const bool staged = non_temporal && points >= kTilePoints;
      for (std::int64_t c = item.first_block * kBlock<A>; c < end_c; c += kBlock<A>) {
        const std::int64_t channels = std::min(end_c - c, kBlock<A>), row = item.b * s.c + c;
        const T* const features = static_cast<const T*>(p.features) + row * s.m;
        const T* const next = features + channels * s.m;
        if (transposed != row)
          layout::HWY_NAMESPACE::fill_panel(s.m, features, s.m, channels, block, staged ? nullptr : next);
        transposed = row;
        const Rows<T> out{static_cast<T*>(p.output) + row * s.n + item.first, s.n, channels};
        if (staged) {
          const std::int64_t wanted = partition.parts == 1 ? channels * s.m : 0;
          interpolate_staged(block, near, points, out,
                             PrefetchStream(next, wanted, std::max<std::int64_t>(1, points / kTilePoints)), tiles);
        } else {
          interpolate_block(block, near, points, out, [] {});
        }
      }
    }
    tiles.stage.all();
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

/// For few channels, or few points among many: element by element, indices and weights read once for all channels.
template <class T>
mluOpStatus_t forward_by_rows(Context& context, const mluopsCall& call, const mluopsThreeInterpolateForwardProblem& p) {
  using A = Acc<T>;
  constexpr std::int64_t at_once = kPointsAtOnce, kRowsAhead = 4;
  const Shape& s = p.shape;
  const std::int64_t runs = ceil_div(s.n, at_once);
  const double run_ns =
      static_cast<double>(std::min(s.n, at_once)) * (2.0 + 3 * cost::kGather * static_cast<double>(s.c));
  const Loop loop(context, call, s.b * runs, run_ns);
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    std::uint32_t rows[3 * at_once];
    A weights[3 * at_once];
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, n = item % runs * at_once, points = std::min(at_once, s.n - n);
      const std::int64_t near = 3 * (b * s.n + n);
      check_neighbours<1>(s.m, p.indices + near, static_cast<const T*>(p.weights) + near, 3 * points, rows, weights);
      for (std::int64_t c = b * s.c; c < (b + 1) * s.c; ++c) {
        const T* const features = static_cast<const T*>(p.features) + c * s.m;
        T* const out = static_cast<T*>(p.output) + c * s.n + n;
        PrefetchStream ahead(features + kRowsAhead * s.m, s.m <= kFewPerPoint * points ? s.m : 0, points);
        const auto term = [&](std::int64_t i)
                              HWY_ATTR { return rows[i] < s.m ? weights[i] * promote(features + rows[i]) : A{0}; };
        for (std::int64_t i = 0; i < points; ++i) {
          ahead.step();
          out[i] = from_acc<T>(term(3 * i) + term(3 * i + 1) + term(3 * i + 2));
        }
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
Fit blocks_apply(const Context&, const mluopsCall&, const mluopsThreeInterpolateForwardProblem& p) {
  return fit(can_transpose<Acc<T>>(p.shape), transpose_pays<Acc<T>>(p.shape));
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsThreeInterpolateForwardProblem& p) {
  using Problem = mluopsThreeInterpolateForwardProblem;
  static constexpr Path<Problem> kPaths[] = {
      {"blocks", blocks_apply<T>, forward_by_blocks<T>},
      {"rows", always<Problem>, forward_by_rows<T>},
  };
  return run_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(three_interpolate_forward, three_interpolate, forward, mluopsThreeInterpolateForwardProblem,
                 with_element)
