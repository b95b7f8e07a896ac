// The gradient of up to 16 features, and nothing is transposed: the sums of a channel are one register, 16 of its
// gradients are another, where every feature looks up its next point. Include after foreach_target.h, like simd-inl.h.
//
// A round is a look-up and a multiply-add, 1.33 cycles for 16 features. 16 points have three neighbours of a feature on
// average, the feature with most has about six and a half.
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/three_interpolate/avx512/tables-inl.h"
#include "backends/cpu/three_interpolate/geometry.h"
#include "backends/cpu/three_interpolate/rows-inl.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_AVX512_ROUNDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_AVX512_ROUNDS_INL_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_AVX512_ROUNDS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::three_interpolate::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3

/// The neighbours of 16 points. Bit i of entries[f]: neighbour i, three per point, is feature f.
struct Neighbourhood {
  HWY_ALIGN std::uint64_t entries[kLanes<float>] = {};
  HWY_ALIGN float weights[3 * kRoundPoints] = {};

  template <class T>
  HWY_INLINE Neighbourhood(std::int64_t m, const std::int32_t* indices, const T* raw, std::int64_t points) {
    const Words du;
    constexpr std::int64_t lanes = kLanes<float>;
    HWY_ALIGN std::uint32_t rows[3 * kRoundPoints];
    std::fill_n(rows, 3 * kRoundPoints, ~0u);
    std::copy_n(indices, 3 * points, rows);
    load_row(raw, weights, 3 * points);
    const hn::Vec<Words> row[3] = {hn::Load(du, rows), hn::Load(du, rows + lanes), hn::Load(du, rows + 2 * lanes)};
    for (std::int64_t f = 0; f < m; ++f) {
      const auto feature = hn::Set(du, static_cast<std::uint32_t>(f));
      const auto equal = [&](int k) HWY_ATTR {
        return std::uint64_t{_mm512_cmpeq_epi32_mask(row[k].raw, feature.raw)} << (16 * k);
      };
      entries[f] = equal(0) | equal(1) | equal(2);
    }
  }
};

/// Where the lowest bit of each lane is: the exponent of it as a number. Of 0, nowhere.
HWY_INLINE __m256i lowest_bits(__m512i v) {
  const __m512i lowest = _mm512_and_si512(v, _mm512_sub_epi64(_mm512_setzero_si512(), v));
  const __m512i exponent = _mm512_srli_epi64(_mm512_castpd_si512(_mm512_cvtepu64_pd(lowest)), 52);
  return _mm512_cvtepi64_epi32(_mm512_sub_epi64(exponent, _mm512_set1_epi64(1023)));
}

HWY_INLINE __m512i without_lowest_bits(__m512i v) {
  return _mm512_and_si512(v, _mm512_add_epi64(v, _mm512_set1_epi64(-1)));
}

/// The rounds of 16 points at rounds.points and so on, `room` at most; returns how many, or -1 where they don't fit.
inline std::int64_t make_rounds(const Neighbourhood& near, const Rounds& rounds, std::int64_t room) {
  const Floats d;
  const auto w0 = hn::Load(d, near.weights), w1 = hn::Load(d, near.weights + 16), w2 = hn::Load(d, near.weights + 32);
  __m512i lower = _mm512_load_si512(near.entries), upper = _mm512_load_si512(near.entries + 8);
  for (std::int64_t round = 0;; ++round) {
    const unsigned left = _mm512_test_epi64_mask(lower, lower) | _mm512_test_epi64_mask(upper, upper) << 8;
    if (left == 0) return round;
    if (round == room) return -1;
    const __m512i entry = _mm512_inserti64x4(_mm512_castsi256_si512(lowest_bits(lower)), lowest_bits(upper), 1);
    const __mmask16 third = _mm512_cmpge_epi32_mask(entry, _mm512_set1_epi32(32));
    const __m512 weight =
        _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(w0.raw, entry, w1.raw), third, entry, w2.raw);
    // A third of 0 .. 47.
    const __m512i point = _mm512_srli_epi32(_mm512_mullo_epi32(entry, _mm512_set1_epi32(43)), 7);
    rounds.features[round] = static_cast<std::uint16_t>(left);
    _mm512_storeu_si512(rounds.points + 16 * round, point);
    _mm512_storeu_ps(rounds.weights + 16 * round, weight);
    lower = without_lowest_bits(lower);
    upper = without_lowest_bits(upper);
  }
}

