// Copies of a core: plain, strided, queued.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/device/memory_core.h"
#include "backends/mlu_emu/device/side.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kGranule = 64;  // bytes GDRAM moves at least

std::string earlier(const Copy& c) {
  return c.site.known() ? std::string(": ") + c.word + c.site.at() : "";
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
    if (c.moved && c.engine() == in_order_of_) continue;
    operand_fault(word, role, begin, bytes,
                  std::string(target ? "the target" : "the source") +
                      " of a copy still in flight: no barrier between this and " + c.word + c.site.at(),
                  c.site);
  }
}

void Core::check_shape(const Copy& c) const {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  require(c.bytes >= 0 && c.bytes <= kLargest, c.word, "the number of bytes must lie in [0, 2^31)");
  require(c.pieces >= (c.list == nullptr ? 1 : 0) && c.pieces <= kLargest, c.word,
          "the number of segments must lie in [0, 2^31)");
  require(c.dst_stride >= 0 && c.dst_stride <= kLargest, c.word, "the destination stride must lie in [0, 2^31)");
  require(c.src_stride >= 0 && c.src_stride <= kLargest, c.word, "the source stride must lie in [0, 2^31)");
  if (c.pieces == 1 || c.list != nullptr || c.dst_stride >= c.bytes || c.to == Space::kWram) return;
  warn(c.word, "the destination stride of " + std::to_string(c.dst_stride) + " bytes is less than the " +
                   std::to_string(c.bytes) + " bytes of a segment: each lies over the one before it" +
                   (c.dst_stride > 0 && c.bytes % c.dst_stride == 0 ? ". Strides are bytes, not elements" : ""));
}

void Core::check_from(const Copy& c, bool sync) {
  const Side side = from_side(c);
  if (side.pieces == 0) return;
  if (c.from == Space::kLdram) return;
  if (c.from != Space::kGdram) {
    for_each_range(side, [&](const char* p, std::int64_t bytes) {
      check_nram(c.word, "source", p, bytes, c.from);
      if (sync) check_in_flight(c.word, "source", p, bytes, false);
      // Within NRAM the undefined travels on. What an earlier queued copy brings is judged when that has happened.
      if (!sync && c.to == Space::kGdram && in_flight_.empty()) check_written(c.word, "source", p, bytes);
    });
    return;
  }
  note_stride_of_elements(c);
  const auto check = [&](const char* p, std::int64_t bytes) {
    if (!reads_on(c, p, bytes)) check_gdram(c.word, "source", p, bytes, Touch::kRead);
    if (sync) check_in_flight(c.word, "source", p, bytes, false);
  };
  side.list == nullptr ? check(side.begin, side.extent()) : for_each_range(side, check);
}

void Core::check_to(const Copy& c, bool sync) {
  const Side side = to_side(c);
  if (c.to == Space::kLdram) return;
  if (c.to != Space::kGdram) {
    for_each_range(side, [&](const char* p, std::int64_t bytes) {
      check_nram(c.word, "destination", p, bytes, c.to);
      if (sync) check_in_flight(c.word, "destination", p, bytes, true);
    });
    return;
  }
  if (side.list == nullptr) check_gdram(c.word, "destination", side.begin, side.extent(), Touch::kWrite);
  for_each_range(side, [&](const char* p, std::int64_t bytes) {
    if (side.list != nullptr) check_gdram(c.word, "destination", p, bytes, Touch::kWrite);
    if (sync) check_in_flight(c.word, "destination", p, bytes, true);
  });
}

/// Copies on different engines are ordered by barriers only; on one engine they keep their order.
void Core::check_other_engines(const Copy& c) const {
  if (!checks().overlap) return;
  for (const Copy& other : in_flight_) {
    if (other.engine() == c.engine()) continue;
    for_each_range(from_side(c), [&](const char* p, std::int64_t bytes) {
      if (overlaps(to_side(other), p, bytes)) {
        operand_fault(c.word, "source", p, bytes,
                      "the target of a copy still in flight on another engine" + earlier(other), other.site);
      }
    });
    for_each_range(to_side(c), [&](const char* p, std::int64_t bytes) {
      if (overlaps(to_side(other), p, bytes) || overlaps(from_side(other), p, bytes)) {
        operand_fault(c.word, "destination", p, bytes,
                      "part of a copy still in flight on another engine" + earlier(other), other.site);
      }
    });
  }
}

