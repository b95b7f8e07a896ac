// NRAM with its shadow, GDRAM windows with their writers, the bitmap under them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "backends/mlu_emu/device/bitmap.h"
#include "backends/mlu_emu/device/gdram.h"
#include "backends/mlu_emu/device/nram.h"
#include "common/half.h"

namespace mluops::emu::test {
namespace {

TEST(Bitmap, AgreesWithOneFlagPerBit) {
  constexpr std::int64_t kSize = 400;
  Bitmap bits(kSize);
  std::vector<bool> flags(kSize);
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t begin = random() % (kSize + 1), end = begin + random() % (kSize + 1 - begin);
    const bool on = random() % 2;
    on ? bits.set(begin, end) : bits.reset(begin, end);
    std::fill(flags.begin() + begin, flags.begin() + end, on);
    const std::int64_t from = random() % (kSize + 1), to = from + random() % (kSize + 1 - from);
    const auto clear = std::find(flags.begin() + from, flags.begin() + to, false) - flags.begin();
    ASSERT_EQ(bits.first_clear(from, to), clear) << from << ".." << to;
  }
}

TEST(Nram, PoisonIsNanInEveryFloatType) {
  Nram nram(1024);
  for (std::int64_t i = 0; i < 1024; i += 4) {
    float f;
    std::uint16_t h;
    std::memcpy(&f, nram.base() + i, 4);
    std::memcpy(&h, nram.base() + i, 2);
    ASSERT_TRUE(std::isnan(f) && std::isnan(half_to_float(h))) << i;
  }
}

TEST(Nram, KnowsWhatWasWritten) {
  Nram nram(1024);
  EXPECT_EQ(nram.first_unwritten(0, 1024), 0);
  nram.mark_written(0, 100);
  EXPECT_EQ(nram.first_unwritten(0, 100), -1);
  EXPECT_EQ(nram.first_unwritten(20, 200), 100);
  nram.base()[101] = 1;  // scalar code: nobody tells, its word counts
  EXPECT_EQ(nram.first_unwritten(0, 200), 104);
  nram.poison();
  EXPECT_EQ(nram.first_unwritten(0, 4), 0);
}

TEST(Nram, PoisonsPartsAtAnyOffset) {
  for (const std::int64_t offset : {0, 1, 2, 3, 5, 64}) {
    for (const std::int64_t bytes : {0, 1, 2, 3, 4, 7, 64}) {
      Nram nram(1024);
      std::memset(nram.base(), 0, 1024);
      nram.mark_written(0, 1024);
      nram.poison(offset, bytes);
      EXPECT_EQ(nram.first_unwritten(0, 1024), bytes == 0 ? -1 : offset);
      EXPECT_EQ(nram.first_unwritten(offset + bytes, 1024 - offset - bytes), -1);
      EXPECT_EQ(nram.first_unwritten(0, offset), -1);
    }
  }
}

TEST(Nram, GuardsTellWhereTheyWereHit) {
  Nram nram(1024);
  EXPECT_EQ(nram.damaged_guard(), 0);
  nram.base()[1024] = 0;
  EXPECT_EQ(nram.damaged_guard(), 1024);
  nram.poison();
  nram.base()[-1] = 0;
  EXPECT_EQ(nram.damaged_guard(), -4);
  EXPECT_TRUE(nram.near(nram.base() - 1) && nram.near(nram.base() + 1030));
  EXPECT_FALSE(nram.near(&nram));
}

TEST(Nram, PoisonsAgainWhatATaskCouldTouch) {
  constexpr std::int64_t kBytes = 100 * 1024;
  Nram nram(kBytes);
  const auto touch = [&](std::int64_t offset, bool word) {
    nram.base()[offset] = 1;
    if (word) nram.mark_written(offset, 1);
  };
  touch(70 * 1024, true);   // by a word, beyond what scalar code reaches
  touch(20 * 1024, false);  // by scalar code
  touch(-1, false), touch(kBytes, false);
  nram.reach(20 * 1024 + 1);
  nram.poison_again();
  EXPECT_EQ(nram.damaged_guard(), 0);
  for (std::int64_t at = 0; at < kBytes; at += 4) ASSERT_EQ(nram.first_unwritten(at, 4), at);
  touch(kBytes - 1, false);  // where scalar code could get to everything
  nram.reach(kBytes);
  nram.poison_again();
  EXPECT_EQ(nram.first_unwritten(kBytes - 4, 4), kBytes - 4);
}

TEST(Gdram, TheNextLaunchKnowsNoWriters) {
  std::vector<char> memory(300);
  const Tensor a{"a", memory.data(), 100, Access::kReadWrite}, b{"b", memory.data() + 100, 100, Access::kReadWrite};
  Gdram gdram({a, b}, true);
  EXPECT_EQ(gdram.windows()[0].claim(0, 100, Touch::kWrite, 1), -1);
  EXPECT_EQ(gdram.windows()[1].claim(0, 100, Touch::kAtomic, 1), -1);
  const Tensor larger{"larger", memory.data(), 101, Access::kReadWrite}, none{"none", nullptr, 1, Access::kRead};
  gdram.renew({none, {"b again", memory.data() + 100, 100, Access::kReadWrite}, larger}, true);
  ASSERT_EQ(gdram.windows().size(), 2u);
  EXPECT_STREQ(gdram.windows()[0].tensor().name, "b again");
  EXPECT_EQ(gdram.windows()[0].claim(0, 100, Touch::kWrite, 2), -1) << "written by a launch before";
  EXPECT_EQ(gdram.windows()[1].claim(0, 101, Touch::kWrite, 2), -1) << "all 101 bytes are known";
  EXPECT_EQ(gdram.windows()[1].claim(100, 1, Touch::kRead, 3), 100);
  EXPECT_EQ(gdram.find(memory.data()), 1);
}

TEST(Gdram, FindsTheTensorOfAnAddress) {
  std::vector<char> memory(300);
  const Gdram gdram({{"a", memory.data(), 100, Access::kRead},
                     {"none", nullptr, 10, Access::kRead},
                     {"empty", memory.data() + 150, 0, Access::kRead},
                     {"b", memory.data() + 100, 50, Access::kWrite}},
                    true);
  EXPECT_EQ(gdram.find(memory.data()), 0);
  EXPECT_EQ(gdram.find(memory.data() + 99), 0);
  EXPECT_EQ(gdram.find(memory.data() + 100), 1) << "where one ends and another begins, the one that begins";
  EXPECT_EQ(gdram.find(memory.data() + 150), 1) << "one past the end";
  EXPECT_EQ(gdram.find(memory.data() + 151), -1);
}

TEST(Window, RemembersWhoWrote) {
  std::vector<char> memory(64);
  Window w({"out", memory.data(), 64, Access::kReadWrite}, true);
  EXPECT_EQ(w.claim(0, 16, Touch::kWrite, 3), -1);
  EXPECT_EQ(w.claim(8, 16, Touch::kWrite, 3), -1) << "twice by one task";
  EXPECT_EQ(w.claim(20, 8, Touch::kWrite, 4), 20);
  EXPECT_EQ(w.claim(16, 16, Touch::kRead, 4), 16);
  EXPECT_EQ(w.claim(32, 8, Touch::kAtomic, 1), -1);
  EXPECT_EQ(w.claim(36, 8, Touch::kAtomic, 2), -1) << "atomics may meet";
  EXPECT_EQ(w.claim(40, 8, Touch::kWrite, 1), 40);
  EXPECT_EQ(w.claim(0, 8, Touch::kAtomic, 2), 0);
}

TEST(Window, NeighboursMayShareAnOddBorder) {
  std::vector<char> memory(375);
  Window w({"out", memory.data(), 375, Access::kReadWrite}, true);
  EXPECT_EQ(w.claim(0, 125, Touch::kWrite, 1), -1);
  EXPECT_EQ(w.claim(125, 125, Touch::kWrite, 2), -1);
  EXPECT_EQ(w.claim(250, 125, Touch::kWrite, 3), -1);
  EXPECT_EQ(w.claim(125, 125, Touch::kRead, 2), -1);
  EXPECT_EQ(w.claim(121, 125, Touch::kWrite, 2), 122) << "the last whole pair of the first";
  EXPECT_EQ(w.claim(125, 129, Touch::kRead, 2), 250);
  EXPECT_EQ(w.claim(370, 5, Touch::kWrite, 2), 370);
  EXPECT_EQ(w.claim(374, 1, Touch::kWrite, 2), 374) << "the last byte is known";
}

TEST(Window, ATaskReadsBackWhatItAloneAdded) {
  std::vector<char> memory(64);
  Window w({"out", memory.data(), 64, Access::kReadWrite}, true);
  const Actor self(1, 0, 4), other(2, 0, 4), far(5, 1, 4);
  EXPECT_EQ(w.claim(0, 4, Touch::kAtomic, self), -1);
  EXPECT_EQ(w.claim(0, 4, Touch::kRead, self), -1);
  EXPECT_EQ(w.claim(0, 4, Touch::kWrite, self), -1);
  EXPECT_EQ(w.claim(0, 4, Touch::kRead, other), 0);
  EXPECT_EQ(w.claim(8, 4, Touch::kAtomic, self), -1);
  EXPECT_EQ(w.claim(8, 4, Touch::kAtomic, other), -1);
  EXPECT_EQ(w.claim(8, 4, Touch::kRead, self), 8) << "of two tasks nobody knows which came first";
  w.meet(0, 3, 0);
  EXPECT_EQ(w.claim(8, 4, Touch::kRead, self), -1) << "behind the cluster's barrier";
  EXPECT_EQ(w.claim(8, 4, Touch::kRead, far), 8) << "not to another cluster";
  EXPECT_EQ(w.claim(8, 4, Touch::kAtomic, far), -1) << "atomics may meet";
  EXPECT_EQ(w.claim(8, 4, Touch::kRead, self), 8);
  w.meet_all();
  EXPECT_EQ(w.claim(8, 4, Touch::kRead, self), -1);
}

TEST(Window, AStoreThatABarrierOrderedIsNoOtherSide) {
  std::vector<char> memory(64);
  Window w({"out", memory.data(), 64, Access::kReadWrite}, true);
  const Actor first(0, 0, 4), second(1, 0, 4), third(2, 0, 4);
  const auto store = [&](const Actor& a, Touch touch, const char* word) {
    EXPECT_EQ(w.claim(0, 4, touch, a), -1);
    w.remember({0, 4, a, touch == Touch::kAtomic, word, {}});
  };
  store(first, Touch::kWrite, "store");
  w.meet(0, 3, 0);
  store(second, Touch::kAtomic, "atomic");
  EXPECT_EQ(w.claim(0, 4, Touch::kRead, third), 0);
  ASSERT_NE(w.written_at(0, third, Touch::kRead), nullptr);
  EXPECT_STREQ(w.written_at(0, third, Touch::kRead)->word, "atomic");
  w.meet_all();
  EXPECT_EQ(w.written_at(0, third, Touch::kRead), nullptr);
}

TEST(Window, AMemoryCoreIsSomebodyElse) {
  std::vector<char> memory(64);
  Window w({"out", memory.data(), 64, Access::kReadWrite}, true);
  const Actor core(0, 0, 4), memory_core(0, 0, 4, true);
  EXPECT_EQ(w.claim(0, 4, Touch::kWrite, memory_core), -1);
  EXPECT_TRUE(w.of_memory_core(0));
  EXPECT_EQ(w.claim(0, 4, Touch::kWrite, core), 0);
  w.meet(0, 3, 0);
  EXPECT_EQ(w.claim(0, 4, Touch::kWrite, core), 0) << "it was not at this barrier";
  w.meet(0, 3, 0, true);
  EXPECT_EQ(w.claim(0, 4, Touch::kWrite, core), -1);
  EXPECT_EQ(memory_core.name(), "the memory core of cluster 0");
}

/// What the window should know, one entry for each pair of bytes and no shortcut: the stores and the additions since
/// the last barriers, by whom, and which clusters have met since.
class PlainWindow {
 public:
  explicit PlainWindow(std::int64_t bytes) : units_(static_cast<std::size_t>(bytes / 2)) {}

