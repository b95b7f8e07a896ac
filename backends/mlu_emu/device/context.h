// A handle's machine: its settings, its cores, and what the last operator call did on it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/device/report.h"
#include "backends/mlu_emu/device/settings.h"
#include "backends/mlu_emu/device/undo.h"

namespace mluops::emu {

/// The kernel, run once per task with its core's NRAM.
using KernelBody = std::function<void(char* nram)>;

/// The built-in variables of a task.
TaskBuiltins task_builtins_of(const LaunchSpec& spec, const Arch& arch, std::int64_t id);
/// The reason why a launch is impossible on that machine; "" if it is possible.
std::string check_launch(const LaunchSpec& spec, const Settings& settings);
/// The numbers 0 to count - 1 in the order tasks are run in.
std::vector<std::int64_t> task_order(const Settings& settings, std::int64_t count);
LaunchReport make_report(const LaunchSpec& spec, const Arch& arch, Gdram& gdram, std::vector<Timeline>& timelines);

class Context {
 public:
  Settings settings;

  /// A new operator call: its launches make up the next report.
  void begin_call(const char* op);
  const CallReport& report() const { return report_; }
  /// The call is over: its outputs stay as they are, or are again what they were before it.
  void keep_outputs() noexcept {
    undo_.forget();
    Workspaces().swap(workspaces_);
  }
  void undo_outputs() noexcept {
    undo_.restore();
    Workspaces().swap(workspaces_);
  }
  /// GDRAM for the call's launches among themselves; zeroed, gone when the call is over. Throws std::bad_alloc.
  char* workspace(std::int64_t bytes) { return workspaces_.emplace_back(static_cast<std::size_t>(bytes)).data(); }

  /// Runs a launch on up to `threads` host threads (more than one only in the parallel order). Returns "" or the fault
  /// that stopped it; exceptions other than faults pass through.
  std::string run(const LaunchSpec& spec, int threads, const KernelBody& body);
  /// Zeroes memory the way the queue does it before a kernel: all cores write their share.
  void fill_zero(const Tensor& tensor);

 private:
  using Workspaces = std::vector<std::vector<char>>;

  void provide_cores(std::size_t count);

  std::vector<std::unique_ptr<Core>> cores_;  // one for each host thread in use
  CallReport report_;
  Undo undo_;
  Workspaces workspaces_;
};

}  // namespace mluops::emu
