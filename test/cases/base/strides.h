// Functions that take tensors with strides: for tests that tell lies about a call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

namespace mluops::cases {

/// Whether the tensors of this C function may have strides >= 0.
inline bool takes_strides(std::string_view function) {
  constexpr std::string_view kFunctions[] = {"mluOpAbs",          "mluOpLog", "mluOpSqrt",
                                             "mluOpSqrtBackward", "mluOpDiv", "mluOpLgamma"};
  return std::find(std::begin(kFunctions), std::end(kFunctions), function) != std::end(kFunctions);
}

/// Makes strides that would lead beyond the first `count` elements of a tensor negative: every operator refuses those.
inline void keep_within(std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& dims, std::int64_t count) {
  std::int64_t reach = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    std::int64_t far = 0;
    const bool fits = !__builtin_mul_overflow(strides[i], dims[i] - 1, &far) && far < count - reach + 1;
    if (fits) {
      reach += std::max<std::int64_t>(far, 0);
    } else {
      strides[i] = -1;
    }
  }
}

}  // namespace mluops::cases
