// Logspace: powers between two, each by itself and in double; a task owns the elements it writes. Results of 32 bits
// and less by vectors, whose relative error of 1e-13 is lost in the rounding; double and INT32, which is cut off, by
// the C library.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise/logspace.cpp"
#include <hwy/foreach_target.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/elementwise/map-inl.h"
#include "mluops/problem/elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::elementwise::HWY_NAMESPACE {
namespace {

/// Exponents by their places: each is found from the nearer end, as torch.logspace does, so that the last one is `end`.
struct Exponents {
  double start, end, step, last, half;

  explicit Exponents(const mluopsLogspaceProblem& p)
      : start(p.exact_start),
        end(p.exact_end),
        step(p.shape.steps > 1 ? (end - start) / static_cast<double>(p.shape.steps - 1) : 0),
        last(static_cast<double>(p.shape.steps - 1)),
        half(static_cast<double>(std::max<std::int64_t>(p.shape.steps / 2, 1))) {}

  double at(double i) const { return i < half ? start + step * i : end - step * (last - i); }

  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V at(D d, V i) const {
    const V from_start = hn::Add(hn::Set(d, start), hn::Mul(hn::Set(d, step), i));
    const V from_end = hn::Sub(hn::Set(d, end), hn::Mul(hn::Set(d, step), hn::Sub(hn::Set(d, last), i)));
    return hn::IfThenElse(hn::Lt(i, hn::Set(d, half)), from_start, from_end);
  }
};

template <class T>
T element_of(double power) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    constexpr double kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    return std::isnan(power) ? 0 : static_cast<T>(std::clamp(power, kLeast, kMost));
  } else {
    return from_acc<T>(static_cast<Acc<T>>(power));
  }
}

/// base^exponent = e^(exponent * log(base)), base > 0. `results` has room for whole vectors.
HWY_INLINE void powers(const Exponents& exponents, double log_base, std::int64_t first, std::int64_t n,
                       float* results) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto most = hn::Set(d, 700.0);  // is infinite in float and finite in double
  for (std::int64_t i = 0; i < n; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto place = hn::Iota(d, static_cast<double>(first + i));
    const auto power = hn::Mul(exponents.at(d, place), hn::Set(d, log_base));
    hn::StoreU(hn::DemoteTo(df, hn::Exp(d, hn::Min(power, most))), df, results + i);
  }
}

template <class T>
mluOpStatus_t logspace(Context& context, const mluopsCall& call, const mluopsLogspaceProblem& p) {
  const Exponents exponents(p);
  const double base = p.exact_base, log_base = std::log(base);
  T* const res = static_cast<T*>(p.res);
  if constexpr (!std::is_same_v<T, std::int32_t> && std::is_same_v<Acc<T>, float>) {
    if (base > 0 && std::isfinite(base) && std::isfinite(exponents.start) && std::isfinite(exponents.end)) {
      const auto fill = [=](std::int64_t first, std::int64_t n, float* results)
                            HWY_ATTR { powers(exponents, log_base, first, n, results); };
      return map_blocks(context, call, res, p.shape.steps, 2 * cost::kFunction, fill);
    }
  }
  return map_scalars(context, call, res, p.shape.steps, 10 * cost::kStep, [=](std::int64_t i) {
    return element_of<T>(std::pow(base, exponents.at(static_cast<double>(i))));
  });
}

/// with_element, and INT32.
template <class F>
mluOpStatus_t with_logspace_element(const mluopsCall& call, mluOpDataType_t dtype, F&& f) {
  if (dtype == MLUOP_DTYPE_INT32) return f(TypeTag<std::int32_t>{});
  return with_element(call, dtype, f);
}

}  // namespace
}  // namespace mluops::cpu::elementwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(logspace, elementwise, logspace, mluopsLogspaceProblem, with_logspace_element)