/// Remembers how a copy laid out weights, for the words that read them: the latest of each place.
void Core::note_weights(const Copy& c) {
  constexpr std::int64_t kLanes = 64;
  const std::int64_t lane = wram_->bytes() / kLanes;
  const bool listed = c.list != nullptr && c.list->size() > 1;
  // The pieces that a list gives to one lane may follow each other.
  const auto of_lane = static_cast<std::size_t>(std::max<std::int64_t>(c.pieces / kLanes, 1));
  const std::int64_t step = listed ? (*c.list)[1].dst - (*c.list)[0].dst : c.dst_stride;
  const bool in_64ths = step == lane || (listed && (*c.list)[of_lane].dst - (*c.list)[0].dst == lane);
  const char* begin = c.list == nullptr ? c.dst : c.list->front().dst;
  const char* end = begin + c.bytes;
  for (std::size_t i = 0; listed && i < c.list->size(); ++i) {
    const char* at = (*c.list)[i].dst;
    if ((at - begin) % lane < lane - c.bytes) end = std::max(end, begin + (at - begin) % lane + c.bytes);
  }
  const std::int64_t from = wram_->offset(begin), to = wram_->offset(end);
  std::erase_if(fills_, [&](const Fill& f) { return f.begin >= from && f.end <= to; });
  fills_.push_back({from, to, c.pieces > 1 && in_64ths});
}

/// Gathers are not recorded, because their pieces may lie anywhere.
void Core::note_read(const Copy& c) {
  if (launch_->source == nullptr || !checks().race || c.list != nullptr || launch_->spec.tasks() == 1) return;
  const int index = launch_->gdram.find(c.src);
  if (index < 0) return;
  Window& w = launch_->gdram.windows()[static_cast<std::size_t>(index)];
  const Side side = from_side(c);
  const bool dense = side.dense();
  w.reads().note({w.offset(c.src), dense ? c.bytes * c.pieces : c.bytes, dense ? 1 : c.pieces, dense ? 0 : c.src_stride,
                  task_.taskId, c.word, where()});
}

/// Cores of a cluster and its memory core share SRAM: each may use what another one left there behind a barrier.
void Core::claim_shared(const Copy& c) {
  if (shared_ == nullptr || launch_->source == nullptr || !launch_->settings.checks.race) return;
  if (c.from == Space::kSram) {
    for_each_range(from_side(c),
                   [&](const char* p, std::int64_t n) { claim_shared_range(c.word, p, n, Touch::kRead); });
  }
  if (c.to != Space::kSram) return;
  const bool same = stores_within_sram(c) && stores_what_is_there(c);
  for_each_range(to_side(c), [&](const char* p, std::int64_t n) {
    same ? shared_->take(sram_->offset(p), n, task_.coreId) : claim_shared_range(c.word, p, n, Touch::kWrite);
  });
}

/// All of it is there already, so nobody sees which core came last.
bool Core::stores_what_is_there(const Copy& c) const {
  if (end_of_source(c) != nullptr) return false;
  bool same = true;
  for_each_range(to_side(c), [&](const char* p, std::int64_t n) {
    const auto size = static_cast<std::int64_t>(c.pattern.size());
    for (std::int64_t at = 0; same && c.fills() && at < n; at += size) {
      same = std::memcmp(p + at, c.pattern.data(), static_cast<std::size_t>(std::min(size, n - at))) == 0;
    }
  });
  if (c.fills() || !same) return same;
  const auto is_there = [bytes = static_cast<std::size_t>(c.bytes)](const char* dst, const char* src) {
    return std::memcmp(dst, src, bytes) == 0;
  };
  if (c.list != nullptr) {
    return std::all_of(c.list->begin(), c.list->end(), [&](const Piece& p) { return is_there(p.dst, p.src); });
  }
  for (std::int64_t i = 0; same && i < c.pieces; ++i) {
    same = is_there(c.dst + i * c.dst_stride, c.src + i * c.src_stride);
  }
  return same;
}

void Core::claim_shared_range(const char* word, const char* begin, std::int64_t bytes, Touch touch) {
  const std::int64_t offset = sram_->offset(begin);
  if (!sram_->inside(offset, bytes)) return;
  const std::int64_t contested = shared_->claim(offset, bytes, touch, task_.coreId);
  const Window::Written* w = contested < 0 ? nullptr : shared_->written_at(contested, task_.coreId, touch);
  if (w != nullptr) clash_in_sram(word, contested, "written", *w);
  if (contested >= 0 && touch == Touch::kWrite) shared_->take(offset, bytes, task_.coreId);
  if (touch == Touch::kRead) return shared_->reads().note({offset, bytes, 1, 0, task_.coreId, word, where()});
  if (const Reads::Read* r = shared_->reads().by_other(offset, bytes, task_.coreId); r != nullptr) {
    clash_in_sram(word, std::max(offset, r->offset), "read", {0, 0, r->task, false, r->word, r->site});
  }
  shared_->remember({offset, bytes, task_.coreId, false, word, where()});
}

