// BorderAlign of the emulator against a scalar model of the device's instruction order, bit for bit.
#include "test/emu/scalar.h"

namespace mluops::emu::test {
namespace {

using Shape = mluopsBorderAlignShape;

/// Inputs of one call; argmax and grad_output only for backward.
template <class T>
struct Case {
  Shape shape;
  std::vector<T> input, boxes, grad_output;
  std::vector<std::int32_t> argmax;
};

/// One border of a box: where its first sample lies and how the next ones follow.
template <class T>
struct Border {
  using S = Scalar<T>;
  S x, y, step_x, step_y;

  Border(const T* box, int border, std::int64_t pool_size) {
    const S x1(box[0]), y1(box[1]), x2(box[2]), y2(box[3]), pool{static_cast<double>(pool_size)};
    x = border < 2 ? x1 : x2, y = border < 2 ? y1 : y2;
    if (border == 0) step_x = (x2 - x1) / pool;
    if (border == 1) step_y = (y2 - y1) / pool;
    if (border == 2) step_x = -(x2 - x1) / pool;
    if (border == 3) step_y = -(y2 - y1) / pool;
  }
};

template <class T>
struct Pooled {
  std::vector<T> output;
  std::vector<std::int32_t> argmax;
};

template <class T>
std::int64_t pixel(const Shape& s, std::int64_t n, std::int64_t y, std::int64_t x, int border) {
  return (((n * s.h + y) * s.w + x) * 4 + border) * s.c;
}

/// Weight times value, then three multiply-adds, fused from the 300 series on; points outside count as 0.
template <class T>
Scalar<T> value_at(const Case<T>& c, const MachineSpec& machine, std::int64_t n, int border, std::int64_t channel,
                   const AxisPoint<T>& y, const AxisPoint<T>& x) {
  using S = Scalar<T>;
  const bool fuses = std::string(machine.arch) >= "mtp_3";
  const auto multiply_add = [&](S a, S b, S sum) { return fuses ? fused(a, b, sum) : a * b + sum; };
  if (y.outside || x.outside) return S();
  const auto at = [&](std::int64_t yy, std::int64_t xx) {
    return S(c.input[pixel<T>(c.shape, n, yy, xx, border) + channel]);
  };
  S value = at(y.low, x.low) * (y.weight_low * x.weight_low);
  value = multiply_add(at(y.low, x.high), y.weight_low * x.weight_high, value);
  value = multiply_add(at(y.high, x.low), y.weight_high * x.weight_low, value);
  return multiply_add(at(y.high, x.high), y.weight_high * x.weight_high, value);
}

/// Positions by repeated addition; the first of equal maxima wins.
template <class T>
Pooled<T> model_forward(const Case<T>& c, const MachineSpec& machine) {
  const Shape& s = c.shape;
  const std::int64_t units = s.n * s.k * 4;
  Pooled<T> pooled{std::vector<T>(units * s.c), std::vector<std::int32_t>(units * s.c)};
  for (std::int64_t unit = 0; unit < units; ++unit) {
    Border<T> b(&c.boxes[unit / 4 * 4], static_cast<int>(unit % 4), s.pool_size);
    for (std::int64_t i = 0; i <= s.pool_size; ++i, b.x = b.x + b.step_x, b.y = b.y + b.step_y) {
      const AxisPoint<T> y(b.y, s.h), x(b.x, s.w);
      for (std::int64_t ch = 0; ch < s.c; ++ch) {
        const auto value = value_at(c, machine, unit / 4 / s.k, static_cast<int>(unit % 4), ch, y, x);
        T& best = pooled.output[unit * s.c + ch];
        if (i > 0 && !(Scalar<T>(best) < value)) continue;
        best = value.stored();
        pooled.argmax[unit * s.c + ch] = static_cast<std::int32_t>(i);
      }
    }
  }
  return pooled;
}

template <class T>
void scatter(const Case<T>& c, std::int64_t unit, std::int64_t sample, const AxisPoint<T>& y, const AxisPoint<T>& x,
             std::vector<T>& grad) {
  using S = Scalar<T>;
  const Shape& s = c.shape;
  const auto add = [&](std::int64_t yy, std::int64_t xx, S weight) {
    T* at = &grad[pixel<T>(s, unit / 4 / s.k, yy, xx, static_cast<int>(unit % 4))];
    for (std::int64_t ch = 0; ch < s.c; ++ch) {
      if (c.argmax[unit * s.c + ch] != sample) continue;
      at[ch] = (S(at[ch]) + S(c.grad_output[unit * s.c + ch]) * weight).stored();
    }
  };
  add(y.low, x.low, y.weight_low * x.weight_low);
  add(y.low, x.high, y.weight_low * x.weight_high);
  add(y.high, x.low, y.weight_high * x.weight_low);
  add(y.high, x.high, y.weight_high * x.weight_high);
}

/// Positions by multiplication; tasks one after the other, units strided over them.
template <class T>
std::vector<T> model_backward(const Case<T>& c, const MachineSpec& m) {
  using S = Scalar<T>;
  const Shape& s = c.shape;
  std::vector<T> grad(s.n * s.h * s.w * 4 * s.c);
  const std::int64_t tasks = std::int64_t{m.clusters} * m.cores_per_cluster;
  for (std::int64_t task = 0; task < tasks; ++task)
    for (std::int64_t unit = task; unit < s.n * s.k * 4; unit += tasks)
      for (std::int64_t i = 0; i <= s.pool_size; ++i) {
        const Border<T> b(&c.boxes[unit / 4 * 4], static_cast<int>(unit % 4), s.pool_size);
        const AxisPoint<T> y(b.y + b.step_y * S(double(i)), s.h), x(b.x + b.step_x * S(double(i)), s.w);
        if (!y.outside && !x.outside) scatter(c, unit, i, y, x, grad);
      }
  return grad;
}

template <class T>
Case<T> make_case(const Shape& shape, unsigned seed) {
  Case<T> c{shape, {}, {}, {}, {}};
  c.shape.dtype = kDtype<T>;
  c.input = uniform_values<T>(shape.n * shape.h * shape.w * 4 * shape.c, -2, 2, seed);
  c.boxes = uniform_values<T>(shape.n * shape.k * 4, -2.0, 2.0 + static_cast<double>(std::max(shape.h, shape.w)), seed);
  const std::int64_t outputs = shape.n * shape.k * 4 * shape.c;
  c.grad_output = uniform_values<T>(outputs, -2, 2, seed + 2);
  std::mt19937 generator(seed + 3);
  // Now and then an index no sample has.
  std::uniform_int_distribution<std::int32_t> index(-1, static_cast<std::int32_t>(shape.pool_size) + 1);
  for (std::int64_t i = 0; i < outputs; ++i) c.argmax.push_back(index(generator));
  return c;
}

template <class T>
Pooled<T> run_forward(Emulator& emulator, const Case<T>& c) {
  const std::int64_t outputs = c.shape.n * c.shape.k * 4 * c.shape.c;
  Pooled<T> got{untouched<T>(outputs), std::vector<std::int32_t>(outputs, -77)};
  EXPECT_EQ(emulator.run(&mluopsBackend::border_align_forward,
                         mluopsBorderAlignForwardProblem{c.shape, c.input.data(), c.boxes.data(), got.output.data(),
                                                         got.argmax.data(), MLUOP_LAYOUT_NHWC}),
            MLUOP_STATUS_SUCCESS)
      << error_text();
  return got;
}

template <class T>
std::vector<T> run_backward(Emulator& emulator, const Case<T>& c) {
  auto grad = untouched<T>(c.shape.n * c.shape.h * c.shape.w * 4 * c.shape.c);
  EXPECT_EQ(emulator.run(&mluopsBackend::border_align_backward,
                         mluopsBorderAlignBackwardProblem{c.shape, c.grad_output.data(), c.boxes.data(),
                                                          c.argmax.data(), grad.data(), MLUOP_LAYOUT_NHWC}),
            MLUOP_STATUS_SUCCESS)
      << error_text();
  return grad;
}

template <class T>
void check(const Case<T>& c, const MachineSpec& spec, const std::string& what) {
  SCOPED_TRACE(what + " on " + spec.arch + "/" + std::to_string(spec.nram_bytes));
  Emulator emulator(spec);
  const Pooled<T> got = run_forward(emulator, c), want = model_forward(c, spec);
  expect_same_bits(got.output, want.output, "output");
  EXPECT_EQ(got.argmax, want.argmax);
  expect_same_bits(run_backward(emulator, c), model_backward(c, spec), "grad_input");
}

template <class T>
class EmuBorderAlign : public ::testing::Test {};
using Elements = ::testing::Types<float, Half>;
TYPED_TEST_SUITE(EmuBorderAlign, Elements);

TYPED_TEST(EmuBorderAlign, follows_the_instruction_order) {
  const Shape shapes[] = {{MLUOP_DTYPE_FLOAT, 2, 5, 7, 3, 35, 10},
                          {MLUOP_DTYPE_FLOAT, 1, 4, 4, 130, 16, 3},
                          {MLUOP_DTYPE_FLOAT, 1, 1, 1, 5, 7, 1},
                          {MLUOP_DTYPE_FLOAT, 3, 1, 9, 17, 4, 2},
                          {MLUOP_DTYPE_FLOAT, 1, 8, 1, 128, 5, 7}};
  unsigned seed = 1;
  for (const MachineSpec& spec : machine_specs())
    for (const Shape& shape : shapes)
      check(make_case<TypeParam>(shape, seed++), spec, "case " + std::to_string(&shape - shapes));
}

// The smallest NRAM: segments of 128 channels, the last one shorter.
TYPED_TEST(EmuBorderAlign, splits_channels) {
  for (std::int64_t nram : {5248, 12032})
    for (std::int64_t channels : {128, 300})
      check(make_case<TypeParam>({MLUOP_DTYPE_FLOAT, 1, 3, 4, channels, 12, 4}, 9), {"mtp_372", nram, 3, 3},
            std::to_string(channels) + " channels");
}

/// The example of mmcv's test and of the header, laid out NHWC: 3 x 4 map, 12 boxes.
template <class T>
Case<T> worked_example(std::int64_t pool_size) {
  // Channel planes of the example, 3 x 4 each: top, left, bottom, right.
  const double planes[4][12] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                                {6, 7, 5, 8, 2, 1, 3, 4, 12, 9, 11, 10},
                                {-2, -3, 2, 0, -4, -5, 1, -1, -1, -1, -1, -1},
                                {0, -1, 2, 1, -4, -3, -2, -1, -1, -2, -3, -4}};
  const double boxes[12][4] = {{0, 0, 2, 1}, {1, 0, 3, 1}, {1, 0, 2, 1}, {0, 0, 3, 1}, {0, 0, 1, 2}, {0, 0, 2, 2},
                               {1, 0, 2, 1}, {1, 0, 3, 1}, {0, 1, 1, 2}, {0, 0, 3, 2}, {1, 0, 3, 2}, {2, 0, 3, 2}};
  Case<T> c{{kDtype<T>, 1, 3, 4, 1, 12, pool_size}, {}, {}, {}, {}};
  for (int p = 0; p < 12; ++p)
    for (const auto& plane : planes) c.input.push_back(Scalar<T>(plane[p]).stored());
  for (const auto& box : boxes)
    for (double v : box) c.boxes.push_back(Scalar<T>(v).stored());
  return c;
}

template <class T>
std::vector<T> values(const std::vector<double>& from) {
  std::vector<T> to;
  for (double v : from) to.push_back(Scalar<T>(v).stored());
  return to;
}

// Outputs and indices of the example for pool sizes 1 and 2, on every machine.
TYPED_TEST(EmuBorderAlign, worked_example) {
  for (const std::int64_t pool_size : {1, 2}) {
    std::vector<double> output = {3, 6, 1, 2, 4, 7, -1, 1, 3, 7,  1,  2,  4, 6,  -1, 1, 2, 12, -1, -1, 3, 12, -1, 2,
                                  3, 7, 1, 2, 4, 7, -1, 1, 6, 12, -1, -2, 4, 12, -1, 1, 4, 9,  -1, 1,  4, 11, -1, 1};
    std::vector<std::int32_t> argmax;
    const int last = static_cast<int>(pool_size);
    for (int box = 1; box <= 12; ++box) {
      const bool flat = box <= 4 || box == 7 || box == 8;
      argmax.insert(argmax.end(), {last, flat ? 0 : last, 0, box == 9 ? 0 : last});
    }
    if (pool_size == 2) {
      for (const std::size_t box : {1, 7}) output[box * 4 + 2] = 1, argmax[box * 4 + 2] = 1;
    }
    for (const MachineSpec& spec : machine_specs()) {
      auto c = worked_example<TypeParam>(pool_size);
      Emulator emulator(spec);
      const auto got = run_forward(emulator, c);
      expect_same_bits(got.output, values<TypeParam>(output), "output");
      EXPECT_EQ(got.argmax, argmax);
      c.argmax = got.argmax, c.grad_output = got.output;
      expect_same_bits(run_backward(emulator, c), model_backward(c, spec), "grad_input");
    }
  }
}

// NaN and Inf boxes must neither fault nor hang; what they give is not specified.
TYPED_TEST(EmuBorderAlign, nan_and_inf_do_no_harm) {
  for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    for (int at : {0, 1, 2, 3}) {
      auto c = make_case<TypeParam>({MLUOP_DTYPE_FLOAT, 1, 4, 5, 3, 2, 3}, 4);
      c.boxes[at] = Scalar<TypeParam>(bad).stored();
      Emulator emulator(machine_specs()[at % 2]);
      run_forward(emulator, c);
      run_backward(emulator, c);
    }
}

// Infinite gradients reach only the pixels of their own maximum: no 0 * Inf.
TYPED_TEST(EmuBorderAlign, infinite_gradients_stay_where_they_belong) {
  auto c = make_case<TypeParam>({MLUOP_DTYPE_FLOAT, 1, 4, 4, 3, 1, 2}, 5);
  c.boxes = values<TypeParam>({0.25, 0.25, 2.25, 2.25});
  for (std::size_t i = 0; i < c.argmax.size(); ++i) c.argmax[i] = static_cast<std::int32_t>(i % 3);
  c.grad_output[4] = Scalar<TypeParam>(HUGE_VAL).stored();
  for (const MachineSpec& spec : machine_specs()) {
    Emulator emulator(spec);
    expect_same_bits(run_backward(emulator, c), model_backward(c, spec), "grad_input");
  }
}

TEST(EmuBorderAlignRefusals, double_and_endless_pools_are_declined) {
  std::vector<double> data(64);
  std::vector<std::int32_t> argmax(16, -7);
  Emulator emulator(machine_specs()[0]);
  const auto run = [&](mluOpDataType_t dtype, std::int64_t pool_size) {
    const Shape shape{dtype, 1, 2, 2, 1, 4, pool_size};
    return emulator.run(&mluopsBackend::border_align_forward,
                        mluopsBorderAlignForwardProblem{shape, data.data(), data.data(), data.data(), argmax.data(),
                                                        MLUOP_LAYOUT_NHWC});
  };
  EXPECT_EQ(run(MLUOP_DTYPE_DOUBLE, 2), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(error_text().find("dtype"), std::string::npos);
  EXPECT_EQ(run(MLUOP_DTYPE_FLOAT, INT32_MAX), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(error_text().find("sample steps"), std::string::npos);
  EXPECT_EQ(argmax, std::vector<std::int32_t>(16, -7));
}

}  // namespace
}  // namespace mluops::emu::test
