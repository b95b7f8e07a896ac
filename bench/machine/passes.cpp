#include "bench/machine/passes.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLeastRounds = 3;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// All threads leave when the last one has come. Waiting threads spin: a round may last microseconds.
class Gate {
 public:
  explicit Gate(int threads) : threads_(threads) {}

  void pass() {
    const int round = round_.load();
    if (++waiting_ == threads_) {
      waiting_ = 0;
      ++round_;
      return;
    }
    for (int spins = 0; round_.load() == round; ++spins) {
      if (spins > 20000) std::this_thread::yield();
    }
  }

 private:
  int threads_;
  std::atomic<int> waiting_{0}, round_{0};
};

}  // namespace

std::vector<double> timed_passes(int threads, double seconds, const std::function<void(int thread, int round)>& body) {
  Gate gate(threads);
  std::atomic<bool> more{true};
  std::vector<double> times;
  const auto work = [&](int t) {
    body(t, 0);
    const Clock::time_point begin = Clock::now();
    for (int round = 1; more; ++round) {
      gate.pass();
      const Clock::time_point start = Clock::now();
      body(t, round);
      gate.pass();
      if (t == 0) times.push_back(since(start));
      if (t == 0) more = since(begin) < seconds || round < kLeastRounds;
      gate.pass();
    }
  };
  std::vector<std::jthread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work, t);
  work(0);
  pool.clear();
  return times;
}

}  // namespace bench
