// The emulated machine of a process, one for each architecture its code was compiled for: settings, cores, what is
// wrong.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/crew.h"
#include "backends/mlu_emu/neuware/include/neuware.h"

namespace neuware {

/// The NRAM objects of a unit laid out so far.
const std::vector<mluops::emu::NramRegion>& nram_objects(const Unit& unit);
/// Where the NRAM objects of all units end: a kernel may be launched from another file than its own.
const std::int64_t& nram_reach();
/// The parts of NRAM that refill_task() fills.
const std::vector<mluops::emu::NramRegion>& nram_filled();
/// Fills the objects that are to be filled at the start of every task.
void refill_task();

class Machine {
 public:
  /// The architecture of the first file whose code was loaded; the default one if none was.
  static Machine& instance();
  /// The machine that code for an architecture runs on.
  static Machine& of(int arch_number);
  /// The process was forked after its parent launched kernels: it cannot launch any, as on the device.
  static bool is_in_bad_fork();
  /// Code for an architecture was loaded.
  static void announce(int arch_number);

  const mluops::emu::Settings& settings() const { return settings_; }
  /// What is wrong with the environment's settings; no kernel runs then.
  const std::string& problem() const { return problem_; }
  /// All the memory a core has: kernels leave the compiler's share alone by themselves.
  const mluops::emu::Arch& arch() const { return settings_.arch; }

  /// Runs all tasks; "" or the fault. Sets *time to the modelled nanoseconds.
  std::string run(const Unit& unit, const mluops::emu::LaunchSpec& spec, const std::function<void()>& task,
                  double* time);

 private:
  explicit Machine(int arch_number);

  mluops::emu::Settings settings_;
  std::string problem_;
  std::unique_ptr<mluops::emu::Crew> crew_;
  mluops::emu::Gdram gdram_{{}, false};  // all device memory, as of the last launch
};

}  // namespace neuware
