// What the gradient of deformable convolution's data works in, and how its filters are packed. Include after
// foreach_target.h, like simd-inl.h.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/kernels/dcn/bands.h"
#include "backends/cpu/kernels/dcn/samples-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/simd/element.h"
#include "backends/cpu/simd/products-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "mluops/problem/dcn.h"

#if defined(MLUOPS_CPU_DCN_DATA_ARRAYS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_DCN_DATA_ARRAYS_INL_H_
#else
#define MLUOPS_CPU_DCN_DATA_ARRAYS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dcn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

using DataProblem = mluopsDcnBackwardDataProblem;

/// The gradients of a tap's place and mask.
template <class A>
struct TapGradient {
  A down, across, mask;
};

/// The depth of the products: a group's outputs, and zeros behind them.
template <class F>
std::int64_t depth_of(const Shape& s) {
  return round_up(group_outputs(s), kDepthStep<F>);
}

/// A thread's scratch.
template <class A, class F>
struct DataScratch {
  F* filters;    ///< packed, of a part, if threads do not share parts
  A* map;        ///< [h * w,sum_channels]: the sums of all bands; of one row, if threads share parts
  A* band;       ///< [h * w,sum_channels]: the sums of a band, if they do not; where there is one band, `map`
  A* columns;    ///< [kTilePixels,chunk_taps,width]: gradients of samples
  F* rows;       ///< [kTilePixels,depth]: grad_output, where it cannot be read in place
  Tap<A>* taps;  ///< [kTilePixels,taps]

  DataScratch(Allocator& allocator, const Shape& s, const DataPlan& p, bool shared)
      : filters(allocator.allocate<F>(shared ? 0 : p.part_slices, count_taps(s), depth_of<F>(s), p.width)),
        map(allocator.allocate<A>(shared ? 1 : s.h, s.w, p.sum_channels())),
        band(p.bands == 1 ? map : allocator.allocate<A>(shared ? 0 : s.h, s.w, p.sum_channels())),
        columns(allocator.allocate<A>(DataPlan::kTilePixels, p.chunk_taps, p.width)),
        rows(allocator.allocate<F>(DataPlan::kTilePixels, depth_of<F>(s))),
        taps(allocator.allocate<Tap<A>>(DataPlan::kTilePixels, count_taps(s))) {}
};

template <class T, class F>
struct DataArrays {
  using A = Acc<T>;
  DataPlan plan;
  bool shared;   ///< whether threads share parts, band by band
  F* filters;    ///< packed [deform_groups * parts,part_slices], if shared: [depth,chunk_taps * width] of each chunk
  Run* touched;  ///< [deform_groups,batch,tiles]: rows under samples
  Band* bands;   ///< [deform_groups,batch,bands]
  A* sums;       ///< [deform_groups,parts,batch,sum_rows * w,sum_channels]: the sums of bands, if shared
  TapGradient<A>* slopes;  ///< [deform_groups,parts,batch,pixels,taps]
  SlotScratch<DataScratch<A, F>> scratch;

  DataArrays(Allocator& allocator, const Shape& s, const DataPlan& p, bool is_shared, int slots)
      : plan(p),
        shared(is_shared),
        filters(allocator.allocate<F>(shared ? s.deform_groups : 0, p.parts, p.part_slices, count_taps(s),
                                      depth_of<F>(s), p.width)),
        touched(allocator.allocate<Run>(s.deform_groups, s.batch, p.tiles)),
        bands(allocator.allocate<Band>(s.deform_groups, s.batch, p.bands)),
        sums(allocator.allocate<A>(shared ? p.count_parts(s) : 0, p.sum_rows, s.w, p.sum_channels())),
        slopes(allocator.allocate<TapGradient<A>>(s.deform_groups, p.parts, s.batch, out_pixels(s), count_taps(s))),
        scratch(allocator, slots, s, p, shared) {}

  /// The packed filters of a slice of the i-th part of the deformable groups; `own`: the thread's.
  F* filters_of(const Shape& s, const DataScratch<A, F>& own, std::int64_t i, std::int64_t slice) const {
    F* const first = shared ? filters : own.filters;
    return first + ((shared ? i : 0) * plan.part_slices + slice) * count_taps(s) * depth_of<F>(s) * plan.width;
  }
};

