// Which of several equally far points is picked: mmcv's reduction on the device decides, T threads that each look at
// every T-th point, then halve their number until one is left. Of two threads the lower wins, so in the end the one
// whose number, its bits in reverse, is least; inside a thread the first point.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace mluops::cpu::furthest_point_sample {

/// Points as keys: of equally far points the one with the least key is picked.
class PickOrder {
 public:
  explicit PickOrder(std::int64_t n)
      : thread_bits_(std::bit_width(static_cast<std::uint64_t>(std::min<std::int64_t>(n, kMostThreads))) - 1) {}

  std::uint32_t key(std::int64_t point) const {
    const auto p = static_cast<std::uint32_t>(point);
    return reversed(p & ((1u << thread_bits_) - 1)) << kRoundBits | p >> thread_bits_;
  }
  std::int32_t point(std::uint32_t key) const {
    const std::uint32_t round = key & ((1u << kRoundBits) - 1);
    return static_cast<std::int32_t>(round << thread_bits_ | reversed(key >> kRoundBits));
  }

 private:
  static constexpr std::int64_t kMostThreads = 1024;
  static constexpr int kRoundBits = 21;  ///< 2^31 points, 1024 at a time

  std::uint32_t reversed(std::uint32_t thread) const {
    std::uint32_t reverse = 0;
    for (int bit = 0; bit < thread_bits_; ++bit) reverse |= (thread >> bit & 1) << (thread_bits_ - 1 - bit);
    return reverse;
  }

  int thread_bits_;
};

/// The furthest point so far, by distance, then by key.
template <class A>
struct Furthest {
  A distance;
  std::uint32_t key;

  void consider(A d, std::uint32_t k) {
    if (d < distance || (d == distance && k >= key)) return;
    distance = d;
    key = k;
  }
};

}  // namespace mluops::cpu::furthest_point_sample
