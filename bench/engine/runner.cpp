#include "bench/engine/runner.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

#include "bench/engine/floor.h"
#include "bench/machine/median.h"
#include "mlu_op_ext.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

bool runs_somewhere(const Job& job) {
  return std::ranges::any_of(job.targets, [&](const Target& t) { return t.has(job.spec.text.op()); });
}

/// A job, in memory where one of its targets has the operator.
struct Loaded {
  Loaded(Job from, std::int64_t cache) : job(std::move(from)) {
    if (runs_somewhere(job)) workload.emplace(job.spec, cache);
  }
  Job job;
  std::optional<Workload> workload;
  std::map<Coordinates, std::vector<Values>> references;
};

/// A row on its way.
struct Measurement {
  const Loaded* loaded;
  const Target* target;
  Row row;
  bool first = true;  ///< nothing called yet
  bool refused = false;
  int set = 0;
  std::vector<double> disturbed{};  ///< seconds of calls that count only where there are no others
};

/// Times go into the rows themselves, so nothing is printed here.
class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

Row blank_row(const Job& job, const Target& target) {
  Row row;
  row.op = job.spec.text.op();
  row.shape = job.spec.text.shape();
  row.dtype = dtype_name(job.spec.dtype);
  row.backend = target.backend();
  row.threads = target.threads();
  row.reduced = job.reduced;
  row.read_bytes = job.spec.read_bytes();
  row.write_bytes = job.spec.write_bytes();
  row.flops = job.spec.flops;
  row.threshold = threshold(job.spec);
  row.reason = target.has(row.op) ? "" : "backend " + row.backend + " does not provide it";
  return row;
}

void note_status(Measurement& m, mluOpStatus_t status) {
  m.row.reason = std::string(mluOpGetErrorString(status)).substr(13) + ": " + mluOpExtGetLastErrorText();
  m.row.verdict = Verdict::failed;
  m.refused = true;
  if (status != MLUOP_STATUS_NOT_SUPPORTED) return;
  // The cases are within the contract of every operator: only a machine with limits of its own may decline them.
  const bool lacks = m.row.reason.ends_with("does not provide it");
  if (m.target->backend() != "cpu") m.row.verdict = lacks ? Verdict::absent : Verdict::declined;
}

void judge_row(Measurement& m) {
  const Coordinates coordinates = m.target->coordinates(m.loaded->job.spec.dtype);
  m.row.accuracy = judge(*m.loaded->workload, m.loaded->references.at(coordinates), coordinates);
  m.row.checked = true;
  const bool good = passes(m.row.accuracy, m.row.reason);
  m.row.verdict = good ? Verdict::ok : Verdict::wrong;
}

bool timed_call(Measurement& m, int set, double& seconds) {
  const Clock::time_point start = Clock::now();
  const mluOpStatus_t status = m.loaded->workload->run(m.target->handle(), set);
  seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (status != MLUOP_STATUS_SUCCESS) note_status(m, status);
  return status == MLUOP_STATUS_SUCCESS;
}

/// The first call of a row, on set 0: judged, and a host backend's is not counted, because it is cold.
bool first_call(Measurement& m, const Settings& settings, double& seconds) {
  if (settings.check) m.loaded->workload->poison_outputs();
  if (!timed_call(m, 0, seconds)) return false;
  m.first = false;
  m.row.verdict = Verdict::ok;
  if (settings.check) judge_row(m);
  return true;
}

bool counted_call(Measurement& m, const Settings& settings, double& seconds) {
  const bool only_once = m.target->emulated();
  if (m.first && !first_call(m, settings, seconds)) return false;
  return only_once || timed_call(m, m.set++ % m.loaded->workload->sets(), seconds);
}

/// Calls between two looks at the cores, of which one finds them disturbed, are set aside.
void run_row(benchmark::State& state, Measurement& m, const Settings& settings) {
  const int threads = m.target->threads();
  Machine* const machine = m.refused ? nullptr : settings.machine;
  const auto undisturbed = [&] { return machine == nullptr || machine->undisturbed(threads); };
  if (machine != nullptr) m.row.roof.raise_to(machine->now(threads));
  const bool quiet_before = undisturbed();
  std::vector<double> times;
  for (auto _ : state) {
    double seconds = 0;
    if (m.refused || !counted_call(m, settings, seconds)) {
      state.SkipWithError("");
      break;
    }
    times.push_back(seconds);
    state.SetIterationTime(seconds);
  }
  const bool quiet = quiet_before && undisturbed();
  std::vector<double>& to = quiet ? m.row.seconds : m.disturbed;
  to.insert(to.end(), times.begin(), times.end());
}

