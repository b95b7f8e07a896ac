#include "backends/mlu_emu/device/core.h"

#include <algorithm>
#include <exception>
#include <string_view>

#include "backends/mlu_emu/device/fault.h"
#include "backends/mlu_emu/device/guide.h"
#include "backends/mlu_emu/device/work.h"

namespace mluops::emu {
namespace {

thread_local Core* running = nullptr;

/// A memory core has no such unit; other words it may do work of its own by.
bool is_passed_by(std::string_view word) {
  for (const std::string_view prefix : {"__bang_", "__cn_", "__vv_"}) {
    if (word.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace

Core& Core::current() {
  if (running == nullptr) throw Fault("BANG builtin called outside a kernel launch");
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const bool in_kept = here - running->kept_stack_ < running->kept_stack_bytes_;
  if (in_kept && std::uncaught_exceptions() == 0) running->launch_->source->out_of_stack();
  return *running;
}

bool Core::runs_here() {
  return running != nullptr;
}

void Core::begin_task(const LaunchState& launch, const TaskBuiltins& task, Timeline& timeline) {
  launch_ = &launch;
  task_ = task;
  timeline_ = &timeline;
  timeline.begin_task(launch.settings.rates.task_ns);
  timeline.stats.memory_core = task.memory_core;
  in_flight_.clear();
  fills_.clear();
  running_.done();
  acting_ = {};
  ending_ = false;
  words_ = 0;
  half_overflow_ = false;
  in_order_of_.reset();
  atomics_queued_ = false;
  random_state_ = static_cast<std::uint64_t>(task.taskId) << 32;
  nram_.poison_again();
  if (wram_ != nullptr) wram_->poison_if_used();
  scalars_.begin(launch.source, launch.gdram, nram_, most_of_nram(), task);
  checks_ = launch.settings.checks;
  if (task.memory_core) checks_ = {checks_.memory, false, checks_.race, false};
  running = this;
}

void Core::leave() noexcept {
  nram_.reach(launch_->nram_reach == nullptr ? nram_.bytes() : *launch_->nram_reach);
  scalars_.leave();
  kept_stack_bytes_ = 0;
  running = nullptr;
}

void Core::end_task() {
  settle_scalars();
  act_at({});
  wait(Engine::kIo);
  wait(Engine::kMove);
  const std::int64_t damaged = checks().memory ? nram_.damaged_guard() : 0;
  if (damaged != 0) fault_of_guard(damaged);
  if (checks().memory && launch_->source != nullptr) check_between_objects();
  if (checks().memory && launch_->objects != nullptr && launch_->filled != nullptr) check_capacity();
}

/// A task stored there; what was filled for it does not count.
bool Core::stored_in(const NramRegion& region) const {
  std::int64_t from = region.offset;
  const std::int64_t end = region.offset + region.bytes;
  while (from < end) {
    std::int64_t to = end, next = end;
    for (const NramRegion& f : *launch_->filled) {
      if (f.offset + f.bytes <= from || f.offset >= to) continue;
      to = std::max(from, f.offset);
      next = f.offset + f.bytes;
    }
    if (nram_.used(from, to - from)) return true;
    from = next;
  }
  return false;
}

/// A file's objects may need more than a core's NRAM; those in which a task stored may not. The memory core has no NRAM
/// that anybody sees.
void Core::check_capacity() const {
  const std::int64_t size = launch_->settings.arch.nram_bytes;
  if (task_.memory_core || nram_.bytes() <= size) return;
  std::int64_t used = 0;
  for (const NramRegion& r : *launch_->objects) {
    if (!stored_in(r)) continue;
    if (r.bytes > size - used) {
      fault(r.name.c_str(), "needs " + std::to_string(r.bytes) + " bytes of NRAM, " + std::to_string(size - used) +
                                " of " + std::to_string(size) + " are left by the objects before it in " +
                                launch_->file);
    }
    used += r.bytes;
  }
}

void Core::spend_scalar_work() {
  if (launch_->source == nullptr) return;
  const ScalarWork work = launch_->source->take_scalar_work();
  if (work.none()) return;
  spend(work);
}

void Core::spend(const ScalarWork& work) {
  const Rates& r = launch_->settings.rates;
  const auto times = [](std::int64_t n, double ns) { return static_cast<double>(n) * ns; };
  timeline_->compute(work, task_.taskId,
                     times(work.operations, r.scalar_ns) + times(work.nram_loads, r.nram_load_ns) +
                         times(work.nram_stores, r.nram_store_ns) + times(work.gdram_loads, r.gdram_load_ns) +
                         times(work.gdram_stores, r.gdram_store_ns));
}

void Core::count_word(const char* word) {
  spend_scalar_work();
  check_machine(word);
  if (launch_->overdue != nullptr && launch_->overdue->load(std::memory_order_relaxed)) fault_overdue(word);
  const std::int64_t limit = launch_->settings.word_limit;
  if (limit == 0 || ++words_ <= limit) return;
  words_ = 0;  // the end of the task may go on
  end_launch(word,
             "the task has called more than the " + std::to_string(limit) + " builtins that MLUOP_EMU_LIMIT allows");
}

void Core::fault_overdue(const char* word) const {
  end_launch(word, "the launch has run for more than the " + std::to_string(launch_->settings.seconds_limit) +
                       " s MLUOP_EMU_LIMIT allows");
}

// ---- texts ---------------------------------------------------------------------------------------------------------

/// Kernel, task and, where cores of clusters run, the core.
std::string Core::who() const {
  const std::string actor = launch_->spec.kernel + ", " + Actor(task_).name();
  if (launch_->source == nullptr || task_.memory_core) return actor;
  return actor + " (cluster " + std::to_string(task_.clusterId) + ", core " + std::to_string(task_.coreId) + ")";
}

void Core::fault(const char* word, const std::string& text, const CallSite& other) const {
  if (!task_.memory_core || !is_passed_by(word)) end_launch(word, text, other);
  warn_for_nothing(word, text);
  throw EndOfTask();
}

void Core::warn_for_nothing(const char* word, const std::string& text) const {
  warn(word, text + ". The memory core runs this code too (__is_mpu() tells), with other numbers: it has no NRAM");
}

void Core::end_launch(const char* word, const std::string& text, const CallSite& other) const {
  const CallSite here = where();
  const std::string whole = who() + ": " + word + here.at() + ": " + text;
  if (launch_->source != nullptr) {
    launch_->source->found({Severity::kFault, launch_->spec.kernel, word, whole, here, other});
  }
  throw Fault(whole);
}

void Core::tell(Severity severity, const char* word, const std::string& text, const CallSite& other) const {
  if (launch_->source == nullptr) return;
  const CallSite here = where();
  launch_->source->found(
      {severity, launch_->spec.kernel, word, who() + ": " + word + here.at() + ": " + text, here, other});
}

void Core::warn(const char* word, const std::string& text, const CallSite& other) const {
  tell(Severity::kWarning, word, text, other);
}

void Core::note(const char* word, const std::string& text, const CallSite& other) const {
  tell(Severity::kNote, word, text, other);
}

std::string Core::describe_nram(std::int64_t offset) const {
  const std::string place = "NRAM offset " + std::to_string(offset);
  if (launch_->source != nullptr) {
    const NramRegion* object = launch_->source->object_at(Space::kNram, offset);
    return object == nullptr ? place : described(*object, offset, place);
  }
  for (const std::vector<NramRegion>* regions : {&launch_->spec.nram, launch_->objects}) {
    if (regions == nullptr) continue;
    for (const NramRegion& r : *regions) {
      if (offset >= r.offset && offset < r.offset + r.bytes) {
        return described(r, offset, place);
      }
    }
  }
  return place;
}

Nram& Core::memory(Space space) {
  if (space == Space::kNram) return nram_;
  Nram* found = space == Space::kWram ? wram_.get() : sram_;
  if (found == nullptr) fault(space == Space::kWram ? "WRAM" : "SRAM", "this launch has none");
  found->expose();
  return *found;
}

Nram* Core::area(const void* address) const {
  if (nram_.near(address)) return &nram_;
  if (wram_ != nullptr && wram_->near(address)) return wram_.get();
  return sram_ != nullptr && sram_->near(address) ? sram_ : nullptr;
}

std::string Core::describe(const void* address) const {
  if (nram_.near(address)) return describe_nram(nram_.offset(address));
  if (const Nram* other = area(address)) {
    const std::int64_t offset = other->offset(address);
    const std::string place = (other == sram_ ? "SRAM offset " : "WRAM offset ") + std::to_string(offset);
    if (launch_->source == nullptr) return place;
    const std::int64_t lane = other == sram_ ? other->bytes() : other->bytes() / launch_->settings.arch.wram_lanes();
    const NramRegion* object = launch_->source->object_at(other == sram_ ? Space::kSram : Space::kWram, offset % lane);
    return object == nullptr ? place : described(*object, offset % lane, place);
  }
  const int window = launch_->gdram.find(address);
  if (window < 0) {
    const std::string freed = launch_->source == nullptr ? "" : launch_->source->freed_at(address);
    if (!freed.empty()) return freed;
    const std::string beside = launch_->source == nullptr ? "" : launch_->source->beside(address);
    return beside.empty() ? launch_->no_tensor : launch_->no_tensor + (", " + beside);
  }
  const Window& w = launch_->gdram.windows()[static_cast<std::size_t>(window)];
  return describe_gdram(w, w.offset(address));
}

std::string Core::describe_gdram(const Window& window, std::int64_t offset) const {
  const Tensor& block = window.tensor();
  const NamedPointer* parameter =
      launch_->source == nullptr ? nullptr : launch_->source->parameter_at(block, block.data + offset);
  if (parameter == nullptr) return std::string(block.name) + "+" + std::to_string(offset) + " (GDRAM)";
  return std::string(parameter->name) + "+" + std::to_string(block.data + offset - parameter->address) + " (GDRAM, " +
         block.name + ", declared" + parameter->declared.at() + ")";
}

void Core::operand_fault(const char* word, const char* role, const void* address, std::int64_t bytes,
                         const std::string& what, const CallSite& other) const {
  fault(word, std::string(role) + " " + describe(address) + ", " + std::to_string(bytes) + " bytes: " + what, other);
}

// ---- operands in NRAM ----------------------------------------------------------------------------------------------

void Core::check_nram(const char* word, const char* role, const void* address, std::int64_t bytes, Space space) const {
  if (!checks().memory) return;
  const Nram* wanted = space == Space::kNram ? &nram_ : space == Space::kWram ? wram_.get() : sram_;
  const std::string name = space == Space::kNram ? "NRAM" : space == Space::kWram ? "WRAM" : "SRAM";
  if (wanted == nullptr || area(address) != wanted) operand_fault(word, role, address, bytes, "not in " + name);
  if (wanted->inside(wanted->offset(address), bytes)) {
    if (launch_->source != nullptr) check_object(word, role, address, bytes, space);
    return;
  }
  operand_fault(word, role, address, bytes,
                "outside of " + name + ", a " + (space == Space::kSram ? "cluster" : "core") + " has " +
                    std::to_string(wanted->bytes()) + " bytes");
}

/// The guide's rules for the 200 series; those of builtins it does not list are the strictest.
void Core::check_alignment(const char* word, const char* role, const void* address, std::int64_t bytes,
                           std::int64_t lanes) const {
  constexpr std::int64_t kAddress = 64;
  const Arch& arch = launch_->settings.arch;
  if (!checks().memory || arch.vector_alignment() == 1) return;
  const GuideRow* row = guide_row_of_literal(word);
  const std::int64_t of_bytes = row == nullptr ? arch.vector_alignment() : std::max(row->bytes, 1);
  const std::int64_t of_lanes = row == nullptr ? 1 : std::max(row->lanes, 1);
  const auto tell = [&](const std::string& what) {
    operand_fault(word, role, address, bytes, what + " on " + arch.name);
  };
  if (nram_.offset(address) % kAddress != 0) tell("the address must be a multiple of 64 bytes");
  if (bytes % of_bytes != 0) tell("the length must be a multiple of " + std::to_string(of_bytes) + " bytes");
  if (lanes % of_lanes != 0) tell("the count must be a multiple of " + std::to_string(of_lanes));
}

void Core::check_written(const char* word, const char* role, const void* address, std::int64_t bytes) {
  Nram* memory = area(address);
  if (!checks().init || memory == nullptr || !memory->inside(memory->offset(address), bytes)) return;
  const std::int64_t missing = memory->first_unwritten(memory->offset(address), bytes);
  if (missing < 0) return;
  operand_fault(word, role, address, bytes,
                "never written, or computed from what never was, at " + describe(memory->base() + missing));
}

void Core::mark_written(const void* address, std::int64_t bytes) {
  Nram* memory = area(address);
  if (memory == nullptr) return;
  const std::int64_t offset = memory->offset(address);
  if (!memory->inside(offset, bytes)) return;
  launch_->settings.checks.init ? memory->mark_written(offset, bytes) : memory->mark_used(offset + bytes);
}

void Core::check_operand(const char* word, const char* role, const void* address, std::int64_t bytes,
                         bool write) const {
  check_nram(word, role, address, bytes);
  check_in_flight(word, role, static_cast<const char*>(address), bytes, write);
}

LaneFlags Core::source(const char* word, const char* role, const void* address, std::int64_t lane, std::int64_t n) {
  const std::int64_t beyond = beyond_object(address, lane * n);
  check_alignment(word, role, address, lane * n, n);
  check_operand(word, role, address, lane * n - beyond, false);
  note_running(word, address, lane * n, false);
  const std::int64_t offset = nram_.offset(address);
  if (!checks().init || !nram_.inside(offset, lane * n)) return {};
  LaneFlags flags = nram_.unwritten_lanes(offset, lane, n);
  if (beyond > 0) {
    warn_beyond(word, role, address, lane * n, beyond);
    flags.resize(static_cast<std::size_t>(n));
    std::fill(flags.end() - (beyond + lane - 1) / lane, flags.end(), kUndefinedLane);
  }
  return flags;
}

void Core::deciding_source(const char* word, const char* role, const void* address, std::int64_t bytes) {
  check_alignment(word, role, address, bytes);
  stored_source(word, role, address, bytes);
  note_running(word, address, bytes, false);
}

void Core::stored_source(const char* word, const char* role, const void* address, std::int64_t bytes) {
  check_operand(word, role, address, bytes, false);
  check_written(word, role, address, bytes);
}

void Core::stored_destination(const char* word, const char* role, const void* address, std::int64_t bytes) {
  check_operand(word, role, address, bytes, true);
  note_running(word, address, bytes, true);
  mark_written(address, bytes);
}

void Core::destination(const char* word, const char* role, const void* address, std::int64_t bytes) {
  check_alignment(word, role, address, bytes);
  stored_destination(word, role, address, bytes);
}

bool Core::weights(const char* word, const void* address, std::int64_t bytes) {
  check_nram(word, "weights", address, bytes, Space::kWram);
  check_in_flight(word, "weights", static_cast<const char*>(address), bytes, false);
  timeline_->touch(wram_->base(), wram_->bytes(), false, false);
  const std::int64_t offset = wram_->offset(address);
  return !checks().init || !wram_->inside(offset, bytes) || wram_->first_unwritten(offset, bytes) < 0;
}

bool Core::filled_in_64ths(const void* address) const {
  const std::int64_t offset = wram_->offset(address);
  for (auto fill = fills_.rbegin(); fill != fills_.rend(); ++fill) {
    if (fill->begin <= offset && offset < fill->end) return fill->in_64ths;
  }
  return false;
}

void Core::forget(const void* address, std::int64_t lane, const LaneFlags& flags) {
  Nram* memory = area(address);
  if (memory == nullptr) return;
  const std::int64_t offset = memory->offset(address), n = static_cast<std::int64_t>(flags.size());
  if (!memory->inside(offset, lane * n)) return;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint8_t flag = flags[static_cast<std::size_t>(i)];
    if (flag == kDefinedLane) continue;
    memory->poison(offset + i * lane, lane, flag == kInfiniteLane ? kInfinitePoison : kPoison);
  }
}

void Core::computed(const char* word, std::int64_t bytes, std::int64_t lanes, std::int64_t steps) {
  count_word(word);
  CoreStats& stats = timeline_->stats;
  ++stats.vector_words;
  stats.vector_bytes += bytes;
  stats.vector_lanes += lanes;
  stats.vector_steps += steps;
  const Rates& rates = launch_->settings.rates;
  const double bytes_gone_over =
      lanes > 0 ? static_cast<double>(bytes) / static_cast<double>(lanes) * static_cast<double>(steps) : 0;
  const double cycles =
      rates.vector_latency_cycles + bytes_gone_over * cost_of(work_of(word), rates) / rates.vector_bytes_cycle;
  timeline_->run({word, Engine::kVector, task_.taskId, bytes, 0, cycles / rates.clock_ghz,
                  rates.vector_latency_cycles / rates.clock_ghz},
                 false);
}

void Core::multiplied(const char* word, std::int64_t bytes, std::int64_t lanes, double macs) {
  count_word(word);
  CoreStats& stats = timeline_->stats;
  ++stats.vector_words;
  stats.vector_bytes += bytes;
  stats.vector_lanes += lanes;
  stats.macs += macs;
  const Rates& rates = launch_->settings.rates;
  const double cycles = rates.tensor_latency_cycles + macs / rates.tensor_macs_cycle;
  timeline_->run({word, Engine::kVector, task_.taskId, bytes, 0, cycles / rates.clock_ghz,
                  rates.tensor_latency_cycles / rates.clock_ghz},
                 false);
}

// ---- operands in GDRAM ---------------------------------------------------------------------------------------------

int Core::check_gdram(const char* word, const char* role, const char* address, std::int64_t bytes, Touch touch) {
  const int index = launch_->gdram.find(address);
  if (index < 0) {
    if (checks().memory) operand_fault(word, role, address, bytes, "wanted GDRAM");
    return index;
  }
  const Window& window = launch_->gdram.windows()[static_cast<std::size_t>(index)];
  const Tensor& tensor = window.tensor();
  if (!checks().memory) return index;
  if (window.offset(address) > tensor.bytes - bytes || bytes < 0) {
    operand_fault(word, role, address, bytes, "outside of the tensor's " + std::to_string(tensor.bytes) + " bytes");
  }
  const Access forbidden = touch == Touch::kRead ? Access::kWrite : Access::kRead;
  if (tensor.access == forbidden) {
    operand_fault(
        word, role, address, bytes,
        touch == Touch::kRead ? "the tensor is only written by this launch" : "the tensor is only read by this launch");
  }
  return index;
}

void Core::claim(const char* word, int window, std::int64_t offset, std::int64_t bytes, Touch touch, Equal* equal) {
  if (task_.memory_core && touch == Touch::kRead) return;  // what it loads for nothing is no harm
  Window& w = launch_->gdram.windows()[static_cast<std::size_t>(window)];
  const Actor self(task_);
  const std::int64_t contested = w.claim(offset, bytes, touch, self);
  if (contested >= 0) return contest(word, w, {contested, offset, bytes}, touch, equal);
  if (launch_->source != nullptr && touch != Touch::kRead) {
    w.remember({offset, bytes, self, touch == Touch::kAtomic, word, where()});
  }
  if (touch == Touch::kWrite) warn_read_before(word, window, offset, bytes);
}

/// Kernels without a word about memory cores run their scalar code on those, too: what both store is told, and goes on.
/// So is what two tasks copy within device memory if it is equal. Such copies are the other cores' (3.1.2), so one that
/// a memory core makes, too, is no news.
void Core::contest(const char* word, Window& w, const Contest& c, Touch touch, Equal* equal) {
  const Window::Written* earlier = w.written_at(c.at, Actor(task_), touch);
  const CallSite site = earlier == nullptr ? CallSite{} : earlier->site;
  const std::string text = describe_gdram(w, c.at) + " was written by another task of this launch" + by(earlier);
  const bool of_memory_core = task_.memory_core || w.of_memory_core(c.at), same = is_equal(equal);
  if (!of_memory_core && !same) fault(word, text + ": a race unless all of them add atomically", site);
  if (!of_memory_core) warn(word, text + ": a race of equal values", site);
  if (of_memory_core && !same) {
    warn(word, text + ": a race of the memory core, which runs this code too (__is_mpu() tells)", site);
  }
  if (touch == Touch::kRead) return;
  w.take(c.offset, c.bytes, Actor(task_));
  w.remember({c.offset, c.bytes, Actor(task_), false, word, where()});
}

void Core::warn_read_before(const char* word, int window, std::int64_t offset, std::int64_t bytes) const {
  Window& w = launch_->gdram.windows()[static_cast<std::size_t>(window)];
  const Reads::Read* r = launch_->source == nullptr ? nullptr : w.reads().by_other(offset, bytes, task_.taskId);
  if (r == nullptr) return;
  warn(word,
       describe_gdram(w, std::max(offset, r->offset)) + " was read by another task of this launch, task " +
           std::to_string(r->task) + ", " + r->word + r->site.at() + ": a race, which that one won here",
       r->site);
}

std::string Core::by(const Window::Written* earlier) {
  return earlier == nullptr ? "" : ", " + earlier->actor.name() + ", " + earlier->word + earlier->site.at();
}

std::unique_lock<std::mutex> Core::check_atomic(const char* word, const void* gdram, std::int64_t bytes) {
  settle_scalars();
  const char* address = static_cast<const char*>(gdram);
  const int window = check_gdram(word, "destination", address, bytes, Touch::kAtomic);
  check_in_flight(word, "destination", address, bytes, true);
  count_word(word);
  std::unique_lock<std::mutex> lock(launch_->gdram.mutex(), std::defer_lock);
  if (launch_->threads) lock.lock();
  if (window >= 0 && checks().race) {
    claim(word, window, launch_->gdram.windows()[static_cast<std::size_t>(window)].offset(address), bytes,
          Touch::kAtomic);
  }
  CoreStats& stats = timeline_->stats;
  ++stats.atomics;
  stats.atomic_bytes += bytes;
  if (window >= 0) stats.written[static_cast<std::size_t>(window)] += bytes;
  const Rates& rates = launch_->settings.rates;
  const double share = std::max(launch_->active_cores / rates.gdram_gbps, 1 / rates.core_gdram_gbps);  // ns a byte
  constexpr double kReadAndWrite = 2;
  timeline_->run({word, Engine::kIo, task_.taskId, bytes, 0,
                  rates.atomic_ns + kReadAndWrite * static_cast<double>(bytes) * share, rates.atomic_ns},
                 false);
  return lock;
}

}  // namespace mluops::emu
