// What the checks of a program's launches found: warnings on stderr as they come, and one report when the program ends.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/source.h"

namespace neuware {

/// MLUOP_EMU_FINDINGS=FILE[:FILE]...: text, JSON or SARIF by each file's ending.
class Findings {
 public:
  static Findings& instance();

  /// Keeps it, once for each pair of lines, and prints a warning.
  void add(const mluops::emu::Finding& finding);

 private:
  /// A place that outlives the code it is in.
  struct Place {
    std::string file;
    int line;
  };
  struct Kept {
    mluops::emu::Severity severity;
    std::string kernel, word, text;
    Place site, other;
    std::size_t times;
  };

  static const char* level(const Kept& k);

  Findings();
  bool keep(const mluops::emu::Finding& finding);
  /// `tell`: what cannot be written.
  void write(bool tell) const;
  std::string text() const;
  std::string json() const;
  std::string sarif() const;

  mutable std::mutex mutex_;
  std::string paths_;
  std::vector<Kept> kept_;
};

}  // namespace neuware
