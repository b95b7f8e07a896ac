// CARAFE of the cpu backend at every instruction-set level: shapes with odd ends, outputs that begin anywhere, planes.
#include "test/cpu/support.h"
#include "test/reference/reference.h"

namespace mluops::cpu::test {
namespace {

struct Case {
  std::int64_t n, h, w, c, kernel, group, scale;
};

mluopsCarafeShape shape_of(const Case& k, mluOpDataType_t dtype) {
  return {dtype, k.n, k.h, k.w, k.c, k.h * k.scale, k.w * k.scale, k.kernel, k.group, k.scale};
}

template <class T>
struct Data {
  explicit Data(const Case& k)
      : shape(shape_of(k, dtype_of<T>())),
        pixels(k.n * k.h * k.w),
        out_pixels(pixels * k.scale * k.scale),
        mask_row(k.group * k.kernel * k.kernel),
        input(random_values<T>(pixels * k.c, 1)),
        mask(random_values<T>(out_pixels * mask_row, 2)),
        grad_output(random_values<T>(out_pixels * k.c, 3)) {
    poison_outside_taps();
  }

  /// f(out pixel, tap, in pixel or -1 outside).
  template <class F>
  void for_each_tap(F f) const {
    const auto& s = shape;
    for (std::int64_t out = 0; out < out_pixels; ++out) {
      const std::int64_t n = out / (s.ho * s.wo), y = out / s.wo % s.ho, x = out % s.wo;
      for (std::int64_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
        const std::int64_t i = y / s.scale + tap / s.kernel - (s.kernel - 1) / 2;
        const std::int64_t j = x / s.scale + tap % s.kernel - (s.kernel - 1) / 2;
        const bool inside = i >= 0 && i < s.h && j >= 0 && j < s.w;
        f(out, tap, inside ? (n * s.h + i) * s.w + j : -1);
      }
    }
  }

  /// NaN where no tap may be read.
  void poison_outside_taps() {
    for_each_tap([&](std::int64_t out, std::int64_t tap, std::int64_t in) {
      if (in >= 0) return;
      for (std::int64_t g = 0; g < shape.group; ++g) {
        std::memset(static_cast<void*>(&mask[static_cast<std::size_t>(out * mask_row + tap) +
                                             static_cast<std::size_t>(g * shape.kernel * shape.kernel)]),
                    0xff, sizeof(T));
      }
    });
  }

