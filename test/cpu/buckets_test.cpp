// Items sorted into buckets: the same lists for every number of threads, by parts whose size follows the items.
#include "backends/cpu/scatter/buckets.h"

#include "test/cpu/support.h"

namespace mluops::cpu::test {
namespace {

struct Sorted {
  std::vector<std::int64_t> begins, entries;
  std::vector<double> ns;
};

/// Every third item belongs to no bucket, the others to one or two.
Sorted sort(int threads, std::int64_t items, std::int64_t buckets) {
  Context context;
  context.threading = Threading::kSimulated;
  const mluopsCall call = call_with(threads);
  auto sorted = allocate<Buckets>(context.arena, call, items, buckets);
  EXPECT_TRUE(sorted && sorted->fill(context, call, 1e6, 2, [&](std::int64_t begin, std::int64_t end, auto put) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t bucket = i * 7919 % buckets;
      if (i % 3 != 0) put(i, bucket, 1);
      if (i % 3 == 2) put(i, buckets - 1 - bucket, 1);
    }
  }));
  Sorted out;
  for (std::int64_t i = 0; i <= buckets; ++i) out.begins.push_back(sorted->begin(i));
  out.entries.assign(sorted->all().begin(), sorted->all().end());
  out.ns.assign(sorted->prefix_ns().begin(), sorted->prefix_ns().end());
  return out;
}

TEST(Buckets, SortTheSameForEveryNumberOfThreads) {
  constexpr std::int64_t kItems = 20'000;
  for (const std::int64_t buckets : {1, 3, 255, 256, 257, 5000, 100'000}) {
    const Sorted one = sort(1, kItems, buckets);
    std::int64_t at = 0;
    for (std::int64_t bucket = 0; bucket < buckets; ++bucket) {
      ASSERT_EQ(one.begins[static_cast<std::size_t>(bucket)], at);
      for (std::int64_t last = -1; at < one.begins[static_cast<std::size_t>(bucket) + 1]; ++at) {
        const std::int64_t item = one.entries[static_cast<std::size_t>(at)], first = item * 7919 % buckets;
        ASSERT_TRUE(item % 3 != 0 && (bucket == first || (item % 3 == 2 && bucket == buckets - 1 - first)));
        ASSERT_GE(item, last);
        last = item;
      }
      ASSERT_EQ(one.ns[static_cast<std::size_t>(bucket) + 1], static_cast<double>(2 * (bucket + 1) + at));
    }
    ASSERT_EQ(at, kItems - 1);
    for (const int threads : {2, 3, 7, 64}) {
      const Sorted other = sort(threads, kItems, buckets);
      EXPECT_EQ(other.begins, one.begins) << buckets << " " << threads;
      EXPECT_EQ(other.entries, one.entries) << buckets << " " << threads;
      EXPECT_EQ(other.ns, one.ns) << buckets << " " << threads;
    }
  }
}

/// Parts have numbers of their own for all buckets, which are cleared and added up.
TEST(Buckets, MoreThreadsTakeNoMorePartsThanItemsRepay) {
  const auto bytes = [](int threads, std::int64_t items, std::int64_t buckets) {
    Allocator measure;
    static_cast<void>(Buckets(measure, call_with(threads), items, buckets));
    return measure.bytes();
  };
  constexpr std::int64_t kBuckets = 100'000, kPart = 16 * kBuckets;
  EXPECT_GE(bytes(2, kBuckets, kBuckets), 3 * kPart);
  EXPECT_EQ(bytes(64, kBuckets / 10, kBuckets), bytes(2, kBuckets / 10, kBuckets));
  EXPECT_LT(bytes(64, 4 * kBuckets, kBuckets), 10 * kPart);
}

}  // namespace
}  // namespace mluops::cpu::test
