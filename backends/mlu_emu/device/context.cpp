#include "backends/mlu_emu/device/context.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <system_error>
#include <thread>
#include <tuple>

#include "backends/mlu_emu/device/fault.h"
#include "backends/mlu_emu/device/watchdog.h"

namespace mluops::emu {
namespace {

/// Runs the tasks of one launch; a fault or another exception stops them all.
class Run {
 public:
  Run(const LaunchState& state, const KernelBody& body, std::vector<Timeline>& timelines)
      : state_(state), body_(body), timelines_(timelines) {}

  void task(Core& core, std::int64_t id) {
    const TaskBuiltins who = task_builtins_of(state_.spec, state_.settings.arch, id);
    core.begin_task(state_, who, timelines_[static_cast<std::size_t>(id) % timelines_.size()]);
    try {
      body_(core.nram().base());
      core.end_task();
    } catch (...) {
      core.leave();
      throw;
    }
    core.leave();
  }

  void in_order(Core& core, const std::vector<std::int64_t>& order) {
    for (const std::int64_t id : order) task(core, id);
  }

  /// Host thread i runs the cores i, i + threads, ..., each with its tasks in increasing order.
  void on_threads(std::vector<std::unique_ptr<Core>>& cores) {
    std::vector<std::exception_ptr> failures(cores.size());
    const auto share = [&](std::size_t i) {
      try {
        share_of_thread(*cores[i], i, cores.size());
      } catch (...) {
        failures[i] = std::current_exception();
      }
    };
    std::size_t shared = 1;  // share 0 is the caller's
    {
      std::vector<std::jthread> threads;
      threads.reserve(cores.size());
      try {
        for (; shared < cores.size(); ++shared) threads.emplace_back(share, shared);
      } catch (const std::system_error&) {  // no more threads to be had: the caller does what is left
      }
      share(0);
      for (std::size_t i = shared; i < cores.size(); ++i) share(i);
    }
    for (const std::exception_ptr& f : failures) {
      if (f) std::rethrow_exception(f);
    }
  }

 private:
  void share_of_thread(Core& core, std::size_t thread, std::size_t threads) {
    for (std::size_t c = thread; c < timelines_.size(); c += threads) {
      for (std::int64_t id = static_cast<std::int64_t>(c); id < state_.spec.tasks();
           id += static_cast<std::int64_t>(timelines_.size())) {
        task(core, id);
      }
    }
  }

  const LaunchState& state_;
  const KernelBody& body_;
  std::vector<Timeline>& timelines_;
};

}  // namespace

std::vector<std::int64_t> task_order(const Settings& settings, std::int64_t tasks) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(tasks));
  std::iota(order.begin(), order.end(), 0);
  if (settings.order == Order::kShuffled) {
    std::mt19937_64 random(settings.seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  }
  return order;
}