/// f(first tap, taps) for each chunk.
template <class Chunk>
HWY_INLINE void for_chunks(const Shape& s, const DataPlan& plan, Chunk&& f) {
  for (std::int64_t k = 0; k < count_taps(s); k += plan.chunk_taps) f(k, std::min(plan.chunk_taps, count_taps(s) - k));
}

/// Elements as factors.
template <class T, class F>
HWY_INLINE void copy_row(const T* from, F* to, std::int64_t count) {
  if constexpr (std::is_same_v<T, F>) {
    std::copy_n(from, count, to);
  } else {
    load_row(from, to, count);
  }
}

/// Packs some rows of the depth of a slice's filters: a matrix [depth,taps * width] for each chunk; columns behind the
/// slice's channels are zeros. `wide`: scratch for two rows of a chunk.
template <class T, class F>
HWY_INLINE void pack_rows_of(const DataProblem& p, const DataPlan& plan, const Slice& slice, const Run& rows, F* wide,
                             F* packed) {
  const Shape& s = p.shape;
  const std::int64_t outputs = group_outputs(s), row = count_taps(s) * group_inputs(s);
  const std::int64_t depth = depth_of<F>(s), width = padded_columns(slice.count);
  const T* const filters =
      static_cast<const T*>(p.filter) + slice.group * outputs * row + slice.first % group_inputs(s);
  for_chunks(s, plan, [&](std::int64_t first, std::int64_t taps) HWY_ATTR {
    const std::int64_t all = taps * width;
    std::fill_n(wide, 2 * all, F{});
    const auto widen = [&](std::int64_t o, F* to) HWY_ATTR {
      for (std::int64_t k = 0; k < taps; ++k, to += width) {
        copy_row(filters + o * row + (first + k) * group_inputs(s), to, slice.count);
      }
    };
    if constexpr (kInTiles<F>) {
      for (std::int64_t o = rows.begin; o < rows.end; o += 2) {
        if (o + 2 > outputs) std::fill_n(wide, 2 * all, F{});
        for (std::int64_t next = o; next < std::min(o + 2, outputs); ++next) widen(next, wide + (next - o) * all);
        pack_rows(wide, wide + all, all, depth, packed + o * tiles::kEdge);
      }
    } else {
      for (std::int64_t o = rows.begin; o < rows.end; ++o) {
        widen(o, wide);
        for_packed_tiles<F>(all, [&](std::int64_t column, std::int64_t lanes) HWY_ATTR {
          std::copy_n(wide + column, lanes, packed + depth * column + o * lanes);
        });
      }
    }
    packed += depth * all;
  });
}

inline constexpr std::int64_t kPackedRows = 32;  ///< of the depth, that are a block

/// Blocks in which a part's filters are packed.
template <class F>
std::int64_t count_packed_blocks(const Shape& s) {
  return ceil_div(depth_of<F>(s), kPackedRows);
}

/// Packs blocks of the filters of the deformable groups' parts.
template <class T, class F>
void pack_blocks(const DataProblem& p, const DataArrays<T, F>& arrays, std::int64_t begin, std::int64_t end, int slot) {
  const Shape& s = p.shape;
  const DataPlan& plan = arrays.plan;
  const DataScratch<Acc<T>, F> own = arrays.scratch.of(slot, s, plan, arrays.shared);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t part = i / count_packed_blocks<F>(s), first = i % count_packed_blocks<F>(s) * kPackedRows;
    const Run channels = plan.channels(s, part), rows = {first, std::min(first + kPackedRows, depth_of<F>(s))};
    for_slices(s, channels.begin, channels.end, plan.slice_channels, [&](std::int64_t n, const Slice& slice) HWY_ATTR {
      pack_rows_of<T>(p, plan, slice, rows, reinterpret_cast<F*>(own.columns), arrays.filters_of(s, own, part, n));
    });
  }
}

}  // namespace mluops::cpu::dcn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
