// The tensor unit: products and convolutions against plain loops in double, with weights laid out in every way.
#include <cmath>
#include <limits>
#include <random>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/device/fault.h"
#include "test/device/rig.h"

namespace mluops::emu::test {
namespace {

template <class T>
std::vector<T> numbers(std::uint32_t seed, std::int64_t n) {
  std::mt19937 random(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) {
    const int integer = static_cast<int>(random() % 255) - 127;
    if constexpr (std::is_integral_v<T>) {
      x = static_cast<T>(sizeof(T) == 1 ? integer : integer * 200);
    } else {
      x = T(static_cast<float>(integer) / 64);
    }
  }
  return v;
}

template <class T>
std::int64_t bytes_of(const std::vector<T>& v) {
  return static_cast<std::int64_t>(v.size() * sizeof(T));
}

/// dst [ho,wo,co] of a convolution, in double.
struct Shape {
  std::int64_t ci, h, w, kh, kw, sx, sy, co, dy = 1, dx = 1;

  std::int64_t rows() const { return (h - (kh - 1) * dy - 1) / sy + 1; }
  std::int64_t columns() const { return (w - (kw - 1) * dx - 1) / sx + 1; }
  std::int64_t results() const { return rows() * columns() * co; }
  std::int64_t row() const { return kh * kw * ci; }

  template <class S, class W>
  double result(const std::vector<S>& src, const std::vector<W>& weights, std::int64_t i) const {
    const std::int64_t o = i % co, y = i / co / columns(), x = i / co % columns();
    double sum = 0;
    for (std::int64_t k = 0; k < row(); ++k) {
      const std::int64_t line = y * sy + k / ci / kw * dy, column = x * sx + k / ci % kw * dx;
      sum += static_cast<double>(src[static_cast<std::size_t>((line * w + column) * ci + k % ci)]) *
             static_cast<double>(weights[static_cast<std::size_t>(o * row() + k)]);
    }
    return sum;
  }
};

/// One task on a core with WRAM, as foreign kernels have it.
class WithWram : public Rig {
 public:
  explicit WithWram(const std::string& arch) : Rig(arch) {}

  std::string run(const KernelBody& body) {
    const Settings& settings = context.settings;
    Gdram gdram(spec.tensors, settings.checks.race);
    const LaunchState state{spec, settings, gdram, false, 1};
    Core core(settings.arch.nram_bytes, settings.arch.wram_bytes, nullptr, nullptr);
    timeline = Timeline();
    timeline.stats.read.resize(spec.tensors.size());
    timeline.stats.written.resize(spec.tensors.size());
    timeline.trace(100);
    TaskBuiltins task = {};
    task.arch = settings.arch.number;
    std::string fault;
    try {
      core.begin_task(state, task, timeline);
      body(core.nram().base());
      core.end_task();
    } catch (const Fault& problem) {
      fault = problem.what();
    }
    core.leave();
    return fault;
  }
  static char* wram() { return Core::current().memory(Space::kWram).base(); }

  Timeline timeline;
};

template <class D, class S = D, class W = S>
struct Types {
  using Result = D;
  using Source = S;
  using Weight = W;
};

template <class Combination>
class TensorUnit : public testing::Test {
 protected:
  using D = typename Combination::Result;
  using S = typename Combination::Source;
  using W = typename Combination::Weight;

