// Interpolation of few features: those of a channel are a table in registers, and nothing is transposed. Include after
// foreach_target.h, like simd-inl.h.
#include "backends/cpu/kernels/three_interpolate/geometry.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_TABLES_INL_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_TABLES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX2  // a look-up reaches across all lanes of a vector
using Floats = hn::ScalableTag<float>;
using Words = hn::ScalableTag<std::uint32_t>;

/// Up to so many features fit in the tables: four vectors.
constexpr std::int64_t kMostInTables = 4 * kLanes<float>;

/// Features `at` of a table of kVectors vectors.
template <int kVectors>
HWY_INLINE hn::Vec<Floats> look_up(const hn::Vec<Floats>* table, hn::Vec<Words> at) {
  const Floats d;
  if constexpr (kVectors == 1) {
    return hn::TableLookupLanes(table[0], hn::IndicesFromVec(d, at));
#if HWY_TARGET <= HWY_AVX3
  } else if constexpr (kVectors == 2) {
    return hn::Vec<Floats>{_mm512_permutex2var_ps(table[0].raw, at.raw, table[1].raw)};
#endif
  } else {
    constexpr int kHalf = kVectors / 2;
    const auto first_half = hn::Set(Words(), static_cast<std::uint32_t>(kHalf * kLanes<float>));
    const auto upper = hn::RebindMask(d, hn::TestBit(at, first_half));
    const auto lane = HWY_TARGET <= HWY_AVX3 ? at : hn::AndNot(first_half, at);  // there, further bits do not matter
    return hn::IfThenElse(upper, look_up<kHalf>(table + kHalf, lane), look_up<kHalf>(table, lane));
  }
}

/// Elements [i, i + a vector) of a row of m, zero beyond.
template <class T>
HWY_INLINE hn::Vec<Floats> load_part(const T* row, std::int64_t m, std::int64_t i) {
  const Floats d;
  if (i + kLanes<float> <= m) return load(d, row + i);
  HWY_ALIGN T part[kLanes<float>] = {};
  if (i < m) std::copy(row + i, row + m, part);
  return load(d, part);
}

/// Whether one of `count` indices is outside [0, M-1].
inline bool any_outside(std::int64_t m, const std::int32_t* indices, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, static_cast<std::uint32_t>(indices[i]));
  return largest >= static_cast<std::uint32_t>(m);
}

/// The neighbours of a run of points one after the other: rows and weights are [3, pitch], whole vectors of points.
template <class T>
void split_neighbours(const std::int32_t* indices, const T* raw, std::int64_t points, std::int64_t pitch,
                      const Neighbours<float>& to) {
  constexpr std::int64_t lanes = kLanes<float>;
  const Floats d;
  const Words du;
  const auto split = [&](std::int64_t i, const std::uint32_t* rows, const T* weights) HWY_ATTR {
    HWY_ALIGN float promoted[3 * lanes];
    load_row(weights, promoted, 3 * lanes);
    hn::Vec<Floats> w[3];
    hn::Vec<Words> r[3];
    hn::LoadInterleaved3(d, promoted, w[0], w[1], w[2]);
    hn::LoadInterleaved3(du, rows, r[0], r[1], r[2]);
    for (int j = 0; j < 3; ++j) {
      hn::Store(w[j], d, to.weights + j * pitch + i);
      hn::Store(r[j], du, to.rows + j * pitch + i);
    }
  };
  const auto* const rows = reinterpret_cast<const std::uint32_t*>(indices);
  std::int64_t i = 0;
  for (; i + lanes <= points; i += lanes) split(i, rows + 3 * i, raw + 3 * i);
  if (i == points) return;
  HWY_ALIGN std::uint32_t last_rows[3 * lanes] = {};
  HWY_ALIGN T last_weights[3 * lanes] = {};
  std::copy(rows + 3 * i, rows + 3 * points, last_rows);
  std::copy(raw + 3 * i, raw + 3 * points, last_weights);
  split(i, last_rows, last_weights);
}

