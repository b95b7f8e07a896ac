// Means of RoIs' bins, backward: gradients of the mean of bilinear samples in each bin of a RoI, channels innermost.
// grad_output [rois,ph,pw,c], rois [rois,5], offset [rois,2,ph,pw], grad_input [batch,h,w,c]. Two flops per value read.
// Bins are sorted by the tiles of the map they lie on. Each tile has one owner, who lists for each pixel the bins that
// add to it, then sums pixel by pixel, all channels in registers, and writes grad_input once: no prior zeroing, no
// atomics, bitwise equal for every number of threads. With offset, grad_offset's part of each bin on the tile is found
// where the bin is listed, and the parts on different tiles are added up in the order of the tiles.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/roi_mean/backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/roi_mean/add_channels-inl.h"
#include "backends/cpu/roi_mean/geometry.h"
#include "backends/cpu/roi_mean/offset-inl.h"
#include "backends/cpu/roi_mean/order.h"
#include "backends/cpu/roi_mean/owner-inl.h"
#include "backends/cpu/scatter/atomic_sums-inl.h"
#include "backends/cpu/scatter/buckets.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_mean::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

template <class A>
struct AtomicArrays {
  Roi<A>* rois;
  Tap<A>* taps;  ///< per thread, rows then columns
  A* sums;       ///< of the whole map, where grad_input itself can't be added to

  AtomicArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t sum_count)
      : rois(allocator.allocate<Roi<A>>(s.rois)),
        taps(allocator.allocate<Tap<A>>(call.threads, BinTaps<A>::most(s))),
        sums(allocator.allocate<A>(sum_count)) {}
};

// ---- backward: grad_offset -------------------------------------------------------------------

/// grad_offset of a bin. One that nothing was added to has no gradient, also where its RoI is not finite.
template <class T>
void put_offset_gradient(const BackwardProblem& p, const Bins<T>& bins, const BinPlace& at, const Move<Acc<T>>& sum) {
  const Roi<Acc<T>>& roi = bins.roi(at);
  const auto scaled = [&](Acc<T> moved, Acc<T> size) {
    return from_acc<T>(moved == 0 ? Acc<T>{0} : moved * (roi.inverse_count * bins.reach(size)));
  };
  T* const out = static_cast<T*>(p.grad_offset) + bins.offset_index(at);
  out[0] = scaled(sum.x, roi.x.size);
  out[bins.plane()] = scaled(sum.y, roi.y.size);
}

// ---- backward: grad_input --------------------------------------------------------------------

/// Puts bins, or without offset the rows of bins that RoIs have, into all tiles they may add to.
template <class T>
bool sort_by_tiles(Context& context, const mluopsCall& call, const Bins<T>& bins, const Tiles& t, Buckets& tiles) {
  const Shape& s = bins.s;
  const bool rows = bins.aligned();
  const std::int64_t together = rows ? s.pooled_w : 1;
  const double channels = static_cast<double>(s.c);
  const double pixel_ns = channels * (cost::kElement / 2 + (rows ? 0 : cost::kElement / 4));
  const double base_ns = cost::kMoveByte / 12 * sizeof(T) * static_cast<double>(t.pixels()) * channels;
  return tiles.fill(context, call, 20 * cost::kStep, base_ns, [&](std::int64_t begin, std::int64_t end, auto&& put) {
    PixelRange x{};
    double item_ns = 0;
    std::int64_t roi = -1;
    for (std::int64_t item = begin; item < end; ++item) {
      const BinPlace at = bins.place(item * together);
      if (at.roi != roi) item_ns = static_cast<double>(together) * bins.pixels_read(at) * pixel_ns;
      if (at.roi != roi || !rows) x = rows ? bins.columns_of_row(at) : bins.x(at).pixels(s.w);
      roi = at.roi;
      const PixelRange y = bins.y(at).pixels(s.h);
      const std::int64_t row_begin = t.row_of(y.first), row_end = t.row_end(y.last);
      const std::int64_t col_begin = t.col_of(x.first), col_end = t.col_end(x.last);
      const std::int64_t touched = std::max<std::int64_t>(1, (row_end - row_begin) * (col_end - col_begin));
      const double cost = 30 * cost::kStep + item_ns / static_cast<double>(touched);
      const std::int64_t batch = bins.roi(at).batch;
      for (std::int64_t row = row_begin; row < row_end; ++row) {
        for (std::int64_t col = col_begin; col < col_end; ++col) put(at.bin, t.index(batch, row, col), cost);
      }
    }
  });
}

