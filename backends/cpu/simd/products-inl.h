// Matrix products in register tiles: of gathered rows, of outer products, of whole matrices. Include after
// foreach_target.h, like simd-inl.h.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/tiles.h"
#include "common/shape.h"

#if defined(MLUOPS_CPU_SIMD_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_SIMD_PRODUCTS_INL_H_
#else
#define MLUOPS_CPU_SIMD_PRODUCTS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Rows that are multiplied together: one or two register tiles.
inline constexpr std::int64_t kProductRows = 8;

/// Rows that add_matrix_product takes together.
inline constexpr std::int64_t kMatrixRows = 6;

/// Columns rounded up to whole vectors of any level.
inline std::int64_t padded_columns(std::int64_t columns) {
  return (columns + 15) / 16 * 16;
}

/// Nanoseconds of a row times a matrix.
inline double row_product_ns(std::int64_t depth, std::int64_t columns) {
  return 3 + cost::kMultiplyAdd * static_cast<double>(depth * columns);
}

/// f(vectors, column) for register tiles that cover [0, width), width padded_columns(): 4 vectors wide with 32
/// registers, 2 vectors and 1.
template <class A, class F>
HWY_INLINE void for_tiles(std::int64_t width, F&& f) {
  std::int64_t n = 0;
  if constexpr (HWY_TARGET <= HWY_AVX3) {
    for (; n + 4 * kLanes<A> <= width; n += 4 * kLanes<A>) f(std::integral_constant<int, 4>(), n);
  }
  for (; n + 2 * kLanes<A> <= width; n += 2 * kLanes<A>) f(std::integral_constant<int, 2>(), n);
  for (; n < width; n += kLanes<A>) f(std::integral_constant<int, 1>(), n);
}

/// Rows of a register tile so many vectors wide: at least eight sums, for the latency of multiply-adds, and at most 16
/// of 32 registers or 8 of 16.
template <int kVectors>
inline constexpr int kTileRows = kVectors == 1 ? 8 : (HWY_TARGET <= HWY_AVX3 ? 16 : 8) / kVectors;

/// sums[r][v] += left(i, r) * right(i)[v] for i in [0, depth).
template <class A, std::size_t kCount, std::size_t kVectors, class Left, class Right>
HWY_INLINE void multiply(std::int64_t depth, Left&& left, Right&& right,
                         hn::Vec<hn::ScalableTag<A>> (&sums)[kCount][kVectors]) {
  const hn::ScalableTag<A> d;
  for (std::int64_t i = 0; i < depth; ++i) {
    const A* const row = right(i);
    hn::Vec<decltype(d)> columns[kVectors];
    MLUOPS_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v)
      columns[v] = hn::LoadU(d, row + static_cast<std::int64_t>(v) * kLanes<A>);
    MLUOPS_UNROLL
    for (std::size_t r = 0; r < kCount; ++r) {
      const auto factor = hn::Set(d, left(i, static_cast<int>(r)));
      MLUOPS_UNROLL
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(factor, columns[v], sums[r][v]);
    }
  }
}

/// to[r][0, width) += from[r][0, depth) * filters [depth,width] for kProductRows rows; rows of `to` may be the same.
template <class A>
HWY_INLINE void add_products(const A* const* from, std::int64_t depth, const A* filters, std::int64_t width,
                             A* const* to) {
  const hn::ScalableTag<A> d;
  for_tiles<A>(width, [&](auto vectors, std::int64_t n) HWY_ATTR {
    constexpr int kVectors = decltype(vectors)::value, kCount = kTileRows<kVectors>;
    for (std::int64_t first = 0; first < kProductRows; first += kCount) {
      hn::Vec<decltype(d)> sums[kCount][kVectors];
      const A* rows[kCount];
      MLUOPS_UNROLL
      for (int r = 0; r < kCount; ++r) {
        rows[r] = from[first + r];
        MLUOPS_UNROLL
        for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
      }
      multiply<A>(
          depth, [&](std::int64_t i, int r) HWY_ATTR { return rows[r][i]; },
          [&](std::int64_t i) HWY_ATTR { return filters + i * width + n; }, sums);
      MLUOPS_UNROLL
      for (int r = 0; r < kCount; ++r) {
        MLUOPS_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          A* const sum = to[first + r] + n + v * kLanes<A>;
          hn::StoreU(hn::Add(hn::LoadU(d, sum), sums[r][v]), d, sum);
        }
      }
    }
  });
}

