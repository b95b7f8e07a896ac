// On-chip objects of a file: laid out one after the other, from the start of the memory, in the order of first use.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/device/fault.h"
#include "backends/mlu_emu/neuware/runtime/machine.h"

namespace neuware {
namespace {

constexpr std::size_t kAlignment = 128;
constexpr const char* kNames[] = {"NRAM", "WRAM", "SRAM"};

mluops::emu::Space device_space(Space space) {
  return space == Space::kNram   ? mluops::emu::Space::kNram
         : space == Space::kWram ? mluops::emu::Space::kWram
                                 : mluops::emu::Space::kSram;
}

/// Where files put objects that others may know as extern.
struct Shared {
  std::mutex mutex;
  std::map<std::pair<Space, std::string>, std::size_t> offsets;
  std::map<const Unit*, std::vector<mluops::emu::NramRegion>> nram;  // for fault texts
  std::int64_t nram_reach = 0;
};

Shared& shared() {
  static Shared instance;
  return instance;
}

/// An extern object must lie where the file that defines it has it; files are laid out separately.
void check_extern(Space space, const std::string& name, bool is_extern, std::size_t offset) {
  const auto [entry, fresh] = shared().offsets.try_emplace({space, name}, offset);
  if (fresh || !is_extern || entry->second == offset) return;
  mluops::emu::Core::current().fault(name.c_str(), "an extern on-chip object must come first in its file");
}

}  // namespace

std::size_t place(Unit& unit, Space space, const char* declared, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(shared().mutex);
  constexpr const char* kExtern = "extern ";
  const bool is_extern = std::strncmp(declared, kExtern, std::strlen(kExtern)) == 0;
  const std::string name = declared + (is_extern ? std::strlen(kExtern) : 0);
  auto& core = mluops::emu::Core::current();
  const auto size = static_cast<std::size_t>(core.memory(device_space(space)).bytes());
  std::size_t& used = unit.used[static_cast<int>(space)];
  if (bytes > size || used > size - bytes) {
    core.fault(name.c_str(), std::string("needs ") + std::to_string(bytes) + " bytes of " +
                                 kNames[static_cast<int>(space)] + ", " + std::to_string(size - std::min(used, size)) +
                                 " of " + std::to_string(size) + " are left by the objects before it in " + unit.file);
  }
  const std::size_t offset = used;
  used = (offset + bytes + kAlignment - 1) / kAlignment * kAlignment;
  check_extern(space, name, is_extern, offset);
  if (space == Space::kNram) {
    shared().nram[&unit].push_back({name, static_cast<std::int64_t>(offset), static_cast<std::int64_t>(bytes)});
    shared().nram_reach = std::max(shared().nram_reach, static_cast<std::int64_t>(used));
  }
  return offset;
}

const std::vector<mluops::emu::NramRegion>& nram_objects(const Unit& unit) {
  const std::lock_guard<std::mutex> lock(shared().mutex);
  return shared().nram[&unit];
}

const std::int64_t& nram_reach() {
  return shared().nram_reach;
}

char* base(Space space) {
  return mluops::emu::Core::current().memory(device_space(space)).base();
}

void written(const void* begin, std::size_t bytes) {
  mluops::emu::Core::current().written_by_scalar(begin, static_cast<std::int64_t>(bytes));
}

void refill(Space space, std::size_t offset, const void* content, std::size_t bytes) {
  Machine::instance().add_refill({space, offset, bytes, content});
  char* target = base(space) + offset;
  std::memcpy(target, content, bytes);
  written(target, bytes);
}

}  // namespace neuware