  std::int64_t claim(std::int64_t offset, std::int64_t bytes, Touch touch, int task, int cluster) {
    const auto forbids = [&](const Did& d) {
      const bool ordered = d.task == task || (d.met && d.cluster == cluster);
      return !ordered && !(d.added && touch == Touch::kAtomic);
    };
    for (std::int64_t i = offset / 2; i < (offset + bytes + 1) / 2; ++i) {
      const Unit& unit = units_[static_cast<std::size_t>(i)];
      if (std::any_of(unit.begin(), unit.end(), forbids)) return std::max(offset, 2 * i);
    }
    if (touch == Touch::kRead) return -1;
    for (std::int64_t i = offset / 2; i < (offset + bytes + 1) / 2; ++i) {
      Unit& unit = units_[static_cast<std::size_t>(i)];
      const bool own_store = !unit.empty() && !unit.back().added && !unit.back().met && unit.back().task == task;
      if (touch == Touch::kWrite) unit.clear();
      if (touch == Touch::kAtomic && own_store) continue;
      // What this cluster ordered makes way to what its task adds.
      std::erase_if(unit, [&](const Did& d) { return d.met && d.cluster == cluster; });
      unit.push_back({task, cluster, touch == Touch::kAtomic, false});
    }
    return -1;
  }
  void meet(int first, int last, int cluster) {
    for (Unit& unit : units_) {
      const auto from_here = [&](const Did& d) { return d.task >= first && d.task <= last; };
      // Additions of tasks of several clusters are not told apart.
      const bool mixed = !std::all_of(unit.begin(), unit.end(), [&](const Did& d) { return d.cluster == cluster; });
      for (Did& d : unit) d.met |= from_here(d) && !mixed;
    }
  }
  void meet_all() { std::fill(units_.begin(), units_.end(), Unit()); }

