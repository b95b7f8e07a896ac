// Words that pool: each against a plain loop over windows, with strides, dilations, in place, in every type.
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

struct Shape {
  std::int64_t channel, height, width, kernel_height, kernel_width, stride_x, stride_y, dilation_y = 1, dilation_x = 1;

  std::int64_t rows() const { return (height - (kernel_height - 1) * dilation_y - 1) / stride_y + 1; }
  std::int64_t columns() const { return (width - (kernel_width - 1) * dilation_x - 1) / stride_x + 1; }
  std::int64_t inputs() const { return channel * height * width; }
  std::int64_t results() const { return rows() * columns() * channel; }
  std::size_t source(std::int64_t result, std::int64_t k) const {
    const std::int64_t pixel = result / channel;
    const std::int64_t y = pixel / columns() * stride_y + k / kernel_width * dilation_y;
    const std::int64_t x = pixel % columns() * stride_x + k % kernel_width * dilation_x;
    return static_cast<std::size_t>((y * width + x) * channel + result % channel);
  }
};
const Shape kShapes[] = {
    {5, 4, 6, 2, 3, 3, 2},         {1, 130, 130, 2, 2, 2, 2, 3, 3}, {32, 1, 132, 1, 4, 2, 1, 1, 3},
    {64, 9, 7, 3, 2, 1, 1, 2, 4},  {16, 2, 32, 2, 2, 2, 2},         {3, 1, 1, 1, 1, 1, 1},
    {128, 5, 5, 5, 5, 1, 1, 1, 1},
};

template <class T>
std::vector<T> numbers(std::int64_t n) {
  std::mt19937 random(3);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) x = T(static_cast<float>(random() % 4001) / 16 - 125);
  if (n > 20) v[7] = T(std::numeric_limits<float>::quiet_NaN()), v[11] = T(std::numeric_limits<float>::infinity());
  return v;
}

template <class T>
class Pool : public testing::Test {
 protected:
  template <class Word>
  std::vector<T> on_device(const std::vector<T>& in, std::int64_t results, bool in_place, Word word) {
    std::vector<T> source = in, out(static_cast<std::size_t>(results));
    Rig rig;
    rig.tensor("in", source, Access::kRead).tensor("out", out, Access::kWrite);
    EXPECT_EQ(rig.run([&](char* nram) {
      T* src = reinterpret_cast<T*>(nram);
      T* dst = in_place ? src : src + source.size();
      __memcpy(src, source.data(), static_cast<std::int64_t>(source.size() * sizeof(T)), GDRAM2NRAM);
      word(dst, src);
      __memcpy(out.data(), dst, results * static_cast<std::int64_t>(sizeof(T)), NRAM2GDRAM);
    }),
              "");
    return out;
  }
  /// meaning(so far, next) in float, rounded to T each time; the last step finish(value, size of the window).
  void expect(const Shape& s, const std::vector<T>& in, const std::vector<T>& got,
              const std::function<float(float, float)>& meaning, const std::function<float(float, float)>& finish) {
    for (std::int64_t i = 0; i < s.results(); ++i) {
      T wanted = in[s.source(i, 0)];
      for (std::int64_t k = 1; k < s.kernel_height * s.kernel_width; ++k) {
        wanted = T(meaning(static_cast<float>(wanted), static_cast<float>(in[s.source(i, k)])));
      }
      const float last = static_cast<float>(
          T(finish(static_cast<float>(wanted), static_cast<float>(s.kernel_height * s.kernel_width))));
      const float lane = static_cast<float>(got[static_cast<std::size_t>(i)]);
      ASSERT_TRUE(lane == last || (lane != lane && last != last)) << i << ": " << lane << " wanted " << last;
    }
  }
};
using Types = testing::Types<half, bfloat16_t, float>;
TYPED_TEST_SUITE(Pool, Types);

#define DILATED(word)                                                                                               \
  [&](auto* d, auto* x) {                                                                                           \
    word(d, x, s.channel, s.height, s.width, s.kernel_height, s.kernel_width, s.stride_x, s.stride_y, s.dilation_y, \
         s.dilation_x, 1, 1);                                                                                       \
  }

