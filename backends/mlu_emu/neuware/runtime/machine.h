// The one emulated machine of a process: its settings, its cores, what is wrong with it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/crew.h"
#include "backends/mlu_emu/neuware/include/neuware.h"

namespace neuware {

/// An object filled again at the start of every task.
struct Refill {
  Space space;
  std::size_t offset, bytes;
  const void* content;
};

/// The NRAM objects of a unit laid out so far.
const std::vector<mluops::emu::NramRegion>& nram_objects(const Unit& unit);

/// Where the NRAM objects of all units end: a kernel may be launched from another file than its own.
const std::int64_t& nram_reach();

class Machine {
 public:
  static Machine& instance();

  const mluops::emu::Settings& settings() const { return settings_; }
  /// What is wrong with the environment's settings; no kernel runs then.
  const std::string& problem() const { return problem_; }
  /// All the memory a core has: kernels leave the compiler's share alone by themselves.
  const mluops::emu::Arch& arch() const { return settings_.arch; }

  /// Runs all tasks; "" or the fault. Sets *time to the modelled nanoseconds.
  std::string run(const Unit& unit, const mluops::emu::LaunchSpec& spec, const std::function<void()>& task,
                  double* time);
  void add_refill(const Refill& refill);

 private:
  Machine();
  void refill_task();

  mluops::emu::Settings settings_;
  std::string problem_;
  std::mutex running_;  // one launch at a time
  std::unique_ptr<mluops::emu::Crew> crew_;
  mluops::emu::Gdram gdram_{{}, false};  // all device memory, as of the last launch
  std::mutex lists_;
  std::vector<Refill> refills_;
};

}  // namespace neuware
