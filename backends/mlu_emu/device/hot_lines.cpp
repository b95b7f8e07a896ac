#include "backends/mlu_emu/device/hot_lines.h"

#include <algorithm>

namespace mluops::emu {

std::size_t HotLines::line_of(const CallSite& site, const char* word, Engine engine, Direction direction) {
  const auto [place, added] = numbers_.try_emplace({site.file, site.line, word, engine, direction}, lines_.size());
  if (added) lines_.push_back({site, word, engine, direction});
  return place->second;
}

void HotLines::ran(const CallSite& site, const Event& word, double now, bool async) {
  const std::size_t line = line_of(site, word.word, word.engine, word.direction);
  LineCost& cost = lines_[line];
  ++cost.times;
  cost.bytes += word.bytes;
  cost.pieces += word.pieces;
  cost.busy += word.duration;
  cost.starts += word.start_cost;
  cost.in_pieces += word.pieces_cost;
  if (async) {
    queued_[static_cast<std::size_t>(word.engine)].push_back({word.start, word.start + word.duration, line});
    return;
  }
  cost.held += word.duration;
  waited(word.engine, now, word.start);
}

void HotLines::computed(const CallSite& site, const ScalarWork& work, double duration) {
  LineCost& cost = lines_[line_of(site, "scalar code", Engine::kScalar, Direction::kWithin)];
  ++cost.times;
  cost.busy += duration;
  cost.held += duration;
  cost.scalar += work;
}

void HotLines::waited(Engine engine, double now, double until) {
  std::vector<Queued>& queued = queued_[static_cast<std::size_t>(engine)];
  if (now < until) {
    for (const Queued& q : queued)
      lines_[q.line].held += std::max(0.0, std::min(q.end, until) - std::max(q.begin, now));
  }
  queued.clear();
}

void HotLines::paused(const CallSite& site, const char* what, double duration) {
  LineCost& cost = lines_[line_of(site, what, Engine::kScalar, Direction::kWithin)];
  ++cost.times;
  cost.held += duration;
}

}  // namespace mluops::emu