TYPED_TEST(Pool, WindowsOfEveryForm) {
  const auto as_it_is = [](float x, float) { return x; };
  for (const Shape& s : kShapes) {
    const std::vector<TypeParam> in = numbers<TypeParam>(s.inputs());
    for (const bool in_place : {false, true}) {
      const auto run = [&](auto word) { return this->on_device(in, s.results(), in_place, word); };
      this->expect(
          s, in, run(DILATED(__bang_sumpool)), [](float a, float b) { return a + b; }, as_it_is);
      this->expect(
          s, in, run(DILATED(__bang_avgpool)), [](float a, float b) { return a + b; },
          [](float sum, float n) { return sum * (1 / n); });
      this->expect(
          s, in, run(DILATED(__bang_maxpool)), [](float a, float b) { return std::fmax(a, b); }, as_it_is);
      this->expect(
          s, in, run(DILATED(__bang_minpool)), [](float a, float b) { return std::fmin(a, b); }, as_it_is);
    }
  }
}

TYPED_TEST(Pool, StridesAreTheKernelsWhereNoneAreNamed) {
  const Shape s{4, 6, 9, 2, 3, 3, 2};
  const std::vector<TypeParam> in = numbers<TypeParam>(s.inputs());
  const auto named =
      this->on_device(in, s.results(), false, [](auto* d, auto* x) { __bang_avgpool(d, x, 4, 6, 9, 2, 3, 3, 2); });
  const auto unnamed =
      this->on_device(in, s.results(), false, [](auto* d, auto* x) { __bang_avgpool(d, x, 4, 6, 9, 2, 3); });
  for (std::size_t i = 0; i < named.size(); ++i) {
    const float a = static_cast<float>(named[i]), b = static_cast<float>(unnamed[i]);
    EXPECT_TRUE(a == b || (a != a && b != b)) << i;
  }
}

TEST(PoolIndex, IsThatOfTheFirstOfSeveral) {
  const Shape s{3, 6, 8, 3, 2, 2, 1};
  std::vector<half> in(static_cast<std::size_t>(s.inputs()));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = half(static_cast<float>(i * 7 % 5));
  std::vector<std::uint16_t> largest(static_cast<std::size_t>(s.results())), smallest(largest.size());
  Rig rig;
  rig.tensor("in", in, Access::kRead).tensor("largest", largest, Access::kWrite);
  rig.tensor("smallest", smallest, Access::kWrite);
  const auto bytes = static_cast<std::int64_t>(largest.size() * sizeof(std::uint16_t));
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* x = reinterpret_cast<half*>(nram);
    auto *high = reinterpret_cast<std::uint16_t*>(x + in.size()), *low = high + largest.size();
    __memcpy(x, in.data(), static_cast<std::int64_t>(in.size() * sizeof(half)), GDRAM2NRAM);
    __bang_maxpool_index(high, x, 3, 6, 8, 3, 2, 2, 1);
    __bang_minpool_index(low, x, 3, 6, 8, 3, 2, 2, 1);
    __memcpy(largest.data(), high, bytes, NRAM2GDRAM);
    __memcpy(smallest.data(), low, bytes, NRAM2GDRAM);
  }),
            "");
  for (std::int64_t i = 0; i < s.results(); ++i) {
    std::int64_t high = 0, low = 0;
    for (std::int64_t k = 1; k < 6; ++k) {
      if (in[s.source(i, k)] > in[s.source(i, high)]) high = k;
      if (in[s.source(i, k)] < in[s.source(i, low)]) low = k;
    }
    EXPECT_EQ(largest[static_cast<std::size_t>(i)], high);
    EXPECT_EQ(smallest[static_cast<std::size_t>(i)], low);
  }
}

