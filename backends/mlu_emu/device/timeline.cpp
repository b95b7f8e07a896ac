#include "backends/mlu_emu/device/timeline.h"

#include <algorithm>

namespace mluops::emu {

void Timeline::hide_behind(double begin, double end) {
  std::erase_if(io_in_flight_, [&](const Interval& io) { return io.end <= begin; });
  for (const Interval& io : io_in_flight_) {
    stats.hidden_io += std::max(0.0, std::min(io.end, end) - std::max(io.begin, begin));
  }
}

void Timeline::watch(const Rates& rates, int active_cores, const KernelSource* source) {
  watched = std::make_unique<Watched>(Watched{{}, WhatIf(rates, active_cores), {}});
  source_ = source;
}

void Timeline::run(const Event& word, bool async) {
  const double before = clock_.now(), start = clock_.run(word.engine, word.duration, async),
               end = start + word.duration;
  stats.busy[static_cast<std::size_t>(word.engine)] += word.duration;
  if (word.engine == Engine::kVector || word.engine == Engine::kMove) {
    if (!io_in_flight_.empty()) hide_behind(start, end);
  } else if (word.engine == Engine::kIo && async) {
    io_in_flight_.push_back({start, end});
  }
  if (most_events_ == 0 && watched == nullptr) return;
  Event placed = word;
  placed.start = start;
  if (watched != nullptr) {
    last_site_ = site();
    watched->lines.ran(last_site_, placed, before, async);
    watched->what_if.run(placed, async, watched->operands);
    watched->operands.clear();
  }
  keep(placed);
}

void Timeline::keep(const Event& event) {
  if (most_events_ == 0) return;
  if (events.size() == most_events_) {
    ++dropped_events;
  } else {
    events.push_back(event);
  }
}

void Timeline::compute(const ScalarWork& work, int task, double duration) {
  stats.scalar += work;
  const double start = clock_.run(Engine::kScalar, duration, false);
  stats.busy[static_cast<std::size_t>(Engine::kScalar)] += duration;
  keep({"scalar code", Engine::kScalar, task, 0, start, duration});
  if (watched == nullptr) return;
  last_site_ = site();
  watched->lines.computed(last_site_, work, duration);
  watched->what_if.compute(work, duration);
}

void Timeline::wait(Engine engine) {
  if (watched != nullptr) {
    last_site_ = site();
    watched->lines.waited(engine, clock_.now(), clock_.free(engine));
    watched->what_if.wait(engine);
  }
  clock_.wait(engine);
}

void Timeline::begin_task(double duration) {
  clock_.sleep_until(clock_.now() + duration);
  ++stats.tasks;
  if (watched == nullptr) return;
  watched->operands.clear();
  watched->lines.paused({}, kTaskStart, duration);
  watched->what_if.begin_task(duration);
}

void Timeline::meet(const std::vector<Timeline*>& cores, double barrier) {
  double last = 0;
  std::vector<WhatIf*> changed;
  for (Timeline* core : cores) {
    last = std::max(last, core->now());
    if (core->watched != nullptr) changed.push_back(&core->watched->what_if);
  }
  for (Timeline* core : cores) {
    if (core->watched != nullptr) {
      core->watched->lines.paused(core->last_site_, kBarrier, last + barrier - core->now());
    }
    core->clock_.sleep_until(last + barrier);
  }
  WhatIf::meet(changed, barrier);
}

}  // namespace mluops::emu