  /// body(dst, src, weights in WRAM, nram behind them) after the reshaped weights are in WRAM.
  template <class Body>
  std::vector<D> on_device(const std::string& arch, const Shape& s, Body body) {
    src = numbers<S>(1, s.h * s.w * s.ci), weights = numbers<W>(2, s.co * s.row());
    std::vector<D> out(static_cast<std::size_t>(s.results()));
    WithWram rig(arch);
    rig.tensor("src", src, Access::kRead).tensor("weights", weights, Access::kRead).tensor("out", out, Access::kWrite);
    EXPECT_EQ(rig.run([&](char* nram) {
      auto* x = reinterpret_cast<S*>(nram);
      auto* filter = reinterpret_cast<W*>(nram + 98304);
      auto* reshaped = reinterpret_cast<W*>(nram + 2 * 98304);
      auto* dst = reinterpret_cast<D*>(nram + 3 * 98304);
      auto* wram = reinterpret_cast<W*>(WithWram::wram());
      __memcpy(x, src.data(), bytes_of(src), GDRAM2NRAM);
      __memcpy(filter, weights.data(), bytes_of(weights), GDRAM2NRAM);
      __bang_reshape_filter(reshaped, filter, s.co, s.kh, s.kw, s.ci);
      __memcpy(wram, reshaped, bytes_of(weights), NRAM2WRAM);
      body(dst, x, wram, nram + 2 * 98304);
      __memcpy(out.data(), dst, bytes_of(out), NRAM2GDRAM);
    }),
              "");
    return out;
  }
  void expect(const Shape& s, const std::vector<D>& got, double unit = 1) {
    // Sums of floats are rounded after every term; those of integers are exact.
    const double allowed = 1e-6 * std::sqrt(static_cast<double>(s.row())) * 8;
    for (std::int64_t i = 0; i < s.results(); ++i) {
      const double wanted = s.result(src, weights, i) * unit;
      const double lane = static_cast<double>(got[static_cast<std::size_t>(i)]);
      if constexpr (std::is_integral_v<D>) {
        const double low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
        ASSERT_EQ(lane, std::max(low, std::min(high, std::round(wanted)))) << i;
      } else if (std::is_integral_v<S>) {
        ASSERT_EQ(lane, static_cast<double>(D(wanted))) << i;
      } else {
        const double ulp = std::is_same_v<D, half> ? 1.0 / 2048 : std::is_same_v<D, bfloat16_t> ? 1.0 / 256 : 6e-8;
        ASSERT_NEAR(lane, wanted, std::fabs(wanted) * ulp + allowed) << i;
      }
    }
  }

