// An emulated machine to run problems on, element types that round as the device does, and bitwise comparison.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "common/half.h"
#include "mluops/backend.h"
#include "test/support/environment.h"

extern "C" const mluopsBackend mluops_backend_mlu_emu;

namespace mluops::emu::test {

/// What an emulated machine is made from.
struct MachineSpec {
  const char* arch;
  std::int64_t nram_bytes;
  int clusters, cores_per_cluster;
};

inline std::vector<MachineSpec> machine_specs() {
  return {{"mtp_592", 393216, 8, 4}, {"mtp_372", 655360, 4, 4}, {"mtp_270", 393216, 4, 4}, {"mtp_372", 65536, 3, 3}};
}

inline std::string& error_text() {
  thread_local std::string text;
  return text;
}

/// One context of the backend, made for a machine; every check on unless `check` says otherwise.
class Emulator {
 public:
  explicit Emulator(const MachineSpec& spec, const char* check = "") {
    mluops::test::Environment::Variables settings = {
        {"MLUOP_EMU_ARCH", spec.arch},
        {"MLUOP_EMU_NRAM_BYTES", std::to_string(spec.nram_bytes)},
        {"MLUOP_EMU_CLUSTERS", std::to_string(spec.clusters)},
        {"MLUOP_EMU_CORES_PER_CLUSTER", std::to_string(spec.cores_per_cluster)}};
    if (*check != '\0') settings.emplace_back("MLUOP_EMU_CHECK", check);
    const mluops::test::Environment environment(settings);
    status_ = mluops_backend_mlu_emu.create(set_error, &context_);
    EXPECT_EQ(status_, MLUOP_STATUS_SUCCESS) << error_text();
  }
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;
  ~Emulator() { mluops_backend_mlu_emu.destroy(context_); }

  template <class Problem>
  mluOpStatus_t run(mluOpStatus_t (*mluopsBackend::*member)(void*, const mluopsCall*, const Problem*),
                    const Problem& problem) {
    const mluopsCall call{sizeof(mluopsCall),        2,       MLUOP_ATOMICS_NOT_ALLOWED,
                          MLUOP_EXT_CONTRACT_STRICT, nullptr, set_error};
    error_text().clear();
    return (mluops_backend_mlu_emu.*member)(context_, &call, &problem);
  }

 private:
  static void set_error(const char* text) { error_text() = text; }

  mluOpStatus_t status_;
  void* context_ = nullptr;
};

/// binary16 as the device computes with it: every operation rounds to nearest even.
struct Half {
  std::uint16_t bits = 0;
};

inline float add(float a, float b) {
  return a + b;
}
inline float mul(float a, float b) {
  return a * b;
}
// A float holds sums and products of two halves well enough that rounding twice equals rounding once.
inline Half add(Half a, Half b) {
  return {float_to_half(half_to_float(a.bits) + half_to_float(b.bits))};
}
inline Half mul(Half a, Half b) {
  return {float_to_half(half_to_float(a.bits) * half_to_float(b.bits))};
}

template <class T>
T from_float(float value);
template <>
inline float from_float<float>(float value) {
  return value;
}
template <>
inline Half from_float<Half>(float value) {
  return {float_to_half(value)};
}

template <class T>
inline constexpr mluOpDataType_t kDtype = MLUOP_DTYPE_FLOAT;
template <>
inline constexpr mluOpDataType_t kDtype<Half> = MLUOP_DTYPE_HALF;

inline std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline std::uint32_t bits_of(Half value) {
  return value.bits;
}
inline float to_float(float value) {
  return value;
}
inline float to_float(Half value) {
  return half_to_float(value.bits);
}

template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) v = from_float<T>(uniform(generator));
  return values;
}

/// What outputs hold before a run: a NaN no kernel makes.
template <class T>
std::vector<T> untouched(std::int64_t count) {
  const T pattern = [] {
    if constexpr (sizeof(T) == 2)
      return std::bit_cast<T>(std::uint16_t{0x7d5a});
    else
      return std::bit_cast<T>(std::uint32_t{0x7fa5a5a5u});
  }();
  return std::vector<T>(static_cast<std::size_t>(count), pattern);
}

template <class T>
void expect_same_bits(const std::vector<T>& got, const std::vector<T>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(bits_of(got[i]), bits_of(want[i]))
        << what << " differs at " << i << ": got " << to_float(got[i]) << ", want " << to_float(want[i]);
}

}  // namespace mluops::emu::test
