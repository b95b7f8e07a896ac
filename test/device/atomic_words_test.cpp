// Builtins that change device memory in one step: every operation, type and form, against plain loops.
#include <cmath>
#include <functional>
#include <limits>

#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

template <class T>
std::vector<T> some(int first) {
  std::vector<T> v;
  for (int i = 0; i < 12; ++i) v.push_back(T((first + 5 * i) % 7));
  return v;
}
template <class T>
double number(T x) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(x);
  return static_cast<double>(static_cast<float>(x));
}

template <class T>
using Meaning = std::function<double(double, double)>;

/// All forms of one operation: `with_old` and `reduce` are called with (gdram, operand ...).
template <class T, class Old, class Reduce>
void expect_operation(const Meaning<T>& meaning, Old with_old, Reduce reduce) {
  constexpr std::int64_t kSize = sizeof(T);
  const std::vector<T> before = some<T>(1), operand = some<T>(3);
  std::vector<T> vector = before, value = before, rows = before, old(12), source = operand;
  Rig rig("mtp_592");
  rig.tensor("vector", vector, Access::kReadWrite).tensor("value", value, Access::kReadWrite);
  rig.tensor("rows", rows, Access::kReadWrite).tensor("old", old, Access::kWrite);
  rig.tensor("source", source, Access::kRead);
  EXPECT_EQ(rig.run([&](char* nram) {
    T *in = reinterpret_cast<T*>(nram), *was = in + 16;
    __memcpy(in, source.data(), 12 * kSize, GDRAM2NRAM);
    with_old(was, vector.data(), in, 12);
    __memcpy(old.data(), was, 12 * kSize, NRAM2GDRAM);
    reduce(value.data(), in, T(2));
    reduce(rows.data(), in, 2, 1, 0, 4 * kSize, 0, 2 * kSize, 0);
  }),
            "");
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(number(old[i]), number(before[i])) << i;
    EXPECT_EQ(number(vector[i]), meaning(number(before[i]), number(operand[i]))) << i;
    EXPECT_EQ(number(value[i]), i < 3 ? meaning(number(before[i]), 2) : number(before[i])) << i;
    const std::size_t row = i / 4, column = i % 4;  // two rows of two: from 0 and 4, operands 0, 1 and 2, 3
    const bool changed = row < 2 && column < 2;
    EXPECT_EQ(number(rows[i]),
              changed ? meaning(number(before[i]), number(operand[2 * row + column])) : number(before[i]))
        << i;
  }
}

/// Calls the reduce_ form of a value for three elements, or that of pieces.
#define REDUCE(name)                            \
  [](auto* gdram, auto* in, auto... rest) {     \
    if constexpr (sizeof...(rest) == 1) {       \
      __bang_atomic_##name(gdram, rest..., 3);  \
    } else {                                    \
      __bang_atomic_##name(gdram, in, rest...); \
    }                                           \
  }
#define OPERATION(T, name, reduce, expression)                                                          \
  {                                                                                                     \
    SCOPED_TRACE(#name " of " #T);                                                                      \
    expect_operation<T>([](double x, double y) -> double { return expression; },                        \
                        [](auto... a) { __bang_atomic_##name(a...); }, REDUCE(reduce));                 \
    expect_operation<T>([](double x, double y) -> double { return expression; },                        \
                        [](auto... a) { __bang_atomic_##name##_async(a...); }, REDUCE(reduce##_async)); \
  }
#define FLOATS(name, reduce, expression)          \
  OPERATION(half, name, reduce, expression)       \
  OPERATION(bfloat16_t, name, reduce, expression) \
  OPERATION(float, name, reduce, expression)
#define INTEGERS(name, reduce, expression)           \
  OPERATION(std::int16_t, name, reduce, expression)  \
  OPERATION(std::uint16_t, name, reduce, expression) \
  OPERATION(std::int32_t, name, reduce, expression)  \
  OPERATION(std::uint32_t, name, reduce, expression)
#define NUMBERS(name, reduce, expression) \
  FLOATS(name, reduce, expression)        \
  INTEGERS(name, reduce, expression)

int whole(double x) {
  return static_cast<int>(x);
}

TEST(Atomics, EveryOperationTypeAndForm){
    NUMBERS(add, reduce_add, x + y) NUMBERS(max, reduce_max, std::fmax(x, y)) NUMBERS(min, reduce_min, std::fmin(x, y))
        NUMBERS(exch, reduce_exch, (void(x), y)) INTEGERS(and, reduce_and, whole(x) & whole(y))
            INTEGERS(or, reduce_or, whole(x) | whole(y)) INTEGERS(xor, reduce_xor, whole(x) ^ whole(y))
                INTEGERS(inc, reduce_inc, x >= y ? 0 : x + 1) INTEGERS(dec, reduce_dec, x == 0 || x > y ? y : x - 1)
                    FLOATS(nan_max, nan_reduce_max, std::fmax(x, y)) FLOATS(nan_min, nan_reduce_min, std::fmin(x, y))
                        FLOATS(number_max, number_reduce_max, std::fmax(x, y))
                            FLOATS(number_min, number_reduce_min, std::fmin(x, y))}

TEST(Atomics, NanWinsOrLoses) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> g = {nan, 1, nan, 1};
  Rig rig("mtp_592");
  rig.tensor("g", g, Access::kReadWrite);
  EXPECT_EQ(rig.run([&](char*) {
    __bang_atomic_number_reduce_max(&g[0], 2.0f);
    __bang_atomic_number_reduce_max(&g[1], nan);
    __bang_atomic_nan_reduce_min(&g[2], 2.0f);
    __bang_atomic_nan_reduce_min(&g[3], nan);
  }),
            "");
  EXPECT_EQ(g[0], 2);
  EXPECT_EQ(g[1], 1);
  EXPECT_TRUE(std::isnan(g[2]));
  EXPECT_TRUE(std::isnan(g[3]));
}

TEST(Atomics, SwapsAndScatteredPlaces) {
  std::vector<std::int32_t> g = {1, 2, 3, 4, 5, 6}, old(4);
  Rig rig("mtp_592");
  rig.tensor("g", g, Access::kReadWrite).tensor("old", old, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* was = reinterpret_cast<std::int32_t*>(nram);
    auto* offset = reinterpret_cast<std::uint16_t*>(nram + 64);
    auto* by = reinterpret_cast<std::int32_t*>(nram + 128);
    __bang_write_value(was, 4, std::int32_t{0});
    __bang_write_value(offset, 4, std::uint16_t{0});
    __bang_write_value(by, 4, std::int32_t{10});
    __bang_write_value(nram + 192, 4, std::uint8_t{5});  // the first and the third
    offset[0] = 20, offset[1] = 4, offset[2] = 8, offset[3] = 0;
    __bang_atomic_cas(was, &g[0], 1, 100);
    __bang_atomic_reduce_cas(&g[1], 1, 100);
    __bang_discrete_atomic_add(was, g.data(), offset, by, nram + 192, 4);
    __bang_discrete_atomic_max(was + 1, g.data(), offset + 1, by, 1);
    by[0] = 4;
    __bang_discrete_atomic_cas(was + 3, g.data() + 3, offset + 3, by, 77, 1);
    __memcpy(old.data(), was, 16, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(g, (std::vector<std::int32_t>{100, 10, 13, 77, 5, 16}));
  EXPECT_EQ(old, (std::vector<std::int32_t>{6, 2, 3, 4}));
}

}  // namespace
}  // namespace mluops::emu::test