/// The memory core runs scalar code that is not meant for it: that ends no launch.
void Core::clash_in_sram(const char* word, std::int64_t at, const char* did, const Window::Written& other) const {
  const bool of_memory_core = other.actor.task == kMemoryCoreId;
  const std::string text = describe(sram_->base() + at) + " was " + did + " by " + name_in_cluster(other.actor.task) +
                           " of this cluster, " + other.word + other.site.at() + ": no __sync_cluster() between them";
  const std::string_view scalar = ScalarWatch::kWord;
  const bool for_nothing = (task_.memory_core && word == scalar) || (of_memory_core && other.word == scalar);
  for_nothing ? warn(word, text, other.site) : fault(word, text, other.site);
}

/// Moves the bytes and tells the shadows.
void Core::transfer(const Copy& c) {
  settle_scalars();
  warn_never_written(c);
  const auto claim_side = [&](const Side& side, Touch touch) {
    if (!checks().race) return;
    Equal equal{c};
    int index = -1;
    for_each_range(side, [&](const char* p, std::int64_t n) {
      if (index < 0 || side.list != nullptr) index = launch_->gdram.find(p);
      if (index < 0) return;
      const Window& window = launch_->gdram.windows()[static_cast<std::size_t>(index)];
      const std::int64_t inside = std::min(n, window.tensor().bytes - window.offset(p));
      if (inside > 0) claim(c.word, index, window.offset(p), inside, touch, touch == Touch::kWrite ? &equal : nullptr);
    });
  };
  std::unique_lock<std::mutex> lock(launch_->gdram.mutex(), std::defer_lock);
  if (launch_->threads && c.engine() == Engine::kIo) lock.lock();
  if (c.from == Space::kGdram) {
    claim_side(from_side(c), Touch::kRead);
    note_read(c);
  }
  if (c.to == Space::kGdram) claim_side(to_side(c), Touch::kWrite);
  if (c.dst_cluster >= 0) return move_to_cluster(c);
  claim_shared(c);
  if (c.to == Space::kWram && wram_ != nullptr) note_weights(c);
  if (c.fills()) return fill(c);
  const bool judged_late = c.from != Space::kGdram && c.to == Space::kGdram;
  if (judged_late) {
    for_each_range(from_side(c), [&](const char* p, std::int64_t n) { check_written(c.word, "source", p, n); });
  }
  if (c.list != nullptr) {
    for (const Piece& p : *c.list) move_piece(p.dst, p.src, c.bytes);
    return;
  }
  const char* end = end_of_source(c);
  if (to_side(c).dense() && from_side(c).dense()) return move_up_to(end, c.dst, c.src, c.bytes * c.pieces);
  for (std::int64_t i = 0; i < c.pieces; ++i) {
    move_up_to(end, c.dst + i * c.dst_stride, c.src + i * c.src_stride, c.bytes);
  }
}

/// A piece whose source ends at `end`, if that is not null.
void Core::move_up_to(const char* end, char* dst, const char* src, std::int64_t bytes) {
  const std::int64_t inside = end == nullptr ? bytes : std::clamp<std::int64_t>(end - src, 0, bytes);
  if (inside > 0) move_piece(dst, src, inside);
  Nram* memory = inside < bytes ? area(dst) : nullptr;
  if (memory != nullptr) memory->poison(memory->offset(dst) + inside, bytes - inside);
}

/// The same place in the SRAM of another cluster.
void Core::move_to_cluster(const Copy& c) {
  Nram* target = launch_->rendezvous == nullptr ? nullptr : launch_->rendezvous->sram_of(c.dst_cluster);
  if (target == nullptr) fault(c.word, "this launch has no cluster " + std::to_string(c.dst_cluster));
  for (std::int64_t i = 0; i < c.pieces; ++i) {
    const char* from = c.src + i * c.src_stride;
    const std::int64_t to = sram_->offset(c.dst + i * c.dst_stride);
    const LaneFlags undefined = sram_->unwritten_lanes(sram_->offset(from), 1, c.bytes);
    std::memmove(target->base() + to, from, static_cast<std::size_t>(c.bytes));
    target->mark_written(to, c.bytes);
    for (std::size_t k = 0; k < undefined.size(); ++k) {
      if (undefined[k] != kDefinedLane) target->poison(to + static_cast<std::int64_t>(k), 1);
    }
  }
}

