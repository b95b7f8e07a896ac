#include "backends/mlu_emu/device/report.h"

#include <algorithm>
#include <functional>
#include <set>

#include "backends/mlu_emu/device/advice.h"
#include "backends/mlu_emu/device/json.h"
#include "backends/mlu_emu/device/source_text.h"

namespace mluops::emu {
namespace {

const char* access_name(Access access) {
  if (access == Access::kRead) return "read";
  return access == Access::kWrite ? "write" : "update";
}

void put_arch(Json& j, const Settings& s) {
  j.open('{').member("name", s.arch.name).member("nram_bytes", s.arch.nram_bytes);
  j.member("wram_bytes", s.arch.wram_bytes).member("sram_bytes", s.arch.sram_bytes);
  j.member("clusters", s.arch.clusters).member("cores_per_cluster", s.arch.cores_per_cluster);
  j.member("vector_alignment", s.arch.vector_alignment());
  j.key("rates").open('{');
  for (const RateInfo& r : rate_infos()) j.member(r.name, s.rates.*r.member);
  j.close('}').key("rate_sources").open('{');
  for (const RateInfo& r : rate_infos()) j.member(r.name, r.source);
  j.close('}').close('}');
}

void put_nram(Json& j, const LaunchSpec& spec) {
  j.key("nram").open('[');
  for (const NramRegion& r : spec.nram) {
    j.open('{').member("name", r.name).member("offset", r.offset).member("bytes", r.bytes).close('}');
  }
  j.close(']');
}

void put_traffic(Json& j, const LaunchReport& launch) {
  j.key("tensors").open('[');
  for (const LaunchReport::Traffic& t : launch.traffic) {
    j.open('{').member("name", t.name).member("access", access_name(t.access)).member("bytes", t.bytes);
    j.member("read", t.read).member("written", t.written).close('}');
  }
  j.close(']');
}

void put_core(Json& j, const CoreStats& c) {
  j.open('{').member("tasks", c.tasks).member("loads", c.loads).member("stores", c.stores);
  j.member("segments", c.segments).member("atomics", c.atomics).member("atomic_bytes", c.atomic_bytes);
  j.member("moves", c.moves).member("move_bytes", c.move_bytes).member("vector_words", c.vector_words);
  j.member("vector_bytes", c.vector_bytes).member("vector_lanes", c.vector_lanes);
  j.member("vector_steps", c.vector_steps).member("tensor_macs", c.macs).member("memory_core", c.memory_core);
  j.member("scalar_operations", c.scalar.operations);
  j.member("scalar_nram_accesses", c.scalar.nram_loads + c.scalar.nram_stores);
  j.member("scalar_gdram_accesses", c.scalar.gdram_loads + c.scalar.gdram_stores);
  j.member("scalar_gdram_bytes", c.scalar.gdram_bytes);
  j.key("busy_us").open('{');
  for (std::size_t e = 0; e < kEngines; ++e) j.member(kEngineNames[e], c.busy[e] / 1e3);
  j.close('}').member("hidden_io_us", c.hidden_io / 1e3).member("time_us", c.time / 1e3).close('}');
}

const char* direction_name(Direction direction) {
  if (direction == Direction::kLoad) return "load";
  return direction == Direction::kStore ? "store" : "";
}

void put_lines(Json& j, const LaunchReport& launch) {
  j.key("lines").open('[');
  for (const HotLine& l : launch.lines) {
    const bool paused = l.word == kTaskStart || l.word == kBarrier;
    j.newline().open('{').member("file", l.file).member("line", l.line).member("word", l.word);
    j.member("engine", paused ? "" : kEngineNames[static_cast<std::size_t>(l.engine)])
        .member("direction", direction_name(l.direction));
    j.member("times", l.times).member("bytes", l.bytes).member("busy_us", l.busy / 1e3);
    j.member("held_us", l.held / 1e3).close('}');
  }
  j.close(']');
}

/// Lines, what changes would make of the launch's time, and both in words.
void put_hot_lines(Json& j, const LaunchReport& launch, const Settings& settings) {
  put_lines(j.newline(), launch);
  j.newline().key("what_if").open('{');
  for (std::size_t i = 0; i < kChanges; ++i) {
    if (launch.changed[i] > 0) j.member(kChangeNames[i], launch.changed[i] / 1e3);
  }
  j.close('}').newline().key("sentences").open('[');
  for (const std::string& sentence : sentences(launch, settings)) j.value(sentence);
  j.close(']');
}

void put_sources(Json& j, const CallReport& report) {
  j.newline().key("sources").open('{');
  for (const auto& [file, text] : source_texts(report)) {
    j.newline().key(file).open('{').member("first", text.first).key("lines").open('[');
    for (const std::string& line : text.lines) j.value(line);
    j.close(']').close('}');
  }
  j.close('}');
}

void put_launch(Json& j, const LaunchReport& launch, const Settings& settings) {
  const LaunchSpec& spec = launch.spec;
  j.newline()
      .open('{')
      .member("kernel", spec.kernel)
      .member("type", spec.clusters != 0 ? "UNION" + std::to_string(spec.clusters) : "BLOCK");
  j.key("dim").open('[').value(spec.x).value(spec.y).value(spec.z).close(']');
  j.member("time_us", launch.time / 1e3);
  put_nram(j.newline(), launch.spec);
  put_traffic(j.newline(), launch);
  if (!launch.lines.empty()) put_hot_lines(j, launch, settings);
  j.newline().key("cores").open('[');
  for (const CoreStats& c : launch.cores) put_core(j.newline(), c);
  j.close(']').close('}');
}

/// Sums over the launches of a call. Each tensor counts once in the minimum, however many launches touch it.
struct Totals {
  std::int64_t minimum = 0, moved = 0, vector_bytes = 0;
  std::int64_t by_scalars = 0;  // bytes of GDRAM and SRAM that scalar code loaded or stored
  double kernels = 0, with_launches = 0, io = 0, hidden = 0;
  double macs = 0, steps = 0;  // of the tensor unit, in those of half; lanes of the vector unit

