// Interpolation of few features: those of a channel are a table in registers, and nothing is transposed. Include after
// foreach_target.h, like simd-inl.h.
#include "backends/cpu/kernels/three_interpolate/geometry.h"
#include "backends/cpu/kernels/three_interpolate/rows-inl.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_AVX512_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_AVX512_TABLES_INL_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_AVX512_TABLES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
using Floats = hn::ScalableTag<float>;
using Words = hn::ScalableTag<std::uint32_t>;
using Shorts = hn::ScalableTag<std::uint16_t>;

/// Up to so many features fit in the tables.
constexpr std::int64_t kMostInTables = 4 * kLanes<float>;
/// Points worked on at once: two vectors of results.
constexpr std::int64_t kPair = 2 * kLanes<float>;

/// Elements [i, i + a vector) of a row of m, zero beyond.
template <class T>
HWY_INLINE hn::Vec<Floats> load_part(const T* row, std::int64_t m, std::int64_t i) {
  const Floats d;
  if (i + kLanes<float> <= m) return load(d, row + i);
  HWY_ALIGN T part[kLanes<float>] = {};
  if (i < m) std::copy(row + i, row + m, part);
  return load(d, part);
}

/// Two vectors of 32 bits as one of 16, in the order InterleaveLower and InterleaveUpper take them apart again.
HWY_INLINE hn::Vec<Shorts> pack(hn::Vec<Words> first, hn::Vec<Words> second) {
  return hn::Vec<Shorts>{_mm512_packus_epi32(first.raw, second.raw)};
}

// Tables. fill() takes the features of a channel, zero beyond M. Pair is neighbour j of a pair of vectors of points,
// store_rows() puts it where Pair finds it, look_up() finds the two vectors of features.

/// Up to 16 features.
struct TableOfWords {
  static constexpr std::int64_t kCapacity = kLanes<float>;
  hn::Vec<Floats> table;

  template <class T>
  HWY_INLINE void fill(const T* row, std::int64_t m) {
    table = load_part(row, m, 0);
  }

  static HWY_INLINE void store_rows(hn::Vec<Words> first, hn::Vec<Words> second, std::uint32_t* rows, std::int64_t at) {
    hn::StoreU(first, Words(), rows + at);
    hn::StoreU(second, Words(), rows + at + kLanes<float>);
  }

  struct Pair {
    hn::Vec<Words> row[2];

    HWY_INLINE Pair(const std::uint32_t* rows, std::int64_t at)
        : row{hn::Load(Words(), rows + at), hn::Load(Words(), rows + at + kLanes<float>)} {}
  };

  HWY_INLINE void look_up(const Pair& pair, hn::Vec<Floats>* found) const {
    found[0].raw = _mm512_permutexvar_ps(pair.row[0].raw, table.raw);
    found[1].raw = _mm512_permutexvar_ps(pair.row[1].raw, table.raw);
  }
};

/// Up to 32 or 64 features. The upper and lower halves of the floats are apart: a look-up finds 32 of them. kMasked:
/// rows of all ones are left out, they find 0.
template <int kVectors, bool kMasked>
struct TableOfShorts {
  static constexpr std::int64_t kCapacity = kVectors * kPair;
  hn::Vec<Shorts> low[kVectors], high[kVectors];

  template <class T>
  HWY_INLINE void fill(const T* row, std::int64_t m) {
    const Words du;
    const auto low_half = hn::Set(du, 0xffffu);
    HWY_UNROLL(2)
    for (int k = 0; k < kVectors; ++k) {
      const auto first = hn::BitCast(du, load_part(row, m, k * kPair));
      const auto second = hn::BitCast(du, load_part(row, m, k * kPair + kLanes<float>));
      low[k] = pack(hn::And(first, low_half), hn::And(second, low_half));
      high[k] = pack(hn::ShiftRight<16>(first), hn::ShiftRight<16>(second));
    }
  }

  /// Where pack() leaves element i of its two vectors; what is all ones stays so.
  static HWY_INLINE hn::Vec<Words> packed(hn::Vec<Words> i) {
    const Words du;
    const auto block = hn::And(hn::Add(i, i), hn::Set(du, 0x18u));
    const auto half = hn::And(hn::ShiftRight<2>(i), hn::Set(du, 4u));
    return hn::Or(hn::And(i, hn::Set(du, 0xffe3u)), hn::Or(block, half));
  }

