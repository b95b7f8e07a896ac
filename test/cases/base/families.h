// The files of test/cases, by name.
#pragma once

#include <vector>

#include "test/cases/operator.h"

namespace mluops::cases {

struct Family {
  const char* name;
  std::vector<OperatorCases> (*operators)();
};

const std::vector<Family>& families();

}  // namespace mluops::cases
