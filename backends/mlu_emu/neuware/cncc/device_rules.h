// What compiles here, because the host's compiler knows it, and not for the device: kernels that return a value, calls
// of host functions, heap, exceptions and containers in device code.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/mlu_emu/neuware/cncc/place.h"
#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// A warning about the token at an offset of the preprocessed text.
struct Warning {
  std::size_t at;
  std::string text;
};

class DeviceRules {
 public:
  DeviceRules(const Source& source, const Place& place) : source_(source), place_(place) {}

  /// At a "{" before the place follows it: perhaps a function is defined.
  void block();
  /// A function that is marked for the device, its parameters open at `open`.
  void marked(std::size_t open) { device_.insert(source_[open - 1].text); }
  /// At each token of device code.
  void device_code();
  /// A kernel whose parameters open at `open`.
  void kernel(std::size_t open);
  std::vector<Warning> warnings() const;

 private:
  void warn(std::size_t at, const std::string& text);
  void call();

  const Source& source_;
  const Place& place_;
  std::size_t seen_ = static_cast<std::size_t>(-1);  // the statement whose first block was looked at
  std::set<std::string_view> host_, device_;         // functions that are defined
  std::vector<std::size_t> calls_;
  std::vector<Warning> warnings_;
};

}  // namespace cncc