  static HWY_INLINE void store_rows(hn::Vec<Words> first, hn::Vec<Words> second, std::uint32_t* rows, std::int64_t at) {
    hn::StoreU(pack(packed(first), packed(second)), Shorts(), reinterpret_cast<std::uint16_t*>(rows) + at);
  }

  struct Pair {
    hn::Vec<Shorts> row;
    hn::Mask<Shorts> inside;

    HWY_INLINE Pair(const std::uint32_t* rows, std::int64_t at)
        : row(hn::Load(Shorts(), reinterpret_cast<const std::uint16_t*>(rows) + at)),
          inside(hn::Ne(row, hn::Set(Shorts(), 0xffff))) {}
  };

  static HWY_INLINE __m512i look_up(const Pair& pair, const hn::Vec<Shorts>* table) {
    if constexpr (kMasked) {
      return _mm512_maskz_permutex2var_epi16(pair.inside.raw, table[0].raw, pair.row.raw, table[kVectors - 1].raw);
    } else if constexpr (kVectors == 2) {
      return _mm512_permutex2var_epi16(table[0].raw, pair.row.raw, table[1].raw);
    } else {
      return _mm512_permutexvar_epi16(pair.row.raw, table[0].raw);
    }
  }

  HWY_INLINE void look_up(const Pair& pair, hn::Vec<Floats>* found) const {
    const hn::Vec<Shorts> lows{look_up(pair, low)}, highs{look_up(pair, high)};
    found[0] = hn::BitCast(Floats(), hn::InterleaveLower(Shorts(), lows, highs));
    found[1] = hn::BitCast(Floats(), hn::InterleaveUpper(Shorts(), lows, highs));
  }
};

/// f(a table for M features of an image). The one table without room for a feature out of range masks them.
template <class F>
HWY_INLINE void with_table(std::int64_t m, bool any_outside, F&& f) {
  const std::int64_t features = m + (any_outside ? 1 : 0);
  if (features <= TableOfWords::kCapacity) return f(TableOfWords());
  if (features <= TableOfShorts<1, false>::kCapacity) return f(TableOfShorts<1, false>());
  if (features <= TableOfShorts<2, false>::kCapacity) return f(TableOfShorts<2, false>());
  f(TableOfShorts<2, true>());
}

/// Whether one of `count` indices is outside [0, M-1].
inline bool any_outside(std::int64_t m, const std::int32_t* indices, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<std::uint32_t>(indices[i]));
  return largest >= static_cast<std::uint32_t>(m);
}

/// The neighbours of a run of points one after the other: rows and weights are [3, pitch], whole tiles of points. Out
/// of range, rows are all ones and weights 0.
template <class Table, class T>
void split_neighbours(std::int64_t m, const std::int32_t* indices, const T* raw, std::int64_t points,
                      std::int64_t pitch, const Neighbours<float>& to) {
  constexpr std::int64_t at_once = kTilePoints;
  const Floats d;
  const Words du;
  const auto end = hn::Set(du, static_cast<std::uint32_t>(m));
  HWY_ALIGN float weights[3 * at_once] = {};
  HWY_ALIGN std::uint32_t rows[3 * at_once] = {};
  for (std::int64_t n = 0; n < points; n += at_once) {
    const std::int64_t count = 3 * std::min(at_once, points - n);
    load_row(raw + 3 * n, weights, count);
    std::copy_n(indices + 3 * n, count, rows);
    for (std::int64_t i = 0; i < at_once; i += kPair) {
      hn::Vec<Floats> w[2][3];
      hn::Vec<Words> r[2][3];
      for (int k = 0; k < 2; ++k) {
        const std::int64_t at = 3 * (i + k * kLanes<float>);
        hn::LoadInterleaved3(d, weights + at, w[k][0], w[k][1], w[k][2]);
        hn::LoadInterleaved3(du, rows + at, r[k][0], r[k][1], r[k][2]);
      }
      for (int j = 0; j < 3; ++j) {
        const std::int64_t at = j * pitch + n + i;
        for (int k = 0; k < 2; ++k) {
          const auto inside = hn::Lt(r[k][j], end);
          hn::StoreU(hn::IfThenElseZero(hn::RebindMask(d, inside), w[k][j]), d, to.weights + at + k * kLanes<float>);
          r[k][j] = hn::IfThenElse(inside, r[k][j], hn::Set(du, 0xffffu));
        }
        Table::store_rows(r[0][j], r[1][j], to.rows, at);
      }
    }
  }
}

