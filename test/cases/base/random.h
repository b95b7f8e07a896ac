// Small, seeded, the same on every machine.
#pragma once

#include <cstdint>
#include <string>

namespace mluops::cases {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// Seed from a text, so that every case has its own numbers.
  explicit Random(const std::string& text) : state_(0xcbf29ce484222325u) {
    for (unsigned char c : text) state_ = (state_ ^ c) * 0x100000001b3u;
  }

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// In [low, high).
  double real(double low, double high) { return low + (high - low) * unit(); }
  /// In [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double p) { return unit() < p; }
  template <class T, std::size_t kCount>
  T pick(const T (&choices)[kCount]) {
    return choices[bits() % kCount];
  }

 private:
  std::uint64_t state_;
};

}  // namespace mluops::cases
