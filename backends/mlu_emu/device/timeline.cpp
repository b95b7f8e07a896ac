#include "backends/mlu_emu/device/timeline.h"

#include <algorithm>

namespace mluops::emu {

void Timeline::hide_behind(double begin, double end) {
  std::erase_if(io_in_flight_, [&](const Interval& io) { return io.end <= begin; });
  for (const Interval& io : io_in_flight_) {
    stats.hidden_io += std::max(0.0, std::min(io.end, end) - std::max(io.begin, begin));
  }
}

void Timeline::run(const Event& word, bool async) {
  const auto engine = static_cast<std::size_t>(word.engine);
  const double start = std::max(now_, free_[engine]);
  const double end = start + word.duration;
  free_[engine] = end;
  stats.busy[engine] += word.duration;
  if (word.engine == Engine::kVector || word.engine == Engine::kMove) {
    if (!io_in_flight_.empty()) hide_behind(start, end);
  } else if (word.engine == Engine::kIo && async) {
    io_in_flight_.push_back({start, end});
  }
  if (!async) now_ = end;
  if (most_events_ == 0) return;
  if (events.size() == most_events_) {
    ++dropped_events;
  } else {
    events.push_back(word);
    events.back().start = start;
  }
}

void Timeline::compute(const ScalarWork& work, int task, double duration) {
  stats.scalar += work;
  run({"scalar code", Engine::kScalar, task, 0, 0, duration}, false);
}

void Timeline::wait(Engine engine) {
  now_ = std::max(now_, free_[static_cast<std::size_t>(engine)]);
}

}  // namespace mluops::emu