  explicit Totals(const CallReport& report) {
    std::vector<std::string> seen;
    for (const LaunchReport& launch : report.launches) {
      for (const LaunchReport::Traffic& t : launch.traffic) {
        moved += t.read + t.written;
        if (std::find(seen.begin(), seen.end(), t.name) != seen.end()) continue;
        seen.push_back(t.name);
        minimum += t.bytes;
      }
      for (const CoreStats& c : launch.cores) {
        vector_bytes += c.vector_bytes;
        by_scalars += c.scalar.gdram_bytes;
        macs += c.macs;
        steps += static_cast<double>(c.vector_steps);
        io += c.busy[static_cast<std::size_t>(Engine::kIo)];
        hidden += c.hidden_io;
      }
      kernels += launch.time;
      with_launches += launch.time + report.settings.rates.launch_us * 1e3;
    }
  }
};

/// What the card's peaks alone would take: the longest of its memory's, its tensor units' and its vector units' part.
/// The memory moves what copies and scalar code asked for.
void put_roofline(Json& j, const Totals& t, const Settings& s) {
  const double cores = s.arch.cores(), cycles = s.rates.clock_ghz * cores;  // a ns
  const std::int64_t moved = t.moved + t.by_scalars;
  const double memory = static_cast<double>(moved) / s.rates.gdram_gbps;
  const double tensor = t.macs / (s.rates.tensor_macs_cycle * cycles);
  const double vector = static_cast<double>(t.vector_bytes) / (s.rates.vector_bytes_cycle * cycles);
  const double least = std::max({memory, tensor, vector});
  const char* bound = least == memory ? "memory" : least == tensor ? "tensor" : "vector";
  const double operations = 2 * t.macs + t.steps;
  j.key("roofline").open('{').member("card", s.arch.card).member("bytes", moved).member("operations", operations);
  j.member("operations_byte", moved > 0 ? operations / static_cast<double>(moved) : 0.0);
  j.member("bound", bound).member("least_us", least / 1e3);
  j.member("share_of_peak", t.kernels > 0 ? least / t.kernels : 0.0);
  j.member("scalar_bytes", t.by_scalars).close('}');
  const TimeSpread spread = time_spread(s.arch);
  j.key("time_spread").open('{').member("half", spread.half).member("most", spread.most).close('}');
}

void put_totals(Json& j, const CallReport& report) {
  const Totals t(report);
  const Rates& rates = report.settings.rates;
  const double peak_vector = report.settings.arch.cores() * rates.vector_bytes_cycle * rates.clock_ghz;  // bytes a ns
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };
  j.newline().key("totals").open('{').member("gdram_minimum_bytes", t.minimum).member("gdram_moved_bytes", t.moved);
  j.member("vector_bytes", t.vector_bytes).member("time_us", t.kernels / 1e3);
  j.member("time_with_launches_us", t.with_launches / 1e3);
  j.member("io_efficiency", share(static_cast<double>(t.minimum) / rates.gdram_gbps, t.kernels));
  j.member("compute_efficiency", share(static_cast<double>(t.vector_bytes) / peak_vector, t.kernels));
  j.member("hidden_io_share", share(t.hidden, t.io));
  put_roofline(j, t, report.settings);
  j.close('}');
}

/// The first of a launch's cores that is a memory core: they follow the others, one for each cluster.
std::size_t first_memory_core(const LaunchReport& launch) {
  const auto is_one = [](const CoreStats& c) { return c.memory_core; };
  return static_cast<std::size_t>(std::find_if(launch.cores.begin(), launch.cores.end(), is_one) -
                                  launch.cores.begin());
}

/// A lane means the same core in all launches, however many cores they use: memory cores come behind the machine's.
std::size_t lane_of(const LaunchReport& launch, const Arch& arch, std::size_t core) {
  const std::size_t first = first_memory_core(launch);
  return core < first ? core : static_cast<std::size_t>(arch.cores()) + core - first;
}

/// Lane names: one process per core, one thread per engine.
void put_lane_names(Json& j, const Arch& arch, std::size_t core) {
  const auto name = [&](const char* kind, std::size_t lane, const std::string& text) {
    j.newline().open('{').member("ph", "M").member("name", kind).member("pid", core).member("tid", lane);
    j.key("args").open('{').member("name", text).close('}').close('}');
  };
  const auto per_cluster = static_cast<std::size_t>(arch.cores_per_cluster);
  const auto cores = static_cast<std::size_t>(arch.cores());
  const std::size_t cluster = core < cores ? core / per_cluster : core - cores;
  const std::string which = core < cores ? "core " + std::to_string(core % per_cluster) : "memory core";
  name("process_name", 0, "cluster " + std::to_string(cluster) + " " + which);
  for (std::size_t e = 0; e < kEngines; ++e) name("thread_name", e, kEngineNames[e]);
}

void put_event(Json& j, const Event& e, std::size_t core, double launch_start) {
  j.newline().open('{').member("ph", "X").member("name", e.word).member("pid", core);
  j.member("tid", static_cast<int>(e.engine)).member("ts", (launch_start + e.start) / 1e3);
  j.member("dur", e.duration / 1e3);
  j.key("args").open('{').member("task", e.task).member("bytes", e.bytes).close('}').close('}');
}

}  // namespace

