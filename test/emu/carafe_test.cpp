#include "backends/mlu_emu/plan/carafe.h"

#include <limits>

#include "test/emu/support.h"

namespace mluops::emu::test {
namespace {

struct Case {
  std::int64_t n, h, w, c, kernel, group, scale;
};

mluopsCarafeShape shape_of(const Case& c, mluOpDataType_t dtype) {
  return {dtype, c.n, c.h, c.w, c.c, c.scale * c.h, c.scale * c.w, c.kernel, c.group, c.scale};
}

plan::Machine machine_of(const MachineSpec& m) {
  return {m.nram_bytes, m.clusters, m.cores_per_cluster, std::atoi(m.arch + 4)};
}

/// Calls visit(tap, input row, input column) for the taps of an output pixel that lie inside the input, row by row.
template <class Visit>
void for_taps(const mluopsCarafeShape& s, std::int64_t ho, std::int64_t wo, const Visit& visit) {
  for (std::int64_t kh = 0; kh < s.kernel; ++kh)
    for (std::int64_t kw = 0; kw < s.kernel; ++kw) {
      const std::int64_t y = ho / s.scale + kh - (s.kernel - 1) / 2, x = wo / s.scale + kw - (s.kernel - 1) / 2;
      if (y >= 0 && y < s.h && x >= 0 && x < s.w) visit(kh * s.kernel + kw, y, x);
    }
}

template <class T>
struct Tensors {
  explicit Tensors(const mluopsCarafeShape& s)
      : input(random_values<T>(s.n * s.h * s.w * s.c, 1)),
        mask(random_values<T>(s.n * s.ho * s.wo * s.group * s.kernel * s.kernel, 2)),
        grad_output(random_values<T>(s.n * s.ho * s.wo * s.c, 3)) {}

  std::vector<T> input, mask, grad_output;
};

/// Offsets into the tensors.
struct At {
  const mluopsCarafeShape& s;

