// What a toolchain knows of the kernel that runs: lines and named objects of its source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/launch_spec.h"
#include "backends/mlu_emu/device/scalar_spans.h"
#include "backends/mlu_emu/device/scalar_work.h"
#include "backends/mlu_emu/device/tensor.h"

namespace mluops::emu {

/// LDRAM is host memory of its own: nothing is checked there.
enum class Space { kNram, kWram, kSram, kGdram, kLdram };

/// A place in a file; no file where it is not known.
struct CallSite {
  const char* file = nullptr;
  int line = 0;

  bool known() const { return file != nullptr; }
  /// " at file:line", or nothing.
  std::string at() const { return known() ? std::string(" at ") + file + ":" + std::to_string(line) : ""; }
};

enum class Severity {
  kFault,    // ends the launch
  kWarning,  // what the guide does not promise, or no result depends on
  kNote,     // nothing that shows: a race of equal values
};

/// A finding of a check.
struct Finding {
  Severity severity;
  std::string kernel, word, text;
  CallSite site, other;  // of two accesses that clash; the earlier one is `other`
};

/// A load or store by scalar code: base[index], or *base.
struct ScalarAccess {
  ScalarTouch touch;
  unsigned slot;
  const void *base, *address;
  std::int64_t bytes;
  const char* name;  // of the base; null for none
  CallSite site;
};

/// A kernel's parameter.
struct NamedPointer {
  const char* name;
  const char* address;
  CallSite declared;
};

class KernelSource {
 public:
  static constexpr std::int64_t kGap = 128;

  virtual ~KernelSource() = default;
  /// Where the word this thread runs was called.
  virtual CallSite where() const = 0;
  /// The object that holds the byte, nullptr for none; of the file at hand first.
  virtual const NramRegion* object_at(Space space, std::int64_t offset) const = 0;
  /// One object holds the whole range.
  virtual bool holds(Space space, std::int64_t offset, std::int64_t bytes) const = 0;
  /// The objects in NRAM in the order of their offsets, a gap of kGap bytes or more behind each; nullptr when code of
  /// several files, whose objects lie over each other, runs in this launch.
  virtual const std::vector<NramRegion>* laid_out() const = 0;
  virtual void found(const Finding& finding) = 0;
  /// What this thread's scalar code did since this was last asked.
  virtual ScalarWork take_scalar_work() = 0;
  /// The pointer that a kernel's author calls that place of a block by; nullptr where none is known.
  virtual const NamedPointer* parameter_at(const Tensor& block, const char* address) const = 0;
  /// What is known of an address in no tensor: the block that lay there until it was freed, or "".
  virtual std::string freed_at(const void* address) const = 0;
  /// How far such an address lies from the nearest block, or "".
  virtual std::string beside(const void* address) const = 0;
  /// This thread's stack has no room left for a word. Throws.
  [[noreturn]] virtual void out_of_stack() = 0;
  /// The code that this thread runs reads these from now on, before it calls scalar_access(); null: none is known.
  virtual void use(ScalarSpans* spans) = 0;
};

}  // namespace mluops::emu
