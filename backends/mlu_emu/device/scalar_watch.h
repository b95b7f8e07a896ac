// What one core knows of its scalar code: where that may go on unseen, and what it stored that no shadow shows yet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/mlu_emu/device/gdram.h"
#include "backends/mlu_emu/device/nram.h"
#include "backends/mlu_emu/device/scalar_spans.h"
#include "backends/mlu_emu/device/source.h"
#include "backends/mlu_emu/device/task.h"

namespace mluops::emu {

class ScalarWatch {
 public:
  static constexpr const char* kWord = "scalar code";
  static constexpr std::int64_t kWidest = 16;  // bytes of a scalar

  /// A store where another task has written: whether it changes the value shows when it is done.
  struct Contested {
    Window* window = nullptr;  // null: none is
    std::int64_t offset = 0, bytes = 0;
    std::array<char, kWidest> before = {};
    CallSite site = {};
  };

  /// Before a task. Without a source there is nothing to watch.
  /// NRAM may grow to so many bytes while the task runs.
  void begin(KernelSource* source, Gdram& gdram, const Nram& nram, std::int64_t most_of_nram, const TaskBuiltins& task);
  void leave() noexcept;
  bool on() const { return source_ != nullptr; }

  /// Loads by that place in the source may begin in these bytes.
  void pass_loads(unsigned slot, const char* begin, std::int64_t bytes) {
    spans_.loads[slot] = {begin, static_cast<std::size_t>(bytes > 0 ? bytes : 0)};
  }
  /// No race is looked for in what that place stores there.
  void pass_stores(unsigned slot, const char* begin, std::int64_t bytes);
  /// Where the task is the writer, that place may load and store, and where nobody is: what this place may do by itself
  /// is the task's from now on.
  void pass_written(const ScalarAccess& access, int window);
  /// Bytes behind a store that are worth a look whether they are free: the more, the longer the run that ended there.
  /// To look far ahead of scattered stores would cost too much.
  std::int64_t ahead(const ScalarAccess& store) const;
  /// Stores may go on from this one, up to `room` bytes: all of them are the task's.
  void run_stores(const ScalarAccess& first, int window, std::int64_t room);
  /// None is known to be well; what was stored so far goes into the shadow.
  void stop_stores(unsigned slot);
  void stop_all_stores();
  /// Others may have run: nothing that was known of device memory is any more.
  void forget();

  /// Each run of NRAM that scalar code loaded or stored since a barrier: where, and whether it was stored.
  template <class Visit>
  void for_each_in_nram(Visit&& visit) const {
    for (unsigned slot = 0; slot < ScalarSpans::kSlots; ++slot) {
      if (spans_.nram_loads[slot].end != 0) visit(spans_.nram_loads[slot], false);
      if (spans_.nram_stores[slot].end != 0) visit(spans_.nram_stores[slot], true);
    }
  }
  void nram_done();

  void contest(const ScalarAccess& store, Window& window);
  /// What was contested, once.
  Contested take_contested();

 private:
  /// Stores one behind the other; `window` -1 for none.
  struct Run {
    int window = -1;
    CallSite site = {};
  };

  Window& window(int index) const { return gdram_->windows()[static_cast<std::size_t>(index)]; }

  KernelSource* source_ = nullptr;
  Gdram* gdram_ = nullptr;
  const Nram* nram_ = nullptr;
  TaskBuiltins task_ = {};
  ScalarSpans spans_ = {};
  std::array<Run, ScalarSpans::kSlots> runs_;
  Contested contested_;
  std::int64_t most_of_nram_ = 0;
};

}  // namespace mluops::emu
