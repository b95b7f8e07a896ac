// The network-scale cases of the design documents.
#pragma once

#include "bench/cases/case.h"

namespace bench {

struct NetworkCase {
  std::string operators;  ///< e.g. "carafe"; the two directions are <operators>_forward and _backward
  bool has_half = true;
  bool quick = false;  ///< small enough for --quick
  /// `reduced`: fewer images, RoIs, boxes or rows of the same kind, for backends that emulate a machine.
  std::function<Case(Direction, mluOpDataType_t, bool reduced)> make;
};

const std::vector<NetworkCase>& network_cases();

}  // namespace bench
