// Checks of a core that need to know the kernel's source: objects, and what runs beside copies.
#include <algorithm>
#include <string>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/device/fault.h"
#include "backends/mlu_emu/device/guide.h"
#include "backends/mlu_emu/device/memory_core.h"
#include "backends/mlu_emu/device/side.h"

namespace mluops::emu {

std::string described(const NramRegion& r, std::int64_t offset, const std::string& place) {
  const CallSite declared{r.file, r.line};
  return r.name + "+" + std::to_string(offset - r.offset) + " (" + place +
         (declared.known() ? ", declared" + declared.at() : "") + ")";
}

/// Words act within one object each: what lies behind it belongs to another one.
void Core::check_object(const char* word, const char* role, const void* address, std::int64_t bytes,
                        Space space) const {
  if (bytes == 0) return;
  if (space == Space::kWram) return check_weights_object(word, role, address, bytes);
  const std::int64_t offset = area(address)->offset(address);
  const KernelSource& source = *launch_->source;
  if (source.holds(space, offset, bytes)) return;
  const NramRegion* object = source.object_at(space, offset);
  if (object == nullptr) operand_fault(word, role, address, bytes, "in no object of the kernel's file");
  const CallSite declared{object->file, object->line};
  operand_fault(word, role, address, bytes,
                "outside of " + object->name + ", which has " + std::to_string(object->bytes) + " bytes", declared);
}

/// An object has an equal part in each lane of WRAM, at the same place. Kernels fill the 16 lanes of newer machines as
/// 64, too.
void Core::check_weights_object(const char* word, const char* role, const void* address, std::int64_t bytes) const {
  constexpr std::int64_t kMostLanes = 64;
  const KernelSource& source = *launch_->source;
  const std::int64_t offset = wram_->offset(address), lane = wram_->bytes() / launch_->settings.arch.wram_lanes();
  const auto holds = [&](std::int64_t part) {
    std::int64_t at = offset, next = offset;
    for (; at < offset + bytes; at = next) {
      next = std::min(offset + bytes, (at / part + 1) * part);
      if (!source.holds(Space::kWram, at % part, next - at)) return false;
    }
    return true;
  };
  if (holds(lane) || holds(wram_->bytes() / kMostLanes)) return;
  const NramRegion* object = source.object_at(Space::kWram, offset % lane);
  if (object == nullptr) operand_fault(word, role, address, bytes, "in no object of the kernel's file");
  operand_fault(
      word, role, address, bytes,
      "outside of " + object->name + ", which has " + std::to_string(object->bytes) + " bytes in each of WRAM's lanes",
      {object->file, object->line});
}

/// How many of the bytes lie behind the object in which they begin; 0 where that is a fault. Only results that nobody
/// uses come of such lanes, as at the ends of rows: they count as never written.
std::int64_t Core::beyond_object(const void* address, std::int64_t bytes) const {
  if (launch_->source == nullptr || !checks().memory || !checks().init || !nram_.near(address)) return 0;
  const std::int64_t offset = nram_.offset(address);
  if (bytes <= 0 || !nram_.inside(offset, bytes) || launch_->source->holds(Space::kNram, offset, bytes)) return 0;
  const NramRegion* object = launch_->source->object_at(Space::kNram, offset);
  return object == nullptr ? 0 : offset + bytes - (object->offset + object->bytes);
}

void Core::warn_beyond(const char* word, const char* role, const void* address, std::int64_t bytes,
                       std::int64_t beyond) const {
  const NramRegion* object = launch_->source->object_at(Space::kNram, nram_.offset(address));
  warn(word,
       std::string(role) + " " + describe(address) + ", " + std::to_string(bytes) + " bytes: the last " +
           std::to_string(beyond) + " lie outside of " + object->name + ", which has " + std::to_string(object->bytes) +
           " bytes; what is computed from them counts as never written",
       {object->file, object->line});
}

/// Scalar code stored where no object is.
void Core::check_between_objects() const {
  const std::vector<NramRegion>* objects = launch_->source->laid_out();
  if (objects == nullptr || task_.memory_core) return;
  for (const NramRegion& r : *objects) {
    const std::int64_t end = r.offset + r.bytes;
    if (!nram_.used(end, KernelSource::kGap)) continue;
    fault("scalar code", "wrote behind the end of " + described(r, end, "NRAM offset " + std::to_string(end)));
  }
}

std::int64_t Core::index_outside(const CallSite& site, const char* name, const void* array, std::int64_t index,
                                 std::int64_t count) {
  if (!checks().memory) return index;
  acting_ = site;
  const std::string text = std::string(name) + "[" + std::to_string(index) + "] is outside of the " +
                           std::to_string(count) + " elements of " + name;
  const bool in_nram = area(array) == &nram_;
  if (!task_.memory_core || (!in_nram && !is_no_index(index))) fault("scalar code", text);
  warn_for_nothing("scalar code", text);
  acting_ = {};
  if (!in_nram) throw EndOfTask();
  return 0;
}

void Core::scalars_went_astray(const std::string& text) const {
  if (!task_.memory_core || !checks().memory) fault("scalar code", text);
  warn_for_nothing("scalar code", text);
}

void Core::fault_of_guard(std::int64_t offset) {
  const std::string text = "wrote outside of NRAM, at " + describe_nram(offset);
  if (!task_.memory_core) fault("scalar code", text);
  warn_for_nothing("scalar code", text);
  nram_.poison();
}

void Core::check_machine(const char* word) const {
  const GuideRow* row = launch_->source == nullptr ? nullptr : guide_row_of_literal(word);
  const Arch& arch = launch_->settings.arch;
  if (row == nullptr || row->runs_on(arch.number) || !checks().memory) return;
  warn(word, "the guide has it for " + row->machines() + "; this launch runs on " + arch.name);
}

/// Ranges that end together are told less loudly: kernels that widen lanes from the end of the place they widen them to
/// passed on hardware.
void Core::warn_not_apart(const char* word, const void* source, std::int64_t source_bytes, const void* destination,
                          std::int64_t bytes) const {
  const GuideRow* row = launch_->source == nullptr || !checks().memory ? nullptr : guide_row_of_literal(word);
  if (row == nullptr || row->aliasing != Aliasing::kApart) return;
  const auto s = reinterpret_cast<std::intptr_t>(source), d = reinterpret_cast<std::intptr_t>(destination);
  if (source_bytes <= 0 || bytes <= 0 || d >= s + source_bytes || s >= d + bytes) return;
  const bool widened_in_place = source_bytes < bytes && s + source_bytes == d + bytes;
  const std::string text = "source " + describe(source) + ", " + std::to_string(source_bytes) +
                           " bytes, and destination " + describe(destination) + ", " + std::to_string(bytes) +
                           " bytes, overlap: the guide forbids it";
  widened_in_place ? note(word, text) : warn(word, text);
}

void Core::note_half_overflow(const char* word) {
  if (!half_overflow_) return;
  half_overflow_ = false;
  const bool saturates = launch_->source != nullptr && launch_->settings.arch.saturates();
  const std::string text = "a result of finite numbers is beyond 65504, the largest half: ";
  note(word, text + (saturates ? "65504 on this machine" : "infinity"));
}

/// A destination that begins below its source is known to work, and so is one within a source of up to 1 KiB: public
/// kernels that passed on hardware scan rows in place. A result that lies in part over one of two sources, and is not
/// the other one, may be two parts of one buffer that are too close.
void Core::not_behind_source(const char* word, const char* role, const void* source, const void* destination,
                             std::int64_t bytes, Beside beside) const {
  constexpr std::int64_t kReadAtOnce = 1024;
  if (launch_->source == nullptr || !checks().memory) return;
  const auto s = reinterpret_cast<std::intptr_t>(source), d = reinterpret_cast<std::intptr_t>(destination);
  if (d == s || d >= s + bytes || s >= d + bytes) return;
  const bool behind = d > s && bytes > kReadAtOnce;
  if (!behind && (beside == Beside::kDestination || (d < s && beside == Beside::kNothing))) return;
  const std::string text = std::string(role) + " " + describe(source) + " and destination " + describe(destination) +
                           ", " + std::to_string(bytes) + " bytes each, overlap in part";
  behind ? warn(word, text + ": the unit may read what it has written")
         : note(word, text + ": parts of one buffer that are too close?");
}

/// Rows of a matrix that lie over each other, and would end where the block ends if the stride counted elements, are
/// told. Windows that slide over a block end elsewhere.
void Core::note_stride_of_elements(const Copy& c) const {
  const int index = c.from != Space::kGdram || launch_->source == nullptr ? -1 : launch_->gdram.find(c.src);
  if (index < 0 || c.list != nullptr || c.pieces < 2 || c.src_stride <= 0 || c.src_stride >= c.bytes) return;
  const Window& w = launch_->gdram.windows()[static_cast<std::size_t>(index)];
  for (const std::int64_t element : {2, 4}) {
    const std::int64_t row = element * c.src_stride;
    const std::int64_t left = w.tensor().bytes - w.offset(c.src) - (c.pieces - 1) * row - c.bytes;
    if (c.bytes > row || left < 0 || left > row - c.bytes) continue;
    note(c.word, "source " + describe(c.src) + ": the stride of " + std::to_string(c.src_stride) +
                     " bytes is less than the " + std::to_string(c.bytes) + " bytes of a segment, and with " +
                     std::to_string(row) + " the last segment would end the tensor: a stride in elements?");
  }
}

const char* Core::end_of_source(const Copy& c) const {
  const bool on_chip = c.from == Space::kGdram && c.to != Space::kGdram;
  if (!on_chip || c.list != nullptr || launch_->source == nullptr || !checks().memory || !checks().init) return nullptr;
  const int window = launch_->gdram.find(c.src);
  if (window < 0) return nullptr;
  const Tensor& block = launch_->gdram.windows()[static_cast<std::size_t>(window)].tensor();
  return c.src < block.data + block.bytes ? block.data + block.bytes : nullptr;
}

/// A load that begins in a block of device memory and goes on behind it: it ends there, and what it does not bring
/// counts as never written. Only the ends of rows that nobody uses lie there.
bool Core::reads_on(const Copy& c, const char* begin, std::int64_t bytes) const {
  const char* end = end_of_source(c);
  if (end == nullptr || bytes <= end - begin) return false;
  warn(c.word, "source " + describe(begin) + ", " + std::to_string(bytes) + " bytes: the last " +
                   std::to_string(bytes - (end - begin)) +
                   " lie outside of the tensor; what is computed from them counts as never written");
  return true;
}

bool Core::stores_within_sram(const Copy& c) const {
  bool inside = true;
  for_each_range(to_side(c),
                 [&](const char* p, std::int64_t n) { inside = inside && sram_->inside(sram_->offset(p), n); });
  return inside;
}

bool Core::is_equal(Equal* equal) const {
  if (equal == nullptr || launch_->source == nullptr || equal->copy.from != Space::kGdram) return false;
  if (!equal->known) equal->known = stores_what_is_there(equal->copy);
  return *equal->known;
}

void Core::warn_never_written(const Copy& c) const {
  if (c.from != Space::kGdram || launch_->source == nullptr || !checks().init) return;
  const Side side = from_side(c);
  const char* begin = side.list == nullptr ? side.begin : side.address(side.list->front());
  const std::int64_t bytes = side.list == nullptr && side.dense() ? side.extent() : side.bytes;
  const int window = launch_->gdram.find(begin);
  if (window < 0) return;
  const Window& w = launch_->gdram.windows()[static_cast<std::size_t>(window)];
  if (!w.never_written(w.offset(begin), std::min(bytes, w.tensor().bytes - w.offset(begin)))) return;
  warn(c.word, "source " + describe(begin) + ", " + std::to_string(bytes) + " bytes: never written since cnrtMalloc");
}

CallSite Core::where() const {
  if (acting_.known() || ending_ || launch_->source == nullptr) return acting_;
  return launch_->source->where();
}

void Core::note_running(const char* word, const void* address, std::int64_t bytes, bool written) {
  timeline_->touch(address, bytes, written);
  if (launch_->source == nullptr || !checks().overlap || bytes <= 0) return;
  running_.note({static_cast<const char*>(address), bytes, written, word, where(), 0});
}

/// Copies of the IO engine run beside the vector unit: the guide asks for a barrier between a word and a queued store
/// of its result. Of loads over operands, and of copies within the chip, it says less.
void Core::check_running(const Copy& c) const {
  if (launch_->source == nullptr || !checks().overlap) return;
  running_.for_each([&](const Running::Operand& o) {
    const bool reads = o.written && overlaps(from_side(c), o.begin, o.bytes);
    const bool writes = !reads && c.to != Space::kGdram && overlaps(to_side(c), o.begin, o.bytes);
    if (!reads && !writes) return;
    const std::string text = std::string(reads ? "source" : "destination") + " " + describe(o.begin) + ", " +
                             std::to_string(o.bytes) + " bytes: " + (reads ? "the result" : "an operand") + " of " +
                             o.word + o.site.at() + ", which may still run: no __sync_compute() between them";
    if (reads && c.engine() == Engine::kIo) fault(c.word, text, o.site);
    warn(c.word, "unordered by the guide: " + text, o.site);
  });
}

/// The guide does not say that a queued copy waits for the scalar code before it.
void Core::check_scalars_in_nram(const Copy& c) const {
  if (launch_->source == nullptr || !checks().overlap) return;
  scalars_.for_each_in_nram([&](const ScalarSpans::InNram& s, bool stored) {
    const auto* begin = reinterpret_cast<const char*>(s.begin);
    const auto bytes = static_cast<std::int64_t>(s.end - s.begin);
    const bool reads = stored && overlaps(from_side(c), begin, bytes);
    if (!reads && (c.to == Space::kGdram || !overlaps(to_side(c), begin, bytes))) return;
    const CallSite site{s.file, s.line};
    warn(c.word,
         std::string("unordered by the guide: ") + (reads ? "source " : "destination ") + describe(begin) + ", " +
             std::to_string(bytes) + " bytes: " + (stored ? "stored" : "loaded") + " by scalar code" + site.at() +
             ", which may still run: no __sync() between them",
         site);
  });
}

}  // namespace mluops::emu
