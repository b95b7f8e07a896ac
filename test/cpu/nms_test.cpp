// Suppression in blocks by several threads against box by box with one, and the sort by several threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/spatial/parallel_sort.h"
#include "mluops/problem/nms.h"
#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

enum class Kind { kNetwork, kGrid, kRow, kSame, kNested, kWild };
constexpr Kind kKinds[] = {Kind::kNetwork, Kind::kGrid, Kind::kRow, Kind::kSame, Kind::kNested, Kind::kWild};

template <class T>
struct Boxes {
  std::vector<T> dets;  ///< [n, 5]
  std::vector<T> corners, scores;

  Boxes(Kind kind, std::int64_t n, bool ties) {
    std::mt19937 engine(static_cast<unsigned>(kind) + 11);
    const auto real = [&](double low, double high) { return std::uniform_real_distribution(low, high)(engine); };
    for (std::int64_t i = 0; i < n; ++i) {
      double x = real(0, 900), y = real(0, 600), w = real(16, 90), h = real(16, 90);
      if (kind == Kind::kGrid) x = std::floor(x / 150) * 5, y = std::floor(y / 100) * 5, w = h = 10;
      if (kind == Kind::kRow) x = 30.0 * static_cast<double>(i), y = 0, w = h = 25;
      if (kind == Kind::kSame) x = y = 3, w = h = 7;
      if (kind == Kind::kNested) x = y = 500 - w, h = w *= 2;
      double box[4] = {x, y, x + w, y + h};
      if (kind == Kind::kWild && i % 3 == 0) {
        const double odd[] = {std::nan(""), std::numeric_limits<double>::infinity(), box[0], box[1], -1e30, 1e-30};
        box[engine() % 4] = odd[engine() % 6];
      }
      for (const double v : box) corners.push_back(static_cast<T>(v));
      scores.push_back(static_cast<T>(ties ? std::floor(real(-3, 3)) : real(-1, 1)));
      if (kind == Kind::kWild && i % 50 == 0) scores.back() = static_cast<T>(std::nan(""));
      dets.insert(dets.end(), corners.end() - 4, corners.end());
      dets.push_back(scores.back());
    }
  }
  std::int64_t count() const { return std::ssize(scores); }
};

using Indices = std::vector<std::int32_t>;

template <class T>
Indices kept(const Boxes<T>& boxes, double threshold, std::int64_t most, int threads, const char* level) {
  Backend backend(threads);
  backend.option("isa", level);
  Indices out = poisoned<std::int32_t>(boxes.count());
  std::int32_t found = -1;
  mluopsNmsProblem p = {};
  p.shape = {dtype_of<T>(), MLUOP_DTYPE_INT32, boxes.count(), threshold, 0};
  p.score_dtype = dtype_of<T>();
  p.box_mode = MLUOP_NMS_BOX_DIAGONAL;
  p.output_mode = MLUOP_NMS_OUTPUT_TARGET_INDICES;
  p.score_threshold = std::nan("");
  p.max_output = p.room = most;
  p.boxes = boxes.corners.data();
  p.scores = boxes.scores.data();
  p.output = out.data();
  p.output_size = &found;
  p.box_numbers = 4;
  EXPECT_EQ(backend.run(&mluopsBackend::nms, p), MLUOP_STATUS_SUCCESS) << last_error;
  out.push_back(found);
  return out;
}

template <class T>
Indices groups(const Boxes<T>& boxes, double threshold, int threads, const char* level) {
  Backend backend(threads);
  backend.option("isa", level);
  Indices out = poisoned<std::int32_t>(boxes.count()), sizes = out;
  std::int32_t found = -1;
  const mluopsNmsMatchProblem p = {{dtype_of<T>(), MLUOP_DTYPE_INT32, boxes.count(), threshold, 0},
                                   boxes.dets.data(),
                                   out.data(),
                                   sizes.data(),
                                   &found};
  EXPECT_EQ(backend.run(&mluopsBackend::nms_match, p), MLUOP_STATUS_SUCCESS) << last_error;
  out.insert(out.end(), sizes.begin(), sizes.end());
  out.push_back(found);
  return out;
}

template <class T>
void expect_same_for_all_threads(Kind kind, std::int64_t n, bool ties, const char* level) {
  const Boxes<T> boxes(kind, n, ties);
  for (const double threshold : {0.7, 0.2, 0.0, -0.5}) {
    if (threshold < 0 && n > 4000) continue;  // all pairs
    for (const std::int64_t most : {n, n / 5}) {
      const Indices one = kept(boxes, threshold, most, 1, level);
      for (const int threads : {3, 8}) {
        EXPECT_EQ(one, kept(boxes, threshold, most, threads, level))
            << "kind " << static_cast<int>(kind) << ", IoU " << threshold << ", " << threads << " threads, most "
            << most;
      }
    }
    const Indices one = groups(boxes, threshold, 1, level);
    EXPECT_EQ(one, groups(boxes, threshold, 8, level)) << "kind " << static_cast<int>(kind) << ", IoU " << threshold;
  }
}

class NmsTest : public testing::TestWithParam<const char*> {};

TEST_P(NmsTest, BlocksKeepWhatBoxByBoxKeeps) {
  for (const Kind kind : kKinds) {
    expect_same_for_all_threads<float>(kind, 5000, false, GetParam());
    expect_same_for_all_threads<double>(kind, 2501, true, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, NmsTest, testing::Values(kLowestLevel, kHighestLevel));

struct Item {
  std::uint64_t key;
  std::int32_t number;
  bool operator==(const Item&) const = default;
};

TEST(ParallelSort, IsTheStableSortForAnyThreads) {
  std::mt19937_64 engine(5);
  for (const std::int64_t n : {1, 5000, 40000}) {
    for (const std::uint64_t keys : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{100000}}) {
      std::vector<Item> items;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::uint64_t any = engine();
        items.push_back({keys == 0 ? any : any % keys, static_cast<std::int32_t>(i)});  // 0: all of 64 bits
      }
      std::vector<Item> expected = items;
      std::stable_sort(expected.begin(), expected.end(), [](const Item& a, const Item& b) { return a.key < b.key; });
      for (const int threads : {1, 2, 5, 16}) {
        Context context;
        mluopsCall call = {};
        call.threads = threads;
        Allocator measure;
        spatial::ParallelSort<Item>(measure, call, n + 9);
        Allocator cut(context.arena.reserve(measure.bytes()));
        spatial::ParallelSort<Item> sort(cut, call, n + 9);  // fewer come than there is room for
        std::copy(items.begin(), items.end(), sort.items());
        const Item* const sorted = sort.run(context, call, n, [](const Item& item) { return item.key; });
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), sorted)) << n << " items, " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace mluops::cpu::test