/// sums[c] = the weighted neighbours of the pair of points at `at`.
template <int kChannels, class Table>
HWY_INLINE void interpolate_pair(const Table* tables, const Neighbours<float>& near, std::int64_t pitch,
                                 std::int64_t at, hn::Vec<Floats> (*sums)[2]) {
  const Floats d;
  HWY_UNROLL(3)
  for (int j = 0; j < 3; ++j, at += pitch) {
    const typename Table::Pair pair(near.rows, at);
    const hn::Vec<Floats> weights[2] = {hn::Load(d, near.weights + at), hn::Load(d, near.weights + at + kLanes<float>)};
    HWY_UNROLL(4)
    for (int c = 0; c < kChannels; ++c) {
      hn::Vec<Floats> found[2];
      tables[c].look_up(pair, found);
      HWY_UNROLL(2)
      for (int k = 0; k < 2; ++k) {
        sums[c][k] = j == 0 ? hn::Mul(weights[k], found[k]) : hn::MulAdd(weights[k], found[k], sums[c][k]);
      }
    }
  }
}

/// Two vectors of sums to whole cache lines, with non-temporal stores.
template <class T>
HWY_INLINE void store_pair_non_temporal(const hn::Vec<Floats>* v, T* to) {
  HWY_UNROLL(2)
  for (int k = 0; k < 2; ++k) store_non_temporal(v[k], Floats(), to + k * kLanes<float>);
}

template <class T>
HWY_INLINE void store_pair(const hn::Vec<Floats>* v, T* to) {
  HWY_UNROLL(2)
  for (int k = 0; k < 2; ++k) store(v[k], Floats(), to + k * kLanes<float>);
}

/// All points of kChannels channels of one image.
template <class Table, int kChannels, class T>
HWY_NOINLINE void interpolate_by_table(const T* features, std::int64_t m, Neighbours<float> near,
                                       std::int64_t near_pitch, std::int64_t points, bool non_temporal, T* to,
                                       std::int64_t pitch) {
  Table tables[kChannels];
  HWY_UNROLL(4)
  for (int c = 0; c < kChannels; ++c) tables[c].fill(features + c * m, m);
  std::int64_t i = 0;
  for (; i + kPair <= points; i += kPair) {
    hn::Vec<Floats> sums[kChannels][2];
    interpolate_pair<kChannels>(tables, near, near_pitch, i, sums);
    HWY_UNROLL(4)
    for (int c = 0; c < kChannels; ++c) {
      if (non_temporal) {
        store_pair_non_temporal(sums[c], to + c * pitch + i);
      } else {
        store_pair(sums[c], to + c * pitch + i);
      }
    }
  }
  if (i == points) return;
  hn::Vec<Floats> sums[kChannels][2];
  interpolate_pair<kChannels>(tables, near, near_pitch, i, sums);
  HWY_ALIGN float last[kPair];
  HWY_UNROLL(4)
  for (int c = 0; c < kChannels; ++c) {
    store_pair(sums[c], last);
    store_row(last, to + c * pitch + i, points - i);
  }
}

/// All points of the channels of one image.
template <class Table, class T>
void interpolate_channels(const Rows<const T>& in, std::int64_t m, const Neighbours<float>& near,
                          std::int64_t near_pitch, std::int64_t points, bool non_temporal, const Rows<T>& out) {
  constexpr int kChannels = Table::kCapacity <= kPair ? 4 : 2;
  std::int64_t c = 0;
  for (; c + kChannels <= in.channels; c += kChannels) {
    interpolate_by_table<Table, kChannels>(in.first + c * in.pitch, m, near, near_pitch, points, non_temporal,
                                           out.first + c * out.pitch, out.pitch);
  }
  for (; c < in.channels; ++c) {
    interpolate_by_table<Table, 1>(in.first + c * in.pitch, m, near, near_pitch, points, non_temporal,
                                   out.first + c * out.pitch, out.pitch);
  }
}
#endif

}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