/// Register tiles of sums [height,width].
template <class A>
std::int64_t count_tiles(std::int64_t height, std::int64_t width) {
  std::int64_t count = 0;
  for_tiles<A>(width, [&](auto vectors, std::int64_t) { count += height / kTileRows<decltype(vectors)::value>; });
  return count;
}

/// sums [height,width] += the transpose of left [depth][height] * right [depth][width], given row by row; height a
/// multiple of kProductRows. meanwhile() is called before each register tile.
template <class A, class Meanwhile>
HWY_INLINE void add_outer_products(const A* const* left, std::int64_t height, const A* const* right, std::int64_t width,
                                   std::int64_t depth, A* sums_at, Meanwhile&& meanwhile) {
  const hn::ScalableTag<A> d;
  for_tiles<A>(width, [&](auto vectors, std::int64_t n) HWY_ATTR {
    constexpr int kVectors = decltype(vectors)::value, kCount = kTileRows<kVectors>;
    for (std::int64_t c = 0; c < height; c += kCount) {
      meanwhile();
      hn::Vec<decltype(d)> sums[kCount][kVectors];
      A* const at = sums_at + c * width + n;
      MLUOPS_UNROLL
      for (int r = 0; r < kCount; ++r) {
        MLUOPS_UNROLL
        for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::LoadU(d, at + r * width + v * kLanes<A>);
      }
      multiply<A>(
          depth, [&](std::int64_t i, int r) HWY_ATTR { return left[i][c + r]; },
          [&](std::int64_t i) HWY_ATTR { return right[i] + n; }, sums);
      MLUOPS_UNROLL
      for (int r = 0; r < kCount; ++r) {
        MLUOPS_UNROLL
        for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, at + r * width + v * kLanes<A>);
      }
    }
  });
}

/// f(c, lanes) for the tiles of columns of a packed matrix [depth,width]: row i of columns [c, c + lanes) stands at
/// packed + depth * c + i * lanes, which is the order in which add_matrix_product reads.
template <class A, class F>
HWY_INLINE void for_packed_tiles(std::int64_t width, F&& f) {
  for_tiles<A>(width, [&](auto vectors, std::int64_t c) HWY_ATTR { f(c, decltype(vectors)::value * kLanes<A>); });
}

