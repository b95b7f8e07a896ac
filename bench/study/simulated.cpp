#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "bench/engine/workload.h"
#include "bench/output/table.h"
#include "bench/study/plan.h"
#include "bench/study/studies.h"
#include "mlu_op_ext.h"

namespace bench {
namespace {

constexpr int kCalls = 5;

/// CPU time of the process in seconds, which other programs do not lengthen; on Windows the time that has passed.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// The time that has passed, for calls of several threads.
double passed_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The least of several calls, each on memory that the last one has not touched. look(seconds) sees every call.
template <class Look>
double least_seconds(const Workload& workload, const Target& target, double min_seconds, double (*now)(), Look&& look) {
  double least = std::numeric_limits<double>::infinity();
  const double begin = passed_seconds();
  for (int i = 0; i <= kCalls || passed_seconds() - begin < min_seconds; ++i) {
    const double start = now();
    if (workload.run(target.handle(), i % workload.sets()) != MLUOP_STATUS_SUCCESS)
      throw std::runtime_error(mluOpExtGetLastErrorText());
    const double seconds = now() - start;
    look(seconds);
    if (i > 0) least = std::min(least, seconds);  // the first call takes memory
  }
  return least;
}

double least_seconds(const Workload& workload, const Target& target, double min_seconds, double (*now)()) {
  return least_seconds(workload, target, min_seconds, now, [](double) {});
}

/// Runs the parts of a loop one after the other, as the simulation does, and reads no clock between them.
constexpr mluOpExtExecutor_t kUnwatched = {
    nullptr, [](void*, std::int64_t tasks, void (*body)(void* arg, std::int64_t task), void* arg) {
      for (std::int64_t task = 0; task < tasks; ++task) body(arg, task);
    }};

/// The quickest call as so many threads would run it.
struct Simulated {
  long loops = 0;
  double outside = 0;                                        ///< seconds outside of loops
  double all = 0;                                            ///< seconds of all parts of all loops
  double longest = std::numeric_limits<double>::infinity();  ///< seconds of the thread that ends last, loop by loop
  double seconds() const { return outside + longest; }
  /// Takes off the parts what reading the clock, a system call after each, adds to the `cpu` of a call without.
  void take_off_clock(double cpu) {
    if (all == 0) return;
    const double share = std::clamp((cpu - outside) / all, 0.0, 1.0);
    all *= share, longest *= share;
  }
};

/// Loops so far, and seconds of their parts, of the thread that ends last and of reading the clock.
struct Totals {
  long loops = 0;
  double all = 0, longest = 0, clock = 0;
};

Totals so_far(const Target& target) {
  Totals at;
  std::istringstream text(target.query("simulated_loops"));
  text >> at.loops >> at.all >> at.longest >> at.clock;
  at.all *= 1e-9, at.longest *= 1e-9, at.clock *= 1e-9;
  return at;
}

Simulated simulate(const Workload& workload, const Target& target, double min_seconds) {
  Simulated best;
  Totals before = so_far(target);
  least_seconds(workload, target, min_seconds, cpu_seconds, [&](double seconds) {
    const Totals after = so_far(target);
    const double all = after.all - before.all;
    seconds -= after.clock - before.clock;
    const Simulated call{after.loops - before.loops, std::max(0.0, seconds - all), all, after.longest - before.longest};
    if (call.seconds() < best.seconds()) best = call;
    before = after;
  });
  return best;
}

/// What ends the speed-up: memory, the part outside of loops, or the longest part of a loop.
const char* limit_of(const Simulated& at, double memory, int threads) {
  if (memory >= at.seconds()) return "memory";
  const double even = at.all / threads;
  if (at.longest - even > at.outside) return "parts";
  return at.outside > even ? "serial" : "-";
}

class Study {
 public:
  explicit Study(const Options& options) : options_(options), one_("cpu", 1), machine_({1}) {
    for (const int threads : options.simulated) {
      simulated_.emplace_back("cpu", threads);
      simulated_.back().set_option("threading", "simulated");
      unwatched_.emplace_back("cpu", threads);
      mluOpExtSetExecutor(unwatched_.back().handle(), &kUnwatched);
      if (threads <= available_cpus()) real_.emplace_back("cpu", threads);
    }
  }

  Grid run() {
    for (const Group& group : chosen_groups(options_)) {
      progress(group.text.text());
      for (const Job& job : jobs_of(group, options_, {one_})) add(job);
    }
    progress("");
    return std::move(grid_);
  }

 private:
  void add(const Job& job) {
    const Workload workload(job.spec);
    const double one = least_seconds(workload, one_, options_.min_seconds, cpu_seconds);
    machine_.now(1);
    for (std::size_t i = 0; i < simulated_.size(); ++i) {
      const Target& target = simulated_[i];
      const double cpu = least_seconds(workload, unwatched_[i], options_.min_seconds, cpu_seconds);
      Simulated at = simulate(workload, target, options_.min_seconds);
      at.take_off_clock(cpu);
      const double memory = memory_seconds(job, target.threads());
      grid_.add({job.spec.text.op(), job.spec.text.shape(), dtype_name(job.spec.dtype), format("%.3f", one * 1e3),
                 std::to_string(target.threads()), std::to_string(at.loops),
                 format("%.1f %%", 100 * at.outside / (at.outside + at.all)), format("%.2f", cpu / one),
                 format("%.1f", one / at.seconds()), format("%.1f", one / std::max(memory, at.seconds())),
                 limit_of(at, memory, target.threads()), clock(workload, target.threads(), one)});
    }
  }

  /// Seconds in which so many threads move the bytes of the case.
  double memory_seconds(const Job& job, int threads) const {
    const double speed = std::min(machine_.at(1).read * threads, options_.memory * 1e9);
    return (job.spec.read_bytes() + job.spec.write_bytes()) / speed;
  }

  /// The speed-up that a clock shows, where this machine has the cores.
  std::string clock(const Workload& workload, int threads, double one) const {
    for (const Target& target : real_) {
      if (target.threads() == threads)
        return format("%.1f", one / least_seconds(workload, target, options_.min_seconds, passed_seconds));
    }
    return "-";
  }

  const Options& options_;
  Target one_;
  Machine machine_;
  std::vector<Target> simulated_, unwatched_, real_;
  Grid grid_{"Threads, simulated (cpu)",
             {"operator", "case", "dtype", "ms, 1 thr", "threads", "loops", "outside", "CPU", "parts", "speed-up",
              "limit", "clock"},
             "lllrrrrrrrlr",
             {},
             ""};
};

}  // namespace

Grid simulated_study(const Options& given) {
  Options options = given;
  options.backends = {"cpu"};
  Study study(options);
  Grid grid = study.run();
  grid.note = format(
      "One thread runs the parts of every loop that so many threads would share, all with the scratch memory of one\n"
      "thread; a part goes to the thread that is free first. outside: share of the CPU time outside of loops. CPU:\n"
      "CPU time of calls that read no clock between parts, 1: that of one thread. parts: speed-up if only parts and\n"
      "what is outside count, without the time of reading the clock. speed-up: the same, and memory moves the case's\n"
      "bytes at so many times one thread's read speed, at most %.0f GB/s (--memory). Starting and ending loops is not\n"
      "in it. limit: what keeps it down. clock: measured, where this machine has the cores.",
      options.memory);
  return grid;
}

}  // namespace bench