  std::vector<S> src;
  std::vector<W> weights;
};
using Combinations =
    testing::Types<Types<float, half>, Types<half>, Types<float>, Types<float, bfloat16_t>, Types<bfloat16_t>,
                   Types<float, half, float>, Types<float, std::int8_t>, Types<half, std::int8_t>,
                   Types<float, std::int16_t>, Types<float, std::int16_t, std::int8_t>,
                   Types<std::int16_t, std::int16_t, std::int8_t>, Types<std::int8_t, std::int8_t>>;
TYPED_TEST_SUITE(TensorUnit, Combinations);

TYPED_TEST(TensorUnit, Multiplies) {
  for (const char* arch : {"mtp_270", "mtp_372", "mtp_592"}) {
    for (const std::int64_t n : {64, 192}) {
      for (const std::int64_t m : {1, 5, 64}) {
        if (std::string(arch) == "mtp_270" && m < 64) continue;  // lengths are multiples of 128 bytes there
        const Shape s{64, m, 1, 1, 1, 1, 1, n};
        constexpr int kPosition = std::is_integral_v<typename TypeParam::Source> ? -9 : 0;
        this->expect(
            s,
            this->on_device(arch, s,
                            [&](auto* d, auto* x, auto* w, char*) { __bang_matmul(d, x, w, m, 64, n, kPosition); }),
            std::ldexp(1, kPosition));
      }
    }
  }
}

TYPED_TEST(TensorUnit, Convolves) {
  const Shape s{64, 6, 7, 3, 2, 2, 1, 64};
  constexpr int kPosition = std::is_integral_v<typename TypeParam::Source> ? -7 : 0;
  this->expect(s,
               this->on_device("mtp_372", s,
                               [&](auto* d, auto* x, auto* w, char*) {
                                 __bang_conv(d, x, w, s.ci, s.h, s.w, s.kh, s.kw, s.sx, s.sy, s.co, kPosition);
                               }),
               std::ldexp(1, kPosition));
}

TYPED_TEST(TensorUnit, ConvolvesWithDilations) {
  const Shape s{64, 7, 8, 3, 2, 1, 1, 64, 2, 3};
  this->expect(s, this->on_device("mtp_372", s, [&](auto* d, auto* x, auto* w, char*) {
    __bang_conv(d, x, w, s.ci, s.h, s.w, s.kh, s.kw, s.sx, s.sy, s.co, s.dx, s.dy, 1, 1);
  }));
}

TYPED_TEST(TensorUnit, AddsABiasOrAPartialResult) {
  using Result = typename TypeParam::Result;
  const Shape s{64, 3, 1, 1, 1, 1, 1, 64};
  const auto got = this->on_device("mtp_372", s, [&](Result* d, auto* x, auto* w, char* rest) {
    auto* one = reinterpret_cast<Result*>(rest);
    __bang_write_value(one, 192, Result(1));
    __bang_conv(d, x, w, one, s.ci, s.h, s.w, s.kh, s.kw, s.sx, s.sy, s.co, -4);
    __bang_conv_partial(d + 192, x, w, one, s.ci, s.h, s.w, s.kh, s.kw, s.sx, s.sy, s.co, -4);
    for (int i = 0; i < 192; ++i) {
      const auto bias = static_cast<double>(d[i]), partial = static_cast<double>(d[192 + i]);
      if (bias != partial) __bang_write_value(d, 192, Result(99));
    }
    __bang_sub(d, d, one, 192);
  });
  for (std::int64_t i = 0; i < s.results(); ++i) {
    const double wanted = s.result(this->src, this->weights, i) / 16;
    const double lane = static_cast<double>(got[static_cast<std::size_t>(i)]);
    if (std::is_integral_v<Result> && std::fabs(wanted) > 126) continue;  // saturated before 1 was taken off
    const double ulp = std::is_same_v<Result, bfloat16_t> ? 0.02 : 0.002;
    EXPECT_NEAR(lane, std::is_integral_v<Result> ? std::round(wanted) : wanted, (std::fabs(wanted) + 1) * ulp) << i;
  }
}

/// Weights may also be put into WRAM a 64th of it apart, channel by channel: rows then are padded to 64 bytes.
TEST(TensorUnitLayout, SixtyFourthsOfWram) {
  constexpr std::int64_t kCi = 24, kCo = 100, kPadded = 32;
  const Shape s{kCi, 1, 1, 1, 1, 1, 1, kCo};
  std::vector<float> src = numbers<float>(1, kCi), weights = numbers<float>(2, kCo * kCi), out(kCo);
  for (const char* arch : {"mtp_372", "mtp_592"}) {
    WithWram rig(arch);
    rig.tensor("src", src, Access::kRead).tensor("weights", weights, Access::kRead).tensor("out", out, Access::kWrite);
    const std::int64_t lane = rig.context.settings.arch.wram_bytes / 64;
    EXPECT_EQ(rig.run([&](char* nram) {
      auto *x = reinterpret_cast<float*>(nram), *filter = x + 128, *dst = filter + kCo * kCi;
      auto* wram = reinterpret_cast<float*>(WithWram::wram());
      __memcpy(x, src.data(), bytes_of(src), GDRAM2NRAM);
      __memcpy(filter, weights.data(), bytes_of(weights), GDRAM2NRAM);
      __memcpy(wram, filter, kCi * 4, NRAM2WRAM, lane, 63, kPadded * 4, 0, kCi * 4, 63, 64 * kCi * 4, 0);
      __memcpy(wram + kPadded, filter + 64 * kCi, kCi * 4, NRAM2WRAM, lane, kCi * 4, kCo - 64 - 1);
      __bang_conv(dst, x, wram, kCi, 1, 1, 1, 1, 1, 1, kCo);
      __memcpy(out.data(), dst, bytes_of(out), NRAM2GDRAM);
    }),
              "");
    for (std::int64_t i = 0; i < kCo; ++i) {
      EXPECT_NEAR(out[static_cast<std::size_t>(i)], s.result(src, weights, i), 1e-4) << i;
    }
  }
}

/// The order a plain copy brings to the 16 lanes: of each lane's 4 channels in 64, first those of the first 64.
TEST(TensorUnitLayout, OrderOfReshapedFilters) {
  for (const bool sixteen : {true, false}) {
    Rig rig(sixteen ? "mtp_372" : "mtp_270");
    std::vector<float> in(192 * 32), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i / 32);
    rig.tensor("in", in, Access::kRead).tensor("out", out, Access::kWrite);
    EXPECT_EQ(rig.run([&](char* nram) {
      auto *x = reinterpret_cast<float*>(nram), *y = x + in.size();
      __memcpy(x, in.data(), bytes_of(in), GDRAM2NRAM);
      __bang_reshape_filter(y, x, 192, 1, 1, 32);
      __memcpy(out.data(), y, bytes_of(out), NRAM2GDRAM);
    }),
              "");
    std::size_t place = 0;
    for (int lane = 0; lane < (sixteen ? 16 : 64); ++lane) {
      for (int sixty_fourth = 0; sixty_fourth < 3; ++sixty_fourth) {
        for (int i = 0; i < (sixteen ? 4 : 1); ++i) {
          const int channel = sixty_fourth * 64 + lane * (sixteen ? 4 : 1) + i;
          EXPECT_EQ(out[place++ * 32], static_cast<float>(channel));
        }
      }
    }
  }
}

TEST(TensorUnitLayout, VectorTimesMatrixAsRowsOfInputs) {
  std::vector<float> src = numbers<float>(1, 48), weights = numbers<float>(2, 48 * 64), out(64);
  WithWram rig("mtp_372");
  rig.tensor("src", src, Access::kRead).tensor("weights", weights, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto *x = reinterpret_cast<float*>(nram), *dst = x + 64;
    auto* wram = reinterpret_cast<float*>(WithWram::wram());
    __memcpy(x, src.data(), bytes_of(src), GDRAM2NRAM);
    __memcpy(wram, weights.data(), bytes_of(weights), GDRAM2WRAM);
    __bang_mlp(dst, x, wram, 48, 64);
    __memcpy(out.data(), dst, bytes_of(out), NRAM2GDRAM);
  }),
            "");
  for (std::size_t o = 0; o < 64; ++o) {
    double sum = 0;
    for (std::size_t i = 0; i < 48; ++i) sum += static_cast<double>(src[i]) * static_cast<double>(weights[i * 64 + o]);
    EXPECT_NEAR(out[o], sum, 1e-4);
  }
}