/// sums [rows,width] += left [rows,depth] * packed, a matrix [depth,width] in the order of for_packed_tiles. rows a
/// multiple of kMatrixRows, width padded_columns(). A stripe of the packed matrix stays in the first cache for all
/// rows; each stripe is summed by itself, which keeps the rounding of long sums small. kFresh: sums hold nothing yet.
template <class A, bool kFresh = false>
void add_matrix_product(std::int64_t rows, std::int64_t depth, std::int64_t width, const A* left,
                        std::int64_t left_stride, const A* packed, A* sums_at, std::int64_t sums_stride) {
  const hn::ScalableTag<A> d;
  constexpr std::int64_t kStripe = 512 / static_cast<std::int64_t>(sizeof(A));
  for_tiles<A>(width, [&](auto vectors, std::int64_t c) HWY_ATTR {
    constexpr std::size_t kVectors = decltype(vectors)::value, kCount = kMatrixRows;
    constexpr std::int64_t kTileLanes = static_cast<std::int64_t>(kVectors) * kLanes<A>;
    for (std::int64_t first = 0; first < depth; first += kStripe) {
      const A* const stripe = packed + depth * c + first * kTileLanes;
      for (std::int64_t row = 0; row < rows; row += kMatrixRows) {
        hn::Vec<decltype(d)> sums[kCount][kVectors];
        MLUOPS_UNROLL
        for (std::size_t r = 0; r < kCount; ++r) {
          MLUOPS_UNROLL
          for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
        }
        const A* const factors = left + row * left_stride + first;
        multiply<A>(
            std::min(kStripe, depth - first),
            [&](std::int64_t i, int r) HWY_ATTR { return factors[r * left_stride + i]; },
            [&](std::int64_t i) HWY_ATTR { return stripe + i * kTileLanes; }, sums);
        A* to = sums_at + row * sums_stride + c;
        MLUOPS_UNROLL
        for (std::size_t r = 0; r < kCount; ++r, to += sums_stride) {
          MLUOPS_UNROLL
          for (std::size_t v = 0; v < kVectors; ++v) {
            A* const sum = to + static_cast<std::int64_t>(v) * kLanes<A>;
            hn::StoreU(kFresh && first == 0 ? sums[r][v] : hn::Add(hn::LoadU(d, sum), sums[r][v]), d, sum);
          }
        }
      }
    }
  });
}

// ---- products of bfloat16 (simd/tiles.h) -------------------------------------------------------

/// Whether a kernel for elements T has a path with tiles at this level.
template <class T>
inline constexpr bool kHasTiles = HWY_TARGET <= HWY_AVX3&& std::is_same_v<T, Bfloat16>;

/// Runs a kernel whose products are of numbers of the sums' type, or else of bfloat16: way(F{}) is the kernel for
/// factors of type F. With less than 16 channels on one side tiles are mostly zeros, with less than 32 the depth of
/// vectors is. `parts`: those that make up a factor that is sampled (kSampleParts); two need tiles, since vectors
/// multiply bfloat16 in half the time of float. `others` come before both.
template <class T, class Problem, class Way, class... Others>
mluOpStatus_t run_product_path(Context& context, const mluopsCall& call, const Problem& p, std::int64_t channels,
                               std::int64_t parts, const char* name, Way way, const Others&... others) {
  const Path<Problem> vectors = {name, always<Problem>, way(Acc<T>{})};
  if constexpr (kHasTiles<T>) {
    using tiles::Unit;
    const auto can = [](const Context&, const mluopsCall&, const Problem&) {
      return fit(tiles::unit() != Unit::kNone, false);
    };
    const auto prefer = [](const Context&, const mluopsCall&, const Problem&) {
      return fit(tiles::unit() != Unit::kNone);
    };
    const bool in_tiles = tiles::unit() == Unit::kTiles;
    const bool preferred = in_tiles ? channels >= tiles::kEdge : channels >= tiles::kDepth && parts == 1;
    const Path<Problem> of_bfloat16 = {in_tiles ? "amx" : "avx512_bf16", can, way(Bfloat16{})};
    const Path<Problem> paths[] = {
        others..., preferred ? Path<Problem>{of_bfloat16.name, prefer, of_bfloat16.run} : of_bfloat16, vectors};
    return run_path(context, call, p, paths);
  } else {
    const Path<Problem> paths[] = {others..., vectors};
    return run_path(context, call, p, paths);
  }
}

/// Factors of a product are numbers of sums' type, in vectors, or bfloat16, in tiles: what rows and depth are multiples
/// of, and the parts whose sum a sampled number is.
template <class F>
inline constexpr bool kInTiles = std::is_same_v<F, Bfloat16>;
template <class F>
inline constexpr std::int64_t kRowStep = kInTiles<F> ? tiles::kEdge : kMatrixRows;
template <class F>
inline constexpr std::int64_t kDepthStep = kInTiles<F> ? tiles::kDepth : 1;
template <class F>
inline constexpr std::int64_t kSampleParts = kInTiles<F> ? 2 : 1;

