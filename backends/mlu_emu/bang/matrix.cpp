#include "backends/mlu_emu/bang/matrix.h"

#include <algorithm>
#include <cstring>

namespace mluops::emu::bang {
namespace {

constexpr std::int64_t kRows = 4, kVectorBytes = 64;

/// One panel: tile [4,lanes] = rows [4,terms] x panel [terms,lanes]. The tile stays in registers; a multiplication and
/// an addition, each rounded, for every term.
template <class E>
[[gnu::always_inline]] inline void multiply(const E* rows, std::int64_t terms, const E* panel, E* tile) {
  constexpr std::int64_t kLanes = kVectorBytes / static_cast<std::int64_t>(sizeof(E));
  typedef E Vector __attribute__((vector_size(64)));
  Vector sums[kRows] = {};
  for (std::int64_t term = 0; term < terms; ++term) {
    Vector weights;
    std::memcpy(&weights, panel + term * kLanes, sizeof(weights));
    for (std::int64_t row = 0; row < kRows; ++row) sums[row] += weights * rows[row * terms + term];
  }
  std::memcpy(tile, sums, sizeof(sums));
}

template <class E>
void multiply_plain(const E* rows, std::int64_t terms, const E* panel, E* tile) {
  multiply(rows, terms, panel, tile);
}

#if defined(__x86_64__)
template <class E>
__attribute__((target("avx2"))) void multiply_avx2(const E* rows, std::int64_t terms, const E* panel, E* tile) {
  multiply(rows, terms, panel, tile);
}
const bool kAvx2 = __builtin_cpu_supports("avx2") != 0;
#endif

template <class E>
void multiply_panel(const E* rows, std::int64_t terms, const E* panel, E* tile) {
#if defined(__x86_64__)
  if (kAvx2) return multiply_avx2(rows, terms, panel, tile);
#endif
  multiply_plain(rows, terms, panel, tile);
}

}  // namespace

template <class E>
void Panels<E>::multiply_four(const E* rows, E* out) const {
  E tile[static_cast<std::size_t>(kRows * kLanes)];
  for (std::int64_t first = 0; first < columns_; first += kLanes) {
    multiply_panel(rows, terms_, data_.data() + first * terms_, tile);
    const std::int64_t lanes = std::min(kLanes, columns_ - first);
    for (std::int64_t row = 0; row < kRows; ++row) {
      std::copy_n(tile + row * kLanes, lanes, out + row * columns_ + first);
    }
  }
}

template class Panels<float>;
template class Panels<double>;

}  // namespace mluops::emu::bang
