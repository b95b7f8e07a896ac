// PSAMask of the cpu backend against its definition: bits, all types, in place or streaming.
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

struct Case {
  std::int64_t n, h, w, h_mask, w_mask;
};

template <class E>
std::vector<E> random_bits(std::int64_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<E> values(static_cast<std::size_t>(count));
  for (E& v : values) v = static_cast<E>(engine());
  return values;
}

/// f(index in x, index in y) for each pair the operator connects.
template <class F>
void for_each_pair(const Case& k, int type, F f) {
  const std::int64_t half_h = (k.h_mask - 1) >> 1, half_w = (k.w_mask - 1) >> 1;
  for (std::int64_t pixel = 0; pixel < k.n * k.h * k.w; ++pixel) {
    const std::int64_t n = pixel / (k.h * k.w), h = pixel / k.w % k.h, w = pixel % k.w;
    for (std::int64_t m = 0; m < k.h_mask * k.w_mask; ++m) {
      const std::int64_t y = m / k.w_mask + h - half_h, x = m % k.w_mask + w - half_w;
      if (y < 0 || y >= k.h || x < 0 || x >= k.w) continue;
      const std::int64_t map = k.h * k.w, target = y * k.w + x, source = h * k.w + w;
      f(pixel * k.h_mask * k.w_mask + m, type == 0 ? pixel * map + target : (n * map + target) * map + source);
    }
  }
}

template <class E>
void check(Backend& backend, const Case& k, int type, mluOpDataType_t dtype) {
  const mluopsPsamaskShape shape{dtype, k.n, k.h, k.w, k.h_mask, k.w_mask, type};
  const std::int64_t x_count = k.n * k.h * k.w * k.h_mask * k.w_mask, y_count = k.n * k.h * k.w * k.h * k.w;
  const auto x = random_bits<E>(x_count, 1), dy = random_bits<E>(y_count, 2);
  std::vector<E> want_y(dy.size()), want_dx(x.size());
  for_each_pair(k, type, [&](std::int64_t i, std::int64_t j) {
    want_y[static_cast<std::size_t>(j)] = x[static_cast<std::size_t>(i)];
    want_dx[static_cast<std::size_t>(i)] = dy[static_cast<std::size_t>(j)];
  });
  // One element off the alignment of the allocation, guarded on both sides.
  std::vector<E> y = poisoned<E>(y_count + 2), dx = poisoned<E>(x_count + 2);
  const mluopsPsamaskForwardProblem forward{shape, x.data(), y.data() + 1, MLUOP_LAYOUT_NHWC};
  const mluopsPsamaskBackwardProblem backward{shape, dy.data(), dx.data() + 1, MLUOP_LAYOUT_NHWC};
  ASSERT_EQ(backend.run(&mluopsBackend::psamask_forward, forward), MLUOP_STATUS_SUCCESS) << last_error;
  ASSERT_EQ(backend.run(&mluopsBackend::psamask_backward, backward), MLUOP_STATUS_SUCCESS) << last_error;
  want_y.insert(want_y.begin(), E(~E{0}));
  want_y.push_back(E(~E{0}));
  want_dx.insert(want_dx.begin(), E(~E{0}));
  want_dx.push_back(E(~E{0}));
  ASSERT_TRUE(same_bytes(y, want_y)) << "forward, type " << type;
  ASSERT_TRUE(same_bytes(dx, want_dx)) << "backward, type " << type;
}

const Case kCases[] = {{1, 2, 2, 3, 3},     {1, 1, 1, 1, 1},    {2, 4, 5, 3, 2},  {1, 5, 3, 9, 5},
                       {3, 1, 7, 4, 13},    {1, 9, 1, 6, 6},    {2, 8, 8, 4, 4},  {1, 6, 6, 11, 12},
                       {1, 13, 17, 25, 33}, {1, 16, 19, 7, 37}, {1, 3, 50, 5, 9}, {1, 33, 35, 40, 20},
                       {3, 1, 40, 3, 70},   {1, 9, 40, 11, 61}, {1, 40, 2, 70, 3}};

class PsamaskTest : public testing::TestWithParam<const char*> {};

TEST_P(PsamaskTest, MovesTheBitsOfItsDefinition) {
  Backend backend(2);
  backend.option("isa", GetParam());
  for (const Case& k : kCases) {
    for (int type : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "case " << &k - kCases);
      check<std::uint32_t>(backend, k, type, MLUOP_DTYPE_FLOAT);
      check<std::uint16_t>(backend, k, type, MLUOP_DTYPE_HALF);
      check<std::uint64_t>(backend, k, type, MLUOP_DTYPE_DOUBLE);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(PsamaskTest, StreamsLargeOutputs) {
  Backend backend(2);
  backend.option("isa", GetParam());
  for (int type : {0, 1}) {
    check<std::uint32_t>(backend, {2, 31, 37, 35, 60}, type, MLUOP_DTYPE_FLOAT);
    check<std::uint32_t>(backend, {2, 31, 31, 13, 13}, type, MLUOP_DTYPE_FLOAT);  // windows side by side in memory
    check<std::uint16_t>(backend, {1, 47, 47, 51, 93}, type, MLUOP_DTYPE_BFLOAT16);
    check<std::uint16_t>(backend, {1, 29, 49, 51, 93}, type, MLUOP_DTYPE_HALF);
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, PsamaskTest, testing::ValuesIn(kLevels),
                         [](const auto& level) { return std::string(level.param); });

}  // namespace
}  // namespace mluops::cpu::test