void Core::fill(const Copy& c) {
  for_each_range(to_side(c), [&](const char* begin, std::int64_t bytes) {
    char* to = const_cast<char*>(begin);
    const auto size = static_cast<std::int64_t>(c.pattern.size());
    for (std::int64_t at = 0; at < bytes; at += size) {
      std::memcpy(to + at, c.pattern.data(), static_cast<std::size_t>(std::min(size, bytes - at)));
    }
    mark_written(to, bytes);
  });
}

/// Bytes and, within the chip, what is known of them.
void Core::move_piece(char* dst, const char* src, std::int64_t bytes) {
  Nram* memory = checks().init ? area(src) : nullptr;
  const bool shadowed = memory != nullptr && memory->inside(memory->offset(src), bytes);
  const LaneFlags undefined = shadowed ? memory->unwritten_lanes(memory->offset(src), 1, bytes) : LaneFlags();
  std::memmove(dst, src, static_cast<std::size_t>(bytes));
  mark_written(dst, bytes);
  forget(dst, 1, undefined);
}

Core::Taken Core::move_duration(const Copy& c) const {
  const Rates& rates = launch_->settings.rates;
  const auto pieces = static_cast<double>(c.pieces);
  const bool one_piece = to_side(c).dense() && from_side(c).dense();
  return {rates.move_latency_ns, (one_piece ? 0 : pieces - 1) * rates.move_segment_ns,
          pieces * static_cast<double>(c.bytes) / (rates.move_bytes_cycle * rates.clock_ghz)};
}

Core::Taken Core::duration(const Copy& c, int window) const {
  if (c.engine() != Engine::kIo) return move_duration(c);
  const Rates& rates = launch_->settings.rates;
  const auto pieces = static_cast<double>(c.pieces);
  const Side side = c.to == Space::kGdram ? to_side(c) : from_side(c);
  const Side near = c.to == Space::kGdram ? from_side(c) : to_side(c);
  const char* begin = side.list == nullptr ? side.begin : side.address(side.list->front());
  const std::int64_t offset = window < 0 ? 0 : launch_->gdram.windows()[static_cast<std::size_t>(window)].offset(begin);
  const double moved = side.dense() ? static_cast<double>(granules(offset, c.bytes * c.pieces))
                                    : pieces * static_cast<double>(granules(offset, c.bytes));
  const bool one_piece = c.fills() || (side.dense() && near.dense());
  const double ns_byte = std::max(launch_->active_cores / rates.gdram_gbps, 1 / rates.core_gdram_gbps);
  const double bytes = std::min(moved, pieces * static_cast<double>(c.bytes));
  return {rates.gdram_latency_ns, (one_piece ? 0 : pieces - 1) * rates.gdram_segment_ns + (moved - bytes) * ns_byte,
          bytes * ns_byte};
}

/// The range that holds a side; no words name places in the lanes of WRAM.
static void touch(Timeline& timeline, const Nram* wram, const Side& s, Space space, bool written) {
  if (s.pieces == 0) return;
  if (space == Space::kWram) return timeline.touch(wram->base(), wram->bytes(), written, false);
  const char *begin = s.begin, *end = s.begin + s.extent();
  if (s.list != nullptr) {
    begin = end = s.address(s.list->front());
    for (const Piece& p : *s.list) {
      begin = std::min(begin, s.address(p));
      end = std::max(end, s.address(p) + s.bytes);
    }
  }
  timeline.touch(begin, end - begin, written, space == Space::kNram);
}

void Core::account(const Copy& c, bool async) {
  CoreStats& stats = timeline_->stats;
  const std::int64_t bytes = c.bytes * c.pieces;
  int window = -1;
  if (c.engine() != Engine::kIo) {
    ++stats.moves;
    stats.move_bytes += bytes;
  } else {
    ++(c.to == Space::kGdram ? stats.stores : stats.loads);
    stats.segments += c.pieces;
    const Piece first = c.list == nullptr ? Piece{c.dst, c.src} : c.list->front();
    const int to = c.to == Space::kGdram ? launch_->gdram.find(first.dst) : -1;
    const int from = c.from == Space::kGdram ? launch_->gdram.find(first.src) : -1;
    if (to >= 0) stats.written[static_cast<std::size_t>(to)] += bytes;
    if (from >= 0) stats.read[static_cast<std::size_t>(from)] += bytes;
    window = c.to == Space::kGdram ? to : from;
  }
  if (timeline_->watched != nullptr) {
    touch(*timeline_, wram_.get(), from_side(c), c.from, false);
    touch(*timeline_, wram_.get(), to_side(c), c.to, true);
  }
  const Taken taken = duration(c, window);
  const Direction direction = c.to == Space::kGdram     ? Direction::kStore
                              : c.from == Space::kGdram ? Direction::kLoad
                                                        : Direction::kWithin;
  timeline_->run({c.word, c.engine(), task_.taskId, bytes, 0, taken.start + taken.in_pieces + taken.bytes, taken.start,
                  taken.in_pieces, direction, c.pieces},
                 async);
}

