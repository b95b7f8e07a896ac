// Loads and stores of scalar code: those that are words, and those that a toolchain watches.
#include <algorithm>
#include <cstring>
#include <string>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/device/fault.h"
#include "backends/mlu_emu/device/memory_core.h"

namespace mluops::emu {
namespace {

constexpr const char* kWord = ScalarWatch::kWord;
constexpr std::int64_t kBlocks = 512;  // begin and end at multiples of it, with what is behind them

}  // namespace

void Core::scalar_load(const char* word, Space space, const void* address, std::int64_t bytes) {
  count_word(word);
  settle_scalars();
  spend(space == Space::kNram ? ScalarWork{.nram_loads = 1} : ScalarWork{.gdram_loads = 1, .gdram_bytes = bytes});
  const char* p = static_cast<const char*>(address);
  check_in_flight(word, "source", p, bytes, false);
  if (space == Space::kGdram) {
    const int window = check_gdram(word, "source", p, bytes, Touch::kRead);
    if (window < 0 || !checks().race) return;
    return claim(word, window, launch_->gdram.windows()[static_cast<std::size_t>(window)].offset(p), bytes,
                 Touch::kRead);
  }
  check_nram(word, "source", p, bytes, space);
  check_written(word, "source", p, bytes);
}

void Core::scalar_store(const char* word, Space space, const void* address, std::int64_t bytes) {
  count_word(word);
  settle_scalars();
  spend(space == Space::kNram ? ScalarWork{.nram_stores = 1} : ScalarWork{.gdram_stores = 1, .gdram_bytes = bytes});
  const char* p = static_cast<const char*>(address);
  check_in_flight(word, "destination", p, bytes, true);
  if (space == Space::kGdram) {
    const int window = check_gdram(word, "destination", p, bytes, Touch::kWrite);
    if (window < 0 || !checks().race) return;
    return claim(word, window, launch_->gdram.windows()[static_cast<std::size_t>(window)].offset(p), bytes,
                 Touch::kWrite);
  }
  check_nram(word, "destination", p, bytes, space);
  mark_written(p, bytes);
}

/// What a memory core loads in code meant for others is thrown away. A store at an index from NRAM ends its task.
void Core::fault_of_scalars(const ScalarAccess& a, const std::string& text) const {
  const bool loads = a.touch == ScalarTouch::kLoad;
  const std::int64_t distance = static_cast<const char*>(a.address) - static_cast<const char*>(a.base);
  if (!task_.memory_core || (!loads && !is_no_index(distance / a.bytes))) fault(kWord, text);
  warn_for_nothing(kWord, text);
  if (!loads) throw EndOfTask();
}

/// The block an access lies in, -1 for memory that is none of the device's: tables and arrays of the host's.
int Core::block_of(const ScalarAccess& a) const {
  const auto inside = [&](int index) {
    const Window& w = launch_->gdram.windows()[static_cast<std::size_t>(index)];
    return w.offset(a.address) >= 0 && w.offset(a.address) <= w.tensor().bytes - a.bytes;
  };
  const int at = launch_->gdram.find(a.address), from = a.base == a.address ? at : launch_->gdram.find(a.base);
  const bool in_block = at >= 0 && inside(at);
  if (checks().memory && at < 0 && from < 0 && !launch_->source->freed_at(a.address).empty()) {
    operand_fault(kWord, "an access", a.address, a.bytes, "not in device memory");
  }
  if (!checks().memory || from < 0 || (in_block && from == at)) return in_block ? at : -1;
  const Tensor& block = launch_->gdram.windows()[static_cast<std::size_t>(from)].tensor();
  const std::int64_t distance = static_cast<const char*>(a.address) - static_cast<const char*>(a.base);
  const std::string index = std::to_string(distance / a.bytes);
  const std::string place = a.name == nullptr ? "*" : std::string(a.name).append("[").append(index).append("]");
  const std::string text =
      place + ", from " + describe(a.base) + " on: outside of the tensor's " + std::to_string(block.bytes) + " bytes";
  in_block ? warn(kWord, text + ", in " + describe(a.address))  // it may be meant so
           : fault_of_scalars(a, text);
  return in_block ? at : -1;
}

void Core::scalar_access(const ScalarAccess& a) {
  judge_contested();
  const Nram* chip = area(a.address);
  const bool loads = a.touch == ScalarTouch::kLoad || a.touch == ScalarTouch::kUpdate;
  if (chip == &nram_) return loads ? check_scalar_load_on_chip(a, nram_) : void();
  check_scalar_alignment(a);
  if (chip != nullptr) {
    if (chip == sram_) return a.touch == ScalarTouch::kPart ? void() : scalar_access_to_sram(a);
    return pass_scalars(a.slot, chip->base(), chip->bytes());
  }
  acting_ = a.site;
  const int window = block_of(a);
  const bool stores = a.touch == ScalarTouch::kStore || a.touch == ScalarTouch::kUpdate;
  if (window >= 0 && a.touch != ScalarTouch::kPart) {
    check_in_flight(kWord, stores ? "destination" : "source", static_cast<const char*>(a.address), a.bytes, stores);
    if (a.touch != ScalarTouch::kStore) check_scalar_load(a, window);
    if (stores) check_scalar_store(a, window);
  }
  if (window < 0) {
    const auto* piece = reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(a.address) / kBlocks * kBlocks);
    pass_scalars(a.slot, piece, kBlocks);
  }
  acting_ = {};
}

