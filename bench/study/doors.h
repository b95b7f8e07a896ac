// Which C functions the Python package calls (cmake/MluopsDoors.cmake reads its sources).
#pragma once

#include <string>
#include <vector>

namespace bench {

struct Door {
  std::string function;
  std::string doors;  ///< of "numpy torch mmcv" those behind which it is
};

const std::vector<Door>& python_doors();

}  // namespace bench
