// Logspace: powers between two, each by itself and by the C library's pow in double; a task owns the elements it
// writes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/dispatch.h"
#include "mluops/problem/elementwise.h"

namespace mluops::cpu::elementwise {
namespace {

template <class T>
T element_of(double power) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    constexpr double kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    return std::isnan(power) ? 0 : static_cast<T>(std::clamp(power, kLeast, kMost));
  } else {
    return from_acc<T>(static_cast<Acc<T>>(power));
  }
}

/// Each exponent is found from the nearer end, as torch.logspace does: the last one is `end`.
template <class T>
mluOpStatus_t logspace(Context& context, const mluopsCall& call, const mluopsLogspaceProblem& p) {
  const std::int64_t steps = p.shape.steps;
  const double start = p.exact_start, end = p.exact_end, base = p.exact_base;
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  T* const res = static_cast<T*>(p.res);
  Loop(context, call, steps, 10 * cost::kStep).run([&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) {
      const bool near_start = i < steps / 2 || steps == 1;
      const double exponent =
          near_start ? start + step * static_cast<double>(i) : end - step * static_cast<double>(steps - 1 - i);
      res[i] = element_of<T>(std::pow(base, exponent));
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// with_element, and INT32.
template <class F>
mluOpStatus_t with_logspace_element(const mluopsCall& call, mluOpDataType_t dtype, F&& f) {
  if (dtype == MLUOP_DTYPE_INT32) return f(TypeTag<std::int32_t>{});
  return with_element(call, dtype, f);
}

}  // namespace
}  // namespace mluops::cpu::elementwise

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(logspace, elementwise, logspace, mluopsLogspaceProblem,
                              elementwise::with_logspace_element)
