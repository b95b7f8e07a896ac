// Words that count, find, pack: each against a plain loop, over types, lengths and aliasing.
#include <cmath>
#include <cstring>
#include <random>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

template <class T>
std::vector<T> sparse(std::uint32_t seed, std::int64_t n) {
  std::mt19937 random(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) x = random() % 3 == 0 ? T(static_cast<int>(random() % 200) - 100) : T(0);
  return v;
}

template <class T>
class Select : public testing::Test {
 protected:
  static constexpr std::int64_t kMost = 700;

  /// body(x, mask, dst) on lanes of the values and the mask in NRAM; dst holds 1s.
  template <class Body>
  void on_device(std::int64_t n, Body body) {
    Rig rig;
    values = sparse<T>(1, n), mask = sparse<T>(2, n), out.assign(static_cast<std::size_t>(kMost), T(0));
    rig.tensor("values", values, Access::kRead).tensor("mask", mask, Access::kRead).tensor("out", out, Access::kWrite);
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
    EXPECT_EQ(rig.run([&](char* nram) {
      auto *x = reinterpret_cast<T*>(nram), *m = x + kMost, *dst = m + kMost;
      __memset_nram(dst, kMost, T(1));
      __memcpy(x, values.data(), bytes, GDRAM2NRAM);
      __memcpy(m, mask.data(), bytes, GDRAM2NRAM);
      body(x, m, dst);
      __memcpy(out.data(), dst, kMost * sizeof(T), NRAM2GDRAM);
    }),
              "");
  }
  bool set(std::int64_t i) const { return static_cast<float>(mask[static_cast<std::size_t>(i)]) != 0; }

  std::vector<T> values, mask, out;
};
using Types = testing::Types<half, float, std::int16_t, std::int32_t>;
TYPED_TEST_SUITE(Select, Types);

TYPED_TEST(Select, CountsAndFinds) {
  for (const std::int64_t n : {1, 2, 63, 64, 700}) {
    std::uint32_t count = 0, first = 0, last = 0;
    this->on_device(n, [&](auto*, auto* m, auto*) {
      count = __bang_count(m, n), first = __bang_findfirst1(m, n), last = __bang_findlast1(m, n);
    });
    std::uint32_t wanted = 0, lowest = ~0u, highest = ~0u;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!this->set(i)) continue;
      ++wanted, highest = static_cast<std::uint32_t>(i), lowest = std::min(lowest, highest);
    }
    EXPECT_EQ(count, wanted);
    EXPECT_EQ(first, lowest);
    EXPECT_EQ(last, highest);
  }
}

TYPED_TEST(Select, PacksBehindOneAnotherAlsoInPlace) {
  for (const std::int64_t n : {1, 65, 700}) {
    for (const bool in_place : {false, true}) {
      std::uint32_t kept = 0;
      this->on_device(n, [&](auto* x, auto* m, auto* dst) {
        kept = __bang_filter(in_place ? x : dst, x, m, n);
        if (in_place && kept > 0) __bang_move(dst, x, kept * sizeof(TypeParam));
      });
      std::uint32_t next = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        if (!this->set(i)) continue;
        ASSERT_EQ(static_cast<float>(this->out[next]), static_cast<float>(this->values[static_cast<std::size_t>(i)]));
        ++next;
      }
      EXPECT_EQ(kept, next);
      for (std::size_t i = next; i < this->out.size(); ++i) ASSERT_EQ(static_cast<float>(this->out[i]), 1.0f);
    }
  }
}

TYPED_TEST(Select, SelectedLanesComeBehindTheirNumber) {
  constexpr std::size_t kHead = 128 / sizeof(TypeParam);
  for (const std::int64_t n : {1, 65, 500}) {
    for (const bool as_bits : {false, true}) {
      this->on_device(n, [&](auto* x, auto* m, auto* dst) {
        auto* bits = reinterpret_cast<std::uint8_t*>(dst + 800);
        __memset_nram(bits, 100, std::uint8_t{0});
        for (std::int64_t i = 0; i < n; ++i) bits[i / 8] |= static_cast<std::uint8_t>((m[i] == 0 ? 0 : 1) << i % 8);
        as_bits ? __bang_select_bitindex(dst, x, bits, n) : __bang_select(dst, x, m, n);
      });
      std::uint32_t head[32], kept = 0;
      std::memcpy(head, this->out.data(), sizeof(head));
      for (std::int64_t i = 0; i < n; ++i) {
        if (!this->set(i)) continue;
        ASSERT_EQ(static_cast<float>(this->out[kHead + kept]),
                  static_cast<float>(this->values[static_cast<std::size_t>(i)]));
        ++kept;
      }
      EXPECT_EQ(head[0], kept);
      for (std::size_t i = 1; i < 32; ++i) EXPECT_EQ(head[i], 0u);
      EXPECT_EQ(static_cast<float>(this->out[kHead + kept]), 1.0f) << "behind the lanes nothing changes";
    }
  }
}