namespace {

/// The same lines of all cores are one, and so are those of one file in several objects.
std::vector<HotLine> lines_of(const std::vector<Timeline>& timelines) {
  std::map<std::tuple<std::string, int, std::string, Engine, Direction>, HotLine> lines;
  const auto longest = std::max_element(timelines.begin(), timelines.end(),
                                        [](const auto& a, const auto& b) { return a.now() < b.now(); });
  for (auto t = timelines.begin(); t != timelines.end(); ++t) {
    if (t->watched == nullptr) continue;
    for (const LineCost& c : t->watched->lines.lines()) {
      if (t->stats.memory_core && t != longest && c.engine == Engine::kVector) continue;  // nobody sees its results
      const std::string file = c.site.known() ? c.site.file : "";
      HotLine& line = lines[{file, c.site.line, c.word, c.engine, c.direction}];
      line.file = file, line.line = c.site.line, line.word = c.word, line.engine = c.engine,
      line.direction = c.direction;
      line.times += c.times, line.bytes += c.bytes, line.pieces += c.pieces;
      line.scalar += c.scalar;
      if (t != longest) continue;
      line.busy += c.busy, line.starts += c.starts, line.in_pieces += c.in_pieces, line.held += c.held;
    }
  }
  std::vector<HotLine> all;
  for (auto& [key, line] : lines) all.push_back(std::move(line));
  return all;
}

/// The longest of the cores, each of which does what two of them did: of one half of the clusters and of the other.
double time_of_half(const std::vector<Timeline>& timelines, std::size_t from, std::size_t to) {
  const std::size_t half = (to - from) / 2;
  double time = 0;
  for (std::size_t i = from; i < from + half; ++i) {
    const auto end = [&](std::size_t core) { return timelines[core].watched->what_if.end(Change::kHalfTheClusters); };
    time = std::max(time, end(i) + end(i + half));
  }
  return time;
}

std::array<double, kChanges> changed(const std::vector<Timeline>& timelines, const Arch& arch) {
  std::array<double, kChanges> times = {};
  if (timelines.empty() || timelines.front().watched == nullptr) return times;
  for (const Change change : {Change::kTwoBuffers, Change::kLargerTiles, Change::kWholeCopies}) {
    double& time = times[static_cast<std::size_t>(change)];
    for (const Timeline& t : timelines) time = std::max(time, t.watched->what_if.end(change));
  }
  const auto memory_core = [](const Timeline& t) { return t.stats.memory_core; };
  const auto cores =
      static_cast<std::size_t>(std::find_if(timelines.begin(), timelines.end(), memory_core) - timelines.begin());
  if (cores % (2 * static_cast<std::size_t>(arch.cores_per_cluster)) != 0) return times;
  times[static_cast<std::size_t>(Change::kHalfTheClusters)] =
      std::max(time_of_half(timelines, 0, cores), time_of_half(timelines, cores, timelines.size()));
  return times;
}

}  // namespace

LaunchReport make_report(const LaunchSpec& spec, const Arch& arch, Gdram& gdram, std::vector<Timeline>& timelines) {
  LaunchReport report;
  report.spec = spec;
  report.spec.tensors.clear();
  for (Window& w : gdram.windows()) {
    report.traffic.push_back({w.tensor().name, w.tensor().bytes, 0, 0, w.tensor().access});
  }
  report.lines = lines_of(timelines);
  report.changed = changed(timelines, arch);
  for (Timeline& t : timelines) {
    t.stats.time = t.now();
    for (std::size_t i = 0; i < report.traffic.size(); ++i) {
      report.traffic[i].read += t.stats.read[i];
      report.traffic[i].written += t.stats.written[i];
    }
    report.time = std::max(report.time, t.now());
    report.dropped_events += t.dropped_events;
    report.cores.push_back(std::move(t.stats));
    report.events.push_back(std::move(t.events));
  }
  return report;
}

TaskBuiltins task_builtins_of(const LaunchSpec& spec, const Arch& arch, std::int64_t id) {
  TaskBuiltins t = {};
  t.taskId = static_cast<int>(id);
  t.taskIdX = static_cast<int>(id % spec.x);
  t.taskIdY = static_cast<int>(id / spec.x % spec.y);
  t.taskIdZ = static_cast<int>(id / spec.x / spec.y);
  t.taskDim = static_cast<int>(spec.tasks());
  t.taskDimX = static_cast<int>(spec.x);
  t.taskDimY = static_cast<int>(spec.y);
  t.taskDimZ = static_cast<int>(spec.z);
  t.coreId = static_cast<int>(id % arch.cores_per_cluster);
  t.coreDim = arch.cores_per_cluster;
  t.clusterId = spec.clusters != 0 ? static_cast<int>(id / arch.cores_per_cluster) : 0;
  t.clusterDim = spec.clusters;
  t.arch = arch.number;
  return t;
}

