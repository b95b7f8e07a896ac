// A file that MLUOP_CAPTURE made (common/capture.cpp), in memory again.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "mluops/backend.h"

namespace mluops::replay {

struct RecordedTensor {
  std::string name, dtype, layout, dims;
  bool output = false, kept = false;  ///< kept: its bytes are in the file
  std::uintmax_t bytes = 0;
  std::vector<unsigned char> before = {}, after = {};  ///< of a kept one: `bytes` bytes, `after` of an output alone
};

struct Recording {
  std::string version, op, backend;
  std::string text;  ///< the problem as a case (common/case_text.h)
  int threads = 1;
  mluOpAtomicsMode_t atomics = MLUOP_ATOMICS_NOT_ALLOWED;
  mluOpExtContract_t contract = MLUOP_EXT_CONTRACT_STRICT;
  double ms = 0;
  std::vector<RecordedTensor> tensors;  ///< no two of one name

  /// NULL where there is none of this name.
  const RecordedTensor* find(const std::string& name) const;
};

/// Throws std::runtime_error with what was wanted and what was got: a file is not trusted. It asks for no more memory
/// than twice the file has bytes.
Recording read_recording(const std::string& path);

/// The same from a stream of so many bytes.
Recording read_recording(std::istream& file, std::uintmax_t size);

}  // namespace mluops::replay
