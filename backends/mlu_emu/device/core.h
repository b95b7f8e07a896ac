// One MLU core while it runs a task: every word of the kernel passes through here to be checked, timed and, if it is a
// copy, done.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/gdram.h"
#include "backends/mlu_emu/device/launch_spec.h"
#include "backends/mlu_emu/device/nram.h"
#include "backends/mlu_emu/device/settings.h"
#include "backends/mlu_emu/device/task.h"
#include "backends/mlu_emu/device/timeline.h"

namespace mluops::emu {

enum class Space { kNram, kGdram };

/// `pieces` copies of `bytes`, one after the other.
struct Copy {
  const char* word;
  Space to, from;
  char* dst;
  const char* src;
  std::int64_t bytes;
  std::int64_t pieces = 1;
  std::int64_t dst_stride = 0, src_stride = 0;

  Engine engine() const { return to == Space::kNram && from == Space::kNram ? Engine::kMove : Engine::kIo; }
};

/// What all cores of a launch share.
struct LaunchState {
  const LaunchSpec& spec;
  const Settings& settings;
  Gdram& gdram;
  bool threads;      // several host threads run cores at once
  int active_cores;  // share the GDRAM bandwidth
};

class Core {
 public:
  explicit Core(std::int64_t nram_bytes) : nram_(nram_bytes) {}

  /// The core whose task this thread runs; a fault outside of any.
  static Core& current();

  void begin_task(const LaunchState& launch, const TaskBuiltins& task, Timeline& timeline);
  /// Checks that nothing is left in flight and that scalar code stayed inside NRAM.
  void end_task();
  /// Forgets the task; needed whether it ended well or not.
  void leave() noexcept;

  const TaskBuiltins& task() const { return task_; }
  const LaunchState& launch() const { return *launch_; }
  Nram& nram() { return nram_; }

  // Operands of vector words: in bounds, aligned, not in flight; sources written.
  void source(const char* word, const char* role, const void* address, std::int64_t bytes);
  void destination(const char* word, const char* role, const void* address, std::int64_t bytes);
  /// As source, without alignment: for atomics.
  void unaligned_source(const char* word, const char* role, const void* address, std::int64_t bytes);
  /// A rule of a word beyond those; part of the memory check.
  void require(bool holds, const char* word, const char* rule) const {
    if (!holds && checks().memory) fault(word, rule);
  }
  /// Accounts for a vector word that wrote `bytes` in `lanes` results.
  void computed(const char* word, std::int64_t bytes, std::int64_t lanes);

  /// Checks an atomic update of GDRAM, then runs add() under the lock cores on threads need.
  template <class Add>
  void atomic(const char* word, const void* gdram, std::int64_t bytes, Add&& add) {
    const auto lock = check_atomic(word, gdram, bytes);
    add();
  }

  void copy(const Copy& c);
  void copy_async(const Copy& c);
  /// Does the copies queued on an engine and waits for them.
  void wait(Engine engine);

  [[noreturn]] void fault(const char* word, const std::string& text) const;

 private:
  const Checks& checks() const { return launch_->settings.checks; }
  std::string describe(const void* address) const;
  std::string describe_nram(std::int64_t offset) const;
  [[noreturn]] void operand_fault(const char* word, const char* role, const void* address, std::int64_t bytes,
                                  const std::string& what) const;

  void check_nram(const char* word, const char* role, const void* address, std::int64_t bytes) const;
  void check_alignment(const char* word, const char* role, const void* address, std::int64_t bytes) const;
  void check_written(const char* word, const char* role, const void* address, std::int64_t bytes);
  void check_in_flight(const char* word, const char* role, const char* begin, std::int64_t bytes, bool write) const;
  void mark_written(const void* address, std::int64_t bytes);

  int check_gdram(const char* word, const char* role, const char* address, std::int64_t bytes, Touch touch);
  void claim(const char* word, int window, std::int64_t offset, std::int64_t bytes, Touch touch);
  std::unique_lock<std::mutex> check_atomic(const char* word, const void* gdram, std::int64_t bytes);

  void check_shape(const Copy& c) const;
  void check_from(const Copy& c, bool sync);
  void check_to(const Copy& c, bool sync);
  void check_other_engines(const Copy& c) const;
  void hide_target(const Copy& c);
  void transfer(const Copy& c);
  void account(const Copy& c, bool async);
  double duration(const Copy& c) const;

  Nram nram_;
  const LaunchState* launch_ = nullptr;
  Timeline* timeline_ = nullptr;
  TaskBuiltins task_ = {};
  std::vector<Copy> in_flight_;
};

}  // namespace mluops::emu
