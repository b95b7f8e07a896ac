// Results that are no finite numbers on the 200 series, by the tables of the guide's 5.2: it saturates where later
// machines give infinity or NaN.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/mlu_emu/bang/half.h"

namespace mluops::emu::bang {

enum class NonFinite {
  kStays,         // moves, bits, comparisons (tables 5.4, 5.7, 5.8), extremes of an array (5.6)
  kNanSaturates,  // larger and smaller lanes (5.5)
  kSaturates      // operations, functions, quotients, conversions (5.2, 5.3, 5.10, 5.11, 5.12)
};

NonFinite non_finite_of(std::string_view builtin);

/// The running core is of the 200 series, and runs a kernel that a toolchain compiled. The kernels of this library's
/// operators keep infinity and NaN on every machine, as their definitions do.
bool saturates_here();

/// The largest finite number, with the sign of what it stands for; the guide does not say which sign a NaN gets.
void saturate(half* p, std::int64_t n, NonFinite rule);
void saturate(float* p, std::int64_t n, NonFinite rule);

}  // namespace mluops::emu::bang
