// What transforms of a length need: roots of unity, found once and kept for the next calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace mluops::cpu::fft {

/// Real and imaginary parts, apart.
struct Numbers {
  std::vector<float> re, im;

  explicit Numbers(std::int64_t n = 0) : re(static_cast<std::size_t>(n)), im(static_cast<std::size_t>(n)) {}
};

struct Tables {
  static constexpr int kGreatestFactor = 13;

  std::int64_t n = 0;             ///< of the signal
  std::int64_t length = 0;        ///< of the transforms computed: n, or a power of two from 2 n - 1 on (Bluestein)
  std::vector<int> factors = {};  ///< of length
  Numbers roots;                  ///< exp(-2 pi i k / length)
  Numbers chirp;                  ///< Bluestein: exp(-pi i k^2 / n), k < n

  bool convolves() const { return length != n; }
};

/// The tables of a length; a few lengths are kept. Throws std::bad_alloc.
std::shared_ptr<const Tables> tables_of(std::int64_t n);

}  // namespace mluops::cpu::fft
