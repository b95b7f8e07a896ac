// What the command line of mluops_replay asks for.
#pragma once

#include <string>
#include <vector>

#include "test/replay/reference.h"

namespace mluops::replay {

extern const char* const kHelp;

struct Options {
  std::vector<std::string> files, cases, backends = {"cpu", "mlu_emu"};
  int threads = 0, calls = 3;  ///< threads 0: as recorded
  int seconds = 60;            ///< for a file or case
  bool reference = true;
  std::string json, keep;
  Limits limits;
};

/// Throws std::invalid_argument.
Options parse(const std::vector<std::string>& words);

}  // namespace mluops::replay
