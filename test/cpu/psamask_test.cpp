// PSAMask of the cpu backend moves bits, whatever they mean: all types, in place or streaming.
#include <numeric>

#include "test/cpu/support.h"
#include "test/reference/reference.h"

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

/// 1, 2, 3 ...: what the reference moves tells where from.
std::vector<double> numbers(std::int64_t count) {
  std::vector<double> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 1.0);
  return all;
}

/// The elements that `sources` numbers, 0 where it has none, between two elements that nobody writes.
template <class E>
std::vector<E> moved(const std::vector<E>& from, const std::vector<double>& sources) {
  std::vector<E> to = {E(~E{0})};
  for (const double source : sources) to.push_back(source == 0 ? E{0} : from[static_cast<std::size_t>(source) - 1]);
  to.push_back(E(~E{0}));
  return to;
}

template <class E>
void check(Backend& backend, const Case& k, int type, mluOpDataType_t dtype) {
  const mluopsPsamaskShape shape{dtype, k.n, k.h, k.w, k.h_mask, k.w_mask, type};
  const std::int64_t x_count = k.n * k.h * k.w * k.h_mask * k.w_mask, y_count = k.n * k.h * k.w * k.h * k.w;
  const auto x = random_bits<E>(x_count, 1), dy = random_bits<E>(y_count, 2);
  const mluopsPsamaskShape wide{MLUOP_DTYPE_DOUBLE, k.n, k.h, k.w, k.h_mask, k.w_mask, type};
  const auto of_x = numbers(x_count), of_y = numbers(y_count);
  const auto want_y = moved(x, reference::psamask_forward({wide, of_x.data(), nullptr, MLUOP_LAYOUT_NHWC}));
  const auto want_dx = moved(dy, reference::psamask_backward({wide, of_y.data(), nullptr, MLUOP_LAYOUT_NHWC}));
  // One element off the alignment of the allocation, guarded on both sides.
  std::vector<E> y = poisoned<E>(y_count + 2), dx = poisoned<E>(x_count + 2);
  const mluopsPsamaskForwardProblem forward{shape, x.data(), y.data() + 1, MLUOP_LAYOUT_NHWC};
  const mluopsPsamaskBackwardProblem backward{shape, dy.data(), dx.data() + 1, MLUOP_LAYOUT_NHWC};
  ASSERT_EQ(backend.run(&mluopsBackend::psamask_forward, forward), MLUOP_STATUS_SUCCESS) << last_error;
  ASSERT_EQ(backend.run(&mluopsBackend::psamask_backward, backward), MLUOP_STATUS_SUCCESS) << last_error;
  ASSERT_TRUE(same_bytes(y, want_y)) << "forward, type " << type;
  ASSERT_TRUE(same_bytes(dx, want_dx)) << "backward, type " << type;
}

const Case kCases[] = {{1, 2, 2, 3, 3},     {1, 1, 1, 1, 1},    {2, 4, 5, 3, 2},  {1, 5, 3, 9, 5},
                       {3, 1, 7, 4, 13},    {1, 9, 1, 6, 6},    {2, 8, 8, 4, 4},  {1, 6, 6, 11, 12},
                       {1, 13, 17, 25, 33}, {1, 16, 19, 7, 37}, {1, 3, 50, 5, 9}, {1, 33, 35, 40, 20},
                       {3, 1, 40, 3, 70},   {1, 9, 40, 11, 61}, {1, 40, 2, 70, 3}};

class PsamaskTest : public testing::TestWithParam<const char*> {};

TEST_P(PsamaskTest, MovesTheBitsThatTheReferenceDoes) {
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