 private:
  struct Did {
    int task, cluster;
    bool added, met;
  };
  using Unit = std::vector<Did>;
  std::vector<Unit> units_;
};

TEST(Window, MeetingsForgetWhatWasWrittenAndNothingElse) {
  constexpr std::int64_t kBytes = 20000;
  constexpr int kTasks = 12, kCores = 4;
  std::vector<char> memory(kBytes);
  Window window({"out", memory.data(), kBytes, Access::kReadWrite}, true);
  PlainWindow plain(kBytes);
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int contested = 0;
  for (int step = 0; step < 20000; ++step) {
    const int task = below(kTasks), cluster = task / kCores, what = below(40);
    if (what == 0) {
      window.meet_all();
      plain.meet_all();
    } else if (what < 8) {
      window.meet(cluster * kCores, cluster * kCores + kCores - 1, cluster);
      plain.meet(cluster * kCores, cluster * kCores + kCores - 1, cluster);
    } else {
      const std::int64_t bytes = 2 * (1 + below(what == 8 ? 4000 : 20)), offset = 2 * below((kBytes - bytes) / 2);
      const Touch touch = what < 20 ? Touch::kRead : what < 36 ? Touch::kWrite : Touch::kAtomic;
      const std::int64_t wanted = plain.claim(offset, bytes, touch, task, cluster);
      ASSERT_EQ(window.claim(offset, bytes, touch, {task, cluster, kCores}), wanted) << "step " << step;
      contested += wanted >= 0;
    }
  }
  EXPECT_GT(contested, 500);
}

}  // namespace
}  // namespace mluops::emu::test
