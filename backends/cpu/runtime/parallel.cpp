#include "backends/cpu/runtime/parallel.h"

#include "backends/cpu/runtime/crowded_cores.h"
#include "backends/cpu/runtime/index.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/partition.h"
#include "backends/cpu/runtime/simulated.h"

#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "backends/cpu/runtime/float_mode.h"

namespace mluops::cpu {
namespace {

constexpr std::int64_t kChunksPerSlot = 16;

std::atomic<bool> forked_child{false};
std::atomic<int> busy_threads{0};

int usable_cores() {
#ifdef __linux__
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return std::max(1, CPU_COUNT(&mask));
#endif
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// The team of a call that may use that many threads: the same for all its loops, unless it may use so many threads
/// that starting them for a loop that has no use for them would cost more.
int team_size(int tasks, int threads) {
  constexpr int kMostPerCore = 4;
  static const int most = kMostPerCore * usable_cores();
  return std::max(tasks, std::min(threads, most));
}

/// The threads of one loop, counted process-wide: while other loops run, a new one takes only cores they leave free.
class ThreadShare {
 public:
  explicit ThreadShare(int wanted) : granted_(wanted) {
    const int busy = busy_threads.fetch_add(wanted, std::memory_order_relaxed);
    if (busy == 0) return;
    granted_ = std::clamp(usable_cores() - busy, 1, wanted);
    busy_threads.fetch_sub(wanted - granted_, std::memory_order_relaxed);
  }
  ThreadShare(const ThreadShare&) = delete;
  ThreadShare& operator=(const ThreadShare&) = delete;
  ~ThreadShare() { busy_threads.fetch_sub(granted_, std::memory_order_relaxed); }

  int granted() const { return granted_; }

 private:
  int granted_;
};

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

CrowdedCores crowded_cores;

void run_on_threads(Threading threading, int tasks, int team, Task task, void* arg) {
  if (tasks == 1) return task(arg, 0);
  const bool own = threading == Threading::kThreads || forked_child.load(std::memory_order_relaxed);
  const int started = threading == Threading::kTbb ? std::max(tasks, usable_cores()) : team;
  if (own || !team_can_start(started)) return run_on_new_threads(tasks, task, arg);
  if (threading == Threading::kTbb) return run_on_tbb(tasks, task, arg);
  run_on_openmp(tasks, team, task, arg);
}

/// Whether this process came from a fork without an exec since: flag PF_FORKNOEXEC of /proc/self/stat.
bool forked_before_load() {
  std::ifstream stat("/proc/self/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t name_end = text.rfind(')');  // a program's name may hold spaces and parentheses
  if (name_end == std::string::npos) return false;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 6; ++i) fields >> skipped;  // state, ppid, pgrp, session, tty, tpgid
  unsigned long flags = 0;
  constexpr unsigned long kForkedNoExec = 0x40;
  return static_cast<bool>(fields >> flags) && (flags & kForkedNoExec) != 0;
}

/// Loops in a forked child must not wait for threads that stayed in the parent. Watched from the moment the library is
/// loaded: the parent's own use of a runtime counts as much as ours.
[[maybe_unused]] const bool watching = [] {
  pthread_atfork(nullptr, nullptr, [] {
    forked_child.store(true, std::memory_order_relaxed);
    busy_threads.store(0, std::memory_order_relaxed);
    crowded_cores.forget();
  });
  try {
    forked_child = forked_before_load();
  } catch (const std::exception&) {  // no memory to look: as if not forked
  }
  return true;
}();

}  // namespace

SimulatedLoops& simulated_loops() {
  thread_local SimulatedLoops loops;
  return loops;
}

Loop::Loop(const Context& context, const mluopsCall& call, std::int64_t items, double item_ns)
    : threading_(context.threading), threads_(call.threads), executor_(call.executor), items_(items) {
  plan(call, static_cast<double>(items) * item_ns);
}

Loop::Loop(const Context& context, const mluopsCall& call, std::span<const double> prefix_ns)
    : threading_(context.threading),
      threads_(call.threads),
      executor_(call.executor),
      items_(static_cast<std::int64_t>(prefix_ns.size()) - 1),
      prefix_ns_(prefix_ns) {
  plan(call, prefix_ns.back());
}

Loop Loop::one_of_many(const Context& context, const mluopsCall& call, std::int64_t items, double item_ns) {
  return {context, call, items, static_cast<double>(items) * item_ns < cost::kOneOfMany ? 0 : item_ns};
}

void Loop::plan(const mluopsCall& call, double total_ns) {
  const std::int64_t worth = index_of(total_ns / cost::kThread, std::int64_t{call.threads} + 1);
  slots_ = static_cast<int>(std::min(items_, worth));
  if (slots_ <= 1 || (executor_ == nullptr && inside_openmp_region())) {
    slots_ = 1;
    return;
  }
  const auto worth_chunks = index_of(total_ns / cost::kChunk, std::int64_t{1'000'000'000});
  chunks_ = std::min({items_, worth_chunks, kChunksPerSlot * slots_});
}

std::int64_t Loop::chunk_begin(std::int64_t chunk) const {
  if (prefix_ns_.empty()) {
    const std::int64_t each = items_ / chunks_;
    return chunk * each + std::min(chunk, items_ % chunks_);
  }
  return part_begin(prefix_ns_, chunk, chunks_);
}

void Loop::run_chunks(ChunkBody function, void* body) const {
  if (slots_ == 1) {
    if (items_ > 0) function(body, 0, items_, 0);
    return;
  }
  if (threading_ == Threading::kSimulated && executor_ == nullptr) {
    // All in slot 0: its scratch stays in this core's cache, as that of each thread would in the cache of its own.
    return run_simulated(simulated_loops(), slots_, chunks_, [&](std::int64_t chunk) {
      const std::int64_t begin = chunk_begin(chunk), end = chunk_begin(chunk + 1);
      if (begin < end) function(body, begin, end, 0);
    });
  }
  struct Run {
    const Loop& loop;
    ChunkBody function;
    void* body;
    std::atomic<std::int64_t> next{0};
    std::int64_t caller_done = 0;
    std::atomic<std::int64_t> last_came{0};

    void note_arrival() {
      const std::int64_t came = now();
      std::int64_t last = last_came.load(std::memory_order_relaxed);
      while (last < came && !last_came.compare_exchange_weak(last, came, std::memory_order_relaxed)) {
      }
    }
  } run{*this, function, body};
  const Task claim_chunks = [](void* arg, std::int64_t slot) {
    const DefaultFloatMode mode;  // a pool's thread may have been given another
    Run& r = *static_cast<Run*>(arg);
    if (slot != 0) r.note_arrival();
    for (std::int64_t c; (c = r.next.fetch_add(1, std::memory_order_relaxed)) < r.loop.chunks_;) {
      const std::int64_t begin = r.loop.chunk_begin(c);
      const std::int64_t end = r.loop.chunk_begin(c + 1);
      if (begin < end) r.function(r.body, begin, end, static_cast<int>(slot));
    }
    if (slot == 0) r.caller_done = now();
  };
  if (executor_ != nullptr) return executor_->parallel_for(executor_->context, slots_, claim_chunks, &run);
  const bool waits = threading_ != Threading::kTbb;  // TBB's caller does what no other has begun
  const ThreadShare share(waits && crowded_cores.seen_lately(now()) ? 1 : slots_);
  const int tasks = share.granted();
  const std::int64_t start = now();
  run_on_threads(threading_, tasks, tasks == slots_ ? team_size(tasks, threads_) : tasks, claim_chunks, &run);
  if (waits && tasks > 1) crowded_cores.note(now(), run.caller_done - start, run.last_came - run.caller_done);
}

}  // namespace mluops::cpu