void register_row(Measurement& m, const Settings& settings) {
  const std::string name =
      m.row.op + "/" + m.row.shape + "/" + m.row.dtype + "/" + m.row.backend + "/" + std::to_string(m.row.threads);
  auto* b = benchmark::RegisterBenchmark(name.c_str(), [&](benchmark::State& state) { run_row(state, m, settings); });
  b->UseManualTime();
  if (m.target->emulated()) {
    b->Iterations(1)->Repetitions(1);
  } else {
    b->MinTime(settings.min_seconds)->Repetitions(settings.repetitions);
  }
}

void compute_references(std::deque<Loaded>& loaded) {
  std::vector<std::pair<Loaded*, Coordinates>> wanted;
  for (Loaded& l : loaded) {
    for (const Target& t : l.job.targets) {
      if (!t.has(l.job.spec.text.op())) continue;
      const Coordinates coordinates = t.coordinates(l.job.spec.dtype);
      if (l.references.try_emplace(coordinates).second) wanted.emplace_back(&l, coordinates);
    }
  }
  parallel_tasks(static_cast<std::int64_t>(wanted.size()), [&](std::int64_t i) {
    auto& [l, coordinates] = wanted[static_cast<std::size_t>(i)];
    l->references[coordinates] = l->job.spec.reference(l->workload->inputs(), coordinates);
  });
}

constexpr double kFloorSeconds = 0.03, kWarmSeconds = 0.03;

/// Median of the same call on the same memory; 0 where that does not fit into half of the last-level cache.
double warm_seconds(const Measurement& m) {
  if (m.row.bytes() > static_cast<double>(last_level_cache()) / 2) return 0;
  std::vector<double> times;
  for (const Clock::time_point begin = Clock::now();
       times.size() < 5 || std::chrono::duration<double>(Clock::now() - begin).count() < kWarmSeconds;) {
    const Clock::time_point start = Clock::now();
    if (m.loaded->workload->run(m.target->handle(), 0) != MLUOP_STATUS_SUCCESS) return 0;
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return median_of(std::move(times));
}

/// Last of all: it fills the outputs.
void measure_limits(std::deque<Measurement>& measurements) {
  for (Measurement& m : measurements) {
    if (m.row.measured() && !m.target->emulated()) m.row.warm = warm_seconds(m);
  }
  std::map<const Loaded*, Floor> floors;
  std::map<std::pair<const Loaded*, int>, double> seconds;  // the same for every backend
  for (Measurement& m : measurements) {
    if (!m.row.measured() || m.target->emulated()) continue;
    const Floor& floor = floors.try_emplace(m.loaded, *m.loaded->workload).first->second;
    const auto [at, fresh] = seconds.try_emplace({m.loaded, m.target->threads()});
    if (fresh) at->second = floor.seconds(m.target->threads(), kFloorSeconds);
    m.row.floor = at->second;
    m.row.line_bytes = floor.line_bytes();
  }
}

}  // namespace

void initialize_engine(std::vector<std::string> flags) {
  // Repetitions of all rows of a group are shuffled: a slow second of the machine does not hit one row alone.
  flags.insert(flags.begin(), {"mluops_bench", "--benchmark_enable_random_interleaving=true"});
  std::vector<char*> argv;
  for (std::string& flag : flags) argv.push_back(flag.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
}

std::vector<Row> run_group(std::vector<Job> jobs, const Settings& settings) {
  std::deque<Loaded> loaded;
  for (Job& job : jobs) loaded.emplace_back(std::move(job), settings.cache);
  if (settings.check) compute_references(loaded);
  std::deque<Measurement> measurements;
  for (const Loaded& l : loaded) {
    for (const Target& t : l.job.targets) measurements.push_back({&l, &t, blank_row(l.job, t)});
  }
  const auto present = [](const Measurement& m) { return m.target->has(m.row.op); };
  for (Measurement& m : measurements) {
    if (present(m)) register_row(m, settings);
  }
  Silent silent;
  if (std::ranges::any_of(measurements, present)) benchmark::RunSpecifiedBenchmarks(&silent);
  benchmark::ClearRegisteredBenchmarks();
  for (Measurement& m : measurements) {
    if (m.row.seconds.empty()) m.row.seconds.swap(m.disturbed);
  }
  if (settings.limits) measure_limits(measurements);
  std::vector<Row> rows;
  for (Measurement& m : measurements) {
    std::sort(m.row.seconds.begin(), m.row.seconds.end());
    rows.push_back(std::move(m.row));
  }
  return rows;
}

}  // namespace bench
