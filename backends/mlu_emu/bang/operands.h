// What every vector word does before and after its loop: check the operands, account for the work.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/mlu_emu/bang/lanes.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {

/// One use of a vector word on the running core.
class Word {
 public:
  explicit Word(const char* name) : core_(Core::current()), name_(name) {}

  void count(std::int64_t n) const {
    require(n >= 0 && n <= std::numeric_limits<std::int32_t>::max(), "the count must lie in [0, 2^31)");
  }
  void require(bool holds, const char* rule) const { core_.require(holds, name_, rule); }
  [[noreturn]] void fault(const std::string& text) const { core_.fault(name_, text); }
  bool fused_multiply_add() const { return core_.launch().settings.arch.fused_multiply_add(); }

  template <class T>
  void source(const T* p, std::int64_t n, const char* role = "source") const {
    core_.source(name_, role, p, bytes_of_lanes<T>(n));
  }
  /// Accounts for the work too: every word has exactly one destination.
  template <class T>
  void destination(T* p, std::int64_t n) const {
    core_.destination(name_, "destination", p, bytes_of_lanes<T>(n));
    core_.computed(name_, bytes_of_lanes<T>(n), n);
  }

  /// dst, a [, b] of n lanes each.
  template <class T>
  void lanes(T* dst, const T* a, std::int64_t n) const {
    count(n);
    source(a, n);
    destination(dst, n);
  }
  template <class T>
  void lanes(T* dst, const T* a, const T* b, std::int64_t n) const {
    count(n);
    source(a, n, "first source");
    source(b, n, "second source");
    destination(dst, n);
  }

 private:
  Core& core_;
  const char* name_;
};

}  // namespace mluops::emu::bang
