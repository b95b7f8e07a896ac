#include "backends/mlu_emu/device/two_buffers.h"

#include <algorithm>
#include <iterator>

namespace mluops::emu {

std::pair<TwoBuffers::Ranges::iterator, TwoBuffers::Ranges::iterator> TwoBuffers::ranges_of(const Touched& operand) {
  const std::intptr_t begin = reinterpret_cast<std::intptr_t>(operand.address), end = begin + operand.bytes;
  const auto split = [&](std::intptr_t at) {
    auto behind = ranges_.upper_bound(at);
    if (behind == ranges_.begin()) return;
    auto range = std::prev(behind);
    if (range->first >= at || range->second.end <= at) return;
    ranges_.emplace_hint(behind, at, range->second);
    range->second.end = at;
  };
  split(begin);
  split(end);
  auto next = ranges_.lower_bound(begin);
  for (std::intptr_t at = begin; at < end;) {
    if (next == ranges_.end() || next->first > at) {
      const std::intptr_t to = next == ranges_.end() ? end : std::min(end, next->first);
      next = ranges_.emplace_hint(next, at, Range{to, {}});
    }
    at = next->second.end;
    ++next;
  }
  return {ranges_.lower_bound(begin), next};
}

bool TwoBuffers::in_place(const Touched& written, std::span<const Touched> operands) const {
  const auto* begin = static_cast<const char*>(written.address);
  return std::any_of(operands.begin(), operands.end(), [&](const Touched& o) {
    const auto* other = static_cast<const char*>(o.address);
    return !o.written && other < begin + written.bytes && begin < other + o.bytes;
  });
}

double TwoBuffers::end_of(std::ptrdiff_t store) {
  for (; placed_ <= store; ++placed_) {
    Store& next = stores_[static_cast<std::size_t>(placed_)];
    next.end = copy(next.ready, next.duration);
  }
  return store == kNone ? 0 : stores_[static_cast<std::size_t>(store)].end;
}

double TwoBuffers::ready(std::span<const Touched> operands) {
  double time = 0;
  for (const Touched& o : operands) {
    const auto [first, last] = ranges_of(o);
    const bool other_buffer = o.written && o.twice && !in_place(o, operands);
    for (auto range = first; range != last; ++range) {
      const Use use = range->second.use;
      if (other_buffer) {
        time = std::max({time, use.previous, end_of(use.previous_by)});
      } else {
        time = std::max({time, use.ready, end_of(use.written_by)});
        if (o.written) time = std::max({time, use.read, end_of(use.read_by)});
      }
    }
  }
  return time;
}

void TwoBuffers::done(std::span<const Touched> operands, double end, std::ptrdiff_t store) {
  for (const Touched& o : operands) {
    if (o.written) continue;
    const auto [first, last] = ranges_of(o);
    for (auto range = first; range != last; ++range) {
      Use& use = range->second.use;
      use.read = std::max(use.read, end);
      use.read_by = std::max(use.read_by, store);
    }
  }
  for (const Touched& o : operands) {
    if (!o.written) continue;
    const auto [first, last] = ranges_of(o);
    const bool other_buffer = o.twice && !in_place(o, operands);
    Use use;
    for (auto range = first; range != last; ++range) {
      const Use& before = range->second.use;
      use.previous = std::max(use.previous, other_buffer ? std::max(before.ready, before.read) : before.previous);
      use.previous_by =
          std::max(use.previous_by, other_buffer ? std::max(before.written_by, before.read_by) : before.previous_by);
    }
    use.ready = use.read = end;
    use.written_by = store;
    first->second = {reinterpret_cast<std::intptr_t>(o.address) + o.bytes, use};
    ranges_.erase(std::next(first), last);
  }
}

/// Fills the engine's gaps from `ready` on; when the last part is done.
double TwoBuffers::copy(double ready, double duration) {
  constexpr std::size_t kMostGaps = 64;
  for (std::size_t i = 0; i < gaps_.size() && duration > 0;) {
    Gap& gap = gaps_[i];
    const double begin = std::max(gap.begin, ready), end = std::min(gap.end, begin + duration);
    if (end <= begin) {
      ++i;
      continue;
    }
    duration -= end - begin;
    const Gap behind = {end, gap.end};
    gap.end = begin;
    if (duration <= 0) {
      if (behind.end > behind.begin) gaps_.insert(gaps_.begin() + static_cast<std::ptrdiff_t>(i) + 1, behind);
      std::erase_if(gaps_, [](const Gap& g) { return g.end <= g.begin; });
      return end;
    }
    gap.end > gap.begin ? ++i : (gaps_.erase(gaps_.begin() + static_cast<std::ptrdiff_t>(i)), i);
  }
  const double begin = std::max(io_end_, ready);
  if (begin > io_end_) gaps_.push_back({io_end_, begin});
  if (gaps_.size() > kMostGaps) gaps_.erase(gaps_.begin());
  return io_end_ = begin + duration;
}

void TwoBuffers::run(const Event& word, std::span<const Touched> operands) {
  const double known = ready(operands);
  if (word.engine != Engine::kIo) {
    now_ = std::max(now_, known) + word.duration;
    done(operands, now_);
  } else if (word.direction == Direction::kWithin) {  // an atomic
    now_ = copy(std::max(now_, known), word.duration);
    done(operands, now_);
  } else {
    const double from = std::max({floor_, stored_by_scalar_, known});
    if (word.direction == Direction::kLoad) return done(operands, copy(from, word.duration));
    stores_.push_back({from, word.duration, 0});
    done(operands, 0, static_cast<std::ptrdiff_t>(stores_.size()) - 1);
  }
}

void TwoBuffers::compute(const ScalarWork& work, double duration) {
  const bool reads = work.nram_loads > 0 || work.gdram_loads > 0;
  if (reads) drain_copies();
  now_ += duration;
  if (reads || work.nram_stores > 0 || work.gdram_stores > 0) stored_by_scalar_ = now_;
}

void TwoBuffers::drain_copies() {
  end_of(static_cast<std::ptrdiff_t>(stores_.size()) - 1);
  now_ = std::max(now_, io_end_);
}

void TwoBuffers::drain() {
  drain_copies();
  floor_ = io_end_ = now_;
  gaps_.clear();
  ranges_.clear();
  stores_.clear();
  placed_ = 0;
}

}  // namespace mluops::emu
