// Sums of gradients: same bits for every number of threads with owners, right sums with atomics; memory per call.
#include "backends/cpu/scatter/scatter.h"

#include <thread>

#include "backends/cpu/runtime/arena.h"
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

template <class T>
struct CarafeBackward {
  mluopsCarafeShape shape{dtype_of<T>(), 2, 13, 11, 48, 39, 33, 5, 2, 3};
  std::vector<T> input = random_values<T>(2 * 13 * 11 * 48, 1), mask = random_values<T>(2 * 39 * 33 * 50, 2);
  std::vector<T> grad_output = random_values<T>(2 * 39 * 33 * 48, 3);
  std::vector<T> grad_input = poisoned<T>(2 * 13 * 11 * 48), grad_mask = poisoned<T>(2 * 39 * 33 * 50);

  void run(Backend& backend) {
    const mluopsCarafeBackwardProblem p{
        shape, input.data(), mask.data(), grad_output.data(), grad_input.data(), grad_mask.data(), MLUOP_LAYOUT_NHWC};
    ASSERT_EQ(backend.run(&mluopsBackend::carafe_backward, p), MLUOP_STATUS_SUCCESS) << last_error;
  }
};

template <class T>
class ScatterTest : public testing::Test {};
using Types = testing::Types<float, Half, Bfloat16, double>;
TYPED_TEST_SUITE(ScatterTest, Types);

TYPED_TEST(ScatterTest, OwnersGiveTheSameBitsForEveryThreadCountAndRuntime) {
  CarafeBackward<TypeParam> one;
  Backend serial(1);
  one.run(serial);
  EXPECT_EQ(serial.query("last_scatter"), "owner");
  for (int threads = 2; threads <= 16; ++threads) {
    CarafeBackward<TypeParam> other;
    Backend backend(threads);
    backend.option("threading", threads % 2 == 0 ? "openmp" : "tbb");
    other.run(backend);
    EXPECT_TRUE(same_bytes(one.grad_input, other.grad_input)) << threads;
    EXPECT_TRUE(same_bytes(one.grad_mask, other.grad_mask)) << threads;
  }
}

TYPED_TEST(ScatterTest, AtomicsNeedTheCallersLeave) {
  CarafeBackward<TypeParam> data;
  Backend backend(2);
  backend.option("scatter", "atomic");
  data.run(backend);
  EXPECT_EQ(backend.query("last_scatter"), "owner");
}

TYPED_TEST(ScatterTest, AtomicsGiveTheSameSums) {
  CarafeBackward<TypeParam> owner, atomic;
  Backend backend(4);
  backend.call().atomics = MLUOP_ATOMICS_ALLOWED;
  owner.run(backend.option("scatter", "owner"));
  atomic.run(backend.option("scatter", "atomic"));
  EXPECT_EQ(backend.query("last_scatter"), "atomic");
  EXPECT_TRUE(same_bytes(owner.grad_mask, atomic.grad_mask));
  for (std::size_t i = 0; i < owner.grad_input.size(); ++i) {
    const auto want = static_cast<double>(to_acc(owner.grad_input[i]));
    const auto got = static_cast<double>(to_acc(atomic.grad_input[i]));
    ASSERT_NEAR(got, want, 2 * unit_roundoff<TypeParam>() * std::abs(want) + 500 * unit_roundoff<Acc<TypeParam>>())
        << i;
  }
}

TYPED_TEST(ScatterTest, ASecondCallNeedsNoMoreMemory) {
  CarafeBackward<TypeParam> data;
  Backend backend(2);
  data.run(backend);
  const std::string bytes = backend.query("scratch_bytes");
  data.run(backend);
  EXPECT_EQ(backend.query("scratch_bytes"), bytes);
}

TEST(AtomicAdd, LosesNothing) {
  std::vector<float> sums(3, 0.f);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        for (std::size_t k = 0; k < sums.size(); ++k) atomic_add(&sums[k], static_cast<float>(k + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, (std::vector<float>{80000, 160000, 240000}));
}

TEST(Arena, IsAlignedReusedAndGrows) {
  Arena arena;
  std::byte* const small = arena.reserve(1000);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small) % Arena::kAlignment, 0u);
  EXPECT_EQ(arena.reserve(10), small);
  EXPECT_EQ(arena.bytes(), 1000);
  ASSERT_NE(arena.reserve(100000), nullptr);
  EXPECT_EQ(arena.bytes(), 100000);
}

TEST(Arena, SaysWhenThereIsNoMemory) {
  Arena arena;
  EXPECT_EQ(arena.reserve(std::int64_t{1} << 60), nullptr);
  EXPECT_EQ(arena.bytes(), 0);
  EXPECT_NE(arena.reserve(64), nullptr);
}

TEST(Allocator, MeasuresWhatItCuts) {
  Arena arena;
  Allocator measure;
  EXPECT_EQ(measure.allocate<float>(3), nullptr);
  EXPECT_EQ(measure.allocate<double>(9), nullptr);
  EXPECT_EQ(measure.bytes(), 64 + 128);
  Allocator allocator(arena.reserve(measure.bytes()));
  const auto* floats = allocator.allocate<float>(3);
  const auto* doubles = allocator.allocate<double>(9);
  EXPECT_EQ(reinterpret_cast<const std::byte*>(doubles) - reinterpret_cast<const std::byte*>(floats), 64);
}

}  // namespace
}  // namespace mluops::cpu::test
