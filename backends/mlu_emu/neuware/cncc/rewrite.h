// What BANG C has and C++ has not, expressed in C++: launches, linkage of device functions, on-chip arrays, inline
// MLISA.
#pragma once

#include <string>
#include <vector>

#include "backends/mlu_emu/neuware/cncc/columns.h"
#include "backends/mlu_emu/neuware/cncc/device_rules.h"

namespace cncc {

/// The C++ text of a preprocessed BANG C file. Throws std::runtime_error on what it cannot express, and on its errors.
std::string rewrite(std::string preprocessed);

/// With what diagnostics need.
struct Rewritten {
  std::string text;
  std::vector<Moved> moved;  ///< the tokens of the user's files
  std::vector<Warning> warnings, errors;
};
Rewritten rewrite_with_places(std::string preprocessed);

}  // namespace cncc
