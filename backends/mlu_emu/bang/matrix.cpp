#include "backends/mlu_emu/bang/matrix.h"

#include <algorithm>
#include <cstring>

namespace mluops::emu::bang {
namespace {

constexpr std::int64_t kRows = 4, kPanelBytes = 64;

/// One panel: tile [4,lanes] = rows [4,terms] x panel [terms,lanes], kAtOnce rows at a time, whose sums stay in
/// registers of kBytes (wider vectors than the machine's are kept in memory by g++). A multiplication and an addition,
/// each rounded, for every term.
template <class E, std::int64_t kBytes, std::int64_t kAtOnce>
[[gnu::always_inline]] inline void multiply(const E* rows, std::int64_t terms, const E* panel, E* tile) {
  constexpr std::int64_t kParts = kPanelBytes / kBytes, kLanes = kBytes / static_cast<std::int64_t>(sizeof(E));
  typedef E Vector __attribute__((vector_size(kBytes)));
  for (std::int64_t first = 0; first < kRows; first += kAtOnce, tile += kAtOnce * kParts * kLanes) {
    const E *terms_of_rows = rows + first * terms, *from = panel;
    Vector sums[kAtOnce][kParts] = {};
    for (std::int64_t term = 0; term < terms; ++term, ++terms_of_rows) {
      Vector weights[kParts];
      for (Vector& part : weights) {
        std::memcpy(&part, from, kBytes);
        from += kLanes;
      }
      for (std::int64_t row = 0; row < kAtOnce; ++row) {
        for (std::int64_t part = 0; part < kParts; ++part) {
          sums[row][part] += weights[part] * terms_of_rows[row * terms];
        }
      }
    }
    std::memcpy(tile, sums, sizeof(sums));
  }
}

template <class E>
void multiply_plain(const E* rows, std::int64_t terms, const E* panel, E* tile) {
  multiply<E, 16, 2>(rows, terms, panel, tile);
}

#if defined(__x86_64__)
template <class E>
__attribute__((target("avx2"))) void multiply_avx2(const E* rows, std::int64_t terms, const E* panel, E* tile) {
  multiply<E, 32, 4>(rows, terms, panel, tile);
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