/// The scalar core loads and stores at multiples of a number's size. Not in NRAM: the index behind a half that
/// __bang_argmin stores lies between multiples, and the vendor's kernels read it there.
void Core::check_scalar_alignment(const ScalarAccess& a) {
  const auto at = reinterpret_cast<std::uintptr_t>(a.address);
  const auto size = static_cast<std::uintptr_t>(a.bytes);
  const bool number = size == 2 || size == 4 || size == 8;
  if (!checks().memory || a.touch == ScalarTouch::kPart || !number || at % size == 0) return;
  acting_ = a.site;
  const std::string bytes = std::to_string(a.bytes) + " bytes: ", multiple = std::to_string(size);
  fault_of_scalars(a, (a.touch == ScalarTouch::kLoad ? "source " : "destination ") + describe(a.address) + ", " +
                          bytes + "the address must be a multiple of " + multiple);
  acting_ = {};
}

/// Asked in NRAM about what looks like poison, in SRAM about each load: reading it is no fault, it may be thrown away.
void Core::check_scalar_load_on_chip(const ScalarAccess& a, Nram& memory) {
  acting_ = a.site;
  const std::int64_t offset = memory.offset(a.address);
  check_in_flight(kWord, "source", static_cast<const char*>(a.address), a.bytes, false);
  if (checks().init && memory.inside(offset, a.bytes) && memory.first_unwritten(offset, a.bytes) >= 0) {
    warn(kWord, "source " + describe(a.address) + ", " + std::to_string(a.bytes) +
                    " bytes: never written, or computed from what never was");
  }
  acting_ = {};
}

/// Each access is looked at: cores of a cluster share what lies there.
void Core::scalar_access_to_sram(const ScalarAccess& a) {
  const auto* address = static_cast<const char*>(a.address);
  const std::int64_t offset = sram_->offset(address);
  if (a.touch != ScalarTouch::kStore) check_scalar_load_on_chip(a, *sram_);
  if (shared_ == nullptr || a.bytes == 1 || !launch_->settings.checks.race || !sram_->inside(offset, a.bytes)) return;
  acting_ = a.site;
  const bool loads = a.touch != ScalarTouch::kStore, stores = a.touch != ScalarTouch::kLoad;
  if (loads && !task_.memory_core) claim_shared_range(kWord, address, a.bytes, Touch::kRead);
  if (stores && shared_->claim(offset, a.bytes, Touch::kRead, task_.coreId) >= 0) {
    scalars_.contest(a, *shared_);
  } else if (stores) {
    claim_shared_range(kWord, address, a.bytes, Touch::kWrite);
  }
  acting_ = {};
}

/// Nothing there is a tensor's. The ends of objects and memories are seen later.
void Core::pass_scalars(unsigned slot, const char* begin, std::int64_t bytes) {
  scalars_.pass_loads(slot, begin, bytes - ScalarWatch::kWidest + 1);
  scalars_.pass_stores(slot, begin, bytes);
}