/// The rounds of an image; false where some features are so much nearer than others that rounds don't pay.
template <class T>
bool make_image_rounds(const Shape& s, const std::int32_t* indices, const T* weights, const Rounds& rounds) {
  Rounds next = rounds;
  std::int64_t room = ceil_div(s.n, kRoundPoints) * kMostRounds;
  for (std::int64_t n = 0; n < s.n; n += kRoundPoints) {
    const Neighbourhood near(s.m, indices + 3 * n, weights + 3 * n, std::min(kRoundPoints, s.n - n));
    const std::int64_t count = make_rounds(near, next, room);
    if (count < 0) return false;
    *next.lengths = static_cast<std::uint32_t>(count);
    next.advance(count);
    room -= count;
  }
  return true;
}

/// sums[c] of kChannels channels, 16 points after 16 points. Meanwhile prefetches as many gradients `ahead`.
template <int kChannels, class T>
HWY_INLINE void add_rounds(const Rows<const T>& in, std::int64_t points, Rounds rounds, const T* ahead,
                           hn::Vec<Floats>* sums) {
  const Floats d;
  const Words du;
  HWY_UNROLL(8)
  for (int c = 0; c < kChannels; ++c) sums[c] = hn::Zero(d);
  for (std::int64_t n = 0; n < points; n += kRoundPoints, ahead += kChannels * kRoundPoints) {
    prefetch_bytes<2>(ahead, kChannels * kRoundPoints * sizeof(T));
    hn::Vec<Floats> gradients[kChannels];
    HWY_UNROLL(8)
    for (int c = 0; c < kChannels; ++c) gradients[c] = load_part(in.first + c * in.pitch, points, n);
    const std::int64_t count = *rounds.lengths;
    for (std::int64_t round = 0; round < count; ++round) {
      const auto point = hn::Load(du, rounds.points + 16 * round);
      const auto weight = hn::Load(d, rounds.weights + 16 * round);
      const __mmask16 features = rounds.features[round];
      HWY_UNROLL(8)
      for (int c = 0; c < kChannels; ++c) {
        sums[c].raw = _mm512_mask3_fmadd_ps(weight.raw, _mm512_permutexvar_ps(point.raw, gradients[c].raw), sums[c].raw,
                                            features);
      }
    }
    rounds.advance(count);
  }
}

/// The gradient of kChannels channels. Rows that are whole lines may be stored non-temporally.
template <int kChannels, class T>
HWY_NOINLINE void gather_channels(const Rows<const T>& in, std::int64_t points, const Rounds& rounds, std::int64_t m,
                                  bool non_temporal, T* to) {
  const Floats d;
  constexpr std::int64_t kDistance = 4 * kPrefetchBytes / sizeof(T);
  hn::Vec<Floats> sums[kChannels];
  add_rounds<kChannels>(in, points, rounds, in.first + std::max(kChannels * in.pitch, kDistance), sums);
  HWY_UNROLL(8)
  for (int c = 0; c < kChannels; ++c, to += m) {
    if (non_temporal) {
      store_non_temporal(sums[c], d, to);
    } else if (m == kLanes<float>) {
      store(sums[c], d, to);
    } else {
      HWY_ALIGN float row[kLanes<float>];
      hn::Store(sums[c], d, row);
      store_row(row, to, m);
    }
  }
}

/// The gradient of all channels of `in`, in rows of `out`.
template <class T>
void gather_by_rounds(const Rows<const T>& in, std::int64_t points, const Rounds& rounds, bool non_temporal,
                      const Rows<T>& out) {
  constexpr int kChannels = 8;
  std::int64_t c = 0;
  for (; c + kChannels <= in.channels; c += kChannels) {
    gather_channels<kChannels>(Rows<const T>{in.first + c * in.pitch, in.pitch, kChannels}, points, rounds, out.pitch,
                               non_temporal, out.first + c * out.pitch);
  }
  for (; c < in.channels; ++c) {
    gather_channels<1>(Rows<const T>{in.first + c * in.pitch, in.pitch, 1}, points, rounds, out.pitch, non_temporal,
                       out.first + c * out.pitch);
  }
}
#endif

}  // namespace mluops::cpu::three_interpolate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
