// What a call left in its outputs, as a line of text: `mluops_conformance --record` writes lines, test/recorded
// compares kernels with them. A line is
//   DTYPE CASE | HASH of the inputs | OUTPUT HASH ELEMENT .. | ..
// with hashes of bytes (FNV-1a, 64 bits) and a few elements, of which 10 digits are enough to tell float, half and
// int32.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/support/problem.h"

namespace mluops::test {

struct RecordedOutput {
  std::string name;
  std::uint64_t hash = 0;
  Values elements;
};

struct Record {
  std::string dtype, text;
  std::uint64_t inputs = 0;  ///< another one: the case makes other data now
  std::vector<RecordedOutput> outputs;
};

/// The outputs as they are now.
Record record_of(const Problem& problem);

std::string line_of(const Record& record);
/// Throws std::invalid_argument for a line of another form.
Record read_record(const std::string& line);

}  // namespace mluops::test