TEST(TensorUnitLayout, ExpandsChannels) {
  constexpr std::int64_t kN = 5, kC = 96;
  std::vector<float> src = numbers<float>(1, kN), weights = numbers<float>(2, 128), factor = numbers<float>(3, kN * kC);
  std::vector<float> out(2 * kN * kC);
  WithWram rig("mtp_592");
  rig.tensor("src", src, Access::kRead).tensor("weights", weights, Access::kRead);
  rig.tensor("factor", factor, Access::kRead).tensor("out", out, Access::kWrite);
  EXPECT_EQ(rig.run([&](char* nram) {
    auto *x = reinterpret_cast<float*>(nram), *f = x + 64, *dst = f + kN * kC;
    auto* wram = reinterpret_cast<float*>(WithWram::wram());
    __memcpy(x, src.data(), bytes_of(src), GDRAM2NRAM);
    __memcpy(f, factor.data(), bytes_of(factor), GDRAM2NRAM);
    __memcpy(wram, weights.data(), 128 * 4, GDRAM2WRAM);
    __bang_expand_channel_mul(dst, x, wram, f, kN, kC);
    __bang_expand_channel_mul_add(dst + kN * kC, x, wram, f, f, kN, kC);
    __memcpy(out.data(), dst, bytes_of(out), NRAM2GDRAM);
  }),
            "");
  for (std::size_t i = 0; i < kN * kC; ++i) {
    const float product = src[i / kC] * weights[i % kC] * factor[i];
    EXPECT_EQ(out[i], product);
    EXPECT_EQ(out[kN * kC + i], product + factor[i]);
  }
}

// As the vendor's deformable attention on 592 does: a 64th of WRAM for each of 64 channels, 64 bytes for each of those
// that share it.
TEST(TensorUnitLayout, ExpandsChannelsInPiecesA64thOfWramApart) {
  constexpr std::int64_t kN = 3;
  for (const std::int64_t channels : {3, 64, 130}) {
    const std::int64_t shared = (channels + 63) / 64, n = kN * channels;
    std::vector<float> out(static_cast<std::size_t>(n));
    WithWram rig("mtp_592");
    rig.tensor("out", out, Access::kWrite);
    EXPECT_EQ(rig.run([&](char* nram) {
      auto *row = reinterpret_cast<float*>(nram), *x = row + 64, *f = x + 64;
      auto* wram = reinterpret_cast<float*>(WithWram::wram());
      __bang_write_value(row, 64, 0.0f);
      __bang_write_value(row, 1, 2.0f);
      __bang_write_value(x, 64, 3.0f);
      __bang_write_value(f, n, 5.0f);
      const std::int64_t lane = mluops::emu::find_arch("mtp_592")->wram_bytes / 64;
      __memcpy(wram, row, 64, NRAM2WRAM, 64, shared - 1, lane, 63, 0, shared - 1, 0, 63);
      __bang_expand_channel_mul(f, x, wram, f, kN, channels);
      __memcpy(out.data(), f, bytes_of(out), NRAM2GDRAM);
    }),
              "");
    for (const float value : out) EXPECT_EQ(value, 30.0f) << channels;
  }
}

