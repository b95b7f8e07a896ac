#include "backends/cpu/kernels/fft/tables.h"

#include <array>
#include <cmath>
#include <mutex>

namespace mluops::cpu::fft {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Factors up to kGreatestFactor, fours first; what is left of n.
std::int64_t take_factors(std::int64_t n, std::vector<int>& factors) {
  for (const int factor : {4, 2, 3, 5, 7, 11, 13}) {
    for (; n % factor == 0; n /= factor) factors.push_back(factor);
  }
  return n;
}

void put(Numbers& numbers, std::int64_t k, double angle) {
  numbers.re[static_cast<std::size_t>(k)] = static_cast<float>(std::cos(angle));
  numbers.im[static_cast<std::size_t>(k)] = static_cast<float>(-std::sin(angle));
}

std::shared_ptr<const Tables> make(std::int64_t n) {
  auto made = std::make_shared<Tables>();
  made->n = made->length = n;
  if (take_factors(n, made->factors) != 1) {
    made->length = 1;
    while (made->length < 2 * n - 1) made->length *= 2;
    made->factors.clear();
    take_factors(made->length, made->factors);
    made->chirp = Numbers(n);
    std::int64_t square = 0;  // k^2 modulo 2 n
    for (std::int64_t k = 0; k < n; ++k) {
      put(made->chirp, k, kPi * static_cast<double>(square) / static_cast<double>(n));
      square = (square + 2 * k + 1) % (2 * n);
    }
  }
  made->roots = Numbers(made->length);
  for (std::int64_t k = 0; k < made->length; ++k) {
    put(made->roots, k, 2 * kPi * static_cast<double>(k) / static_cast<double>(made->length));
  }
  return made;
}

}  // namespace

std::shared_ptr<const Tables> tables_of(std::int64_t n) {
  static std::mutex mutex;
  static std::array<std::shared_ptr<const Tables>, 8> kept;
  static std::size_t next = 0;
  {
    const std::lock_guard lock(mutex);
    for (const auto& one : kept) {
      if (one != nullptr && one->n == n) return one;
    }
  }
  auto made = make(n);
  const std::lock_guard lock(mutex);
  kept[next] = made;
  next = (next + 1) % kept.size();
  return made;
}

}  // namespace mluops::cpu::fft
