// Transposes of matrices against the plain loop: every level, sizes around register tiles, strips and cache lines, into
// the caches and past them.
#include "backends/cpu/layout/relayout.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cpu/runtime/isa.h"
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

template <class E>
std::vector<E> plain(const layout::Matrices& m, const std::vector<E>& from) {
  std::vector<E> to(from.size());
  for (std::int64_t i = 0; i < m.count; ++i) {
    for (std::int64_t r = 0; r < m.rows; ++r) {
      for (std::int64_t c = 0; c < m.columns; ++c) {
        to[(i * m.columns + c) * m.rows + r] = from[(i * m.rows + r) * m.columns + c];
      }
    }
  }
  return to;
}

template <class E>
void expect_transposed(const layout::Matrices& m, int threads) {
  std::vector<E> from(static_cast<std::size_t>(m.count * m.rows * m.columns)), to(from.size(), E{7});
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<E>(i * 2654435761u >> 8);
  const std::vector<E> want = plain(m, from);
  for (const char* const level : kLevels) {
    Context context;
    context.isa = choose_isa(level).value();
    Backend backend(threads);
    std::fill(to.begin(), to.end(), E{7});
    layout::transpose(context, backend.call(), m, from.data(), to.data());
    EXPECT_TRUE(to == want) << level << " " << m.count << " x [" << m.rows << "," << m.columns << "] of " << sizeof(E);
  }
}

template <class E>
void expect_all_transposed() {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t sizes[] = {1, 3, 4, 8, 15, 16, 17, 32, 49, 64, 97, 130};
  for (const std::int64_t rows : sizes) {
    for (const std::int64_t columns : sizes) expect_transposed<E>({2, rows, columns, kSize}, 1);
  }
  // Non-temporal stores.
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{64, 6144}, {6144, 64}, {37, 9001}, {9001, 37}}) {
    expect_transposed<E>({2, rows, columns, kSize}, 3);
  }
  expect_transposed<E>({70, 49, 97, kSize}, 2);
}

TEST(Relayout, TransposesAsThePlainLoopDoes) {
  expect_all_transposed<std::uint16_t>();
  expect_all_transposed<float>();
  expect_all_transposed<double>();
}

}  // namespace
}  // namespace mluops::cpu::test
