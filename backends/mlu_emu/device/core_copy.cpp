// Copies of a core: plain, strided, queued.
#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/mlu_emu/device/core.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kGranule = 64;  // bytes GDRAM moves at least

/// One side of a copy: `pieces` ranges of `bytes`, `stride` apart.
struct Side {
  const char* begin;
  std::int64_t bytes, pieces, stride;

  bool dense() const { return pieces == 1 || stride == bytes; }
  /// Bytes from the first to the last, for strides >= 0.
  std::int64_t extent() const { return (pieces - 1) * stride + bytes; }
};

Side to_side(const Copy& c) {
  return {c.dst, c.bytes, c.pieces, c.dst_stride};
}
Side from_side(const Copy& c) {
  return {c.src, c.bytes, c.pieces, c.src_stride};
}

/// Calls visit(address, bytes) for each contiguous range of a side.
template <class Visit>
void for_each_range(const Side& s, Visit&& visit) {
  if (s.dense()) return visit(s.begin, s.bytes * s.pieces);
  for (std::int64_t i = 0; i < s.pieces; ++i) visit(s.begin + i * s.stride, s.bytes);
}

bool overlaps(const Side& s, const char* begin, std::int64_t bytes) {
  const std::int64_t first = begin - s.begin;  // in bytes from the side's start
  if (first >= s.extent() || first + bytes <= 0) return false;
  if (s.dense() || s.stride < s.bytes) return true;
  const std::int64_t piece = std::max<std::int64_t>(0, (first - s.bytes) / s.stride);
  for (std::int64_t i = piece; i < s.pieces && i * s.stride < first + bytes; ++i) {
    if (i * s.stride + s.bytes > first) return true;
  }
  return false;
}

std::int64_t granules(std::int64_t offset, std::int64_t bytes) {
  return ((offset + bytes + kGranule - 1) / kGranule - offset / kGranule) * kGranule;
}

}  // namespace

void Core::check_in_flight(const char* word, const char* role, const char* begin, std::int64_t bytes,
                           bool write) const {
  if (in_flight_.empty() || !checks().overlap) return;
  for (const Copy& c : in_flight_) {
    const bool target = overlaps(to_side(c), begin, bytes);
    if (!target && !(write && overlaps(from_side(c), begin, bytes))) continue;
    operand_fault(word, role, begin, bytes,
                  std::string(target ? "the target" : "the source") +
                      " of a copy still in flight: no barrier between this and " + c.word);
  }
}

void Core::check_shape(const Copy& c) const {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  require(c.bytes >= 0 && c.bytes <= kLargest, c.word, "the number of bytes must lie in [0, 2^31)");
  require(c.pieces >= 1 && c.pieces <= kLargest, c.word, "the number of segments must lie in [0, 2^31)");
  require(c.dst_stride >= 0 && c.dst_stride <= kLargest, c.word, "the destination stride must lie in [0, 2^31)");
  require(c.src_stride >= 0 && c.src_stride <= kLargest, c.word, "the source stride must lie in [0, 2^31)");
}

void Core::check_from(const Copy& c, bool sync) {
  const Side side = from_side(c);
  if (c.from == Space::kNram) {
    for_each_range(side, [&](const char* p, std::int64_t bytes) {
      check_nram(c.word, "source", p, bytes);
      if (sync) check_in_flight(c.word, "source", p, bytes, false);
      // What a queued copy will have brought by then is written, though nobody can see it yet.
      const bool arrives = !sync && std::any_of(in_flight_.begin(), in_flight_.end(), [&](const Copy& other) {
        return other.engine() == c.engine() && overlaps(to_side(other), p, bytes);
      });
      if (!arrives) check_written(c.word, "source", p, bytes);
    });
    return;
  }
  check_gdram(c.word, "source", side.begin, side.extent(), Touch::kRead);
  if (sync) check_in_flight(c.word, "source", side.begin, side.extent(), false);
}

void Core::check_to(const Copy& c, bool sync) {
  const Side side = to_side(c);
  if (c.to == Space::kNram) {
    for_each_range(side, [&](const char* p, std::int64_t bytes) {
      check_nram(c.word, "destination", p, bytes);
      if (sync) check_in_flight(c.word, "destination", p, bytes, true);
    });
    return;
  }
  check_gdram(c.word, "destination", side.begin, side.extent(), Touch::kWrite);
  if (sync)
    for_each_range(side,
                   [&](const char* p, std::int64_t bytes) { check_in_flight(c.word, "destination", p, bytes, true); });
}

/// Copies on different engines are ordered by barriers only; on one engine they keep their order.
void Core::check_other_engines(const Copy& c) const {
  if (!checks().overlap) return;
  for (const Copy& other : in_flight_) {
    if (other.engine() == c.engine()) continue;
    for_each_range(from_side(c), [&](const char* p, std::int64_t bytes) {
      if (overlaps(to_side(other), p, bytes)) {
        operand_fault(c.word, "source", p, bytes, "the target of a copy still in flight on another engine");
      }
    });
    for_each_range(to_side(c), [&](const char* p, std::int64_t bytes) {
      if (overlaps(to_side(other), p, bytes) || overlaps(from_side(other), p, bytes)) {
        operand_fault(c.word, "destination", p, bytes, "part of a copy still in flight on another engine");
      }
    });
  }
}

