// What BANG C has and C++ has not, expressed in C++: launches, linkage of device functions, on-chip arrays, inline
// MLISA.
#pragma once

#include <string>

namespace cncc {

/// The C++ text of a preprocessed BANG C file. Throws std::runtime_error on what it cannot express.
std::string rewrite(std::string preprocessed);

}  // namespace cncc