  std::size_t input(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) const {
    return static_cast<std::size_t>(((n * s.h + y) * s.w + x) * s.c + c);
  }
  std::size_t output(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) const {
    return static_cast<std::size_t>(((n * s.ho + y) * s.wo + x) * s.c + c);
  }
  std::size_t mask(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t g, std::int64_t tap) const {
    return static_cast<std::size_t>((((n * s.ho + y) * s.wo + x) * s.group + g) * s.kernel * s.kernel + tap);
  }
};

/// Taps in row order; the product is rounded, then added.
template <class T>
std::vector<T> forward_model(const mluopsCarafeShape& s, const Tensors<T>& t) {
  const At at{s};
  std::vector<T> output(t.grad_output.size());
  for (std::int64_t n = 0; n < s.n; ++n)
    for (std::int64_t ho = 0; ho < s.ho; ++ho)
      for (std::int64_t wo = 0; wo < s.wo; ++wo)
        for_taps(s, ho, wo, [&](std::int64_t tap, std::int64_t y, std::int64_t x) {
          for (std::int64_t c = 0; c < s.c; ++c) {
            const T m = t.mask[at.mask(n, ho, wo, c / (s.c / s.group), tap)];
            T& sum = output[at.output(n, ho, wo, c)];
            sum = add(sum, mul(t.input[at.input(n, y, x, c)], m));
          }
        });
  return output;
}

template <class T>
struct Gradients {
  std::vector<T> input, mask;
};

/// The sum of a chunk's products as the device takes it: column sums of rows of 128 B, then along the row.
template <class T>
T chunk_sum(const std::vector<T>& products) {
  constexpr std::size_t kLanes = 128 / sizeof(T);
  std::vector<T> row(kLanes);
  for (std::size_t i = 0; i < products.size(); ++i) row[i % kLanes] = add(row[i % kLanes], products[i]);
  T sum{};
  for (T lane : row) sum = add(sum, lane);
  return sum;
}

/// One item (n, ho, wo, g) as its task computes it.
template <class T>
void backward_item(const mluopsCarafeShape& s, const Tensors<T>& t, std::int64_t chunk, std::int64_t item,
                   Gradients<T>& out) {
  const At at{s};
  const std::int64_t g = item % s.group, wo = item / s.group % s.wo, ho = item / s.group / s.wo % s.ho;
  const std::int64_t n = item / s.group / s.wo / s.ho, cg = s.c / s.group;
  for (std::int64_t begin = 0; begin < cg; begin += chunk) {
    const std::int64_t end = std::min(cg, begin + chunk);
    for_taps(s, ho, wo, [&](std::int64_t tap, std::int64_t y, std::int64_t x) {
      std::vector<T> products;
      for (std::int64_t c = g * cg + begin; c < g * cg + end; ++c) {
        const T gradient = t.grad_output[at.output(n, ho, wo, c)];
        T& target = out.input[at.input(n, y, x, c)];
        target = add(target, mul(gradient, t.mask[at.mask(n, ho, wo, g, tap)]));
        products.push_back(mul(gradient, t.input[at.input(n, y, x, c)]));
      }
      T& sum = out.mask[at.mask(n, ho, wo, g, tap)];
      sum = add(sum, chunk_sum(products));
    });
  }
}

/// Tasks in increasing order, each with its strided items.
template <class T>
Gradients<T> backward_model(const mluopsCarafeShape& s, const Tensors<T>& t, const plan::CarafeBackwardPlan& p) {
  Gradients<T> out{std::vector<T>(t.input.size()), std::vector<T>(t.mask.size())};
  for (std::int64_t task = 0; task < p.launch.tasks(); ++task)
    for (std::int64_t item = task; item < p.items; item += p.launch.tasks()) backward_item(s, t, p.chunk, item, out);
  return out;
}

std::string describe(const Case& c, const MachineSpec& m, const char* what) {
  return std::string(what) + " on " + m.arch + "/" + std::to_string(m.nram_bytes) + " of C " + std::to_string(c.c) +
         " K " + std::to_string(c.kernel) + " G " + std::to_string(c.group) + " s " + std::to_string(c.scale);
}

const Case kCases[] = {{2, 3, 3, 64, 5, 4, 2},  {1, 7, 9, 40, 3, 5, 2},   {1, 4, 3, 1, 5, 1, 3},
                       {1, 3, 4, 132, 1, 1, 1}, {1, 2, 2, 96, 7, 3, 1},   {1, 12, 13, 300, 5, 1, 2},
                       {3, 1, 5, 33, 9, 1, 4},  {1, 5, 6, 512, 3, 16, 2}, {1, 2, 2, 8, 45, 2, 5}};

template <class T>
void check_forward(const Case& c, const MachineSpec& spec) {
  const auto s = shape_of(c, kDtype<T>);
  if (!plan::plan_carafe_forward(s, machine_of(spec)).ok()) return;
  const Tensors<T> t(s);
  auto output = untouched<T>(static_cast<std::int64_t>(t.grad_output.size()));
  Emulator emulator(spec);
  const mluopsCarafeForwardProblem problem{s, t.input.data(), t.mask.data(), output.data(), MLUOP_LAYOUT_NHWC};
  ASSERT_EQ(emulator.run(&mluopsBackend::carafe_forward, problem), MLUOP_STATUS_SUCCESS) << error_text();
  expect_same_bits(output, forward_model(s, t), describe(c, spec, "output"));
}

TEST(EmuCarafe, forward_bits) {
  for (const MachineSpec& spec : machine_specs())
    for (const Case& c : kCases) {
      check_forward<float>(c, spec);
      check_forward<Half>(c, spec);
    }
}

TEST(EmuCarafe, forward_bits_with_split_groups_and_channels) {
  for (std::int64_t nram : {8192, 16384, 24576}) {
    const MachineSpec spec{"mtp_372", nram, 3, 3};
    for (const Case& c : {Case{1, 3, 4, 48, 5, 3, 2}, {1, 3, 3, 600, 3, 2, 1}, {2, 2, 3, 130, 5, 1, 2}}) {
      check_forward<float>(c, spec);
      check_forward<Half>(c, spec);
    }
  }
}

template <class T>
void check_backward(const Case& c, const MachineSpec& spec) {
  const auto s = shape_of(c, kDtype<T>);
  const auto p = plan::plan_carafe_backward(s, machine_of(spec));
  if (!p.ok()) return;
  const Tensors<T> t(s);
  Gradients<T> got{untouched<T>(static_cast<std::int64_t>(t.input.size())),
                   untouched<T>(static_cast<std::int64_t>(t.mask.size()))};
  Emulator emulator(spec);
  const mluopsCarafeBackwardProblem problem{
      s, t.input.data(), t.mask.data(), t.grad_output.data(), got.input.data(), got.mask.data(), MLUOP_LAYOUT_NHWC};
  ASSERT_EQ(emulator.run(&mluopsBackend::carafe_backward, problem), MLUOP_STATUS_SUCCESS) << error_text();
  const Gradients<T> want = backward_model(s, t, p);
  expect_same_bits(got.input, want.input, describe(c, spec, "grad_input"));
  expect_same_bits(got.mask, want.mask, describe(c, spec, "grad_mask"));
}

TEST(EmuCarafe, backward_bits) {
  for (const MachineSpec& spec : machine_specs())
    for (const Case& c : kCases) {
      check_backward<float>(c, spec);
      check_backward<Half>(c, spec);
    }
}

TEST(EmuCarafe, backward_bits_with_several_chunks) {
  const MachineSpec spec{"mtp_372", 4096, 3, 3};
  for (const Case& c : {Case{1, 2, 3, 900, 3, 1, 2}, {1, 2, 2, 1216, 3, 2, 1}, {1, 3, 2, 417, 5, 1, 1}}) {
    check_backward<float>(c, spec);
    check_backward<Half>(c, spec);
  }
}

TEST(EmuCarafe, backward_infinity_in_a_full_chunk_stays_out_of_the_rest) {
  // 320 floats in chunks of 192: the rest has 128 lanes; then 310: 118 lanes padded to 128.
  const MachineSpec spec{"mtp_372", 4096, 1, 1};
  const Case c{1, 1, 1, 310, 1, 1, 1};
  const auto s = shape_of(c, MLUOP_DTYPE_FLOAT);
  const auto p = plan::plan_carafe_backward(s, machine_of(spec));
  ASSERT_EQ(p.chunk, 192);
  ASSERT_NE(p.rest % 32, 0);
  Tensors<float> t(s);
  // The last padded lane of the rest belongs to this channel of the full chunk.
  t.grad_output[static_cast<std::size_t>((p.rest + 31) / 32 * 32 - 1)] = std::numeric_limits<float>::infinity();
  std::vector<float> grad_input(t.input.size()), grad_mask(1);
  Emulator emulator(spec);
  const mluopsCarafeBackwardProblem problem{
      s, t.input.data(), t.mask.data(), t.grad_output.data(), grad_input.data(), grad_mask.data(), MLUOP_LAYOUT_NHWC};
  ASSERT_EQ(emulator.run(&mluopsBackend::carafe_backward, problem), MLUOP_STATUS_SUCCESS) << error_text();
  EXPECT_TRUE(std::isinf(grad_mask[0])) << grad_mask[0];
}

TEST(EmuCarafe, nan_in_skipped_taps_is_not_read) {
  for (const MachineSpec& spec : machine_specs()) {
    const auto s = shape_of({1, 2, 2, 16, 3, 1, 2}, MLUOP_DTYPE_FLOAT);
    Tensors<float> t(s);
    const At at{s};
    for (std::int64_t ho = 0; ho < s.ho; ++ho)
      for (std::int64_t wo = 0; wo < s.wo; ++wo) {
        std::vector<bool> inside(9);
        for_taps(s, ho, wo, [&](std::int64_t tap, std::int64_t, std::int64_t) { inside[tap] = true; });
        for (std::int64_t tap = 0; tap < 9; ++tap)
          if (!inside[tap]) t.mask[at.mask(0, ho, wo, 0, tap)] = std::numeric_limits<float>::quiet_NaN();
      }
    auto output = untouched<float>(static_cast<std::int64_t>(t.grad_output.size()));
    Emulator emulator(spec);
    const mluopsCarafeForwardProblem problem{s, t.input.data(), t.mask.data(), output.data(), MLUOP_LAYOUT_NHWC};
    ASSERT_EQ(emulator.run(&mluopsBackend::carafe_forward, problem), MLUOP_STATUS_SUCCESS) << error_text();
    for (float v : output) ASSERT_FALSE(std::isnan(v));
    expect_same_bits(output, forward_model(s, t), "output");
  }
}

TEST(EmuCarafe, declines_before_outputs_are_touched) {
  const auto s = shape_of({1, 2, 2, 8, 137, 1, 1}, MLUOP_DTYPE_FLOAT);
  const Tensors<float> t(s);
  auto grad_input = untouched<float>(static_cast<std::int64_t>(t.input.size()));
  auto grad_mask = untouched<float>(static_cast<std::int64_t>(t.mask.size()));
  const auto before_input = grad_input, before_mask = grad_mask;
  Emulator emulator({"mtp_592", 327680, 8, 4});
  const mluopsCarafeBackwardProblem problem{
      s, t.input.data(), t.mask.data(), t.grad_output.data(), grad_input.data(), grad_mask.data(), MLUOP_LAYOUT_NHWC};
  EXPECT_EQ(emulator.run(&mluopsBackend::carafe_backward, problem), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(error_text().find("75076"), std::string::npos) << error_text();
  expect_same_bits(grad_input, before_input, "grad_input");
  expect_same_bits(grad_mask, before_mask, "grad_mask");
}

}  // namespace
}  // namespace mluops::emu::test
