// Drives the cpu backend through its plugin struct, below the validation of the C functions.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/simd/element.h"
#include "mluops/backend.h"

extern "C" const mluopsBackend mluops_backend_cpu;

namespace mluops::cpu::test {

/// What option "isa" takes here, the lowest first. One that the machine lacks falls back on the one below.
#if defined(__aarch64__)
inline constexpr std::array kLevels = {"neon"};
#else
inline constexpr std::array kLevels = {"sse2", "sse4", "avx2", "avx512"};
#endif
inline constexpr const char *kLowestLevel = kLevels.front(), *kHighestLevel = kLevels.back();

inline thread_local std::string last_error;
inline void note_error(const char* text) {
  last_error = text;
}

inline mluopsCall call_with(int threads, const mluOpExtExecutor_t* executor = nullptr) {
  return {sizeof(mluopsCall), threads, MLUOP_ATOMICS_NOT_ALLOWED, MLUOP_EXT_CONTRACT_STRICT, executor, note_error};
}

/// A context of the backend with the settings a handle would bring along.
class Backend {
 public:
  explicit Backend(int threads = 1) : call_(call_with(threads)) {
    EXPECT_EQ(mluops_backend_cpu.create(note_error, &context_), MLUOP_STATUS_SUCCESS) << last_error;
  }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  ~Backend() { mluops_backend_cpu.destroy(context_); }

  Backend& option(const char* key, const char* value) {
    EXPECT_EQ(mluops_backend_cpu.set_option(context_, key, value, note_error), MLUOP_STATUS_SUCCESS) << last_error;
    return *this;
  }
  std::string query(const char* key) const {
    char text[128];
    EXPECT_GE(mluops_backend_cpu.query(context_, key, text, sizeof text), 0) << key;
    return text;
  }
  /// The lowest level has vectors or not, as the compiler's own target has.
  bool has_vectors() const { return query("isa") != "SSE2" || HWY_STATIC_TARGET != HWY_SCALAR; }
  template <class Problem>
  mluOpStatus_t run(mluOpStatus_t (*mluopsBackend::*member)(void*, const mluopsCall*, const Problem*),
                    const Problem& problem) {
    return (mluops_backend_cpu.*member)(context_, &call_, &problem);
  }

  mluopsCall& call() { return call_; }
  void* context() { return context_; }

 private:
  void* context_ = nullptr;
  mluopsCall call_;
};

template <class T>
constexpr mluOpDataType_t dtype_of() {
  if constexpr (std::is_same_v<T, Half>) return MLUOP_DTYPE_HALF;
  if constexpr (std::is_same_v<T, Bfloat16>) return MLUOP_DTYPE_BFLOAT16;
  if constexpr (std::is_same_v<T, float>) return MLUOP_DTYPE_FLOAT;
  return MLUOP_DTYPE_DOUBLE;
}

/// Largest relative error of one rounding to T.
template <class T>
constexpr double unit_roundoff() {
  if constexpr (std::is_same_v<T, Half>) return 0x1p-11;
  if constexpr (std::is_same_v<T, Bfloat16>) return 0x1p-8;
  if constexpr (std::is_same_v<T, float>) return 0x1p-24;
  return 0x1p-53;
}

/// Uniform in [-1, 1), representable in T.
template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) v = from_acc<T>(static_cast<Acc<T>>(uniform(engine)));
  return values;
}

/// A vector of `count` elements whose bytes are all 0xff (NaN): output that nobody wrote shows.
template <class T>
std::vector<T> poisoned(std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::memset(static_cast<void*>(values.data()), 0xff, values.size() * sizeof(T));
  return values;
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// As tensors of DOUBLE: what the reference makes of them is the sum of the magnitudes of its terms.
template <class T>
std::vector<double> magnitudes_of(const std::vector<T>& values) {
  std::vector<double> magnitudes;
  for (const T v : values) magnitudes.push_back(std::abs(static_cast<double>(to_acc(v))));
  return magnitudes;
}

/// What the reference (test/reference) has for a result, and the magnitudes of what it sums.
struct Expected {
  std::vector<double> value, magnitude;
};

/// Every element within `roundings` roundings of T (and of its sums) relative to the sum of magnitudes `scale`.
template <class T>
void expect_close(const std::vector<T>& got, const std::vector<double>& want, const std::vector<double>& scale,
                  double terms) {
  ASSERT_EQ(got.size(), want.size());
  const double sum_error = terms * unit_roundoff<Acc<T>>();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double value = static_cast<double>(to_acc(got[i]));
    const double allowed = 1.01 * unit_roundoff<T>() * std::abs(want[i]) + sum_error * scale[i] + 0x1p-25;
    ASSERT_LE(std::abs(value - want[i]), allowed) << "element " << i << ": got " << value << ", want " << want[i];
  }
}

}  // namespace mluops::cpu::test