/// grad_offset of all bins from the parts on the tiles, in the order of the tiles.
template <class T>
void put_offset_gradients(Context& context, const mluopsCall& call, const BackwardProblem& p, const Bins<T>& bins,
                          const Buckets& tiles, Move<Acc<T>>* moves) {
  std::fill_n(moves, bins.count(), Move<Acc<T>>{0, 0});
  const auto* part = static_cast<const Move<Acc<T>>*>(tiles.more());
  for (const std::int64_t bin : tiles.all()) {
    moves[bin].y += part->y;
    moves[bin].x += part++->x;
  }
  Loop(context, call, bins.count(), 5 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    bins.for_each(begin, end, [&](const BinPlace& at) { put_offset_gradient(p, bins, at, moves[at.bin]); });
  });
}

/// Zeroes as many elements.
template <class T>
void clear(const Context& context, const mluopsCall& call, T* elements, std::int64_t count) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const bool non_temporal = count * kSize > summed_non_temporal_from();
  Loop(context, call, count, cost::kMove).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    zero_bytes(non_temporal, elements + begin, (end - begin) * kSize);
    if (non_temporal) non_temporal_fence();
  });
}

template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const bool offset = p.offset != nullptr;
  const Tiles t(s, sizeof(A), kOwnerTileBytes, kOwnerTiles);
  const std::int64_t items = s.rois * s.pooled_h * (offset ? s.pooled_w : 1);
  const bool planes = p.layout == MLUOP_LAYOUT_NCHW;
  const std::int64_t tile_bytes = planes ? t.pixels() * s.c * static_cast<std::int64_t>(sizeof(T)) : 0;
  auto arrays = allocate<OwnerArrays<A>>(context.arena, call, s, items, t, offset, tile_bytes);
  if (!arrays) return no_memory(call);
  if (!read_rois<T>(s, p.rois, arrays->rois)) return too_many_samples(call);
  arrays->cleared = planes && !crowded<T>(s, p.rois);
  if (arrays->cleared) clear(context, call, static_cast<T*>(p.grad_input), s.batch * s.h * s.w * s.c);
  const Bins<T> bins(s, p.offset, arrays->rois);
  if (!sort_by_tiles(context, call, bins, t, arrays->tiles)) return no_memory(call);

  const Buckets& tiles = arrays->tiles;
  Loop(context, call, tiles.prefix_ns()).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Owner<T> owner(p, bins, t, *arrays, slot);
    for (std::int64_t tile = begin; tile < end; ++tile) {
      Move<A>* const moves = offset ? static_cast<Move<A>*>(tiles.more()) + tiles.begin(tile) : nullptr;
      owner.expect(Area(t, s, tile + 1), tile + 1 < end ? tiles[tile + 1] : std::span<const std::int64_t>());
      owner.run(Area(t, s, tile), tiles[tile], moves);
    }
    non_temporal_fence();
  });
  if (offset) put_offset_gradients(context, call, p, bins, tiles, arrays->moves);
  return MLUOP_STATUS_SUCCESS;
}

