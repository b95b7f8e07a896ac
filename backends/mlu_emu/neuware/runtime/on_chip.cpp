// On-chip objects of a file: laid out one after the other, from the start of the memory, in the order of first use.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/device/fault.h"
#include "backends/mlu_emu/neuware/runtime/by_address.h"
#include "backends/mlu_emu/neuware/runtime/kernel_source.h"
#include "backends/mlu_emu/neuware/runtime/machine.h"

namespace neuware {
namespace {

constexpr std::size_t kAlignment = 128;
constexpr std::size_t kGap = mluops::emu::KernelSource::kGap;
constexpr const char* kNames[] = {"NRAM", "WRAM", "SRAM"};

mluops::emu::Space device_space(Space space) {
  return space == Space::kNram   ? mluops::emu::Space::kNram
         : space == Space::kWram ? mluops::emu::Space::kWram
                                 : mluops::emu::Space::kSram;
}

/// An object filled again at the start of every task.
struct Refill {
  const Unit* unit;
  Space space;
  std::size_t offset, bytes;
  const void* content;
};

/// Where files put objects that others may know as extern.
struct Shared {
  std::mutex mutex;
  std::map<std::pair<Space, std::string>, std::size_t> offsets;
  std::map<const Unit*, Objects> objects;
  std::int64_t nram_reach = 0;
  std::vector<Refill> refills;
  std::vector<mluops::emu::NramRegion> filled;  // those in NRAM
};

Shared& shared() {
  static Shared& instance = *new Shared;  // static destructors may still launch
  return instance;
}

std::size_t size_of(Space space) {
  if (space == Space::kNram) {
    return static_cast<std::size_t>(mluops::emu::Core::current().launch().settings.arch.nram_bytes);
  }
  return static_cast<std::size_t>(mluops::emu::Core::current().memory(device_space(space)).bytes());
}

std::size_t wram_lanes() {
  return static_cast<std::size_t>(mluops::emu::Core::current().launch().settings.arch.wram_lanes());
}

void fill(const Refill& r) {
  char* target = address_of(r.space, r.offset, r.bytes);
  std::memcpy(target, r.content, r.bytes);
  written(target, r.bytes);
}

/// An extern object must lie where the file that defines it has it; files are laid out separately.
void check_extern(Space space, const std::string& name, bool is_extern, std::size_t offset) {
  const auto [entry, fresh] = shared().offsets.try_emplace({space, name}, offset);
  if (fresh || !is_extern || entry->second == offset) return;
  mluops::emu::Core::current().fault(name.c_str(), "an extern on-chip object must come first in its file");
}

}  // namespace

/// Files are laid out as a whole, though no kernel may use all their objects: NRAM beyond a core's is there for them,
/// and a core tells at the end of a task if it used too much. WRAM is laid out by lanes: an array has an equal part in
/// each, at the same place, as a plain copy spreads it.
std::size_t place(Unit& unit, Space space, const char* spelled, std::size_t bytes, Declared declared) {
  const std::lock_guard<std::mutex> lock(shared().mutex);
  constexpr const char* kExtern = "extern ";
  const bool is_extern = std::strncmp(spelled, kExtern, std::strlen(kExtern)) == 0;
  const std::string name = spelled + (is_extern ? std::strlen(kExtern) : 0);
  const std::size_t size = size_of(space), lanes = space == Space::kWram ? wram_lanes() : 1;
  const std::size_t room = (space == Space::kNram ? mluops::emu::Core::kMostNrams * size : size) / lanes;
  const std::size_t part = (bytes + lanes - 1) / lanes;
  std::size_t& used = unit.used[static_cast<int>(space)];
  if (bytes > size || part > room || used > room - part) {
    mluops::emu::Core::current().act_at({declared.file, declared.line});
    const std::size_t left = bytes > size ? size : (room - std::min(used, room)) * lanes;
    mluops::emu::Core::current().fault(name.c_str(), "needs " + std::to_string(bytes) + " bytes of " +
                                                         kNames[static_cast<int>(space)] + ", " + std::to_string(left) +
                                                         " of " + std::to_string(size) +
                                                         " are left by the objects before it in " + unit.file);
  }
  const std::size_t offset = used;
  used = (offset + part + kAlignment - 1) / kAlignment * kAlignment + (space == Space::kNram ? kGap : 0);
  check_extern(space, name, is_extern, offset);
  Objects& objects = shared().objects[&unit];
  objects.in[static_cast<int>(space)].push_back(
      {name, static_cast<std::int64_t>(offset), static_cast<std::int64_t>(part), declared.file, declared.line});
  unit.objects = &objects;
  if (space == Space::kNram) {
    shared().nram_reach = std::max(shared().nram_reach, static_cast<std::int64_t>(used));
  }
  return offset;
}

Unit::Unit(const char* name, int number) : file(name), arch(number) {
  Machine::announce(number);
}

/// As when its library is unloaded: nothing of it may be read any more.
Unit::~Unit() {
  forget_kernels(*this);
  const std::lock_guard<std::mutex> lock(shared().mutex);
  shared().objects.erase(this);
  std::erase_if(shared().refills, [&](const Refill& r) { return r.unit == this; });
}

const std::vector<mluops::emu::NramRegion>& nram_objects(const Unit& unit) {
  const std::lock_guard<std::mutex> lock(shared().mutex);
  return shared().objects[&unit].in[static_cast<int>(Space::kNram)];
}

const std::vector<mluops::emu::NramRegion>& nram_filled() {
  return shared().filled;
}

const std::int64_t& nram_reach() {
  return shared().nram_reach;
}

char* address_of(Space space, std::size_t offset, std::size_t bytes) {
  auto& core = mluops::emu::Core::current();
  mluops::emu::Nram& memory = core.memory(device_space(space));
  if (space == Space::kNram) memory.grow(static_cast<std::int64_t>(offset + bytes));
  return memory.base() + offset;
}

void written(const void* begin, std::size_t bytes) {
  mluops::emu::Core::current().written_by_scalar(begin, static_cast<std::int64_t>(bytes));
}

void refill(const Unit& unit, Space space, std::size_t offset, const void* content, std::size_t bytes) {
  const Refill added{&unit, space, offset, bytes, content};
  {
    const std::lock_guard<std::mutex> lock(shared().mutex);
    const auto known = [&](const Refill& r) { return r.space == space && r.content == content; };
    std::vector<Refill>& all = shared().refills;
    if (std::none_of(all.begin(), all.end(), known)) {
      all.push_back(added);
      if (space == Space::kNram) {
        shared().filled.push_back({unit.file, static_cast<std::int64_t>(offset), static_cast<std::int64_t>(bytes)});
      }
    }
  }
  fill(added);
}

void refill_task() {
  for (std::size_t i = 0; i < shared().refills.size(); ++i) fill(shared().refills[i]);
}

}  // namespace neuware
