// One transform of a line of complex numbers, real and imaginary parts apart.
//
// Stockham's autosorting algorithm, decimation in frequency (Van Loan, Computational Frameworks for the FFT, 1.7): a
// step takes radix r from the length m * r and s transforms side by side, which are the lanes:
//   y[q + s (r p + j)] = w^(p j) * the sum over k of x[q + s (p + m k)] * exp(-2 pi i jk / r), w = exp(-2 pi i / (m r))
// Lengths with prime factors above 13 are convolutions with a chirp (Bluestein), of powers of two.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/cpu/kernels/fft/tables.h"
#include "backends/cpu/simd/simd-inl.h"

#if defined(MLUOPS_CPU_KERNELS_FFT_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_KERNELS_FFT_TRANSFORM_INL_H_
#else
#define MLUOPS_CPU_KERNELS_FFT_TRANSFORM_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace cpu::HWY_NAMESPACE;
namespace {

/// A line of numbers in the scratch of a slot.
struct Line {
  float *re, *im;
};

template <class V>
struct Complex {
  V re, im;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE Complex<V> times(D d, const Complex<V>& a, float re, float im) {
  const auto c = hn::Set(d, re), s = hn::Set(d, im);
  return {hn::NegMulAdd(a.im, s, hn::Mul(a.re, c)), hn::MulAdd(a.re, s, hn::Mul(a.im, c))};
}

template <class V>
HWY_INLINE Complex<V> add(const Complex<V>& a, const Complex<V>& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}

template <class V>
HWY_INLINE Complex<V> subtract(const Complex<V>& a, const Complex<V>& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}

/// The sums over k of a[k] exp(-2 pi i jk / R), in place; units[k] = exp(-2 pi i k / R). For odd R the terms k and
/// R - k share their cosine, and their sines differ in sign; so do the sums j and R - j.
template <int R, class D, class V = hn::Vec<D>>
HWY_INLINE void butterfly(D d, Complex<V>* a, const Complex<float>* units) {
  if constexpr (R == 2) {
    const Complex<V> difference = subtract(a[0], a[1]);
    a[0] = add(a[0], a[1]);
    a[1] = difference;
  } else if constexpr (R == 4) {
    const Complex<V> even = add(a[0], a[2]), odd = add(a[1], a[3]), e = subtract(a[0], a[2]), o = subtract(a[1], a[3]);
    a[0] = add(even, odd);
    a[1] = {hn::Add(e.re, o.im), hn::Sub(e.im, o.re)};
    a[2] = subtract(even, odd);
    a[3] = {hn::Sub(e.re, o.im), hn::Add(e.im, o.re)};
  } else {
    constexpr int kHalf = R / 2;
    Complex<V> sums[kHalf], differences[kHalf], all = a[0];
    MLUOPS_UNROLL
    for (int k = 0; k < kHalf; ++k) {
      sums[k] = add(a[k + 1], a[R - 1 - k]);
      differences[k] = subtract(a[k + 1], a[R - 1 - k]);
      all = add(all, sums[k]);
    }
    MLUOPS_UNROLL
    for (int j = 1; j <= kHalf; ++j) {
      Complex<V> even = a[0], odd = {hn::Zero(d), hn::Zero(d)};
      MLUOPS_UNROLL
      for (int k = 1; k <= kHalf; ++k) {
        const auto cosine = hn::Set(d, units[j * k % R].re), sine = hn::Set(d, units[j * k % R].im);
        even = {hn::MulAdd(sums[k - 1].re, cosine, even.re), hn::MulAdd(sums[k - 1].im, cosine, even.im)};
        odd = {hn::MulAdd(differences[k - 1].re, sine, odd.re), hn::MulAdd(differences[k - 1].im, sine, odd.im)};
      }
      a[j] = {hn::Sub(even.re, odd.im), hn::Add(even.im, odd.re)};
      a[R - j] = {hn::Add(even.re, odd.im), hn::Sub(even.im, odd.re)};
    }
    a[0] = all;
  }
}

/// A step of radix R: m groups of `s` lanes, `s` transforms have been made of each before.
template <int R>
HWY_NOINLINE void step(const Tables& tables, std::int64_t m, std::int64_t s, Line from, Line to) {
  Complex<float> units[R];
  for (int k = 0; k < R; ++k) {
    const auto root = static_cast<std::size_t>(k * (tables.length / R));
    units[k] = {tables.roots.re[root], tables.roots.im[root]};
  }
  for (std::int64_t p = 0; p < m; ++p) {
    for_lanes<float>(s, [&](auto d, std::int64_t q) HWY_ATTR {
      Complex<hn::Vec<decltype(d)>> a[R];
      for (int k = 0; k < R; ++k) {
        const std::int64_t at = q + s * (p + m * k);
        a[k] = {hn::LoadU(d, from.re + at), hn::LoadU(d, from.im + at)};
      }
      butterfly<R>(d, a, units);
      for (int j = 0; j < R; ++j) {
        const auto root = static_cast<std::size_t>(p * j * s);
        if (j > 0) a[j] = times(d, a[j], tables.roots.re[root], tables.roots.im[root]);
        const std::int64_t at = q + s * (R * p + j);
        hn::StoreU(a[j].re, d, to.re + at);
        hn::StoreU(a[j].im, d, to.im + at);
      }
    });
  }
}

/// Transforms x, with as much scratch; the result is in the line returned.
HWY_INLINE Line transform_length(const Tables& tables, Line x, Line scratch) {
  std::int64_t left = tables.length, s = 1;
  for (const int radix : tables.factors) {
    const std::int64_t m = left / radix;
    switch (radix) {
      case 2:
        step<2>(tables, m, s, x, scratch);
        break;
      case 3:
        step<3>(tables, m, s, x, scratch);
        break;
      case 4:
        step<4>(tables, m, s, x, scratch);
        break;
      case 5:
        step<5>(tables, m, s, x, scratch);
        break;
      case 7:
        step<7>(tables, m, s, x, scratch);
        break;
      case 11:
        step<11>(tables, m, s, x, scratch);
        break;
      default:
        step<13>(tables, m, s, x, scratch);
        break;
    }
    std::swap(x, scratch);
    left = m;
    s *= radix;
  }
  return x;
}

/// a *= b, or a *= the conjugate of b where `conjugate` is -1.
HWY_INLINE void multiply(Line a, const float* re, const float* im, float conjugate, std::int64_t n) {
  for_lanes<float>(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, a.re + i), y = hn::LoadU(d, a.im + i);
    const auto c = hn::LoadU(d, re + i), s = hn::Mul(hn::LoadU(d, im + i), hn::Set(d, conjugate));
    hn::StoreU(hn::NegMulAdd(y, s, hn::Mul(x, c)), d, a.re + i);
    hn::StoreU(hn::MulAdd(x, s, hn::Mul(y, c)), d, a.im + i);
  });
}