/// All cores of a cluster may run the same code: copies between GDRAM and SRAM are the memory core's while it runs, all
/// others those of the cores with NRAM.
bool Core::leaves_to_others(const Copy& c) const {
  const bool of_cluster = c.within(Space::kSram, Space::kGdram) || c.within(Space::kSram, Space::kSram) ||
                          c.within(Space::kSram, Space::kLdram);
  if (task_.memory_core) return !of_cluster && !c.within(Space::kGdram, Space::kGdram);
  return of_cluster && launch_->rendezvous != nullptr && launch_->rendezvous->memory_core_runs();
}

bool Core::moves(const Copy& c) {
  count_word(c.word);
  if (leaves_to_others(c)) return false;
  check_shape(c);
  return c.bytes != 0 && c.pieces != 0;
}

void Core::copy(const Copy& c) {
  if (!moves(c)) return;
  if (!in_flight_.empty()) wait(c.engine());  // an engine keeps the order of its copies
  running_.done();                            // a synchronous copy comes behind what was computed
  scalars_.nram_done();
  check_to(c, true);
  check_from(c, true);
  transfer(c);
  account(c, false);
}

void Core::copy_async(const Copy& c) {
  if (!moves(c)) return;
  if (c.by_vector_unit()) return copy_by_vector_unit(c);
  check_other_engines(c);
  check_running(c);
  check_scalars_in_nram(c);
  check_to(c, false);
  check_from(c, false);
  if (checks().overlap && c.to != Space::kGdram) hide_target(c);
  if (c.to == Space::kGdram) forget_spans();      // scalar code must not look there before a barrier
  if (c.from == Space::kGdram) settle_scalars();  // nor store there
  in_flight_.push_back(c);
  in_flight_.back().site = where();
  account(c, true);
}

/// In order with what the vector unit computes before and behind it: done at once, and its operands are those of a
/// builtin.
void Core::copy_by_vector_unit(const Copy& c) {
  check_scalars_in_nram(c);
  check_to(c, true);
  check_from(c, true);
  transfer(c);
  note_running(c.word, c.src, c.bytes, false);
  note_running(c.word, c.dst, c.bytes, true);
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
    Nram* memory = area(p);
    if (memory != nullptr && memory->inside(memory->offset(p), n)) memory->poison(memory->offset(p), n);
  });
}

/// Completes what is queued, as before every barrier between cores.
void Core::meet_others(const char* word) {
  count_word(word);
  wait(Engine::kIo);
  wait(Engine::kMove);
  running_.done();
  scalars_.nram_done();
  if (launch_->rendezvous == nullptr) fault(word, "this launch runs its tasks one after the other: no barriers");
  settle_scalars();
}

void Core::arrive(const char* word, Barrier barrier) {
  meet_others(word);
  launch_->rendezvous->arrive(barrier);
  forget_spans();
}

void Core::come_by(const char* word, Numbered barrier) {
  meet_others(word);
  launch_->rendezvous->come_by(barrier);
  forget_spans();
}

void Core::wait_for(const char* word, Numbered barrier, int count) {
  meet_others(word);
  require(count > 0, word, "the count must be positive");
  launch_->rendezvous->wait_for(barrier, count);
  forget_spans();
}

void Core::wait(Engine engine) {
  count_word("a barrier");
  if (engine == Engine::kVector) running_.done();
  scalars_.nram_done();
  timeline_->wait(engine);
  move_queued(engine);
  std::erase_if(in_flight_, [&](const Copy& c) { return c.engine() == engine; });
}

void Core::move_queued(Engine engine) {
  for (Copy& c : in_flight_) {
    if (c.engine() != engine || c.moved) continue;
    acting_ = c.site;
    transfer(c);
    acting_ = {};
    c.moved = true;
  }
}

Core::InOrder::InOrder(Core& core, Engine engine, bool queued) : core_(core), before_(core.in_order_of_) {
  core.in_order_of_ = engine;
  if (core.task_.memory_core || core.in_flight_.empty()) return;
  queued ? core.move_queued(engine) : core.wait(engine);
}

void Core::hold(Copy operands) {
  if (task_.memory_core) return;
  operands.moved = true;
  operands.site = where();
  forget_spans();
  in_flight_.push_back(std::move(operands));
}

}  // namespace mluops::emu
