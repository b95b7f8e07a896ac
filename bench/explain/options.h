// The command line of ./run explain.
#pragma once

#include <string>

#include "bench/explain/emulate.h"

namespace explain {

struct CommandLine {
  bool help = false;
  cases::Case text;  // the operator and its parameters; no operator: none was named
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  Options options;                     // of the backend
  std::string svg, html, trace, json;  // files to write
  std::string docs;                    // folder: pages and pictures of all operators
};

/// Throws std::invalid_argument.
CommandLine parse_command_line(int argc, char** argv);
std::string help_text();

}  // namespace explain
