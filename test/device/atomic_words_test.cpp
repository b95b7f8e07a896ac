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

// ---- order: atomics are in the pipeline of copies to and from device memory (3.13) ---------------------------------

/// Runs with 64 floats of device memory, ones, and of a source, 0 to 63.
template <class Use>
std::string run_with_memory(std::vector<float>& g, Use use) {
  std::vector<float> source(64);
  for (int i = 0; i < 64; ++i) source[static_cast<std::size_t>(i)] = static_cast<float>(i);
  g.assign(64, 1);
  Rig rig("mtp_592");
  rig.tensor("g", g, Access::kReadWrite).tensor("source", source, Access::kReadWrite);
  return rig.run([&](char* nram) { use(reinterpret_cast<float*>(nram), g.data(), source.data()); });
}

TEST(Atomics, ComeBehindQueuedCopiesToAndFromDeviceMemory) {
  std::vector<float> g;
  const auto expect_sum = [&](auto add) {
    EXPECT_EQ(run_with_memory(g,
                              [&](float* x, float* to, float* source) {
                                __memcpy_async(x, source, 256, GDRAM2NRAM);
                                add(x + 64, to, x);
                              }),
              "");
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(g[i], 1 + static_cast<float>(i));
  };
  expect_sum([](float* old, float* to, float* x) { __bang_atomic_add(old, to, x, 64); });
  expect_sum([](float* old, float* to, float* x) { __bang_atomic_add_async(old, to, x, 64); });
  expect_sum([](float*, float* to, float* x) { __bang_atomic_reduce_add(to, x, 64); });
  expect_sum([](float*, float* to, float* x) { __bang_atomic_reduce_add_async(to, x, 64); });
  EXPECT_EQ(run_with_memory(g,
                            [&](float* x, float* to, float*) {
                              __memcpy_async(x, to, 256, GDRAM2NRAM);  // the ones, not the sums
                              __bang_atomic_reduce_add(to, x, 64);
                              __bang_atomic_reduce_add_async(to, x, 64);
                              __memcpy_async(x + 64, to, 256, GDRAM2NRAM);
                              __sync_io();
                              __bang_add(x, x, x + 64, 64);
                              __memcpy(to, x, 256, NRAM2GDRAM);
                            }),
            "");
  for (float x : g) EXPECT_EQ(x, 4);
}

TEST(Atomics, AtScatteredPlacesComeBehindQueuedLoadsOfTheirOffsets) {
  std::vector<std::uint32_t> offsets = {12, 0};
  std::vector<float> g = {1, 2, 3, 4}, out(2);
  Rig rig("mtp_592");
  rig.tensor("g", g, Access::kReadWrite).tensor("offsets", offsets, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto* offset = reinterpret_cast<std::uint32_t*>(nram);
    auto* x = reinterpret_cast<float*>(nram + 64);
    __bang_write_value(x, 2, 10.0f);
    __sync_compute();
    __memcpy_async(offset, offsets.data(), 8, GDRAM2NRAM);
    __bang_discrete_atomic_add(x + 8, g.data(), offset, x, 2);
    __memcpy_async(offset, offsets.data(), 8, GDRAM2NRAM);
    __gather_async(x + 16, g.data(), offset, 4, GDRAM2NRAM, 4, 2);
    __sync_io();
    __memcpy(out.data(), x + 16, 8, NRAM2GDRAM);
  }),
            "");
  EXPECT_EQ(g, (std::vector<float>{11, 2, 3, 14}));
  EXPECT_EQ(out, (std::vector<float>{14, 11}));
}

TEST(Atomics, DoNotWaitForAnotherPipeline) {
  std::vector<float> g;
  expect_fault(run_with_memory(g,
                               [](float* x, float* to, float* source) {
                                 __memcpy(x, source, 256, GDRAM2NRAM);
                                 __memcpy_async(x + 64, x, 64, NRAM2NRAM, 128, 128, 1);  // pieces: Move
                                 __bang_atomic_reduce_add(to, x + 64, 16);
                               }),
               {"__bang_atomic_reduce_add", "in flight", "__memcpy_async"});
}

TEST(Atomics, QueuedOnesUseTheirOperandsUntilABarrier) {
  std::vector<float> g;
  const auto run = [&](auto touch, bool waits) {
    return run_with_memory(g, [&](float* x, float* to, float* source) {
      __bang_write_value(x + 192, 64, 0.0f);
      __sync_compute();
      __memcpy_async(x, source, 256, GDRAM2NRAM);
      __bang_atomic_add_async(x + 64, to, x, 64);
      if (waits) __sync_io();
      touch(x);
    });
  };
  const auto reads_loaded = [](float* x) { __bang_add(x + 192, x, x + 192, 64); };
  const auto reads_old = [](float* x) { __bang_add(x + 192, x + 64, x + 192, 64); };
  const auto overwrites = [](float* x) { __bang_write_value(x, 64, 0.0f); };
  EXPECT_EQ(run(reads_loaded, true), "");
  EXPECT_EQ(run(reads_old, true), "");
  EXPECT_EQ(run(overwrites, true), "");
  expect_fault(run(reads_loaded, false), {"__bang_add", "in flight", "__memcpy_async"});
  expect_fault(run(reads_old, false), {"__bang_add", "in flight", "__bang_atomic_add"});
  expect_fault(run(overwrites, false), {"__bang_write_value", "in flight"});
}

}  // namespace
}  // namespace mluops::emu::test
