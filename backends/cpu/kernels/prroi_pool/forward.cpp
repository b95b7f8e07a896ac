// PrRoIPool forward: the mean of each bin over the bilinear surface through the pixels.
//
// input [B,H,W,C], output [R,PH,PW,C]. An item is a RoI and owns its bins. A pixel's weight in a bin is its row's share
// times its column's, both found once a RoI. The sums of some vectors of channels stay in registers while the pixels of
// a bin go by: 2 flops on a load, bound by the caches the map lies in. In NCHW the pixels that RoIs lie on are
// transposed first, and each RoI's bins as they are done.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/prroi_pool/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/prroi_pool/rois-inl.h"
#include "backends/cpu/simd/overlapping-inl.h"
#include "mluops/problem/prroi_pool.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::prroi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsPrRoiPoolForwardProblem;

/// kWide vectors of a bin's channels from c on, `step` apart; `output` is at the first of them.
template <int kWide, class D, class Map, class O, class Bin>
HWY_INLINE void pool_bin(D d, std::int64_t w, const Map& map, std::int64_t c, std::int64_t step, const Bin& rows,
                         const Bin& columns, O* output) {
  hn::Vec<D> sum[kWide], line[kWide];
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) sum[v] = hn::Zero(d);
  for (std::int64_t y = 0; y < rows.count; ++y) {
    MLUOPS_UNROLL
    for (int v = 0; v < kWide; ++v) line[v] = hn::Zero(d);
    const auto* value = columns.value;
    for (auto run = map.run((rows.first + y) * w + columns.first, columns.count); run.count > 0; run = map.next(run)) {
      const auto* pixel = run.row + c;
      for (std::int64_t x = 0; x < run.count; ++x, pixel += map.pitch) {
        const auto share = hn::Set(d, *value++);
        MLUOPS_UNROLL
        for (int v = 0; v < kWide; ++v) line[v] = hn::MulAdd(share, load(d, pixel + v * step), line[v]);
      }
    }
    const auto share = hn::Set(d, rows.value[y]);
    MLUOPS_UNROLL
    for (int v = 0; v < kWide; ++v) sum[v] = hn::MulAdd(share, line[v], sum[v]);
  }
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) store(sum[v], d, output + v * step);
}

/// The bins of a RoI, rows of `width` channels.
template <class Map, class A, class O>
void pool_roi(const Shape& s, const Map& map, std::int64_t width, const Scratch<A, false>& scratch, O* output) {
  for (std::int64_t bin = 0; bin < s.pooled_h * s.pooled_w; ++bin, output += width) {
    const auto &rows = scratch.y.of(bin / s.pooled_w), &columns = scratch.x.of(bin % s.pooled_w);
    for_overlapping<A, 4>(width, [&](auto d, auto vectors, std::int64_t c, std::int64_t step) HWY_ATTR {
      pool_bin<decltype(vectors)::value>(d, s.w, map, c, step, rows, columns, output + c);
    });
  }
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t bins = s.pooled_h * s.pooled_w;
  const bool planes = p.layout == MLUOP_LAYOUT_NCHW && s.c > 1;
  const bool large = s.rois * bins * s.c * static_cast<std::int64_t>(sizeof(T)) > second_cache(64);
  RoiLoop<T, false, ForwardProblem> loop(context, call, p);
  if (!loop.has_room()) return no_memory(call);
  loop.run([&](const Scratch<Acc<T>, false>& scratch, std::int64_t r, const layout::PixelRows<T>* map) HWY_ATTR {
    const layout::Channels& of = loop.channels();
    const std::int64_t elements = bins * of.count;
    T* const output = static_cast<T*>(p.output) + (r * s.c + of.first) * bins;
    if (map == nullptr) {
      std::fill_n(output, elements, T{});
    } else if (planes) {
      pool_roi(s, *map, loop.width(), scratch, scratch.rows);
      transpose_panel(scratch.rows, loop.width(), bins, of.count, scratch.planes, bins);
      store_row(large, scratch.planes, output, elements);
    } else {
      pool_roi(s, map->in_order(), s.c, scratch, output);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::prroi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(prroi_pool_forward, prroi_pool, forward, mluopsPrRoiPoolForwardProblem, with_element)
