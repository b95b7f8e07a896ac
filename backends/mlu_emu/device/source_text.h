// The lines of source files that reports speak of.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/report.h"

namespace mluops::emu {

/// Lines of a file, from `first` on, counted from 1.
struct SourceText {
  int first = 1;
  std::vector<std::string> lines;
};

/// Of each file, from a few lines before the first that a launch names to a few behind the last. Without the files that
/// cannot be read any more.
std::map<std::string, SourceText> source_texts(const CallReport& report);

}  // namespace mluops::emu