/// The transform of the chirp that signals are convolved with, and the 1 / length of the transform back.
HWY_INLINE void transform_filter(const Tables& t, Line x, Line scratch, float* re, float* im) {
  const auto scale = static_cast<float>(1.0 / static_cast<double>(t.length));
  std::fill_n(x.re, t.length, 0.0f);
  std::fill_n(x.im, t.length, 0.0f);
  for (std::int64_t k = 0; k < t.n; ++k) {
    const std::int64_t mirrored = k == 0 ? 0 : t.length - k;
    x.re[k] = x.re[mirrored] = t.chirp.re[static_cast<std::size_t>(k)] * scale;
    x.im[k] = x.im[mirrored] = -t.chirp.im[static_cast<std::size_t>(k)] * scale;
  }
  const Line made = transform_length(t, x, scratch);
  std::copy_n(made.re, t.length, re);
  std::copy_n(made.im, t.length, im);
}

/// Transforms x [n], in lines of `length` numbers; `filter` is that of transform_filter.
HWY_INLINE Line transform(const Tables& t, Line x, Line scratch, Line filter) {
  if (!t.convolves()) return transform_length(t, x, scratch);
  multiply(x, t.chirp.re.data(), t.chirp.im.data(), 1, t.n);
  std::fill(x.re + t.n, x.re + t.length, 0.0f);
  std::fill(x.im + t.n, x.im + t.length, 0.0f);
  Line made = transform_length(t, x, scratch);
  if (made.re != x.re) std::swap(x, scratch);
  multiply(made, filter.re, filter.im, 1, t.length);
  // Back: with real and imaginary parts swapped, before and after.
  made = transform_length(t, {made.im, made.re}, {scratch.im, scratch.re});
  made = {made.im, made.re};
  multiply(made, t.chirp.re.data(), t.chirp.im.data(), 1, t.n);
  return made;
}

}  // namespace
}  // namespace mluops::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
