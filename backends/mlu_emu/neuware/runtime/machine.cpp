#include "backends/mlu_emu/neuware/runtime/machine.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/watchdog.h"
#include "backends/mlu_emu/neuware/runtime/builtins.h"
#include "backends/mlu_emu/neuware/runtime/errors.h"
#include "backends/mlu_emu/neuware/runtime/findings.h"
#include "backends/mlu_emu/neuware/runtime/kernel_source.h"
#include "backends/mlu_emu/neuware/runtime/report_page.h"
#include "backends/mlu_emu/neuware/runtime/signals.h"

namespace neuware {

using namespace mluops::emu;  // NOLINT: the device's names

std::atomic<bool> overdue = false;

void stop_loop(const char* file, int line) {
  if (!Core::runs_here() || std::uncaught_exceptions() > 0) return;
  Core::current().act_at({file, line});
  Core::current().fault_overdue("a loop");
}

namespace {

/// The machines of a process and the architecture of the first code that was loaded.
struct Machines {
  std::mutex mutex;
  std::map<int, std::unique_ptr<Machine>> by_arch;
  std::atomic<int> first = 0;
  std::mutex running;  // one launch at a time
};

Machines& machines() {
  static Machines& instance = *new Machines;  // static destructors may still launch
  return instance;
}

/// Nothing done yet, in the memories of the core that runs.
Scalars scalars_of_task() {
  Core& core = Core::current();
  Scalars s = {};
  s.nram = core.nram().base();
  s.nram_bytes = static_cast<std::size_t>(core.most_of_nram());
  s.stack = static_cast<const char*>(__builtin_frame_address(0));
  return s;
}

std::atomic<bool> in_bad_fork = false;

/// From the first launch on: the threads of the cores stay behind in the parent.
void notice_forks() {
  static const int noticed = pthread_atfork(nullptr, nullptr, [] { in_bad_fork = true; });
  static_cast<void>(noticed);
}

constexpr int kDefaultArchNumber = 372;
constexpr const char* kNoBlock =
    "an address in no block of device memory (if it is the host's, copy it there: cnrtMalloc and cnrtMemcpy, or a "
    "tensor "
    "on device mlu)";

}  // namespace

bool Machine::is_in_bad_fork() {
  return in_bad_fork;
}

void Machine::announce(int arch_number) {
  int none = 0;
  machines().first.compare_exchange_strong(none, arch_number);
}

Machine& Machine::instance() {
  const int first = machines().first;
  return of(first == 0 ? kDefaultArchNumber : first);
}

Machine& Machine::of(int arch_number) {
  const std::lock_guard<std::mutex> lock(machines().mutex);
  std::unique_ptr<Machine>& machine = machines().by_arch[arch_number];
  if (machine == nullptr) machine.reset(new Machine(arch_number));
  return *machine;
}

/// MLUOP_EMU_ARCH names an architecture, and with it the card its programs run on.
Machine::Machine(int arch_number) {
  constexpr std::int64_t kReserve = 128 * 1024;  // of the compiler; kernels take some of it for themselves
  settings_.set("device", card_of_programs(arch_number).card);
  problem_ = settings_.read_environment();
  settings_.set("device", card_of_programs(settings_.arch.number).card);
  if (problem_.empty()) problem_ = settings_.read_environment("arch");
  settings_.arch.nram_bytes += kReserve;
  settings_.arch.sram_bytes += kReserve;
  crew_ = std::make_unique<Crew>(settings_.arch);
}

std::string Machine::run(const Unit& unit, const LaunchSpec& spec, const std::function<void()>& task, double* time) {
  if (!problem_.empty()) return problem_;
  if (unit.arch != settings_.arch.number) {
    return spec.kernel + ": " + unit.file + " was compiled for mtp_" + std::to_string(unit.arch) +
           ", the machine is a " + settings_.arch.name + " (MLUOP_EMU_ARCH)";
  }
  if (std::string problem = check_launch(spec, settings_); !problem.empty()) return problem;
  const std::lock_guard<std::mutex> lock(machines().running);
  notice_forks();
  catch_signals();
  gdram_.renew(spec.tensors, settings_.checks.race);
  const auto active = static_cast<int>(std::min<std::int64_t>(settings_.arch.cores(), spec.tasks()));
  LaunchState state{spec, settings_, gdram_, false, active};
  state.objects = &nram_objects(unit);
  state.overdue = &overdue;
  state.nram_reach = &nram_reach();
  state.filled = &nram_filled();
  state.file = unit.file;
  state.no_tensor = kNoBlock;
  Findings::instance();  // a report tells of launches without findings, too
  LaunchSource source(unit);
  state.source = &source;
  const int per_cluster = settings_.arch.cores_per_cluster;
  const int memory_cores = spec.clusters == 0 ? 0 : (active + per_cluster - 1) / per_cluster;
  std::vector<Timeline> timelines(static_cast<std::size_t>(active + memory_cores));
  for (Timeline& t : timelines) {
    t.stats.read.resize(gdram_.windows().size());
    t.stats.written.resize(gdram_.windows().size());
    t.trace(ReportPage::instance().events_wanted() / timelines.size());
    if (ReportPage::instance().wanted()) t.watch(settings_.rates, active, &source);
  }
  const std::int64_t jobs = spec.tasks() / Crew::job_tasks(spec, settings_.arch);
  const KernelBody body = [&](char*) {
    site = {};
    scalars = scalars_of_task();
    set_builtins(Core::current().task());
    refill_task();
    run_guarded(task, &unit);
  };
  const Watchdog watchdog(settings_.seconds_limit, overdue);
  std::string fault = crew_->run(state, body, timelines, task_order(settings_, jobs));
  keep_warning(source.warning());
  if (!fault.empty() && !source.told_fault()) source.found({Severity::kFault, spec.kernel, "launch", fault, {}, {}});
  for (const Timeline& t : timelines) *time = std::max(*time, t.now());
  if (ReportPage::instance().wanted()) {
    ReportPage::instance().add(unit.file, make_report(spec, settings_.arch, gdram_, timelines), nram_objects(unit),
                               fault);
  }
  return fault;
}

}  // namespace neuware
