// What a launch's checks know of its source: the lines of words, the objects of the files whose code runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/source.h"
#include "backends/mlu_emu/neuware/include/neuware.h"

namespace neuware {

/// The on-chip objects of a file, by Space, in the order of their offsets.
struct Objects {
  std::vector<mluops::emu::NramRegion> in[3];
};

class LaunchSource : public mluops::emu::KernelSource {
 public:
  /// A launch from the file `unit`; others join in when their words run.
  explicit LaunchSource(const Unit& unit) : units_{&unit} {}

  mluops::emu::CallSite where() const override { return {site.file, site.line}; }
  const mluops::emu::NramRegion* object_at(mluops::emu::Space space, std::int64_t offset) const override;
  bool holds(mluops::emu::Space space, std::int64_t offset, std::int64_t bytes) const override;
  const std::vector<mluops::emu::NramRegion>* laid_out() const override;
  void found(const mluops::emu::Finding& finding) override;
  mluops::emu::ScalarWork take_scalar_work() override;
  const mluops::emu::NamedPointer* parameter_at(const mluops::emu::Tensor& block, const char* address) const override;
  std::string freed_at(const void* address) const override;
  std::string beside(const void* address) const override;
  [[noreturn]] void out_of_stack() override;
  void use(mluops::emu::ScalarSpans* known) override;

  /// A kernel that this launch runs has it; all tasks tell, each time the same.
  void name_parameter(const mluops::emu::NamedPointer& parameter);

  /// A fault was among what was found.
  bool told_fault() const { return told_fault_; }
  /// The last warning, "" for none.
  const std::string& warning() const { return warning_; }

 private:
  /// The file at hand is the first of them.
  void turn_to_file_at_hand() const;

  mutable std::vector<const Unit*> units_;
  std::vector<mluops::emu::NamedPointer> parameters_;
  bool told_fault_ = false;
  std::string warning_;
};

}  // namespace neuware
