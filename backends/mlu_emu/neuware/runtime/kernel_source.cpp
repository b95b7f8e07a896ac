#include "backends/mlu_emu/neuware/runtime/kernel_source.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/neuware/runtime/findings.h"
#include "backends/mlu_emu/neuware/runtime/memory.h"
#include "backends/mlu_emu/neuware/runtime/signals.h"

namespace neuware {

__thread Site site = {nullptr, 0, nullptr};
__thread Scalars scalars = {};
static mluops::emu::ScalarSpans nothing_known = {};
__thread mluops::emu::ScalarSpans* spans = &nothing_known;

namespace {

using mluops::emu::NamedPointer;
using mluops::emu::NramRegion;

const std::vector<NramRegion>* objects_in(const Unit& unit, mluops::emu::Space space) {
  if (unit.objects == nullptr) return nullptr;
  if (space == mluops::emu::Space::kNram) return &unit.objects->in[static_cast<int>(Space::kNram)];
  if (space == mluops::emu::Space::kWram) return &unit.objects->in[static_cast<int>(Space::kWram)];
  return space == mluops::emu::Space::kSram ? &unit.objects->in[static_cast<int>(Space::kSram)] : nullptr;
}

/// The last object that begins at the offset or before it; nullptr for none.
const NramRegion* before(const std::vector<NramRegion>& objects, std::int64_t offset) {
  const auto behind = std::upper_bound(objects.begin(), objects.end(), offset,
                                       [](std::int64_t at, const NramRegion& r) { return at < r.offset; });
  return behind == objects.begin() ? nullptr : &*(behind - 1);
}

}  // namespace

long long index_outside(const void* array, const char* name, long long index, std::size_t count, const char* file,
                        int line) {
  if (!mluops::emu::Core::runs_here()) return index;
  return mluops::emu::Core::current().index_outside({file, line}, name, array, index, static_cast<std::int64_t>(count));
}

void touch(mluops::emu::ScalarTouch how, unsigned slot, const volatile void* base, const volatile void* address,
           std::size_t bytes, const char* name, const char* file, int line) {
  if (!mluops::emu::Core::runs_here() || std::uncaught_exceptions() > 0) return;
  mluops::emu::Core::current().scalar_access({how,
                                              slot,
                                              const_cast<const void*>(base),
                                              const_cast<const void*>(address),
                                              static_cast<std::int64_t>(bytes),
                                              name,
                                              {file, line}});
}

void name_parameter(const char* name, const void* value, const char* file, int line) {
  if (!mluops::emu::Core::runs_here()) return;
  mluops::emu::KernelSource* source = mluops::emu::Core::current().launch().source;
  static_cast<LaunchSource*>(source)->name_parameter({name, static_cast<const char*>(value), {file, line}});
}

void LaunchSource::turn_to_file_at_hand() const {
  if (site.unit == nullptr || site.unit == units_.front()) return;
  const auto known = std::find(units_.begin(), units_.end(), site.unit);
  if (known == units_.end()) {
    units_.insert(units_.begin(), site.unit);
  } else {
    std::swap(units_.front(), *known);
  }
}

const NramRegion* LaunchSource::object_at(mluops::emu::Space space, std::int64_t offset) const {
  turn_to_file_at_hand();
  for (const Unit* unit : units_) {
    const std::vector<NramRegion>* objects = objects_in(*unit, space);
    const NramRegion* object = objects == nullptr ? nullptr : before(*objects, offset);
    if (object != nullptr && offset < object->offset + object->bytes) return object;
  }
  return nullptr;
}

bool LaunchSource::holds(mluops::emu::Space space, std::int64_t offset, std::int64_t bytes) const {
  turn_to_file_at_hand();
  return std::any_of(units_.begin(), units_.end(), [&](const Unit* unit) {
    const std::vector<NramRegion>* objects = objects_in(*unit, space);
    const NramRegion* object = objects == nullptr ? nullptr : before(*objects, offset);
    return object != nullptr && offset + bytes <= object->offset + object->bytes;
  });
}

/// A file whose words never ran may have had its scalar code run.
const std::vector<NramRegion>* LaunchSource::laid_out() const {
  turn_to_file_at_hand();
  return units_.size() == 1 ? objects_in(*units_.front(), mluops::emu::Space::kNram) : nullptr;
}

mluops::emu::ScalarWork LaunchSource::take_scalar_work() {
  const mluops::emu::ScalarWork work = {scalars.operations,  scalars.nram_loads,   scalars.nram_stores,
                                        scalars.gdram_loads, scalars.gdram_stores, scalars.gdram_bytes};
  scalars.operations = scalars.nram_loads = scalars.nram_stores = 0;
  scalars.gdram_loads = scalars.gdram_stores = scalars.gdram_bytes = 0;
  return work;
}

void LaunchSource::name_parameter(const NamedPointer& parameter) {
  const auto same = [&](const NamedPointer& p) { return p.name == parameter.name && p.address == parameter.address; };
  if (std::none_of(parameters_.begin(), parameters_.end(), same)) parameters_.push_back(parameter);
}

/// The last one that points into the block there or before.
const NamedPointer* LaunchSource::parameter_at(const mluops::emu::Tensor& block, const char* address) const {
  const NamedPointer* last = nullptr;
  for (const NamedPointer& p : parameters_) {
    const bool before = block.data <= p.address && p.address < block.data + block.bytes && p.address <= address;
    if (before && (last == nullptr || last->address < p.address)) last = &p;
  }
  return last;
}

std::string LaunchSource::freed_at(const void* address) const {
  return Blocks::instance().at(address);
}

std::string LaunchSource::beside(const void* address) const {
  return Blocks::instance().near(address);
}

void LaunchSource::out_of_stack() {
  leave_used_up_stack();
}

void LaunchSource::use(mluops::emu::ScalarSpans* known) {
  spans = known == nullptr ? &nothing_known : known;
}

void LaunchSource::found(const mluops::emu::Finding& finding) {
  const bool fault = finding.severity == mluops::emu::Severity::kFault;
  told_fault_ |= fault;
  if (!fault) warning_ = finding.text;
  Findings::instance().add(finding);
}

}  // namespace neuware
