// Results as JUnit has them: what CI servers show.
#pragma once

#include <string>
#include <vector>

namespace mluops::conformance {

struct JunitTest {
  std::string group, name;
  double seconds = 0;
  std::vector<std::string> failures = {};  ///< none: it passed
  std::string skipped = {};                ///< why nothing ran; "": it did
};

std::string junit_text(const std::vector<JunitTest>& tests);

}  // namespace mluops::conformance
