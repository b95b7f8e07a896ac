// How fast vectors are loaded from where indices say.
#pragma once

namespace mluops::cpu {

/// Whether a gather takes about as long as its loads one by one, as on AMD's processors (Zen 4: 81 operations for 16
/// floats). Elsewhere it takes half of that.
inline bool gathers_are_slow() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool slow = [] {
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") != 0;
  }();
  return slow;
#else
  return false;
#endif
}

}  // namespace mluops::cpu