TYPED_TEST(Select, ExtremesComeWithTheirIndex) {
  constexpr std::int64_t n = 700;
  for (const int word : {0, 1, 2, 3}) {
    const bool largest = word % 2 == 0;
    this->on_device(n, [&](auto* x, auto*, auto* dst) {
      if (word == 0) __bang_argmax(dst, x, n);
      if (word == 1) __bang_argmin(dst, x, n);
      if (word == 2) __bang_max(dst, x, n);
      if (word == 3) __bang_min(dst, x, n);
    });
    std::size_t best = 0;
    for (std::size_t i = 1; i < n; ++i) {
      const auto a = static_cast<float>(this->values[i]), b = static_cast<float>(this->values[best]);
      if (largest ? a > b : a < b) best = i;
    }
    EXPECT_EQ(static_cast<float>(this->out[0]), static_cast<float>(this->values[best]));
    std::uint32_t index = 0;
    std::memcpy(&index, this->out.data() + 1, sizeof(index));
    EXPECT_EQ(index, best) << "right behind the value";
    EXPECT_EQ(static_cast<float>(this->out[1 + 4 / sizeof(TypeParam)]), 1.0f) << "behind the index nothing changes";
  }
}

TYPED_TEST(Select, MovesWhereTheMaskIsSet) {
  for (const std::int64_t n : {1, 65, 700}) {
    this->on_device(n, [&](auto* x, auto* m, auto* dst) { __bang_maskmove(dst, x, m, n); });
    const auto expect = [&] {
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_EQ(static_cast<float>(this->out[at]), this->set(i) ? static_cast<float>(this->values[at]) : 1.0f) << i;
      }
    };
    expect();
    this->on_device(n, [&](auto* x, auto* m, auto* dst) {
      auto* bits = reinterpret_cast<std::uint8_t*>(dst + 800);
      __memset_nram(bits, 100, std::uint8_t{0});
      for (std::int64_t i = 0; i < n; ++i) bits[i / 8] |= static_cast<std::uint8_t>((m[i] == 0 ? 0 : 1) << i % 8);
      __bang_maskmove_bitindex(dst, x, bits, n);
    });
    expect();
  }
}

TYPED_TEST(Select, ResultsInNram) {
  std::uint32_t got[3] = {};
  this->on_device(700, [&](auto*, auto* m, auto* dst) {
    auto* numbers = reinterpret_cast<std::uint32_t*>(dst + 800);
    __bang_count(numbers, m, 700);
    __bang_findfirst1(numbers + 1, m, 700);
    __bang_findlast1(numbers + 2, m, 700);
    std::copy_n(numbers, 3, got);
    __bang_collect(dst, m, m, 700);
    EXPECT_EQ(got[0], __bang_count(m, 700));
    EXPECT_EQ(got[1], __bang_findfirst1(m, 700));
    EXPECT_EQ(got[2], __bang_findlast1(m, 700));
  });
  for (std::size_t i = 0; i < got[0]; ++i) EXPECT_NE(static_cast<float>(this->out[i]), 0.0f);
}

template <class T>
class ReduceSum : public testing::Test {};
using Floats = testing::Types<half, bfloat16_t, float>;
TYPED_TEST_SUITE(ReduceSum, Floats);