std::string check_launch(const LaunchSpec& spec, const Settings& settings) {
  const Arch& arch = settings.arch;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t dim : {spec.x, spec.y, spec.z}) {
    if (dim < 1 || dim > kMost) return spec.kernel + ": every launch dimension must lie in [1, 2^31)";
  }
  if (spec.x > kMost / spec.y || spec.x * spec.y > kMost / spec.z) return spec.kernel + ": 2^31 tasks or more";
  const std::string kind = "UNION" + std::to_string(spec.clusters);
  const std::int64_t cores = std::int64_t{spec.clusters} * arch.cores_per_cluster;
  if (spec.clusters > arch.clusters) {
    return spec.kernel + ": a " + kind + " launch on " + arch.name + ", which has " + std::to_string(arch.clusters) +
           " clusters";
  }
  if (spec.clusters != 0 && spec.x % cores != 0) {
    return spec.kernel + ": a " + kind + " launch needs x to be a multiple of the " + std::to_string(cores) +
           " cores of " + std::to_string(spec.clusters) + " clusters, got " + std::to_string(spec.x);
  }
  for (const NramRegion& r : spec.nram) {
    if (!settings.checks.memory || (r.offset >= 0 && r.bytes >= 0 && r.offset <= arch.nram_bytes - r.bytes)) continue;
    return spec.kernel + ": NRAM part " + r.name + " needs bytes up to " + std::to_string(r.offset + r.bytes) +
           ", a core has " + std::to_string(arch.nram_bytes);
  }
  return {};
}

void Context::begin_call(const char* op) {
  report_ = {op, settings, {}};
}

void Context::provide_cores(std::size_t count) {
  if (!cores_.empty() && cores_.front()->nram().bytes() != settings.arch.nram_bytes) cores_.clear();
  while (cores_.size() < count) cores_.push_back(std::make_unique<Core>(settings.arch.nram_bytes));
  cores_.resize(count);
}

std::string Context::run(const LaunchSpec& spec, int threads, const KernelBody& body) {
  std::string problem = check_launch(spec, settings);
  if (!problem.empty()) return problem;
  const auto active = static_cast<int>(std::min<std::int64_t>(settings.arch.cores(), spec.tasks()));
  const bool parallel = settings.order == Order::kParallel && threads > 1 && active > 1;
  Gdram gdram(spec.tensors, settings.checks.race);
  std::atomic<bool> overdue = false;
  const LaunchState state{spec, settings, gdram, parallel, active, nullptr, nullptr, &overdue};
  std::vector<Timeline> timelines(static_cast<std::size_t>(active));
  for (Timeline& t : timelines) {
    t.stats.read.resize(gdram.windows().size());
    t.stats.written.resize(gdram.windows().size());
    t.trace(static_cast<std::size_t>(settings.trace_events / active));
    if (settings.trace_events > 0) t.watch(settings.rates, active, nullptr);
  }
  provide_cores(parallel ? static_cast<std::size_t>(std::min(threads, active)) : 1);
  for (const Tensor& tensor : spec.tensors) undo_.remember(tensor);
  Run run(state, body, timelines);
  try {
    const Watchdog watchdog(settings.seconds_limit, overdue);
    parallel ? run.on_threads(cores_) : run.in_order(*cores_.front(), task_order(settings, spec.tasks()));
  } catch (const Fault& fault) {
    problem = fault.what();
  }
  report_.launches.push_back(make_report(spec, settings.arch, gdram, timelines));
  return problem;
}

void Context::fill_zero(const Tensor& tensor) {
  if (!tensor.present()) return;
  undo_.remember(tensor);
  std::memset(tensor.data, 0, static_cast<std::size_t>(tensor.bytes));
  LaunchReport report;
  report.spec.kernel = "fill_zero";
  report.spec.x = settings.arch.cores_per_cluster;
  report.spec.y = settings.arch.clusters;
  report.traffic.push_back({tensor.name, tensor.bytes, 0, tensor.bytes, Access::kWrite});
  report.time = settings.rates.gdram_latency_ns + static_cast<double>(tensor.bytes) / settings.rates.gdram_gbps;
  report_.launches.push_back(std::move(report));
}

}  // namespace mluops::emu