std::string arch_json(const Settings& settings) {
  Json j;
  put_arch(j, settings);
  return j.text();
}

std::string report_json(const CallReport& report) {
  Json j;
  j.open('{').member("op", report.op).key("arch");
  put_arch(j, report.settings);
  j.key("launches").open('[');
  for (const LaunchReport& launch : report.launches) put_launch(j, launch, report.settings);
  j.close(']');
  put_sources(j, report);
  put_totals(j, report);
  return j.close('}').newline().text();
}

std::string trace_json(const CallReport& report) {
  Json j;
  const Arch& arch = report.settings.arch;
  std::set<std::size_t> lanes;
  std::int64_t dropped = 0;
  for (const LaunchReport& launch : report.launches) {
    for (std::size_t c = 0; c < launch.events.size(); ++c) lanes.insert(lane_of(launch, arch, c));
    dropped += launch.dropped_events;
  }
  j.open('{').member("displayTimeUnit", "ns").key("otherData").open('{');
  j.member("op", report.op).member("arch", arch.name).member("dropped_events", dropped).close('}');
  j.key("traceEvents").open('[');
  for (const std::size_t lane : lanes) put_lane_names(j, arch, lane);
  double start = 0;
  for (const LaunchReport& launch : report.launches) {
    start += report.settings.rates.launch_us * 1e3;
    for (std::size_t c = 0; c < launch.events.size(); ++c) {
      for (const Event& e : launch.events[c]) put_event(j, e, lane_of(launch, arch, c), start);
    }
    start += launch.time;
  }
  return j.close(']').close('}').newline().text();
}

}  // namespace mluops::emu
