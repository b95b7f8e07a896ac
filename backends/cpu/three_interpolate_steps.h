// The gradient of up to 16 features, and nothing is turned: the sums of a channel are one register, 16 of its gradients
// are another, where every feature looks up its next point. Include after foreach_target.h, like simd.h.
//
// A step is a look-up and a multiply-add, 1.33 cycles for 16 features. 16 points have three neighbours of a feature on
// average, the feature with most has about six and a half.
#include "backends/cpu/simd.h"
#include "backends/cpu/three_interpolate.h"
#include "backends/cpu/three_interpolate_rows.h"
#include "backends/cpu/three_interpolate_tables.h"

#if defined(MLUOPS_CPU_THREE_INTERPOLATE_STEPS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_THREE_INTERPOLATE_STEPS_H_
#else
#define MLUOPS_CPU_THREE_INTERPOLATE_STEPS_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3
using three_interpolate::kMostSteps;
using three_interpolate::kSteppedPoints;
using three_interpolate::StepArrays;
using three_interpolate::Steps;

/// The neighbours of 16 points. Bit i of entries[f]: neighbour i, three per point, is feature f.
struct Neighbourhood {
  HWY_ALIGN std::uint64_t entries[kLanes<float>] = {};
  HWY_ALIGN float weights[3 * kSteppedPoints] = {};

  template <class T>
  HWY_INLINE Neighbourhood(std::int64_t m, const std::int32_t* indices, const T* raw, std::int64_t points) {
    const Words du;
    constexpr std::int64_t lanes = kLanes<float>;
    HWY_ALIGN std::uint32_t rows[3 * kSteppedPoints];
    std::fill_n(rows, 3 * kSteppedPoints, ~0u);
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

/// The steps of 16 points at steps.points and so on, `room` at most; returns how many, or -1 where they don't fit.
inline std::int64_t make_steps(const Neighbourhood& near, const Steps& steps, std::int64_t room) {
  const Floats d;
  const auto w0 = hn::Load(d, near.weights), w1 = hn::Load(d, near.weights + 16), w2 = hn::Load(d, near.weights + 32);
  __m512i lower = _mm512_load_si512(near.entries), upper = _mm512_load_si512(near.entries + 8);
  for (std::int64_t step = 0;; ++step) {
    const unsigned left = _mm512_test_epi64_mask(lower, lower) | _mm512_test_epi64_mask(upper, upper) << 8;
    if (left == 0) return step;
    if (step == room) return -1;
    const __m512i entry = _mm512_inserti64x4(_mm512_castsi256_si512(lowest_bits(lower)), lowest_bits(upper), 1);
    const __mmask16 third = _mm512_cmpge_epi32_mask(entry, _mm512_set1_epi32(32));
    const __m512 weight =
        _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(w0.raw, entry, w1.raw), third, entry, w2.raw);
    // A third of 0 .. 47.
    const __m512i point = _mm512_srli_epi32(_mm512_mullo_epi32(entry, _mm512_set1_epi32(43)), 7);
    steps.features[step] = static_cast<std::uint16_t>(left);
    _mm512_storeu_si512(steps.points + 16 * step, point);
    _mm512_storeu_ps(steps.weights + 16 * step, weight);
    lower = without_lowest_bits(lower);
    upper = without_lowest_bits(upper);
  }
}

/// The steps of an image; false where some features are so much nearer than others that steps don't pay.
template <class T>
bool make_image_steps(const Shape& s, const std::int32_t* indices, const T* weights, const Steps& steps) {
  Steps next = steps;
  std::int64_t room = ceil_div(s.n, kSteppedPoints) * kMostSteps;
  for (std::int64_t n = 0; n < s.n; n += kSteppedPoints) {
    const Neighbourhood near(s.m, indices + 3 * n, weights + 3 * n, std::min(kSteppedPoints, s.n - n));
    const std::int64_t count = make_steps(near, next, room);
    if (count < 0) return false;
    *next.lengths = static_cast<std::uint32_t>(count);
    next.advance(count);
    room -= count;
  }
  return true;
}

/// sums[c] of kChannels channels, 16 points after 16 points. Meanwhile asks for as many gradients `ahead`.
template <int kChannels, class T>
HWY_INLINE void add_steps(const Rows<const T>& in, std::int64_t points, Steps steps, const T* ahead,
                          hn::Vec<Floats>* sums) {
  const Floats d;
  const Words du;
  HWY_UNROLL(8)
  for (int c = 0; c < kChannels; ++c) sums[c] = hn::Zero(d);
  for (std::int64_t n = 0; n < points; n += kSteppedPoints, ahead += kChannels * kSteppedPoints) {
    prefetch_bytes<2>(ahead, kChannels * kSteppedPoints * sizeof(T));
    hn::Vec<Floats> gradients[kChannels];
    HWY_UNROLL(8)
    for (int c = 0; c < kChannels; ++c) gradients[c] = load_part(in.first + c * in.pitch, points, n);
    const std::int64_t count = *steps.lengths;
    for (std::int64_t step = 0; step < count; ++step) {
      const auto point = hn::Load(du, steps.points + 16 * step);
      const auto weight = hn::Load(d, steps.weights + 16 * step);
      const __mmask16 features = steps.features[step];
      HWY_UNROLL(8)
      for (int c = 0; c < kChannels; ++c) {
        sums[c].raw = _mm512_mask3_fmadd_ps(weight.raw, _mm512_permutexvar_ps(point.raw, gradients[c].raw), sums[c].raw,
                                            features);
      }
    }
    steps.advance(count);
  }
}

/// The gradient of kChannels channels. Rows that are whole lines may be streamed.
template <int kChannels, class T>
HWY_NOINLINE void gather_channels(const Rows<const T>& in, std::int64_t points, const Steps& steps, std::int64_t m,
                                  bool streams, T* to) {
  const Floats d;
  constexpr std::int64_t kLead = 4 * three_interpolate::kLeadBytes / sizeof(T);
  hn::Vec<Floats> sums[kChannels];
  add_steps<kChannels>(in, points, steps, in.first + std::max(kChannels * in.pitch, kLead), sums);
  HWY_UNROLL(8)
  for (int c = 0; c < kChannels; ++c, to += m) {
    if (streams) {
      stream(sums[c], d, to);
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
void gather_by_steps(const Rows<const T>& in, std::int64_t points, const Steps& steps, bool streams,
                     const Rows<T>& out) {
  constexpr int kChannels = 8;
  std::int64_t c = 0;
  for (; c + kChannels <= in.channels; c += kChannels) {
    gather_channels<kChannels>(Rows<const T>{in.first + c * in.pitch, in.pitch, kChannels}, points, steps, out.pitch,
                               streams, out.first + c * out.pitch);
  }
  for (; c < in.channels; ++c) {
    gather_channels<1>(Rows<const T>{in.first + c * in.pitch, in.pitch, 1}, points, steps, out.pitch, streams,
                       out.first + c * out.pitch);
  }
}
#endif

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
