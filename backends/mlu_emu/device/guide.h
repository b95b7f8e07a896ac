// The rules of the vendor's BANG C guide, by builtin.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mluops::emu {

enum class Aliasing { kUnsaid, kMayOverlap, kApart };
enum class Pipeline { kNone, kScalar, kCompute, kMove, kIo, kSeveral };

struct GuideRow {
  int least_arch;
  std::string_view without;  // architectures above it, as "372 520"
  int bytes, lanes;          // the 200 series wants multiples; 0: any
  Aliasing aliasing;
  Pipeline pipeline;

  bool runs_on(int arch) const;
  /// "mtp_592", "mtp_322 or later, but not 372".
  std::string machines() const;
};

/// nullptr for a builtin that the guide does not list: older names, and those of the vendor's libraries.
const GuideRow* guide_row(std::string_view builtin);
/// As guide_row(), faster for a name that is asked for again: builtins name themselves by literals.
const GuideRow* guide_row_of_literal(const char* builtin);

}  // namespace mluops::emu
