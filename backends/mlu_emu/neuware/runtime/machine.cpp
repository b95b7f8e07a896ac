#include "backends/mlu_emu/neuware/runtime/machine.h"

#include <cstring>
#include <exception>
#include <string>

#include "backends/mlu_emu/device/watchdog.h"
#include "backends/mlu_emu/neuware/runtime/builtins.h"
#include "backends/mlu_emu/neuware/runtime/memory.h"
#include "backends/mlu_emu/neuware/runtime/report_page.h"

namespace neuware {

using namespace mluops::emu;  // NOLINT: the device's names

std::atomic<bool> overdue = false;

void stop_loop(const char* file, int line) {
  if (!Core::runs_here() || std::uncaught_exceptions() > 0) return;
  Core::current().fault_overdue(("the loop at " + std::string(file) + ":" + std::to_string(line)).c_str());
}

Machine& Machine::instance() {
  static Machine machine;
  return machine;
}

Machine::Machine() {
  constexpr std::int64_t kReserve = 128 * 1024;  // of the compiler; kernels take some of it for themselves
  settings_.set("arch", "mtp_592");
  problem_ = settings_.read_environment();
  settings_.arch.nram_bytes += kReserve;
  settings_.arch.sram_bytes += kReserve;
  crew_ = std::make_unique<Crew>(settings_.arch);
}

void Machine::add_refill(const Refill& refill) {
  const std::lock_guard<std::mutex> lock(lists_);
  for (const Refill& known : refills_) {
    if (known.space == refill.space && known.content == refill.content) return;
  }
  refills_.push_back(refill);
}

void Machine::refill_task() {
  for (const Refill& r : refills_) {
    char* target = base(r.space) + r.offset;
    std::memcpy(target, r.content, r.bytes);
    written(target, r.bytes);
  }
}

std::string Machine::run(const Unit& unit, const LaunchSpec& spec, const std::function<void()>& task, double* time) {
  if (!problem_.empty()) return problem_;
  if (unit.arch != settings_.arch.number) {
    return spec.kernel + ": " + unit.file + " was compiled for mtp_" + std::to_string(unit.arch) +
           ", the machine is a " + settings_.arch.name + " (MLUOP_EMU_ARCH)";
  }
  if (std::string problem = check_launch(spec, settings_); !problem.empty()) return problem;
  const std::lock_guard<std::mutex> lock(running_);
  gdram_.renew(spec.tensors, settings_.checks.race);
  const auto active = static_cast<int>(std::min<std::int64_t>(settings_.arch.cores(), spec.tasks()));
  const LaunchState state{spec,    settings_,           gdram_,   false,        active,
                          nullptr, &nram_objects(unit), &overdue, &nram_reach()};
  std::vector<Timeline> timelines(static_cast<std::size_t>(active) + 1);  // the last: memory cores
  for (Timeline& t : timelines) {
    t.stats.read.resize(gdram_.windows().size());
    t.stats.written.resize(gdram_.windows().size());
    t.trace(ReportPage::instance().events_wanted() / timelines.size());
  }
  const std::int64_t jobs = spec.tasks() / Crew::job_tasks(spec, settings_.arch);
  const KernelBody body = [&](char*) {
    set_builtins(Core::current().task());
    refill_task();
    task();
  };
  const Watchdog watchdog(settings_.seconds_limit, overdue);
  std::string fault = crew_->run(state, body, timelines, task_order(settings_, jobs));
  for (const Timeline& t : timelines) *time = std::max(*time, t.now());
  if (ReportPage::instance().wanted()) {
    ReportPage::instance().add(unit.file, make_report(spec, gdram_, timelines), nram_objects(unit), fault);
  }
  return fault;
}

}  // namespace neuware
