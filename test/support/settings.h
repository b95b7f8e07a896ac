// What the environment asks of a test run, and the operators it is about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/cases/operator.h"

namespace mluops::test {

using namespace cases;  // NOLINT: the tests speak the words of the descriptions

/// The operators that are described, by name.
const std::vector<std::string>& operators();

/// The case named by MLUOP_TEST_CASE, if any: then nothing else runs.
std::optional<Case> selected_case();

/// Share of the random cases to run: MLUOP_TEST_SCALE, by default 1 (0.1 under sanitizers).
double test_scale();
/// count scaled by test_scale, at least 1.
int scaled(int count);

}  // namespace mluops::test