/// A row of numbers that are split: a row of high parts and one of low parts.
struct SplitRow {
  Bfloat16* high;
  std::int64_t part;  ///< elements from there to the low parts
};

#if HWY_TARGET <= HWY_AVX3
/// Numbers as sums of two of bfloat16, in the upper halves of high and low: 16 bits of each number's 24.
template <class D>
struct Split {
  using D32 = hn::Rebind<std::uint32_t, D>;
  hn::Vec<D32> high, low;

  HWY_INLINE Split(D d, hn::Vec<D> v) {
    const D32 d32;
    const auto half = hn::Set(d32, 0x8000u);
    high = hn::And(hn::Add(hn::BitCast(d32, v), half), hn::Set(d32, 0xffff0000u));
    const auto rest = hn::Sub(v, hn::BitCast(d, high));
    // Beside an infinite number there is no rest.
    low = hn::Add(hn::BitCast(d32, hn::IfThenElseZero(hn::IsFinite(rest), rest)), half);
  }
};

/// The upper halves of two vectors, interleaved.
template <class V32>
HWY_INLINE auto interleave_upper_halves(V32 lower, V32 upper) {
  const hn::ScalableTag<std::uint32_t> d32;
  const auto both = hn::Or(hn::ShiftRight<16>(lower), hn::And(upper, hn::Set(d32, 0xffff0000u)));
  return hn::BitCast(hn::ScalableTag<std::uint16_t>(), both);
}

/// Stores the high and the low parts of two vectors, element by element in turns.
template <class D>
HWY_INLINE void store_interleaved(D d, hn::Vec<D> even, hn::Vec<D> odd, const SplitRow& row, std::int64_t i) {
  const hn::ScalableTag<std::uint16_t> d16;
  const Split<D> first(d, even), second(d, odd);
  hn::StoreU(interleave_upper_halves(first.high, second.high), d16, &row.high[i].bits);
  hn::StoreU(interleave_upper_halves(first.low, second.low), d16, &row.high[i + row.part].bits);
}

template <class D>
HWY_INLINE void store_sample(hn::Vec<D> v, D d, const SplitRow& row, std::int64_t i) {
  const Split<D> parts(d, v);
  const typename Split<D>::D32 d32;
  store_low16(hn::ShiftRight<16>(parts.high), d32, &row.high[i].bits);
  store_low16(hn::ShiftRight<16>(parts.low), d32, &row.high[i + row.part].bits);
}

/// Two rows of bfloat16, the first of even number, to their place in a packed matrix of so many rows.
inline void pack_rows(const Bfloat16* even, const Bfloat16* odd, std::int64_t width, std::int64_t depth,
                      Bfloat16* packed) {
  const hn::ScalableTag<std::uint32_t> d32;
  const hn::Rebind<std::uint16_t, decltype(d32)> half;
  const hn::ScalableTag<std::uint16_t> d16;
  for (std::int64_t c = 0; c < width; c += tiles::kEdge) {
    const auto lower = hn::PromoteTo(d32, hn::LoadU(half, &even[c].bits));
    const auto upper = hn::PromoteTo(d32, hn::LoadU(half, &odd[c].bits));
    hn::StoreU(hn::BitCast(d16, hn::Or(lower, hn::ShiftLeft<16>(upper))), d16, &packed[c * depth].bits);
  }
}

/// Packs two rows of float, split into high and low parts; the low parts lie `part` elements behind the high ones.
inline void pack_split_rows(const float* even, const float* odd, std::int64_t width, std::int64_t depth,
                            Bfloat16* packed, std::int64_t part) {
  const hn::ScalableTag<float> d;
  for (std::int64_t c = 0; c < width; c += tiles::kEdge) {
    store_interleaved(d, hn::LoadU(d, even + c), hn::LoadU(d, odd + c), SplitRow{packed, part}, c * depth);
  }
}
#endif

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