TEST(TensorUnitFaults, NameWhatIsWrong) {
  WithWram rig("mtp_372");
  std::vector<float> out(4096);
  rig.tensor("out", out, Access::kWrite);
  const auto fault = [&](auto word) {
    return rig.run([&](char* nram) {
      auto* x = reinterpret_cast<float*>(nram);
      auto* wram = reinterpret_cast<float*>(WithWram::wram());
      __bang_write_value(x, 8192, 1.0f);
      __memcpy(wram, x, 64 * 16 * 4, NRAM2WRAM);
      word(x + 8192, x, wram);
      __memcpy(out.data(), x + 8192, 64, NRAM2GDRAM);
    });
  };
  EXPECT_EQ(fault([](float* d, float* x, float* w) { __bang_matmul(d, x, w, 1, 16, 64); }), "");
  expect_fault(fault([](float* d, float* x, float*) { __bang_matmul(d, x, x, 1, 16, 64); }),
               {"__bang_matmul", "weights", "not in WRAM"});
  expect_fault(fault([](float* d, float* x, float* w) { __bang_matmul(d, x, w, 1, 16, 32); }), {"multiple of 64"});
  expect_fault(fault([](float* d, float* x, float* w) { __bang_matmul(d, x, w, 1, 32, 64); }), {"never written"});
  expect_fault(fault([](float* d, float* x, float* w) { __bang_matmul(d, x, w, 0, 16, 64); }), {"[1, 2^20]"});
  expect_fault(fault([](float* d, float* x, float* w) { __bang_conv(d, x, w, 16, 2, 2, 3, 1, 1, 1, 64); }),
               {"__bang_conv", "window"});
  expect_fault(
      fault([](float* d, float* x, float* w) { __bang_matmul(d, reinterpret_cast<std::int8_t*>(x), w, 1, 16, 64); }),
      {"both be half"});
  expect_fault(fault([](float* d, float* x, float*) { __bang_reshape_filter(d, x, 32, 1, 1, 16); }),
               {"__bang_reshape_filter", "multiple of 64"});
  expect_fault(fault([](float* d, float*, float* w) { __bang_matmul(d, d + 1024, w, 1, 16, 64); }), {"never written"});
}

TEST(TensorUnitTime, IsThatOfItsMultiplyAdds) {
  const auto time = [](auto type, int rows) {
    using T = decltype(type);
    WithWram rig("mtp_372");
    rig.set("rates", "tensor_macs_cycle=1000,clock_ghz=1,tensor_latency_cycles=7");
    EXPECT_EQ(rig.run([&](char* nram) {
      auto* x = reinterpret_cast<T*>(nram);
      auto* wram = reinterpret_cast<T*>(WithWram::wram());
      __bang_write_value(x, 65536, T(1));
      __memcpy(wram, x, 64 * 256 * sizeof(T), NRAM2WRAM);
      __bang_matmul(reinterpret_cast<float*>(x + 65536), x, wram, rows, 256, 64);
    }),
              "");
    double longest = 0;
    for (const Event& e : rig.timeline.events) {
      if (std::string(e.word) == "__bang_matmul") longest = std::max(longest, e.duration);
    }
    return longest;
  };
  EXPECT_DOUBLE_EQ(time(half(), 200), 7 + 200 * 256 * 64 / 1000.0);
  EXPECT_DOUBLE_EQ(time(half(), 100), 7 + 100 * 256 * 64 / 1000.0);
  EXPECT_DOUBLE_EQ(time(float(), 100), 7 + 4 * 100 * 256 * 64 / 1000.0);
}

}  // namespace
}  // namespace mluops::emu::test
