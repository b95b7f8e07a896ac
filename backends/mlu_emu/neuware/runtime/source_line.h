// Which line of a kernel's source a machine address belongs to.
#pragma once

#include <string>

namespace neuware {

struct SourceLine {
  std::string file;  // "" when it is not known
  int line = 0;
  std::string function;
};

/// That of the first of the frames that lies in the module `in_module` is an address of; what is
/// known of that, "" if nothing. Asks addr2line, which comes with the compiler.
SourceLine source_line(void* const* frames, int count, const void* in_module);

}  // namespace neuware