TYPED_TEST(ReduceSum, PutsASumIntoTheFirstLaneOfEvery128Bytes) {
  constexpr std::size_t kSegment = 128 / sizeof(TypeParam);
  for (const std::size_t n : {kSegment, 3 * kSegment}) {
    for (const bool in_place : {false, true}) {
      std::vector<TypeParam> in(n), out(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = TypeParam(static_cast<float>(i * 37 % 101) / 8);
      Rig rig;
      rig.tensor("in", in, Access::kRead).tensor("out", out, Access::kWrite);
      const auto count = static_cast<std::int64_t>(n), bytes = count * static_cast<std::int64_t>(sizeof(TypeParam));
      EXPECT_EQ(rig.run([&](char* nram) {
        auto *x = reinterpret_cast<TypeParam*>(nram), *dst = in_place ? x : x + n;
        __memset_nram(dst, count, TypeParam(7));
        __memcpy(x, in.data(), bytes, GDRAM2NRAM);
        __bang_reduce_sum(dst, x, count);
        __memcpy(out.data(), dst, bytes, NRAM2GDRAM);
      }),
                "");
      for (std::size_t i = 0; i < n; ++i) {
        TypeParam sum = in[i];
        for (std::size_t k = i + 1; i % kSegment == 0 && k < std::min(n, i + kSegment); ++k) sum = sum + in[k];
        const float kept = in_place ? static_cast<float>(in[i]) : 7;
        ASSERT_EQ(static_cast<float>(out[i]), i % kSegment == 0 ? static_cast<float>(sum) : kept) << i;
      }
    }
  }
}

TEST(ReduceSumChecks, OnlySegmentsWithUndefinedLanesAreUndefined) {
  Rig rig;
  std::vector<float> out(64);
  rig.tensor("out", out, Access::kWrite);
  const auto store = [&](std::int64_t first) {
    return rig.run([&](char* nram) {
      auto* x = reinterpret_cast<float*>(nram);
      __bang_write_value(x, 40, 1.0f);
      __bang_reduce_sum(x + 128, x, 64);
      __memcpy(out.data(), x + 128 + first, 4, NRAM2GDRAM);
    });
  };
  EXPECT_EQ(store(0), "");
  expect_fault(store(32), {"never written"});
}

TEST(SelectChecks, WhatDecidesMustBeDefined) {
  Rig rig;
  const auto fault = [&](auto word) {
    return rig.run([&](char* nram) {
      __bang_write_value(nram, 32, 1.0f);
      auto* x = reinterpret_cast<float*>(nram);
      word(x + 64, x);
    });
  };
  expect_fault(fault([](float*, float* x) { __bang_count(x, 33); }), {"__bang_count", "never written"});
  expect_fault(fault([](float*, float* x) { __bang_findfirst1(x, 33); }), {"__bang_findfirst1", "never written"});
  expect_fault(fault([](float* d, float* x) { __bang_argmax(d, x, 33); }), {"__bang_argmax", "never written"});
  expect_fault(fault([](float* d, float* x) { __bang_filter(d, x, x, 33); }), {"__bang_filter", "mask"});
}

TEST(SelectChecks, PackedLanesStayUndefined) {
  std::vector<float> out(64);
  Rig rig;
  rig.tensor("out", out, Access::kWrite);
  const auto store = [&](std::int64_t n) {
    return rig.run([&](char* nram) {
      auto *x = reinterpret_cast<float*>(nram), *mask = x + 64, *dst = mask + 64;
      __bang_write_value(x, 32, 1.0f);
      __bang_write_value(mask, 64, 1.0f);
      mask[0] = 0;
      __bang_filter(dst, x, mask, 64);
      __memcpy(out.data(), dst, n * 4, NRAM2GDRAM);
    });
  };
  EXPECT_EQ(store(31), "");
  expect_fault(store(32), {"never written"});
}

/// Distances of which one coordinate is infinite in padding and the other was never written; the count of those within
/// [0, 4), and the fault.
template <class T>
std::string count_near(std::uint32_t& count, bool upper_bound) {
  std::vector<T> points(40, T(1.0f));
  Rig rig("mtp_592");
  rig.tensor("points", points, Access::kRead);
  return rig.run([&](char* nram) {
    auto *x = reinterpret_cast<T*>(nram), *y = x + 64;
    auto *distance = reinterpret_cast<float*>(y + 64), *inside = distance + 64, *below = inside + 64;
    __bang_write_value(x, 64, T(std::numeric_limits<float>::infinity()));
    __memcpy(x, points.data(), 40 * sizeof(T), GDRAM2NRAM);
    __memcpy(y, points.data(), 40 * sizeof(T), GDRAM2NRAM);
    __bang_square(x, x, 64);
    __bang_square(y, y, 64);
    __bang_add(x, y, x, 64);
    if constexpr (sizeof(T) == sizeof(float)) {
      __bang_add(distance, y, x, 64);
    } else {
      __bang_half2float(distance, x, 64);
    }
    __bang_ge_scalar(inside, distance, 0.0f, 64);
    __bang_lt_scalar(below, distance, 4.0f, 64);
    if (upper_bound) __bang_and(inside, inside, below, 64);
    count = __bang_count(inside, 64);
  });
}

TEST(Select, PaddingBeyondEveryBoundIsNoFault) {
  std::uint32_t count = 0;
  EXPECT_EQ(count_near<float>(count, true), "");
  EXPECT_EQ(count, 40u);
  EXPECT_EQ(count_near<half>(count, true), "");
  EXPECT_EQ(count, 40u);
}

TEST(Select, PaddingThatCouldCountIsAFault) {
  std::uint32_t count = 0;
  expect_fault(count_near<float>(count, false), {"__bang_count", "never written"});
  expect_fault(count_near<half>(count, false), {"__bang_count", "never written"});
}

TEST(Select, ZeroAndAnythingIsZero) {
  std::vector<std::int32_t> out(64, 7);
  for (const std::int32_t mask : {0, 1}) {
    Rig rig;
    rig.tensor("out", out, Access::kWrite);
    const std::string fault = rig.run([&](char* nram) {
      auto *x = reinterpret_cast<std::int32_t*>(nram), *m = x + 64;
      __bang_write_value(m, 64, mask);
      __bang_band(x, x, m, 64);
      __memcpy(out.data(), x, 256, NRAM2GDRAM);
    });
    if (mask != 0) {
      expect_fault(fault, {"__memcpy", "never written"});
    } else {
      EXPECT_EQ(fault, "");
    }
  }
  EXPECT_EQ(out, std::vector<std::int32_t>(64, 0));
}

TEST(Select, EqualToSomethingUnusualStaysUndefined) {
  std::vector<float> out(64);
  Rig rig;
  rig.tensor("out", out, Access::kWrite);
  expect_fault(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<float*>(nram);
    __bang_eq_scalar(x, x, 3.7f, 64);
    __memcpy(out.data(), x, 256, NRAM2GDRAM);
  }),
               {"__memcpy", "never written"});
}

}  // namespace
}  // namespace mluops::emu::test
