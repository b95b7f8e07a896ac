// What a fuzz test decides by: a seeded generator, or the bytes libFuzzer varies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "test/cases/base/random.h"

namespace mluops::test {

class Choices {
 public:
  virtual ~Choices() = default;

  /// In [0, 2^(8 * bytes)).
  virtual std::uint64_t bits(int bytes) = 0;

  /// In [low, high], from as few bytes as the range needs.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    const std::uint64_t count = static_cast<std::uint64_t>(high - low) + 1;
    const int bytes = count <= 0x100 ? 1 : count <= 0x10000 ? 2 : 8;
    return low + static_cast<std::int64_t>(bits(bytes) % count);
  }
  bool chance(double p) { return static_cast<double>(bits(1)) < p * 256; }
  template <class T, std::size_t kCount>
  T pick(const T (&choices)[kCount]) {
    return choices[static_cast<std::size_t>(integer(0, kCount - 1))];
  }
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
};

class RandomChoices : public Choices {
 public:
  explicit RandomChoices(cases::Random& random) : random_(random) {}
  std::uint64_t bits(int bytes) override { return bytes >= 8 ? random_.bits() : random_.bits() >> (64 - 8 * bytes); }

 private:
  cases::Random& random_;
};

/// One byte after the other; zeros when there are no more.
class ByteChoices : public Choices {
 public:
  ByteChoices(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  std::uint64_t bits(int bytes) override {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | (at_ == end_ ? 0 : *at_++);
    return value;
  }
  bool empty() const { return at_ == end_; }

 private:
  const std::uint8_t *at_, *end_;
};

}  // namespace mluops::test
