// What --library asks, in the order that both processes know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/conformance/library.h"

namespace mluops::conformance {

struct Ask {
  const cases::OperatorCases* op;
  cases::Case text;
  mluOpDataType_t dtype;
  int lost = -1;  ///< number of the input whose data are NULL; -1: none
};

std::vector<Ask> asks_of(const LibrarySettings& settings);

/// What LIB gave: a header of fixed size, then the text, then the outputs' bytes one after the other.
struct AnswerHead {
  enum Kind : std::int32_t { kBegins, kAnswered, kAbsent } kind;
  std::int32_t status;
  std::uint64_t number, text_bytes, output_bytes;
};

}  // namespace mluops::conformance