  mluopsCarafeShape shape;
  std::int64_t pixels, out_pixels, mask_row;
  std::vector<T> input, mask, grad_output;
};

mluopsCarafeShape in_double(mluopsCarafeShape shape) {
  shape.dtype = MLUOP_DTYPE_DOUBLE;
  return shape;
}

template <class T>
Expected expected_output(const Data<T>& d) {
  const auto input = magnitudes_of(d.input), mask = magnitudes_of(d.mask);
  return {reference::carafe_forward({d.shape, d.input.data(), d.mask.data(), nullptr, MLUOP_LAYOUT_NHWC}),
          reference::carafe_forward({in_double(d.shape), input.data(), mask.data(), nullptr, MLUOP_LAYOUT_NHWC})};
}

/// The gradient of the input, then that of the mask.
template <class T>
std::pair<Expected, Expected> expected_gradients(const Data<T>& d) {
  const auto input = magnitudes_of(d.input), mask = magnitudes_of(d.mask), grad = magnitudes_of(d.grad_output);
  const reference::CarafeGradients value = reference::carafe_backward(
      {d.shape, d.input.data(), d.mask.data(), d.grad_output.data(), nullptr, nullptr, MLUOP_LAYOUT_NHWC});
  const reference::CarafeGradients magnitude = reference::carafe_backward(
      {in_double(d.shape), input.data(), mask.data(), grad.data(), nullptr, nullptr, MLUOP_LAYOUT_NHWC});
  return {{value.input, magnitude.input}, {value.mask, magnitude.mask}};
}

template <class T>
void check_forward(Backend& backend, const Case& k) {
  const Data<T> d(k);
  std::vector<T> output = poisoned<T>(d.out_pixels * k.c);
  const mluopsCarafeForwardProblem p{d.shape, d.input.data(), d.mask.data(), output.data(), MLUOP_LAYOUT_NHWC};
  ASSERT_EQ(backend.run(&mluopsBackend::carafe_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
  const Expected want = expected_output(d);
  expect_close(output, want.value, want.magnitude, static_cast<double>(k.kernel * k.kernel) + 2);
}

/// An output large enough to be written past the caches, beginning anywhere in a cache line; nothing around it changes.
template <class T>
void check_large_forward(const Case& k) {
  const Data<T> d(k);
  const Expected want = expected_output(d);
  const auto count = static_cast<std::size_t>(d.out_pixels * k.c), line = 64 / sizeof(T);
  for (const char* isa : kLevels) {
    for (const std::size_t off : {0, 4, 13}) {
      SCOPED_TRACE(testing::Message() << isa << " off " << off);
      Backend backend(2);
      backend.option("isa", isa);
      std::vector<T> memory = poisoned<T>(static_cast<std::int64_t>(count + line + 16));
      const std::size_t to_line = -reinterpret_cast<std::uintptr_t>(memory.data()) % 64 / sizeof(T);
      T* const output = memory.data() + to_line + off;
      const mluopsCarafeForwardProblem p{d.shape, d.input.data(), d.mask.data(), output, MLUOP_LAYOUT_NHWC};
      ASSERT_EQ(backend.run(&mluopsBackend::carafe_forward, p), MLUOP_STATUS_SUCCESS) << last_error;
      expect_close(std::vector<T>(output, output + count), want.value, want.magnitude,
                   static_cast<double>(k.kernel * k.kernel) + 2);
      EXPECT_TRUE(to_line + off == 0 || std::isnan(to_acc(memory[to_line + off - 1])));
      EXPECT_TRUE(std::isnan(to_acc(output[count])));
    }
  }
}

template <class T>
void check_backward(Backend& backend, const Case& k) {
  const Data<T> d(k);
  std::vector<T> grad_input = poisoned<T>(d.pixels * k.c), grad_mask = poisoned<T>(d.out_pixels * d.mask_row);
  const mluopsCarafeBackwardProblem p{d.shape,           d.input.data(),   d.mask.data(),    d.grad_output.data(),
                                      grad_input.data(), grad_mask.data(), MLUOP_LAYOUT_NHWC};
  ASSERT_EQ(backend.run(&mluopsBackend::carafe_backward, p), MLUOP_STATUS_SUCCESS) << last_error;
  const auto [want_input, want_mask] = expected_gradients(d);
  const auto taps = static_cast<double>(k.kernel * k.kernel);
  expect_close(grad_input, want_input.value, want_input.magnitude, taps * static_cast<double>(k.scale * k.scale) + 2);
  expect_close(grad_mask, want_mask.value, want_mask.magnitude, static_cast<double>(k.c) + 2);
}

/// [n, pixels, channels] to [n, channels, pixels].
template <class T>
std::vector<T> to_planes(const std::vector<T>& v, std::int64_t n, std::int64_t channels) {
  const std::int64_t pixels = static_cast<std::int64_t>(v.size()) / (n * channels);
  std::vector<T> planes(v.size());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(v.size()); ++i) {
    const std::int64_t image = i / (pixels * channels), pixel = i / channels % pixels, c = i % channels;
    planes[static_cast<std::size_t>((image * channels + c) * pixels + pixel)] = v[static_cast<std::size_t>(i)];
  }
  return planes;
}

/// NCHW tensors give the bits that NHWC ones do. Gradients of path nchw_groups, and the input's of atomic additions,
/// are summed in another order.
template <class T>
void check_planes(Backend& backend, const Case& k) {
  const Data<T> d(k);
  std::vector<T> output = poisoned<T>(d.out_pixels * k.c);
  std::vector<T> grad_input = poisoned<T>(d.pixels * k.c), grad_mask = poisoned<T>(d.out_pixels * d.mask_row);
  const mluopsCarafeForwardProblem f{d.shape, d.input.data(), d.mask.data(), output.data(), MLUOP_LAYOUT_NHWC};
  const mluopsCarafeBackwardProblem b{d.shape,           d.input.data(),   d.mask.data(),    d.grad_output.data(),
                                      grad_input.data(), grad_mask.data(), MLUOP_LAYOUT_NHWC};
  backend.option("path", "auto");
  ASSERT_EQ(backend.run(&mluopsBackend::carafe_forward, f), MLUOP_STATUS_SUCCESS) << last_error;
  ASSERT_EQ(backend.run(&mluopsBackend::carafe_backward, b), MLUOP_STATUS_SUCCESS) << last_error;
  const auto input = to_planes(d.input, k.n, k.c), mask = to_planes(d.mask, k.n, d.mask_row);
  const auto grad_output = to_planes(d.grad_output, k.n, k.c);
  const auto same = [](const std::vector<T>& got, const std::vector<T>& want) {
    return std::memcmp(got.data(), want.data(), got.size() * sizeof(T)) == 0;
  };
  std::vector<T> o = poisoned<T>(d.out_pixels * k.c);
  const mluopsCarafeForwardProblem nf{d.shape, input.data(), mask.data(), o.data(), MLUOP_LAYOUT_NCHW};
  ASSERT_EQ(backend.run(&mluopsBackend::carafe_forward, nf), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_TRUE(same(o, to_planes(output, k.n, k.c)));
  std::vector<T> gi = poisoned<T>(d.pixels * k.c), gm = poisoned<T>(d.out_pixels * d.mask_row);
  const mluopsCarafeBackwardProblem nb{d.shape,   input.data(), mask.data(),      grad_output.data(),
                                       gi.data(), gm.data(),    MLUOP_LAYOUT_NCHW};
  backend.option("path", "owner");
  ASSERT_EQ(backend.run(&mluopsBackend::carafe_backward, nb), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_TRUE(same(gi, to_planes(grad_input, k.n, k.c)));
  EXPECT_TRUE(same(gm, to_planes(grad_mask, k.n, d.mask_row)));

  const std::pair<Expected, Expected> expected = expected_gradients(d);
  const Expected &want = expected.first, &want_mask = expected.second;
  const auto expect_close_input = [&] {
    expect_close(gi, to_planes(want.value, k.n, k.c), to_planes(want.magnitude, k.n, k.c),
                 static_cast<double>(k.kernel * k.kernel * k.scale * k.scale) + 2);
  };
  backend.option("path", "nchw_groups");
  ASSERT_EQ(backend.run(&mluopsBackend::carafe_backward, nb), MLUOP_STATUS_SUCCESS) << last_error;
  expect_close_input();
  expect_close(gm, to_planes(want_mask.value, k.n, d.mask_row), to_planes(want_mask.magnitude, k.n, d.mask_row),
               static_cast<double>(k.c) + 2);
  backend.option("path", "auto");

  backend.option("scatter", "atomic");
  backend.call().atomics = MLUOP_ATOMICS_ALLOWED;
  ASSERT_EQ(backend.run(&mluopsBackend::carafe_backward, nb), MLUOP_STATUS_SUCCESS) << last_error;
  EXPECT_EQ(backend.query("last_scatter"), "atomic");
  expect_close_input();
  EXPECT_TRUE(same(gm, to_planes(grad_mask, k.n, d.mask_row)));
  backend.option("scatter", "auto");
  backend.call().atomics = MLUOP_ATOMICS_NOT_ALLOWED;
}

const Case kCases[] = {
    {1, 3, 3, 1, 5, 1, 2},   {2, 4, 5, 16, 3, 1, 2},  {1, 5, 4, 37, 3, 1, 2}, {2, 3, 3, 64, 5, 4, 2},
    {1, 1, 1, 8, 1, 1, 1},   {1, 6, 7, 24, 1, 2, 3},  {1, 2, 3, 10, 7, 5, 1}, {1, 3, 2, 33, 3, 3, 3},
    {1, 4, 4, 6, 9, 6, 4},   {1, 1, 9, 48, 5, 1, 5},  {3, 9, 1, 96, 3, 1, 2}, {1, 3, 3, 70, 45, 2, 2},
    {1, 7, 6, 256, 5, 1, 2}, {1, 2, 2, 600, 5, 2, 2},
};

template <class T>
class CarafeTest : public testing::Test {};
using Types = testing::Types<float, Half, Bfloat16, double>;
TYPED_TEST_SUITE(CarafeTest, Types);

TYPED_TEST(CarafeTest, ForwardMatchesTheReference) {
  for (const char* isa : kLevels) {
    Backend backend(2);
    backend.option("isa", isa);
    for (const Case& k : kCases) {
      SCOPED_TRACE(testing::Message() << isa << " case " << &k - kCases);
      check_forward<TypeParam>(backend, k);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CarafeTest, LargeOutputsMayBeginAnywhere) {
  check_large_forward<TypeParam>({1, 34, 34, 256, 3, 2, 2});  // whole cache lines per group
  check_large_forward<TypeParam>({1, 27, 41, 300, 1, 1, 2});  // not
  check_large_forward<TypeParam>({2, 90, 99, 7, 1, 1, 3});    // pixels shorter than a line
}

TYPED_TEST(CarafeTest, BackwardMatchesTheReference) {
  for (const char* isa : kLevels) {
    Backend backend(2);
    backend.option("isa", isa);
    for (const Case& k : kCases) {
      SCOPED_TRACE(testing::Message() << isa << " case " << &k - kCases);
      check_backward<TypeParam>(backend, k);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CarafeTest, PlanesGiveTheSameBits) {
  for (const char* isa : kLevels) {
    Backend backend(2);
    backend.option("isa", isa);
    for (const Case& k : kCases) {
      SCOPED_TRACE(testing::Message() << isa << " case " << &k - kCases);
      check_planes<TypeParam>(backend, k);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CarafeTest, LargePlanesGiveTheSameBits) {
  Backend backend(2);
  check_planes<TypeParam>(backend, {2, 33, 67, 272, 3, 1, 2});   // past the caches, lines begin anywhere
  check_planes<TypeParam>(backend, {1, 12, 40, 2048, 7, 1, 1});  // several strips of columns
}

}  // namespace
}  // namespace mluops::cpu::test