/// NCHW: grad_output transposed; tiles of the map go between planes and a scratch tile that stays in the caches.
template <class T>
mluOpStatus_t backward_of_planes(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  context.last_scatter = "owner";
  const layout::Image pooled = pooled_of(p.shape);
  std::byte* const grad_output = context.images.reserve(pooled.bytes());
  if (grad_output == nullptr && pooled.bytes() > 0) return no_memory(call);
  layout::transpose(context, call, pooled.from_nchw(), p.grad_output, grad_output);
  BackwardProblem q = p;
  q.grad_output = grad_output;
  return backward_by_owner<T>(context, call, q);
}

/// Not where atomic additions are asked for, which take the map in NHWC.
inline Fit tiles_apply(const Context& context, const mluopsCall& call, const BackwardProblem&) {
  return fit(true, !wants_atomics(context, call));
}

/// grad_input of one bin, added atomically to sums of the whole map.
template <class T>
void add_bin_atomically(const Bins<T>& bins, const BinPlace& at, const BinTaps<Acc<T>>& taps, const T* grad_output,
                        Acc<T>* sums) {
  using A = Acc<T>;
  const Shape& s = bins.s;
  const Roi<A>& roi = bins.roi(at);
  for (const Tap<A>& y : taps.y) {
    for (const Tap<A>& x : taps.x) {
      A* const sum = sums + ((roi.batch * s.h + y.index) * s.w + x.index) * s.c;
      const A weight = y.weight * roi.inverse_count * x.weight;
      for (std::int64_t c = 0; c < s.c; ++c) atomic_add(sum + c, weight * to_acc(grad_output[c]));
    }
  }
}

/// Tasks over bins.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const std::int64_t total = s.batch * s.h * s.w * s.c;
  const std::int64_t scratch = kAddsInPlace<T> ? 0 : total;
  auto arrays = allocate<AtomicArrays<A>>(context.arena, call, s, scratch);
  if (!arrays) return no_memory(call);
  A* sums = arrays->sums;
  if constexpr (kAddsInPlace<T>) sums = static_cast<A*>(p.grad_input);
  if (!read_rois<T>(s, p.rois, arrays->rois)) return too_many_samples(call);
  const Bins<T> bins(s, p.offset, arrays->rois);
  clear_sums(context, call, sums, total);
  Loop(context, call, bins.count(), 5 * cost::kAtomicAdd * static_cast<double>(s.c))
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        bins.for_each(begin, end, [&](const BinPlace& at) HWY_ATTR {
          const BinTaps<A> taps(bins, at, arrays->taps + slot * BinTaps<A>::most(s));
          const T* const grad_output = static_cast<const T*>(p.grad_output) + at.bin * s.c;
          add_bin_atomically(bins, at, taps, grad_output, sums);
          if (p.offset == nullptr) return;
          const T* const image = static_cast<const T*>(p.input) + bins.roi(at).batch * s.h * s.w * s.c;
          put_offset_gradient(p, bins, at, offset_gradient(s, taps, image, s.w, grad_output));
        });
      });
  store_sums(context, call, sums, static_cast<T*>(p.grad_input), total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  if (const char* const reason = declined(p.shape)) {
    return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  }
  static constexpr Path<BackwardProblem> kPaths[] = {
      {kAtomicPath, atomic_applies<BackwardProblem>, backward_by_atomics<T>},
      {"few_channels", few_channels<T>, backward_by_channels<T>},
      {"owner", always<BackwardProblem>, backward_by_owner<T>},
  };
  static constexpr Path<BackwardProblem> kNchwPaths[] = {
      {"few_channels", few_channels<T>, backward_by_channels<T>},
      {"nchw_tiles", tiles_apply, backward_of_planes<T>},
      layout::kTransposed<roi_mean::backward, BackwardProblem>,
  };
  if (p.layout == MLUOP_LAYOUT_NCHW) return run_path(context, call, p, kNchwPaths);
  return run_scatter_path(context, call, p, kPaths);
}

}  // namespace
}  // namespace mluops::cpu::roi_mean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_FUNCTION(roi_mean::backward, roi_mean, backward, roi_mean::BackwardProblem, with_element)
