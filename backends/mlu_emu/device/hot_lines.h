// Where the time of a core goes: by line of the source where that is known, and by word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "backends/mlu_emu/device/event.h"
#include "backends/mlu_emu/device/scalar_work.h"
#include "backends/mlu_emu/device/source.h"

namespace mluops::emu {

/// Totals of one builtin in one source line. Times are modelled nanoseconds.
struct LineCost {
  CallSite site;
  const char* word;
  Engine engine;
  Direction direction;
  std::int64_t times = 0, bytes = 0, pieces = 0;
  double busy = 0;       // of its engine
  double starts = 0;     // of that, for starting
  double in_pieces = 0;  // of that, for being in pieces
  double held = 0;       // the core's clock stood still for it: all of them together are the core's time
  ScalarWork scalar = {};
};

class HotLines {
 public:
  /// A word that starts at word.start, the core's clock being `now`.
  void ran(const CallSite& site, const Event& word, double now, bool async);
  void computed(const CallSite& site, const ScalarWork& work, double duration);
  /// The core waits for an engine.
  void waited(Engine engine, double now, double until);
  /// The core's clock stands still for something that is no engine's: a barrier, the start of a task.
  void paused(const CallSite& site, const char* what, double duration);

  const std::vector<LineCost>& lines() const { return lines_; }

 private:
  struct Queued {
    double begin, end;
    std::size_t line;
  };
  std::size_t line_of(const CallSite& site, const char* word, Engine engine, Direction direction);

  std::vector<LineCost> lines_;
  std::map<std::tuple<const char*, int, const char*, Engine, Direction>, std::size_t> numbers_;
  std::array<std::vector<Queued>, kEngines> queued_;
};

}  // namespace mluops::emu