/// Moves the bytes and tells the shadows.
void Core::transfer(const Copy& c) {
  const auto claim_side = [&](const Side& side, Touch touch) {
    const int index = launch_->gdram.find(side.begin);
    if (index < 0 || !checks().race) return;
    const Window& w = launch_->gdram.windows()[static_cast<std::size_t>(index)];
    for_each_range(side, [&](const char* p, std::int64_t n) { claim(c.word, index, w.offset(p), n, touch); });
  };
  std::unique_lock<std::mutex> lock(launch_->gdram.mutex(), std::defer_lock);
  if (launch_->threads && c.engine() == Engine::kIo) lock.lock();
  if (c.from == Space::kGdram) claim_side(from_side(c), Touch::kRead);
  if (c.to == Space::kGdram) claim_side(to_side(c), Touch::kWrite);
  if (to_side(c).dense() && from_side(c).dense()) {
    std::memmove(c.dst, c.src, static_cast<std::size_t>(c.bytes * c.pieces));
  } else {
    for (std::int64_t i = 0; i < c.pieces; ++i) {
      std::memmove(c.dst + i * c.dst_stride, c.src + i * c.src_stride, static_cast<std::size_t>(c.bytes));
    }
  }
  if (c.to == Space::kNram) {
    for_each_range(to_side(c), [&](const char* p, std::int64_t n) { mark_written(p, n); });
  }
}

double Core::duration(const Copy& c) const {
  const Rates& rates = launch_->settings.rates;
  const auto pieces = static_cast<double>(c.pieces);
  if (c.engine() == Engine::kMove) {
    return rates.move_latency_ns + pieces * static_cast<double>(c.bytes) / (rates.move_bytes_cycle * rates.clock_ghz);
  }
  const Side side = c.to == Space::kGdram ? to_side(c) : from_side(c);
  const int window = launch_->gdram.find(side.begin);
  const std::int64_t offset =
      window < 0 ? 0 : launch_->gdram.windows()[static_cast<std::size_t>(window)].offset(side.begin);
  const double moved = side.dense() ? static_cast<double>(granules(offset, c.bytes * c.pieces))
                                    : pieces * static_cast<double>(granules(offset, c.bytes));
  return rates.gdram_latency_ns + (side.dense() ? 0 : pieces - 1) * rates.gdram_segment_ns +
         moved * launch_->active_cores / rates.gdram_gbps;
}

void Core::account(const Copy& c, bool async) {
  CoreStats& stats = timeline_->stats;
  const std::int64_t bytes = c.bytes * c.pieces;
  if (c.engine() == Engine::kMove) {
    ++stats.moves;
    stats.move_bytes += bytes;
  } else {
    ++(c.to == Space::kGdram ? stats.stores : stats.loads);
    stats.segments += c.pieces;
    const int to = c.to == Space::kGdram ? launch_->gdram.find(c.dst) : -1;
    const int from = c.from == Space::kGdram ? launch_->gdram.find(c.src) : -1;
    if (to >= 0) stats.written[static_cast<std::size_t>(to)] += bytes;
    if (from >= 0) stats.read[static_cast<std::size_t>(from)] += bytes;
  }
  timeline_->run({c.word, c.engine(), task_.taskId, bytes, 0, duration(c)}, async);
}

void Core::copy(const Copy& c) {
  check_shape(c);
  if (c.bytes == 0) return;
  check_from(c, true);
  check_to(c, true);
  transfer(c);
  account(c, false);
}

void Core::copy_async(const Copy& c) {
  check_shape(c);
  if (c.bytes == 0) return;
  check_other_engines(c);
  check_from(c, false);
  check_to(c, false);
  if (checks().overlap && c.to == Space::kNram) hide_target(c);
  in_flight_.push_back(c);
  account(c, true);
}

/// Scalar code is not watched: whoever looks into the target too early shall find NaN. Not when a queued copy still has
/// to read there.
void Core::hide_target(const Copy& c) {
  for_each_range(to_side(c), [&](const char* p, std::int64_t n) {
    for (const Copy& other : in_flight_) {
      if (overlaps(from_side(other), p, n)) return;
    }
    if (overlaps(from_side(c), p, n)) return;
    if (nram_.inside(nram_.offset(p), n)) nram_.poison(nram_.offset(p), n);
  });
}

void Core::wait(Engine engine) {
  timeline_->wait(engine);
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    if (in_flight_[i].engine() == engine) transfer(in_flight_[i]);
  }
  std::erase_if(in_flight_, [&](const Copy& c) { return c.engine() == engine; });
}

}  // namespace mluops::emu