TYPED_TEST(Pool, GradientOfTheAverageIsItsTranspose) {
  const Shape s{2, 5, 6, 3, 2, 2, 1};
  std::vector<TypeParam> in = numbers<TypeParam>(s.results());
  in[7] = in[11] = TypeParam(1);
  const auto got =
      this->on_device(in, s.inputs(), false, [](auto* d, auto* x) { __bang_avgpool_bp(d, x, 2, 5, 6, 3, 2, 2, 1); });
  std::vector<TypeParam> wanted(static_cast<std::size_t>(s.inputs()), TypeParam(0));
  for (std::int64_t i = 0; i < s.results(); ++i) {
    for (std::int64_t k = 0; k < 6; ++k) {
      TypeParam& lane = wanted[s.source(i, k)];
      lane = lane + in[static_cast<std::size_t>(i)];
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const TypeParam share = TypeParam(static_cast<float>(wanted[i]) * (1.0f / 6));
    ASSERT_EQ(static_cast<float>(got[i]), static_cast<float>(share)) << i;
  }
}

/// A gradient through the places of `mask`, which is read behind the source.
template <class T, class I>
std::string back(const Shape& s, std::vector<T> in, std::vector<I> mask, mluPoolBPOverlap overlap, std::vector<T>& out,
                 std::int64_t masked) {
  Rig rig;
  rig.tensor("in", in, Access::kRead).tensor("mask", mask, Access::kRead).tensor("out", out, Access::kWrite);
  return rig.run([&](char* nram) {
    T *dst = reinterpret_cast<T*>(nram), *src = dst + s.inputs();
    constexpr std::int64_t kStep = 64;
    char* behind = reinterpret_cast<char*>(src + s.results());
    I* places = reinterpret_cast<I*>(nram + (behind - nram + kStep - 1) / kStep * kStep);
    __memcpy(src, in.data(), s.results() * static_cast<std::int64_t>(sizeof(T)), GDRAM2NRAM);
    __memcpy(places, mask.data(), masked * static_cast<std::int64_t>(sizeof(I)), GDRAM2NRAM);
    __bang_maxpool_bp(dst, src, places, s.channel, s.height, s.width, s.kernel_height, s.kernel_width, s.stride_x,
                      s.stride_y, overlap);
    __memcpy(out.data(), dst, s.inputs() * static_cast<std::int64_t>(sizeof(T)), NRAM2GDRAM);
  });
}
template <class T, class I>
std::vector<I> places(const Shape& s) {
  std::mt19937 random(5);
  std::vector<I> mask(static_cast<std::size_t>(s.results()));
  for (I& place : mask) place = static_cast<I>(random() % static_cast<unsigned>(s.kernel_height * s.kernel_width));
  return mask;
}
template <class T>
using MaskOf = std::conditional_t<sizeof(T) == 2, std::int16_t, std::int32_t>;

TYPED_TEST(Pool, GradientOfTheLargestGoesToItsPlace) {
  using T = TypeParam;
  for (Shape s : kShapes) {
    s.dilation_y = s.dilation_x = 1;
    std::vector<T> in = numbers<T>(s.results());
    if (in.size() > 20) in[7] = in[11] = T(1);
    const auto mask = places<T, MaskOf<T>>(s);
    for (const mluPoolBPOverlap overlap : {OVERLAP_ACC, OVERLAP_COVER}) {
      std::vector<T> got(static_cast<std::size_t>(s.inputs())), wanted(got.size(), T(0));
      ASSERT_EQ(back(s, in, mask, overlap, got, s.results()), "");
      for (std::int64_t i = 0; i < s.results(); ++i) {
        T& lane = wanted[s.source(i, mask[static_cast<std::size_t>(i)])];
        lane = overlap == OVERLAP_ACC ? T(lane + in[static_cast<std::size_t>(i)]) : in[static_cast<std::size_t>(i)];
      }
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(static_cast<float>(got[i]), static_cast<float>(wanted[i])) << i << " of " << s.channel;
      }
    }
  }
}

TYPED_TEST(Pool, GradientOfTheLargestWantsPlacesOfTheWindow) {
  using T = TypeParam;
  const Shape s{2, 4, 4, 2, 2, 2, 2};
  const std::vector<T> in(static_cast<std::size_t>(s.results()), T(1));
  std::vector<T> out(static_cast<std::size_t>(s.inputs()));
  for (const int wrong : {4, -1}) {
    auto mask = places<T, MaskOf<T>>(s);
    mask[5] = static_cast<MaskOf<T>>(wrong);
    expect_fault(back(s, in, mask, OVERLAP_ACC, out, s.results()),
                 {"__bang_maxpool_bp", "mask lane 5 is " + std::to_string(wrong), "a window has 4 places"});
  }
  const auto mask = places<T, MaskOf<T>>(s);
  expect_fault(back(s, in, mask, OVERLAP_ACC, out, s.results() - 1), {"__memcpy", "source", "never written"});
}

}  // namespace
}  // namespace mluops::emu::test