void Core::check_scalar_load(const ScalarAccess& a, int index) {
  constexpr std::int64_t kPiece = 512;
  Window& w = launch_->gdram.windows()[static_cast<std::size_t>(index)];
  const Tensor& block = w.tensor();
  const std::int64_t offset = w.offset(a.address);
  if (checks().race && a.bytes > 1) claim(kWord, index, offset, a.bytes, Touch::kRead);
  const bool fresh = checks().init && block.fresh;
  if (fresh && w.never_written(offset, a.bytes)) {
    operand_fault(kWord, "source", a.address, a.bytes, "never written since cnrtMalloc");
  }
  if (!in_flight_.empty()) return;
  if (!fresh && (w.untouched() || !checks().race || task_.memory_core)) {
    return scalars_.pass_loads(a.slot, block.data, block.bytes - ScalarWatch::kWidest + 1);
  }
  scalars_.pass_written(a, index);
  const std::int64_t begin = offset / kPiece * kPiece, bytes = std::min(kPiece, block.bytes - begin);
  for (std::int64_t at = begin; fresh && at < begin + bytes; at += 4) {
    if (w.never_written(at, 4)) return;
  }
  if (w.claim(begin, bytes, Touch::kRead, Actor(task_)) >= 0) return;
  scalars_.pass_loads(a.slot, block.data + begin, bytes - a.bytes + 1);
}

/// Neighbours of one byte have one entry in the shadow: their writers are not told apart.
void Core::check_scalar_store(const ScalarAccess& a, int index) {
  Window& w = launch_->gdram.windows()[static_cast<std::size_t>(index)];
  const Tensor& block = w.tensor();
  if (!checks().race || a.bytes == 1) return scalars_.pass_stores(a.slot, block.data, block.bytes);
  const std::int64_t ahead = scalars_.ahead(a);
  scalars_.stop_stores(a.slot);
  const std::int64_t room = w.free_from(w.offset(a.address), ahead, Actor(task_));
  if (room < a.bytes) return scalars_.contest(a, w);
  const bool each = !in_flight_.empty();  // is looked at
  scalars_.run_stores(a, index, each ? a.bytes : room);
  if (!each) scalars_.pass_written(a, index);
}

/// The value is there: where it is the one that was there before, nobody sees who came last.
void Core::judge_contested() {
  const ScalarWatch::Contested c = scalars_.take_contested();
  if (c.window == nullptr) return;
  Window& w = *c.window;
  const CallSite before = acting_;
  acting_ = c.site;
  const char* there = w.tensor().data + c.offset;
  const bool changed = std::memcmp(there, c.before.data(), static_cast<std::size_t>(c.bytes)) != 0;
  if (changed && &w == shared_) {
    claim_shared_range(kWord, there, c.bytes, Touch::kWrite);
  } else if (changed) {
    claim(kWord, static_cast<int>(&w - launch_->gdram.windows().data()), c.offset, c.bytes, Touch::kWrite);
  } else {
    take_equal(w, c.offset, c.bytes);
  }
  acting_ = before;
}

void Core::take_equal(Window& w, std::int64_t offset, std::int64_t bytes) {
  const Actor self = &w == shared_ ? Actor(task_.coreId) : Actor(task_);
  const Window::Written* earlier = w.written_at(offset, self, Touch::kWrite);
  std::string text = &w == shared_ ? describe(w.tensor().data + offset) : describe_gdram(w, offset);
  if (&w == shared_ && earlier != nullptr) {
    text += " was written by " + name_in_cluster(earlier->actor.task) + " of this cluster, " + earlier->word +
            earlier->site.at();
  } else {
    text += " was written by another task of this launch" + by(earlier);
  }
  note(kWord, text + ": a race of equal values", earlier == nullptr ? CallSite{} : earlier->site);
  w.take(offset, bytes, self);
  w.remember({offset, bytes, self, false, kWord, acting_});
}

void Core::settle_scalars() {
  if (!scalars_.on()) return;
  judge_contested();
  scalars_.stop_all_stores();
}

void Core::forget_spans() {
  if (!scalars_.on()) return;
  judge_contested();
  scalars_.forget();
}

}  // namespace mluops::emu