/// All points of kChannels channels of one image. kOutside: neighbours out of range are left out.
template <int kVectors, bool kOutside, int kChannels, class T>
HWY_NOINLINE void interpolate_by_table(const T* features, std::int64_t m, Neighbours<float> near,
                                       std::int64_t near_pitch, std::int64_t points, bool non_temporal, T* to,
                                       std::int64_t pitch) {
  constexpr std::int64_t lanes = kLanes<float>;
  const Floats d;
  const Words du;
  hn::Vec<Floats> tables[kChannels][kVectors];
  HWY_UNROLL(4)
  for (int c = 0; c < kChannels; ++c) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) tables[c][v] = vector_barrier(load_part(features + c * m, m, v * lanes));
  }
  const auto end = hn::Set(du, static_cast<std::uint32_t>(m));
  const auto interpolate = [&](std::int64_t i, hn::Vec<Floats>* sums) HWY_ATTR {
    HWY_UNROLL(3)
    for (int j = 0; j < 3; ++j, i += near_pitch) {
      auto row = hn::Load(du, near.rows + i);
      const auto weight = hn::Load(d, near.weights + i);
      const auto inside = hn::Lt(row, end);
      if (kOutside) row = hn::IfThenElseZero(inside, row);
      HWY_UNROLL(4)
      for (int c = 0; c < kChannels; ++c) {
        const auto before = j == 0 ? hn::Zero(d) : sums[c];
        const auto sum = hn::MulAdd(weight, look_up<kVectors>(tables[c], row), before);
        sums[c] = kOutside ? hn::IfThenElse(hn::RebindMask(d, inside), sum, before) : sum;
      }
    }
  };
  std::int64_t i = 0;
  for (; i + 2 * lanes <= points; i += 2 * lanes) {
    hn::Vec<Floats> sums[2][kChannels];
    interpolate(i, sums[0]);
    interpolate(i + lanes, sums[1]);
    HWY_UNROLL(4)
    for (int c = 0; c < kChannels; ++c) {
      store(non_temporal, sums[0][c], d, to + c * pitch + i);
      store(non_temporal, sums[1][c], d, to + c * pitch + i + lanes);
    }
  }
  for (; i < points; i += lanes) {
    hn::Vec<Floats> sums[kChannels];
    interpolate(i, sums);
    for (int c = 0; c < kChannels; ++c) {
      HWY_ALIGN float last[lanes];
      hn::Store(sums[c], d, last);
      store_row(last, to + c * pitch + i, std::min(lanes, points - i));
    }
  }
}

/// All points of the channels of one image.
template <int kVectors, bool kOutside, class T>
void interpolate_channels(const Rows<const T>& in, std::int64_t m, const Neighbours<float>& near,
                          std::int64_t near_pitch, std::int64_t points, bool non_temporal, const Rows<T>& out) {
  constexpr int kChannels = kVectors <= 2 || HWY_TARGET <= HWY_AVX3 ? 4 : 2;  // their tables stay in registers
  std::int64_t c = 0;
  for (; c + kChannels <= in.channels; c += kChannels) {
    interpolate_by_table<kVectors, kOutside, kChannels>(in.first + c * in.pitch, m, near, near_pitch, points,
                                                        non_temporal, out.first + c * out.pitch, out.pitch);
  }
  for (; c < in.channels; ++c) {
    interpolate_by_table<kVectors, kOutside, 1>(in.first + c * in.pitch, m, near, near_pitch, points, non_temporal,
                                                out.first + c * out.pitch, out.pitch);
  }
}

/// interpolate_channels for M features, some neighbours out of range or none.
template <class T>
auto table_kernel(std::int64_t m, bool outside) {
  constexpr std::int64_t lanes = kLanes<float>;
  if (m <= lanes) return outside ? interpolate_channels<1, true, T> : interpolate_channels<1, false, T>;
  if (m <= 2 * lanes) return outside ? interpolate_channels<2, true, T> : interpolate_channels<2, false, T>;
  return outside ? interpolate_channels<4, true, T> : interpolate_channels<4, false, T>;
}
#endif

}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
